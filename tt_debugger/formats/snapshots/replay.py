"""How states replay: each is the document itself, and what it did is what differs from before."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.between import changes_between
from tt_debugger.core.changes import State
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW


class SnapshotRules:
    """The changes between a state and the one that it hangs on."""

    def start(self, session: Session) -> tuple[State, None]:
        """Give the empty state."""
        return {}, None

    def state_of(self, body: Body) -> State:
        """Give the document that was saved."""
        return as_map(body)

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what differs from the parent's state; at a root, all of the state."""
        parent = session.parents[row]
        before = {} if parent == NO_ROW else as_map(bodies([parent])[0])
        return Step(changes_between(before, as_map(body)), memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: an agent loads what it saved."""
        return Resumed(replay.state(row))
