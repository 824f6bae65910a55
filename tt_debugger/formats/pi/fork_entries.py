"""The entries of a fork of Pi: those of a path in the shape of version 3, and what is added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.core.between import is_same, keys_between
from tt_debugger.core.changes import State
from tt_debugger.core.fork.minting import stamp
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.transcripts import Added, Left, Part, Rewritten
from tt_debugger.core.fork.writes import How
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.pi.reading import NEWEST_VERSION, PiSession, first_kept, title
from tt_debugger.formats.pi.replay import messages_of
from tt_debugger.formats.pi.types import ENTRY_TYPES
from tt_debugger.formats.shared.fork_files import Holds
from tt_debugger.formats.shared.fork_origin import MARKER
from tt_debugger.formats.shared.fork_paths import marker_data, message_from
from tt_debugger.formats.shared.forked_entries import Chain, Entry, kept_entries

_COPIED = ENTRY_TYPES - {"session_info", "usage"}
"""What a branch in the same file has copies of: not the title of all, nor what was paid once."""
_SUMMARY_GONE = "the summary is taken away by an edit that Pi before 1.0 does not know"


class ForkEntries:
    """The entries of a fork so far, and what is to be said of it."""

    def __init__(self, store: Holds, session: Session, plan: Plan, chain: Chain) -> None:
        self._store, self._session, self._plan, self._chain = store, session, plan, chain
        self._facts: PiSession = session.own
        self._time = stamp(plan.time)
        self._rewritten: set[int] = set()
        self._mended = 0
        self._notes: list[str] = []

    def add_all(self, parts: Sequence[Part]) -> None:
        """Add what the parts say, in their order."""
        self._rewritten = {each.row for each in parts if isinstance(each, Rewritten | Left)}
        rows = [each.row for each in parts if not isinstance(each, Added)]
        entries = kept_entries(self._store, self._session, rows)
        compactions: list[Entry] = []
        for part in parts:
            if isinstance(part, Added):
                message = message_from(part.message, "Pi")
                self._chain.add(self._new("message", {"message": message}))
                continue
            entry = self._current(next(entries))
            kind = entry.value("type")
            if self._is_left_out(entry, kind, part):
                continue
            if isinstance(part, Rewritten):
                self._rewrite(entry, part.messages)
            self._chain.add(entry)
            if kind == "compaction":
                compactions.append(entry)
            elif kind == "context_edit":
                self._point_at(entry, "targetId")
            if isinstance(part, Left):
                self._take_away(entry)
        for entry in compactions:
            self._keep_from(entry)

    def _current(self, entry: Entry) -> Entry:
        """Give an entry in the shape of version 3."""
        if entry.line is None:
            self._mended += 1
        if self._facts.version >= NEWEST_VERSION:
            return entry
        if entry.value("type") == "compaction" and isinstance(
            entry.value("firstKeptEntryIndex"), int
        ):
            kept = first_kept(self._session, {key: entry.value(key) for key in entry.fields})
            entry.drop("firstKeptEntryIndex")
            if isinstance(kept, str):
                entry.put("firstKeptEntryId", kept)
        message = as_map(entry.value("message"))
        if entry.value("type") == "message" and message.get("role") == "hookMessage":
            entry.put("message", {**message, "role": "custom"})
        return entry

    def _is_left_out(self, entry: Entry, kind: Any, part: Part) -> bool:
        """Tell whether an entry of the path has no place in the fork."""
        if kind == "label" or (self._chain.is_copy and kind not in _COPIED):
            return True
        if kind == "context_edit":
            # What it would edit is written as it is wanted, or is gone.
            target = self._session.row_of(text_or_none(entry.value("targetId")) or "")
            return target in self._rewritten
        return isinstance(part, Left) and kind != "compaction"

    def _rewrite(self, entry: Entry, edited: Mapping[int, Any]) -> None:
        """Let an entry give other messages. Raises UnsupportedError where it cannot."""
        (body,) = self._store.bodies(self._session, (entry.row or 0,))
        old = as_map(body)
        messages = messages_of(self._session, old)
        wanted = [edited.get(place, message) for place, message in enumerate(messages)]
        wanted = [message_from(each, "Pi") for each in wanted if each is not None]
        new = _giving(old, wanted)
        if not is_same(messages_of(self._session, new), wanted):
            raise UnsupportedError(
                f"an entry of the type {old.get('type')} cannot say that",
                "its text can be another, but not what kind of message it is",
            )
        entry.how = How.CHANGED
        entry.line = None
        for key in keys_between(old, new):
            if key in new:
                entry.put(key, new[key])
            else:
                entry.drop(key)

    def _take_away(self, entry: Entry) -> None:
        """Take away what a compaction says, but not what it does to the entries before it."""
        target = entry.value("id")
        self._chain.add(self._new("context_edit", {"targetId": target, "replacement": None}))
        self._notes.append(_SUMMARY_GONE)

    def _point_at(self, entry: Entry, key: str) -> None:
        name = self._chain.id_at(entry.value(key))
        if name is not None:
            entry.put(key, name)

    def _keep_from(self, entry: Entry) -> None:
        """Name the first entry that a compaction keeps; what is left out gives way to the next."""
        own = entry.row or 0
        named = entry.value("firstKeptEntryId")
        row = self._session.row_of(named) if isinstance(named, str) else None
        tree = self._session.tree
        if row is None or (row != own and not tree.is_ancestor(row, own)):
            return
        for each in tree.path_to(own)[tree.depth(row) :]:
            if each in self._chain.ids:
                entry.put("firstKeptEntryId", self._chain.ids[each])
                return

    def settle(self, before: State) -> None:
        """Add what sets model, level and title to what is wanted, where they would be others."""
        found = dict(before)
        for entry in self._chain.entries:
            found = _set_by(entry, found)
        wanted = self._plan.wanted
        if any(found.get(key) != wanted.get(key) for key in ("model", "provider")):
            model, provider = text_of(wanted, "model"), text_of(wanted, "provider")
            self._chain.add(self._new("model_change", {"provider": provider, "modelId": model}))
        if found.get("thinking_level") != wanted.get("thinking_level"):
            level = text_of(wanted, "thinking_level")
            self._chain.add(self._new("thinking_level_change", {"thinkingLevel": level}))
        if found.get("title") != wanted.get("title"):
            name = "" if wanted.get("title") is None else text_of(wanted, "title")
            self._chain.add(self._new("session_info", {"name": name}))

    def label(self) -> None:
        """Add the labels of the entries that are in the fork, with the times that they had."""
        labels = {
            row: text for row, text in self._session.labels.items() if row in self._chain.ids
        }
        if not labels:
            return
        times = self._label_times()
        for row, text in labels.items():
            own = {"targetId": self._chain.ids[row], "label": text}
            entry = self._new("label", own)
            if row in times:
                entry.fields["timestamp"] = times[row]
            self._chain.add(entry)

    def _label_times(self) -> dict[int, Any]:
        session = self._session
        rows = [row for row in range(len(session)) if session.heads.kind(row) is Kind.LABEL]
        times: dict[int, Any] = {}
        for body in map(as_map, self._store.bodies(session, rows)):
            target = session.row_of(text_or_none(body.get("targetId")) or "")
            if target is not None and isinstance(body.get("timestamp"), str):
                times[target] = body["timestamp"]
        return times

    def mark(self) -> str:
        """Add the entry that says where the fork comes from, and give its id."""
        data = marker_data(self._session, self._plan)
        return self._chain.add(self._new("custom", {"customType": MARKER, "data": data}))

    def _new(self, kind: str, own: Mapping[str, Any]) -> Entry:
        fields = {"type": kind, "id": "", "parentId": None, "timestamp": self._time, **own}
        return Entry(None, fields, How.ADDED)

    def notes(self) -> tuple[str, ...]:
        """Give what is otherwise than one may expect."""
        notes = list(dict.fromkeys(self._notes))
        version = self._facts.version
        if self._chain.renamed and version < NEWEST_VERSION:
            notes.append(f"the entries, which have no ids in version {version}, are given some")
        elif self._chain.renamed:
            some = counted(self._chain.renamed, "entry", "entries")
            notes.append(f"{some} had no id, or that of another, and is given a new one")
        if self._mended:
            some = counted(self._mended, "line")
            notes.append(f"{some} that Pi does not read is written so that it does")
        return tuple(notes)


def _giving(entry: Mapping[str, Any], messages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Give an entry that, if any of its type can, gives some messages."""
    new = dict(entry)
    last = messages[-1] if messages else {}
    match entry.get("type"):
        case "message":
            new["message"] = last
        case "custom_message":
            new |= {key: last[key] for key in _OF_CUSTOM if key in last}
            for key in _OF_CUSTOM:
                if key not in last:
                    new.pop(key, None)
        case "branch_summary":
            new["summary"] = last.get("summary")
        case "compaction":
            new |= {key: last[key] for key in ("summary", "tokensBefore") if key in last}
            new.pop("systemMessage", None)
            if len(messages) > 1:
                new["systemMessage"] = messages[0]
        case _:
            pass
    return new


_OF_CUSTOM = ("customType", "content", "display", "details")


def _set_by(entry: Entry, found: dict[str, Any]) -> dict[str, Any]:
    """Give the settings after an entry."""
    match entry.value("type"):
        case "model_change":
            return {**found, "model": entry.value("modelId"), "provider": entry.value("provider")}
        case "thinking_level_change":
            return {**found, "thinking_level": entry.value("thinkingLevel")}
        case "session_info":
            return {**found, "title": title({"name": entry.value("name")})}
        case "message":
            message = as_map(entry.value("message"))
            if message.get("role") == "assistant":
                return {
                    **found,
                    "model": message.get("model"),
                    "provider": message.get("provider"),
                }
        case _:
            pass
    return found


def text_of(wanted: State, key: str) -> str:
    """Give what is wanted as a text. Raises UnsupportedError where it is none."""
    value = wanted.get(key)
    if not isinstance(value, str):
        raise UnsupportedError(
            f"Pi has no entry that could take {key} away", f"set it to a text: {key}='\"...\"'"
        )
    return value
