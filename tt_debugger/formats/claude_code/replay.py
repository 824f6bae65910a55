"""Replaying Claude Code: the messages along a path, cut at compactions, and what else lines say.

A compaction begins the context anew; the summary follows it as a line of its own, and behind that
line stand again the messages that the compaction keeps.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Splice, State
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.formats.claude_code.files import contents_after
from tt_debugger.formats.claude_code.heads import message_of, records_of
from tt_debugger.formats.claude_code.reading import ClaudeSession
from tt_debugger.formats.claude_code.resume import sent
from tt_debugger.formats.shared.context import MESSAGES, Item, Spine, used

SYNTHETIC = "<synthetic>"
"""The model of messages that the agent made up itself."""
_SETTINGS = ("model", "thinking_level", "title", "cwd", "git_branch", "permission_mode", "plan")


class Kept(msgspec.Struct, frozen=True):
    """What a compaction keeps: the messages from one line to another, behind a third."""

    first: str | None
    last: str | None
    anchor: str | None
    before: Spine | None


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it."""

    context: Spine | None = None
    usage: Usage | None = None
    kept: Kept | None = None
    is_cut: bool = False
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    files: Mapping[str, str | None] = msgspec.field(default_factory=dict[str, str | None])


class ClaudeRules:
    """How Claude Code replays; with `uncompacted`, nothing that was ever said is left out."""

    def __init__(self, *, uncompacted: bool = False) -> None:
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first line."""
        state: dict[str, Any] = {"messages": []}
        state |= dict.fromkeys((*_SETTINGS[:2], "provider", *_SETTINGS[2:], "todos", "usage"))
        return {**state, "files": {}}, Memo()

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one checkpoint changes."""
        records = records_of(body)
        record = records[0]
        own: Memo = memo
        changes: list[Change] = []
        is_boundary = record.get("subtype") == "compact_boundary"
        if record.get("type") == "system" and is_boundary and not self._uncompacted:
            changes, own = _cut(record, own)
        elif record.get("type") in ("user", "assistant"):
            message = message_of(records)
            if message is not None:
                changes, own = _said(session, row, message, record, own, bodies)
        told, own = _told(session, row, records, own)
        usage, spent = used(own.usage, session.heads.usage(row))
        return Step(
            (*changes, *told, *spent),
            msgspec.structs.replace(own, usage=usage),
        )

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give what the newest Claude Code would send, beyond links that it heals."""
        state = replay.state(row)
        messages, repairs = sent(_loaded(replay, row))
        return Resumed({**state, "messages": messages}, tuple(repairs))


def _loaded(replay: Replay, row: int) -> list[Any]:
    """Give the messages of the path to a row, and of what Claude Code hangs its root on."""
    facts: ClaudeSession = replay.session.own
    messages: list[Any] = list(replay.state(row)["messages"])
    while not replay.memo(row).is_cut:
        root = replay.session.tree.root_of(row)
        if root not in facts.healed:
            break
        row = facts.healed[root]
        messages = [*replay.state(row)["messages"], *messages]
    return messages


def _cut(record: Mapping[str, Any], memo: Memo) -> tuple[list[Change], Memo]:
    """Begin the context anew, and keep in mind what will stand in it again."""
    segment = as_map(as_map(record.get("compactMetadata")).get("preservedSegment"))
    first, last, anchor = (
        text_or_none(segment.get(f"{end}Uuid")) for end in ("head", "tail", "anchor")
    )
    kept = Kept(first, last, anchor, memo.context) if segment else None
    count = sum(item.count for item in Spine.items(memo.context))
    changes: list[Change] = [Splice(MESSAGES, 0, count, ())] if count else []
    return changes, msgspec.structs.replace(memo, context=None, kept=kept, is_cut=True)


def _said(
    session: Session,
    row: int,
    message: dict[str, Any],
    record: Mapping[str, Any],
    memo: Memo,
    bodies: Bodies,
) -> tuple[list[Change], Memo]:
    """Add a message, and behind a summary those that the compaction kept."""
    items, kept = [Item(row)], memo.kept
    changes: list[Change] = [Append(MESSAGES, message)]
    if kept is not None and kept.anchor in (None, record.get("uuid")):
        again = _kept_items(session, kept)
        items += again
        rows = [item.row for item in again]
        found = [message_of(records_of(each)) for each in bodies(rows)] if rows else []
        changes += [Append(MESSAGES, each) for each in found if each is not None]
        kept = None
    context = memo.context
    for item in items:
        context = Spine.added(context, item)
    return changes, msgspec.structs.replace(memo, context=context, kept=kept)


def _kept_items(session: Session, kept: Kept) -> list[Item]:
    """Give what stood in the context from one line to another; nothing where either is gone."""
    ends = [None if name is None else session.row_of(name) for name in (kept.first, kept.last)]
    before: list[Item] = Spine.items(kept.before)
    places = {item.row: place for place, item in enumerate(before)}
    first, last = (None if each is None else places.get(each) for each in ends)
    return [] if first is None or last is None else before[first : last + 1]


def _told(
    session: Session, row: int, records: Sequence[dict[str, Any]], memo: Memo
) -> tuple[list[Change], Memo]:
    """Give what lines say beside their message: settings, tasks and files."""
    facts: ClaudeSession = session.own
    record = records[-1]
    outcome = as_map(record.get("toolUseResult"))
    now: dict[str, Any] = {
        "model": _model(record),
        "thinking_level": _thinking_level(record),
        "title": facts.title_at(row),
        "cwd": text_or_none(record.get("cwd")),
        "git_branch": text_or_none(record.get("gitBranch")),
        "permission_mode": text_or_none(record.get("permissionMode")),
        "plan": next((plan for each in records if (plan := _plan(each)) is not None), None),
    }
    fresh: dict[str, Any] = {
        key: value
        for key, value in now.items()
        if value is not None and memo.settings.get(key) != value
    }
    changes: list[Change] = [Put((key,), value) for key, value in fresh.items()]
    todos = outcome.get("newTodos", record.get("todos"))
    if isinstance(todos, list) and todos != memo.settings.get("todos"):
        changes.append(Put(("todos",), todos))
        fresh["todos"] = todos
    files = memo.files
    for path, content in contents_after(outcome, files):
        changes.append(Put(("files", path), content))
        files = {**files, path: content}
    if fresh:
        memo = msgspec.structs.replace(memo, settings={**memo.settings, **fresh})
    if files is not memo.files:
        memo = msgspec.structs.replace(memo, files=files)
    return changes, memo


def _model(record: Mapping[str, Any]) -> str | None:
    model = text_or_none(as_map(record.get("message")).get("model"))
    return None if model == SYNTHETIC else model


def _thinking_level(record: Mapping[str, Any]) -> str | None:
    level = as_map(record.get("thinkingMetadata")).get("level")
    return text_or_none(level) or text_or_none(record.get("effort"))


def _plan(record: Mapping[str, Any]) -> str | None:
    """Give the plan that a call hands over, None where there is none."""
    for block in map(as_map, as_list(as_map(record.get("message")).get("content"))):
        if block.get("type") == "tool_use" and block.get("name") == "ExitPlanMode":
            return text_or_none(as_map(block.get("input")).get("plan"))
    return None
