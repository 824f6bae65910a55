"""Replaying Tau: rows of messages along a path, as its `SessionState.from_entries` keeps them.

Unlike Pi, a compaction drops for good what it does not keep; the summary of an earlier one stays
where it is kept, and the kept rows come in path order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.formats.shared.context import (
    MESSAGES,
    Item,
    Spine,
    kept_row,
    splice_between,
    used,
)
from tt_debugger.formats.shared.start import start_state
from tt_debugger.formats.tau.entries import migrated, seconds
from tt_debugger.formats.tau.resume import sent

_BRANCH_PREAMBLE = (
    "The following is a summary of a branch that this conversation came back from:\n<summary>\n"
)
_BRANCH_END = "\n</summary>"
_COMPACTION_PREAMBLE = "Previous conversation summary:\n"


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it: which rows are in the context."""

    context: Spine | None = None
    usage: Usage | None = None


class TauRules:
    """How Tau replays; with `uncompacted`, nothing that was ever said is left out."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first entry."""
        return start_state(), Memo()

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one entry changes."""
        entry = migrated(as_map(body))
        own: Memo = memo
        changes: list[Change] = []
        match entry.get("type"):
            case "compaction" if not self._uncompacted:
                changes, own = _compacted(session, row, entry, own, bodies)
            case "model_change":
                if entry.get("provider") is not None:
                    changes = [Put(("provider",), entry["provider"])]
                changes.append(Put(("model",), entry.get("model")))
            case "thinking_level_change":
                changes = [Put(("thinking_level",), entry.get("thinking_level"))]
            case "session_info":
                changes = [Put(("title",), entry.get("title")), Put(("cwd",), entry.get("cwd"))]
            case _:
                message = message_of(entry)
                if message is not None:
                    changes = [Append(MESSAGES, message)]
                    context = Spine.added(own.context, Item(row))
                    own = msgspec.structs.replace(own, context=context)
        usage, spent = used(own.usage, session.heads.usage(row))
        return Step((*changes, *spent), msgspec.structs.replace(own, usage=usage))

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give what Tau would send, after the repairs it makes when it loads the session."""
        state = replay.state(row)
        memo: Memo = replay.memo(row)
        rows = [item.row for item in Spine.items(memo.context)]
        messages, repairs = sent(replay, state["messages"], rows)
        return Resumed({**state, "messages": messages}, tuple(repairs))


def message_of(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the message that a migrated entry adds to the context, if any."""
    match entry.get("type"):
        case "message" if isinstance(entry.get("message"), dict):
            return as_map(entry["message"])
        case "custom_message":
            return _custom_message(entry)
        case "branch_summary":
            return {
                "role": "user",
                "content": f"{_BRANCH_PREAMBLE}{entry.get('summary')}{_BRANCH_END}",
            }
        case "compaction":
            return {"role": "user", "content": f"{_COMPACTION_PREAMBLE}{entry.get('summary')}"}
        case _:
            return None


def summary_in(content: object, kind: str) -> str | None:
    """Give the summary that the message of a summary tells, None where it tells none.

    `kind` is the type of the entry: what stands around the summary is told by it.
    """
    is_branch = kind == "branch_summary"
    begin, end = (_BRANCH_PREAMBLE, _BRANCH_END) if is_branch else (_COMPACTION_PREAMBLE, "")
    text = content if isinstance(content, str) else ""
    if not text.startswith(begin) or not text.endswith(end):
        return None
    return text[len(begin) : len(text) - len(end)]


def _custom_message(entry: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "custom", "customType": entry.get("custom_type")}
    message |= {key: entry[key] for key in ("content", "display", "details") if key in entry}
    time = seconds(entry.get("timestamp"))
    if time is not None:
        message["timestamp"] = round(time * 1000)
    return message


def _compacted(
    session: Session, row: int, entry: Mapping[str, Any], memo: Memo, bodies: Bodies
) -> tuple[list[Change], Memo]:
    """Put the summary in the place of what the compaction does not keep."""
    old: list[Item] = Spine.items(memo.context)
    if "replaces_entry_ids" in entry:
        new = _without(session, old, entry["replaces_entry_ids"], row)
    else:
        kept = kept_row(session, row, entry.get("first_kept_entry_id"))
        new = [Item(row), *([] if kept is None else _from_row(session, old, kept))]
    change = splice_between(old, new, lambda item: _messages(entry, row, item, bodies))
    return [change], msgspec.structs.replace(memo, context=Spine.of(new))


def _messages(entry: Mapping[str, Any], row: int, item: Item, bodies: Bodies) -> list[Any]:
    if item.row != row:
        entry = migrated(as_map(bodies((item.row,))[0]))
    return [message_of(entry)]


def _without(session: Session, old: list[Item], replaced: Any, row: int) -> list[Item]:
    """Give the context of an old compaction, which names what it replaces."""
    ids = {each for each in as_list(replaced) if isinstance(each, str)}
    places = [place for place, item in enumerate(old) if session.ids[item.row] in ids]
    if not places:
        return [*old, Item(row)]
    kept = [item for item in old if session.ids[item.row] not in ids]
    return [*kept[: places[0]], Item(row), *kept[places[0] :]]


def _from_row(session: Session, old: list[Item], first: int) -> list[Item]:
    """Give what stands in the context from a row of the path on, in the order of the path."""
    depth = session.tree.depth
    kept = [item for item in old if depth(item.row) >= depth(first)]
    return sorted(kept, key=lambda item: depth(item.row))
