"""How threads replay: a state is recorded whole, and what a step did is what differs.

Tasks are those of the step that comes next: they have nothing to do with the ones before, so they
are taken as a whole.
"""

from __future__ import annotations

from typing import Any

from tt_debugger.core.between import changes_between, is_same
from tt_debugger.core.changes import Change, Put
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Step
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.whole_states import WholeStates

_TASKS = "tasks"


class ThreadRules(WholeStates):
    """The changes between a state and that of its parent."""

    def __init__(self) -> None:
        super().__init__(as_map)

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what differs from the parent's state; at a root, all of the state."""
        parent = session.parents[row]
        before = {} if parent == NO_ROW else as_map(bodies([parent])[0])
        after = as_map(body)
        changes: tuple[Change, ...] = changes_between(_without(before), _without(after))
        tasks = after.get(_TASKS)
        if _TASKS not in before or not is_same(before[_TASKS], tasks):
            changes += (Put((_TASKS,), tasks),)
        return Step(changes, memo)


def _without(state: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in state.items() if key != _TASKS}
