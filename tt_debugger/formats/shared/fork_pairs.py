"""Calls and their results in a fork: an edit may not leave one without the other."""

from __future__ import annotations

from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import calls_in, results_in
from tt_debugger.errors import UsageError


def refuse_parted(plan: Plan) -> None:
    """Let pass only edits that part no call from its result: providers refuse such a talk.

    Raises UsageError. What was parted in the original stays so.
    """
    lost = _alone(plan.wanted) - _alone(plan.state)
    if lost:
        names = ", ".join(sorted(each for _, each in lost))
        raise UsageError(
            f"the edit parts a tool call from its result: {names:.80}",
            "change or take away both of them",
        )


def _alone(state: object) -> set[tuple[str, str]]:
    """Give the calls that have no result behind them, and the results without a call before."""
    waiting: set[str] = set()
    alone: set[tuple[str, str]] = set()
    for message in as_list(as_map(state).get("messages")):
        for result in results_in(message):
            if result.call is None:
                continue
            if result.call not in waiting:
                alone.add(("result", result.call))
            waiting.discard(result.call)
        waiting |= {each.id for each in calls_in(message) if each.id is not None}
    return alone | {("call", each) for each in waiting}
