"""An inspection: all that is known of one checkpoint, gathered at once.

A call and its result stand in different checkpoints; an `Exchange` brings the two halves
together, whichever of them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.commits import MadeCommit, commits_of
from tt_debugger.core.findings import Finding
from tt_debugger.core.messages import Call, Result, calls_in, messages_in, results_in
from tt_debugger.core.model import Kind, Role, Session
from tt_debugger.core.tree import NO_ROW

FARTHEST = 64
"""Rows that are looked at for the other half of an exchange."""

MessagesAt = Callable[[int], Sequence[dict[str, Any]]]
"""A lookup of the messages that a row put into the state."""


class Exchange(msgspec.Struct, frozen=True):
    """A tool call and what came of it; a half that was not found is None, and so is its row.

    `seconds` lie between the two checkpoints, None where a time is missing or runs backwards, and
    where the result stands in no answer of a tool.
    """

    call: Call | None
    call_row: int | None
    result: Result | None
    result_row: int | None
    seconds: float | None = None


class Inspection(msgspec.Struct, frozen=True):
    """What a checkpoint did, the states around it, its bytes, and what is wrong with it.

    `before` is the state of its parent, None at a root; `raw` is the record as it is stored;
    `exchanges` has one for each tool call and each tool result of the checkpoint.
    """

    session: Session
    row: int
    changes: tuple[Change, ...]
    before: State
    state: State
    raw: bytes
    findings: tuple[Finding, ...]
    exchanges: tuple[Exchange, ...] = ()

    @property
    def commits(self) -> tuple[MadeCommit, ...]:
        """The commits that its messages tell of as made."""
        return commits_of(messages_in(self.changes))


def exchanges_at(session: Session, row: int, messages_at: MessagesAt) -> tuple[Exchange, ...]:
    """Give the exchange of each call that a row makes, then of each result that it holds."""
    messages = messages_at(row)
    calls = [call for message in messages for call in calls_in(message)]
    results = [result for message in messages for result in results_in(message)]
    answers = _results_below(session, row, {each.id for each in calls}, messages_at)
    asked = _calls_above(session, row, {each.call for each in results}, messages_at)
    return (
        *(_exchange(session, call, row, *answers.get(call.id, (None, None))) for call in calls),
        *(_exchange(session, *asked.get(each.call, (None, None)), each, row) for each in results),
    )


def _exchange(
    session: Session,
    call: Call | None,
    call_row: int | None,
    result: Result | None,
    result_row: int | None,
) -> Exchange:
    seconds = None
    # A later entry may hold a result anew: when that was written says nothing of the call.
    is_answer = result_row is not None and session.heads.kind(result_row) is Kind.TOOL_RESULT
    if call_row is not None and result_row is not None and is_answer:
        begin, end = session.heads[call_row].time, session.heads[result_row].time
        if begin is not None and end is not None and end >= begin:
            seconds = end - begin
    return Exchange(call, call_row, result, result_row, seconds)


def _results_below(
    session: Session, row: int, ids: set[str | None], messages_at: MessagesAt
) -> dict[str | None, tuple[Result, int]]:
    """Give the first result of each call, with its row."""
    found: dict[str | None, tuple[Result, int]] = {}
    wanted = ids - {None}
    for below in _rows_below(session, row) if wanted else ():
        if session.heads.kind(below) is not Kind.TOOL_RESULT:
            continue
        for message in messages_at(below):
            for result in results_in(message):
                if result.call in wanted:
                    found.setdefault(result.call, (result, below))
        if len(found) == len(wanted):
            break
    return found


def _rows_below(session: Session, row: int) -> Iterator[int]:
    """Give the rows down to what the user says next, on each branch; the heirs first.

    Calls that ran side by side may be rows of their own, before the first of their results.
    """
    waiting = _children(session, row)
    for _ in range(FARTHEST):
        if not waiting:
            return
        below = waiting.pop()
        yield below
        is_next_turn = session.heads.kind(below) is Kind.MESSAGE
        if not (is_next_turn and session.heads.role(below) is Role.USER):
            waiting += _children(session, below)


def _children(session: Session, row: int) -> list[int]:
    """Give the children of a row, the heir last; of very many, the newest."""
    children, heir = session.tree.children(row)[-FARTHEST:], session.heir(row)
    return [each for each in children if each != heir] + [heir] * (heir != NO_ROW)


def _calls_above(
    session: Session, row: int, ids: set[str | None], messages_at: MessagesAt
) -> dict[str | None, tuple[Call, int]]:
    """Give the nearest call of each result, with its row."""
    found: dict[str | None, tuple[Call, int]] = {}
    wanted = ids - {None}
    above = session.parents[row]
    for _ in range(FARTHEST if wanted else 0):
        if above == NO_ROW or len(found) == len(wanted):
            break
        if session.heads.kind(above) is Kind.TOOL_CALL:
            for message in messages_at(above):
                for call in calls_in(message):
                    if call.id in wanted:
                        found.setdefault(call.id, (call, above))
        above = session.parents[above]
    return found
