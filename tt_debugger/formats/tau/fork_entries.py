"""The entries of a fork of Tau: those of a path as they are, and what is added.

Tau refuses a whole file for one entry that it does not know, so what is written anew is held to
what it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.fork.transcripts import Added, Kept, Left, Part, Rewritten
from tt_debugger.core.fork.writes import How
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.fork_files import Holds
from tt_debugger.formats.shared.fork_origin import MARKER
from tt_debugger.formats.shared.fork_paths import marker_data, message_from, refused_lines
from tt_debugger.formats.shared.forked_entries import Chain, Entry, kept_entries
from tt_debugger.formats.tau.entries import migrated, refusal
from tt_debugger.formats.tau.replay import message_of, summary_in

SETTABLE = ("model", "provider", "thinking_level", "title", "cwd")
"""Keys of a state, beside its messages, that an entry can set."""
_NOT_COPIED = ("label", "leaf")
_NOTHING = (Kind.CUSTOM, Kind.LABEL, Kind.UNREADABLE)
"""Kinds of entries that give nothing to a state, unless they give a message."""
_OF_CUSTOM = ("content", "display", "details")


class ForkEntries:
    """The entries of a fork so far, and what is to be said of it."""

    def __init__(self, store: Holds, session: Session, plan: Plan, chain: Chain) -> None:
        self._store, self._session, self._plan, self._chain = store, session, plan, chain
        self._refused = refused_lines(session)
        self._notes: list[str] = []
        self._created: Any = None

    def add_all(self, parts: Sequence[Part]) -> None:
        """Add what the parts say, in their order."""
        rows = [each.row for each in parts if not isinstance(each, Added)]
        entries = kept_entries(self._store, self._session, rows, has_nan=True)
        for part in parts:
            if isinstance(part, Added):
                self._chain.add(self._of_message(message_from(part.message, "Tau")))
                continue
            entry = next(entries)
            if self._is_left_out(entry, part):
                continue
            if isinstance(part, Rewritten):
                self._rewrite(entry, part.messages[0])
            self._point(entry)
            self._chain.add(entry)
            self._created = entry.value("created_at") or self._created

    def _is_left_out(self, entry: Entry, part: Part) -> bool:
        """Tell whether an entry of the path has no place in the fork."""
        kind = entry.value("type")
        if kind == "compaction" and isinstance(part, Left):
            raise UnsupportedError(
                "the summary of a compaction cannot be taken away: all that it stands for returns",
                "let it say something else, or fork from before it",
            )
        if isinstance(part, Left) or (self._chain.is_copy and kind in _NOT_COPIED):
            return True
        if kind == "label" and self._chain.id_at(entry.value("target_id")) is None:
            return True
        return isinstance(part, Kept) and self._is_refused(part.row)

    def _is_refused(self, row: int) -> bool:
        """Tell whether an entry is left out, as Tau would refuse the whole session for it."""
        line = self._session.heads.line(row)
        if line not in self._refused:
            return False
        (body,) = self._store.bodies(self._session, (row,))
        reason = refusal(migrated(as_map(body)))
        if reason is None:
            return False
        if (
            message_of(migrated(as_map(body))) is None
            and self._session.heads.kind(row) in _NOTHING
        ):
            self._notes.append(f"line {line} is left out, as Tau refuses it: {reason}")
            return True
        self._notes.append(f"Tau will refuse the fork, as it does the original: {reason}")
        return False

    def _point(self, entry: Entry) -> None:
        """Let an entry name the others by the ids that they have in the fork."""
        for key in ("target_id", "branch_root_id"):
            name = self._chain.id_at(entry.value(key))
            if name is not None:
                entry.put(key, name)
        replaced = entry.value("replaces_entry_ids")
        if isinstance(replaced, list):
            names = [self._chain.id_at(each) or each for each in as_list(replaced)]
            entry.put("replaces_entry_ids", names)
        elif entry.value("type") == "compaction":
            self._keep_from(entry)

    def _keep_from(self, entry: Entry) -> None:
        """Name the first entry that a compaction keeps; what is left out gives way to the next."""
        own, named = entry.row or 0, entry.value("first_kept_entry_id")
        row = self._session.row_of(named) if isinstance(named, str) else None
        tree = self._session.tree
        if row is None or row == own or not tree.is_ancestor(row, own):
            return
        rest = tree.path_to(own)[tree.depth(row) - tree.depth(own) - 1 :]
        kept = next((self._chain.ids[each] for each in rest if each in self._chain.ids), None)
        if kept is None:
            entry.drop("first_kept_entry_id")
        else:
            entry.put("first_kept_entry_id", kept)

    def _rewrite(self, entry: Entry, edited: Any) -> None:
        """Let an entry give another message. Raises UnsupportedError where it cannot."""
        message = message_from(edited, "Tau")
        (body,) = self._store.bodies(self._session, (entry.row or 0,))
        old = migrated(as_map(body))
        if old.get("type") == "message" and message["role"] != "custom":
            new = {**old, "message": message}
        elif old.get("type") in {"message", "custom_message"}:
            new = {key: each for key, each in old.items() if key not in _OF_A_MESSAGE}
            new |= _custom(message)
        else:
            summary = summary_in(message.get("content"), old["type"])
            new = old if summary is None else {**old, "summary": summary}
        self._check(new, message)
        entry.how, entry.line, entry.fields = How.CHANGED, None, new

    def _of_message(self, message: dict[str, Any]) -> Entry:
        """Give an entry that adds a message. Raises UsageError where Tau would refuse it."""
        is_custom = message["role"] == "custom"
        entry = self._new("message", {"message": message})
        if is_custom:
            entry = self._new("custom_message", {})
            entry.fields |= _custom(message)
        self._check(entry.fields, message)
        return entry

    def _check(self, entry: dict[str, Any], message: dict[str, Any]) -> None:
        reason = refusal(entry)
        if reason is not None:
            raise UsageError(f"Tau would refuse the session: {reason}")
        if not is_same(message_of(migrated(entry)), message):
            raise UnsupportedError(
                f"an entry of the type {entry.get('type')} cannot say that",
                "its text can be another, but not what kind of message it is",
            )

    def settle(self, before: State) -> None:
        """Add what sets model, level, title and cwd as they are wanted, where they are others."""
        found = {key: before.get(key) for key in SETTABLE}
        for entry in self._chain.entries:
            found |= _set_by(entry)
        wanted = {key: self._plan.wanted.get(key) for key in SETTABLE}
        if any(found[key] != wanted[key] for key in ("model", "provider")):
            own = {"model": _text(wanted, "model")}
            if found["provider"] != wanted["provider"]:
                own["provider"] = _text(wanted, "provider")
            self._chain.add(self._new("model_change", own))
        if found["thinking_level"] != wanted["thinking_level"]:
            self._chain.add(self._new("thinking_level_change", _texts(wanted, "thinking_level")))
        if any(found[key] != wanted[key] for key in ("title", "cwd")):
            created = {"created_at": self._created or self._plan.time}
            self._chain.add(self._new("session_info", created | _texts(wanted, "cwd", "title")))

    def label(self) -> None:
        """Let the entries of the fork have the labels that they have in the original."""
        labels = {
            self._chain.ids[row]: text
            for row, text in self._session.labels.items()
            if row in self._chain.ids
        }
        found: dict[Any, Any] = {}
        for entry in self._chain.entries:
            if entry.value("type") == "label":
                found[entry.value("target_id")] = (entry.value("label") or "").strip()
        for name in {**found, **labels}:
            if found.get(name, "") != labels.get(name, ""):
                own = {"target_id": name, **_texts({"label": labels.get(name)}, "label")}
                self._chain.add(self._new("label", own))

    def mark(self) -> str:
        """Add the entry that says where the fork comes from, and give its id."""
        data = marker_data(self._session, self._plan)
        return self._chain.add(self._new("custom", {"namespace": MARKER, "data": data}))

    def _new(self, kind: str, own: Mapping[str, Any]) -> Entry:
        fields = {"id": "", "parent_id": None, "timestamp": self._plan.time, "type": kind, **own}
        return Entry(None, fields, How.ADDED)

    def notes(self) -> tuple[str, ...]:
        """Give what is otherwise than one may expect."""
        notes = list(self._notes)
        if self._chain.renamed:
            some = counted(self._chain.renamed, "entry", "entries")
            notes.append(f"{some} had no id, or that of another, and is given a new one")
        return tuple(notes)


_OF_A_MESSAGE = ("type", "message", "custom_type", *_OF_CUSTOM)


def _custom(message: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an entry has of a message of the role custom."""
    own = {"type": "custom_message", "custom_type": message.get("customType")}
    own |= {key: message[key] for key in _OF_CUSTOM if key in message}
    time = message.get("timestamp")
    return own | ({"timestamp": time / 1000} if isinstance(time, int) else {})


def _set_by(entry: Entry) -> dict[str, Any]:
    """Give the settings that an entry changes."""
    match entry.value("type"):
        case "model_change":
            provider = entry.value("provider")
            own = {"model": entry.value("model")}
            return own if provider is None else {**own, "provider": provider}
        case "thinking_level_change":
            return {"thinking_level": entry.value("thinking_level")}
        case "session_info":
            return {key: entry.value(key) for key in ("title", "cwd")}
        case _:
            return {}


def _text(wanted: Mapping[str, Any], key: str) -> str:
    value = wanted[key]
    if not isinstance(value, str):
        raise UnsupportedError(
            f"Tau has no entry that could take {key} away", f"set it to a text: {key}='\"...\"'"
        )
    return value


def _texts(wanted: Mapping[str, Any], *keys: str) -> dict[str, str]:
    """Give those that are there; Tau never writes null."""
    return {key: _text(wanted, key) for key in keys if wanted[key] is not None}
