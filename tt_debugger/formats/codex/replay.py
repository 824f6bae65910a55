"""Replaying Codex: the history at a checkpoint is what Codex rebuilds from the rollout up to it.

* Each item that a model is sent is added at the end, as it stands.
* A compaction puts a history of its own in the place of all before it; without one it leaves what
  the user asked, and its summary.
* A rollback changes nothing by itself: it hangs on what stood before the turns it takes back. So
  a compaction among them counts no more.
* A rollout that goes on from another one starts with the state of that.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Snapshot, State
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import BATCH, Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.codex.heads import EFFORT, MODEL, plan_in, settings_in
from tt_debugger.formats.codex.reading import CodexSession
from tt_debugger.formats.codex.records import (
    COMPACTED,
    GHOST,
    compacts,
    entry_of,
    is_prompt,
    message_in,
    name_in,
    replacement_in,
    summary_message,
)
from tt_debugger.formats.codex.resume import sent
from tt_debugger.formats.shared.context import MESSAGES, Item, Spine, splice_between, used

_PLACES = {MODEL: ("model",), EFFORT: ("thinking_level",), "cwd": ("cwd",)}
"""Where in the state a setting stands; the others stand under `settings`."""


class Said(Item, frozen=True, gc=False):
    """An item of the context: its row, or NO_ROW for one from before the file.

    `place` counts within the row, or within what was there before; `is_prompt` tells what a user
    asked.
    """

    place: int = 0
    is_prompt: bool = False


class Memo(msgspec.Struct, frozen=True):
    """What a step needs to know of the path before it."""

    context: Spine | None = None
    settings: Mapping[str, Any] = msgspec.field(default_factory=dict[str, Any])
    usage: Usage | None = None
    inherited: Sequence[Any] = ()
    """The messages from before the file."""


Before = Callable[[int], tuple[State, Memo]]
"""Gives what stood before the first record of a rollout, or so many turns before that."""


class CodexRules:
    """How Codex replays; with `uncompacted`, nothing that was ever said is left out."""

    def __init__(self, before: Before | None = None, *, uncompacted: bool = False) -> None:
        self._before = before
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Memo]:
        """Give the state before the first record."""
        return self._start(session, 0)

    def _start(self, session: Session, turns: int) -> tuple[State, Memo]:
        facts: CodexSession = session.own
        state: dict[str, Any] = {
            "messages": [],
            "model": None,
            "provider": facts.provider,
            "thinking_level": None,
            "title": None,
            "cwd": session.cwd,
            "usage": None,
            "settings": {},
        }
        if facts.parent_thread is not None:
            state["parent_thread"] = facts.parent_thread
        if self._before is None:
            return state, Memo()
        old, memo = self._before(turns)
        own = {key: state[key] for key in ("provider", "title", "cwd")}
        state = {**state, **old, **own}
        items: list[Said] = Spine.items(memo.context)
        said = (
            Said(NO_ROW, place=place, is_prompt=item.is_prompt) for place, item in enumerate(items)
        )
        memo = msgspec.structs.replace(memo, context=Spine.of(said), inherited=state["messages"])
        return state, memo

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what one record changes."""
        entry = entry_of(as_map(body))
        payload = entry.payload
        own: Memo = memo
        changes: list[Change] = []
        match entry.type:
            case "response_item" if payload.get("type") == GHOST:
                changes = [Put(("ghost_commit",), payload.get("ghost_commit"))]
            case "response_item":
                changes, own = _said(row, message_in(entry), own)
            case "compacted" if compacts(payload):
                changes, own = self._compacted(row, payload, own, bodies)
            case "turn_context":
                changes, own = _set(payload, own)
            case "event_msg" if payload.get("type") == "thread_name_updated":
                changes = [Put(("title",), name_in(payload))]
            case "event_msg" if row in session.own.taken_back:
                state, own = self._start(session, session.own.taken_back[row])
                changes = [Snapshot(state)]
            case _:
                pass
        usage, spent = used(own.usage, session.heads.usage(row))
        return Step((*changes, *spent), msgspec.structs.replace(own, usage=usage))

    def _compacted(
        self, row: int, payload: Mapping[str, Any], memo: Memo, bodies: Bodies
    ) -> tuple[list[Change], Memo]:
        """Put in the place of the context what a compaction leaves."""
        if self._uncompacted:
            memo = msgspec.structs.replace(memo, context=Spine.added(memo.context, Said(row)))
            return [Append(MESSAGES, _last_left(payload))], memo
        old: list[Said] = Spine.items(memo.context)
        left = replacement_in(payload)
        if left is None:
            left = [summary_message(payload)]
            kept = [item for item in old if item.is_prompt]
            new = [*kept, Said(row, is_prompt=is_prompt(left[0]))]
        else:
            new = [
                Said(row, place=place, is_prompt=is_prompt(as_map(each)))
                for place, each in enumerate(left)
            ]

        # A compaction can leave thousands of messages: what it left is made out once.
        known: dict[int, Sequence[Any]] = {NO_ROW: memo.inherited, row: left}

        def messages_of(item: Item) -> list[Any]:
            if item.row not in known:
                entry = entry_of(as_map(bodies((item.row,))[0]))
                is_one = entry.type != COMPACTED
                known[item.row] = [entry.payload] if is_one else _left_by(entry.payload)
            return [known[item.row][_place(item)]]

        change = splice_between(old, new, messages_of)
        return [change], msgspec.structs.replace(memo, context=Spine.of(new))

    def recent(self, session: Session, row: int, count: int, bodies: Bodies) -> list[Any] | None:
        """Give the last messages of the history at a row, going up from it.

        Where that leads to what a compaction left of all before, or out of the file, the whole
        path is asked.
        """
        facts: CodexSession = session.own
        found: list[Any] = []
        path = session.tree.ancestors(row)
        while len(found) < count and (rows := list(islice(path, BATCH))):
            for each, body in zip(rows, bodies(rows), strict=True):
                entry = entry_of(as_map(body))
                if each in facts.taken_back:
                    return None
                if entry.type == COMPACTED and compacts(entry.payload):
                    if self._uncompacted:
                        found.append(_last_left(entry.payload))
                        continue
                    left = replacement_in(entry.payload)
                    if left is None and len(found) < count:
                        return None
                    return [*(left or ()), *found[::-1]][-count:] if count else []
                message = message_in(entry)
                if message is not None:
                    found.append(message)
        if len(found) < count and self._before is not None:
            return None
        return found[:count][::-1]

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give what Codex would send, after the repairs it makes."""
        state, memo = replay.state(row), replay.memo(row)
        facts: CodexSession = replay.session.own
        messages: list[Any] = state["messages"]
        if facts.passed_over:
            items: list[Said] = Spine.items(memo.context)
            pairs = zip(items, messages, strict=True)
            messages = [each for item, each in pairs if item.row not in facts.passed_over]
        messages, repairs = sent(messages)
        return Resumed({**state, "messages": messages}, tuple(repairs))


def _said(row: int, message: dict[str, Any] | None, memo: Memo) -> tuple[list[Change], Memo]:
    """Add an item that a model is sent; a plan that it writes down is also the plan."""
    if message is None:
        return [], memo
    said = Said(row, is_prompt=is_prompt(message))
    memo = msgspec.structs.replace(memo, context=Spine.added(memo.context, said))
    changes: list[Change] = [Append(MESSAGES, message)]
    plan = plan_in(message)
    if plan is not None:
        changes.append(Put(("plan",), plan))
    return changes, memo


def _set(payload: Mapping[str, Any], memo: Memo) -> tuple[list[Change], Memo]:
    """Set what a turn's context has otherwise than before."""
    found = settings_in(payload)
    unset = msgspec.UNSET
    changed = {key: each for key, each in found.items() if memo.settings.get(key, unset) != each}
    changes: list[Change] = [
        Put(_PLACES.get(key, ("settings", key)), each) for key, each in changed.items()
    ]
    return changes, msgspec.structs.replace(memo, settings={**memo.settings, **changed})


def _place(item: Item) -> int:
    return item.place if isinstance(item, Said) else 0


def _left_by(payload: Mapping[str, Any]) -> list[Any]:
    """Give the messages that a compaction left: its summary alone where it says no more."""
    left = replacement_in(payload)
    return [summary_message(payload)] if left is None else left


def _last_left(payload: Mapping[str, Any]) -> Any:
    """Give the one message of a compaction that was not there before: its summary."""
    left = replacement_in(payload)
    return left[-1] if left else summary_message(payload)
