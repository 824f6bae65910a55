"""Forks of rows and keys, drafted at a fixed time with ids that repeat."""

from __future__ import annotations

from typing import Any

from builders import replay_of

from tt_debugger.core.changes import Change, fold
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.model import SessionId

NOW = 1798000000.25


def plan_of(state: Any, row: int, *edits: Change, **more: Any) -> Plan:
    """Give the plan of a fork at a row with a state."""
    known = iter(range(1, 256))
    more.setdefault("fresh", lambda count: bytes([next(known)] * count))
    wanted = fold(state, edits)
    return Plan(row=row, state=state, wanted=wanted, edits=edits, origin="there", time=NOW, **more)


def draft(store: Any, session: str, row: int, *edits: Change, **more: Any) -> Draft:
    """Give the draft of a fork of a session of a store."""
    replay = replay_of(store, store.load(SessionId(session)).session)
    return store.draft(replay, plan_of(replay.state(row), row, *edits, **more))
