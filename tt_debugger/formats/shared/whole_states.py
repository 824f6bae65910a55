"""Whole states: records of which each holds the state as it was, so that none needs the others.

Nothing says what changed from one to the next: that is worked out from the states.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tt_debugger.core.between import changes_between
from tt_debugger.core.changes import State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW


class WholeStates:
    """The changes between a state and the one that it hangs on; `held` gives that of a record."""

    def __init__(self, held: Callable[[Body], dict[str, Any]]) -> None:
        self._held = held

    def start(self, session: Session) -> tuple[State, None]:
        """Give the empty state."""
        return {}, None

    def state_of(self, body: Body) -> State:
        """Give the state that a record holds."""
        return self._held(body)

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what differs from the parent's state; at a root, all of the state."""
        parent = session.parents[row]
        before = {} if parent == NO_ROW else self._held(bodies([parent])[0])
        return Step(changes_between(before, self._held(body)), memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: an agent loads what it saved."""
        return Resumed(replay.state(row))
