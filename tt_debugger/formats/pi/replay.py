"""Replaying Pi: the context at an entry follows Pi's `buildSessionContext`.

* The settings are those of the whole path; an assistant message sets the model too.
* Of several compactions the last one rules: its summary, then what it keeps, then what follows;
  what an earlier compaction dropped comes back where a later one keeps from before it.
* The last `context_edit` of a target that is still in the context replaces or removes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Splice, State
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import BATCH, Bodies, Body, Replay, Resumed, Step
from tt_debugger.formats.pi.reading import (
    NEWEST_VERSION,
    PiSession,
    first_kept,
    milliseconds,
    usage_in,
)
from tt_debugger.formats.pi.resume import sent
from tt_debugger.formats.shared.context import (
    MESSAGES,
    Item,
    Spine,
    kept_row,
    splice_between,
    used,
)


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it."""

    context: Spine | None = None
    length: int = 0
    edits: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    model: Any = None
    provider: Any = None
    title: str | None = None
    usage: Usage | None = None


class PiRules:
    """How Pi replays; with `uncompacted`, nothing that was ever said is left out."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first entry."""
        state: dict[str, Any] = {
            "messages": [],
            "model": None,
            "provider": None,
            "thinking_level": "off",
            "title": None,
            "cwd": session.cwd,
            "usage": None,
        }
        return state, Memo()

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one entry changes."""
        entry = as_map(body)
        own: Memo = memo
        changes: list[Change] = []
        match entry.get("type"):
            case "compaction" if not self._uncompacted:
                changes, own = _compacted(session, row, entry, own, bodies)
            case "context_edit" if not self._uncompacted:
                changes, own = _edited(session, entry, own, bodies)
            case "model_change":
                model, provider = entry.get("modelId"), entry.get("provider")
                changes = [Put(("provider",), provider), Put(("model",), model)]
                own = msgspec.structs.replace(own, model=model, provider=provider)
            case "thinking_level_change":
                changes = [Put(("thinking_level",), entry.get("thinkingLevel"))]
            case _:
                changes, own = _appended(session, row, entry, own)
                changes, own = _with_model(entry, own, changes)
        changes, own = _with_title(session, row, entry, changes, own)
        usage, spent = used(own.usage, usage_in(entry))
        return Step((*changes, *spent), msgspec.structs.replace(own, usage=usage))

    def recent(self, session: Session, row: int, count: int, bodies: Bodies) -> list[Any] | None:
        """Give the last messages of the context at a row, going up from it.

        An edit may stand before what it edits, so where there are any the whole path is asked.
        """
        facts: PiSession = session.own
        if facts.has_edits and not self._uncompacted:
            return None
        found: list[Any] = []
        path = session.tree.ancestors(row)
        while len(found) < count and (rows := list(islice(path, BATCH))):
            for each, body in zip(rows, bodies(rows), strict=True):
                entry = as_map(body)
                if entry.get("type") == "compaction" and not self._uncompacted:
                    return self._recent_of_compacted(session, each, found, count, bodies)
                found += reversed(messages_of(session, entry))
        return found[:count][::-1]

    def _recent_of_compacted(
        self, session: Session, row: int, after: list[Any], count: int, bodies: Bodies
    ) -> list[Any]:
        """Give the last messages where those after a compaction, last one first, are too few."""
        (entry,) = map(as_map, bodies((row,)))
        kept = _kept_rows(session, row, entry)[::-1]
        found = list(after)
        for begin in range(0, len(kept), BATCH):
            if len(found) >= count:
                break
            for body in map(as_map, bodies(kept[begin : begin + BATCH])):
                if body.get("type") != "compaction" and not _is_system(body):
                    found += reversed(messages_of(session, body))
        found += reversed(messages_of(session, entry))
        return found[:count][::-1]

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give what Pi would send, from the context to the provider-neutral messages."""
        state = replay.state(row)
        messages, repairs = sent(state)
        return Resumed({**state, "messages": messages}, tuple(repairs))


def _compacted(
    session: Session, row: int, entry: dict[str, Any], memo: Memo, bodies: Bodies
) -> tuple[list[Change], Memo]:
    """Replace the context by the summary and what the compaction keeps."""
    kept = _kept_rows(session, row, entry)
    edits: dict[str, Any] = {}
    candidates: list[tuple[int, dict[str, Any]]] = []
    for each, body in zip(kept, map(as_map, bodies(kept)), strict=True):
        if body.get("type") == "context_edit" and isinstance(body.get("targetId"), str):
            edits[body["targetId"]] = body.get("replacement")
        elif body.get("type") != "compaction" and not _is_system(body):
            candidates.append((each, body))
    items: list[Item] = []
    given: dict[int, list[Any]] = {}
    for each, body in [(row, entry), *candidates]:
        edit = edits.get(session.ids[each], msgspec.UNSET)
        plain = messages_of(session, body)
        if plain:
            messages = _edit(plain, edit)
            items.append(Item(each, len(messages), edit))
            given[each] = messages
    change = splice_between(Spine.items(memo.context), items, lambda item: given[item.row])
    length = sum(item.count for item in items)
    context = Spine.of(items)
    return [change], msgspec.structs.replace(memo, context=context, length=length, edits=edits)


def _kept_rows(session: Session, row: int, entry: Mapping[str, Any]) -> list[int]:
    """Give the rows on the path before a compaction from its first kept entry on."""
    kept = kept_row(session, row, first_kept(session, entry))
    if kept is None:
        return []
    rows: list[int] = []
    for ancestor in session.tree.ancestors(session.parents[row]):
        rows.append(ancestor)
        if ancestor == kept:
            break
    return rows[::-1]


def _is_system(entry: Mapping[str, Any]) -> bool:
    return entry.get("type") == "message" and as_map(entry.get("message")).get("role") == "system"


def messages_of(session: Session, entry: dict[str, Any]) -> list[Any]:
    """Give the messages that an entry adds to the context, before any edit."""
    match entry.get("type"):
        case "message":
            message = entry.get("message")
            return [_migrated(session, as_map(message))] if isinstance(message, dict) else []
        case "custom_message":
            return [_custom_message(entry)]
        case "branch_summary" if entry.get("summary"):
            summary = {"role": "branchSummary", "summary": entry["summary"]}
            return [_stamped(_with(summary, entry, "fromId"), entry)]
        case "compaction":
            summary = {"role": "compactionSummary"}
            message = _stamped(
                _with(_with(summary, entry, "summary"), entry, "tokensBefore"), entry
            )
            system = entry.get("systemMessage")
            return [system, message] if system else [message]
        case _:
            return []


def _migrated(session: Session, message: dict[str, Any]) -> dict[str, Any]:
    facts: PiSession = session.own
    role = message.get("role")
    if role == "hookMessage" and facts.version < NEWEST_VERSION:
        return {**message, "role": "custom"}
    if message.get("content") is None and role in ("user", "assistant", "toolResult"):
        return {**message, "content": []}
    if message.get("content") is None and role == "system":
        return {**message, "content": ""}
    return message


def _custom_message(entry: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "custom"}
    for key in ("customType", "content", "display", "details"):
        message = _with(message, entry, key)
    if message.get("content") is None:
        message["content"] = []
    return _stamped(message, entry)


def _with(message: dict[str, Any], entry: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {**message, key: entry[key]} if key in entry else message


def _stamped(message: dict[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    return {**message, "timestamp": milliseconds(entry.get("timestamp"))}


def _edit(messages: list[Any], edit: Any) -> list[Any]:
    """Apply the last `context_edit` of an entry to the messages it gives."""
    if edit is msgspec.UNSET:
        return messages
    if edit is None:
        return []
    if not isinstance(edit, dict):
        return messages
    return [_with_content(message, as_map(edit).get("content")) for message in messages]


def _with_content(message: Any, content: Any) -> Any:
    if not isinstance(message, dict):
        return message
    role = as_map(message).get("role")
    if role not in ("user", "assistant", "toolResult", "custom"):
        return as_map(message)
    if isinstance(content, str) and role in ("assistant", "toolResult"):
        content = [{"type": "text", "text": content}]
    return {**as_map(message), "content": content}


def _appended(
    session: Session, row: int, entry: dict[str, Any], memo: Memo
) -> tuple[list[Change], Memo]:
    """Add the messages of an entry at the end of the context."""
    plain = messages_of(session, entry)
    if not plain:
        return [], memo
    edit = memo.edits.get(session.ids[row], msgspec.UNSET)
    messages = _edit(plain, edit)
    item = Item(row, len(messages), edit)
    memo = msgspec.structs.replace(
        memo, context=Spine.added(memo.context, item), length=memo.length + len(messages)
    )
    return [Append(MESSAGES, message) for message in messages], memo


def _with_model(
    entry: Mapping[str, Any], memo: Memo, changes: list[Change]
) -> tuple[list[Change], Memo]:
    """Set the model from an assistant message, where it is another than before."""
    message = as_map(entry.get("message"))
    if entry.get("type") != "message" or message.get("role") != "assistant":
        return changes, memo
    model, provider = message.get("model"), message.get("provider")
    if provider != memo.provider:
        changes = [*changes, Put(("provider",), provider)]
    if model != memo.model:
        changes = [*changes, Put(("model",), model)]
    return changes, msgspec.structs.replace(memo, model=model, provider=provider)


def _edited(
    session: Session, entry: Mapping[str, Any], memo: Memo, bodies: Bodies
) -> tuple[list[Change], Memo]:
    """Replace or remove what an earlier entry gives."""
    target = entry.get("targetId")
    if not isinstance(target, str):
        return [], memo
    edit = entry.get("replacement")
    memo = msgspec.structs.replace(memo, edits={**memo.edits, target: edit})
    after: list[Item] = []
    rest, place = memo.context, memo.length
    while rest is not None:
        item: Item = rest.item
        place -= item.count
        if session.ids[item.row] == target:
            break
        after.append(item)
        rest = rest.before
    if rest is None:
        return [], memo
    messages = _edit(messages_of(session, as_map(bodies((rest.item.row,))[0])), edit)
    old = rest.item.count
    spine = Spine.added(rest.before, Item(rest.item.row, len(messages), edit))
    for item in reversed(after):
        spine = Spine.added(spine, item)
    memo = msgspec.structs.replace(memo, context=spine, length=memo.length - old + len(messages))
    if old == len(messages) == 1:
        return [Put(("messages", place), messages[0])], memo
    return [Splice(MESSAGES, place, old, tuple(messages))], memo


def _with_title(
    session: Session, row: int, entry: Mapping[str, Any], changes: list[Change], memo: Memo
) -> tuple[list[Change], Memo]:
    """Set the title where it is another than at the parent.

    Pi takes the latest name in the file, whatever branch it stands on.
    """
    facts: PiSession = session.own
    title = facts.title_at(row)
    if title == memo.title and entry.get("type") != "session_info":
        return changes, memo
    return [*changes, Put(("title",), title)], msgspec.structs.replace(memo, title=title)
