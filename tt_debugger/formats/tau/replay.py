"""Replaying Tau: rows of messages along a path, as its `SessionState.from_entries` keeps them.

Unlike Pi, a compaction drops for good what it does not keep; the summary of an earlier one stays
where it is kept, and the kept rows come in path order.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Spine, Step
from tt_debugger.formats.shared.context import MESSAGES, Item, splice_between
from tt_debugger.formats.tau.entries import migrated
from tt_debugger.formats.tau.resume import sent

_BRANCH_PREAMBLE = (
    "The following is a summary of a branch that this conversation came back from:\n<summary>\n"
)
_COMPACTION_PREAMBLE = "Previous conversation summary:\n"


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it: which rows are in the context."""

    context: Spine | None = None
    usage: Usage | None = None


class TauRules:
    """How Tau replays; with `uncompacted`, nothing that was ever said is left out."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:  # noqa: ARG002 - Tau has no header
        """Give the state before the first entry."""
        state: dict[str, Any] = {"messages": []}
        state |= dict.fromkeys(("model", "provider", "thinking_level", "title", "cwd", "usage"))
        return state, Memo()

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one entry changes."""
        entry = migrated(as_map(body))
        own: Memo = memo
        changes: list[Change] = []
        findings: tuple[Finding, ...] = ()
        match entry.get("type"):
            case "compaction" if not self._uncompacted:
                changes, own, findings = _compacted(session, row, entry, own, bodies)
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
        usage = session.heads.usage(row)
        if usage is not None:
            total = usage if own.usage is None else own.usage + usage
            changes.append(Put(("usage",), msgspec.structs.asdict(total)))
            own = msgspec.structs.replace(own, usage=total)
        return Step(tuple(changes), own, findings)

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
                "content": f"{_BRANCH_PREAMBLE}{entry.get('summary')}\n</summary>",
            }
        case "compaction":
            return {"role": "user", "content": f"{_COMPACTION_PREAMBLE}{entry.get('summary')}"}
        case _:
            return None


def _custom_message(entry: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "custom", "customType": entry.get("custom_type")}
    message |= {key: entry[key] for key in ("content", "display", "details") if key in entry}
    time = entry.get("timestamp")
    if isinstance(time, (int, float)):
        message["timestamp"] = round(time * 1000)
    return message


def _compacted(
    session: Session, row: int, entry: Mapping[str, Any], memo: Memo, bodies: Bodies
) -> tuple[list[Change], Memo, tuple[Finding, ...]]:
    """Put the summary in the place of what the compaction does not keep."""
    old: list[Item] = Spine.items(memo.context)
    findings: tuple[Finding, ...] = ()
    if "replaces_entry_ids" in entry:
        new = _without(session, old, entry["replaces_entry_ids"], row)
    else:
        first = entry.get("first_kept_entry_id")
        depth = _depth_on_path(session, row, first)
        if depth is None and first is not None:
            findings = (_kept_entry_missing(session, row, first),)
        new = [Item(row), *_from_depth(session, old, depth)]
    change = splice_between(old, new, lambda item: _messages(entry, row, item, bodies))
    return [change], msgspec.structs.replace(memo, context=Spine.of(new)), findings


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


def _from_depth(session: Session, old: list[Item], depth: int | None) -> list[Item]:
    if depth is None:
        return []
    kept = [item for item in old if session.tree.depth(item.row) >= depth]
    return sorted(kept, key=lambda item: session.tree.depth(item.row))


def _depth_on_path(session: Session, row: int, name: Any) -> int | None:
    """Give the place on the path before a row of the entry with this id."""
    kept = session.rows.get(name) if isinstance(name, str) else None
    if kept is None or kept == row or not session.tree.is_ancestor(kept, row):
        return None
    return session.tree.depth(kept)


def _kept_entry_missing(session: Session, row: int, first: Any) -> Finding:
    head = session.heads[row]
    return finding(
        Code.KEPT_ENTRY_MISSING,
        f"the compaction keeps from {first!r:.60}, which is not before it on the path",
        hint="Tau keeps nothing but the summary",
        line=head.line,
        offset=head.offset,
        checkpoint=session.ids[row],
    )
