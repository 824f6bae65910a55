"""Safe cuts: a fork never parts a tool call from its result.

An agent that loads an open call repairs it, drops it or is refused by its provider. So where a
point lies between a call and its result, the cut moves down to where the last result is, or, if
there is none, up to before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.inspection import FARTHEST, MessagesAt
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import calls_in, read_message, results_in
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import UsageError

MessagesOf = Callable[[int], Sequence[Any]]
"""A lookup of the messages of the state at a row."""


def open_calls(messages: Sequence[Any]) -> set[str | None]:
    """Give the ids of the calls since the user last spoke that have no result yet."""
    answered: set[str | None] = set()
    asked: set[str | None] = set()
    for message in reversed(messages):
        results = results_in(message)
        if not results and read_message(message).role == "user":
            break
        answered |= {each.call for each in results}
        asked |= {each.id for each in calls_in(message)}
    return asked - answered


def safe_row(session: Session, row: int, messages_of: MessagesOf, messages_at: MessagesAt) -> int:
    """Give the row itself, or the nearest one at which no call lacks its result.

    Raises UsageError where there is none on the path.
    """
    waiting = open_calls(messages_of(row))
    if not waiting:
        return row
    below = _row_of_last_result(session, row, waiting, messages_at)
    if below is not None:
        return below
    for above in session.tree.ancestors(session.parents[row]):
        if not open_calls(messages_of(above)):
            return above
    raise UsageError(
        "every checkpoint on the path has a tool call without its result",
        "an agent cannot go on from any of them",
    )


def refuse_parted(plan: Plan) -> None:
    """Let pass only edits that part no call from its result: providers refuse such a talk.

    Raises UsageError. What was parted in the original stays so.
    """
    if plan.wanted is plan.state:
        # A talk that is not edited need not be read.
        return
    if "messages" in plan.state and "messages" not in plan.wanted:
        raise UsageError(
            "messages cannot be taken away as a whole", "take away the ones that are to go"
        )
    lost = _alone(plan.wanted) - _alone(plan.state)
    if lost:
        names = ", ".join(sorted(each for _, each in lost))
        raise UsageError(
            f"the edit parts a tool call from its result: {names:.80}",
            "change or take away both of them",
        )


def _row_of_last_result(
    session: Session, row: int, waiting: set[str | None], messages_at: MessagesAt
) -> int | None:
    """Give the row below at which all calls have their results, None where some never get it."""
    below = row
    for _ in range(FARTHEST):
        below = session.heir(below)
        if below == NO_ROW:
            return None
        for message in messages_at(below):
            results = results_in(message)
            if not results and read_message(message).role == "user":
                return None
            waiting = (waiting | {each.id for each in calls_in(message)}) - {
                each.call for each in results
            }
        if not waiting:
            return below
    return None


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
