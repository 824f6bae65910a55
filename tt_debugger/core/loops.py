"""Loops: the same call with the same arguments again and again, as of an agent that is stuck.

A call goes on with a loop if the same was called a few calls before it on its path. Two calls
that take turns are one loop of two. The ids of calls tell nothing here: they always differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from tt_debugger.core.answers import NO_CALL, Answers, Thing, ToolCall
from tt_debugger.core.tree import NO_ROW

FEWEST = 3
"""Calls of one thing that are a loop."""
FEWEST_IN_TURN = 4
"""Calls of two things in turn that are one."""
WINDOW = 8
"""Calls within which the same has to be called again; 1 is the very next one."""


class Loop(msgspec.Struct, frozen=True):
    """One thing that was called again and again, or two in turn: `count` calls altogether.

    `first` and `last` are rows of one path. `is_same` tells whether each gave the same every
    time, None where a result is missing and the others do not differ.
    """

    things: tuple[Thing, ...]
    count: int
    first: int
    last: int
    is_same: bool | None


class _Run(msgspec.Struct, gc=False):
    """The calls of a loop down to one of them; `goes_on` where a later one is of it too."""

    length: int
    first: int
    is_same: bool | None
    goes_on: bool = False


def loops_of(answers: Answers) -> tuple[Loop, ...]:
    """Give the loops of a session, those of the most calls first."""
    calls = answers.calls
    alike, turns = _alike(calls), _turns(calls)
    found: list[Loop] = []
    inside: set[int] = set()
    for place, run in _ended(turns):
        before = calls[place].above
        is_long = run.length >= FEWEST_IN_TURN
        if is_long and not (_is_more(alike[place], run) or _is_more(alike[before], run)):
            inside.update((place, before))
            last = place if calls[place].thing != calls[run.first].thing else before
            found.append(_loop(answers, (run.first, last), run, place))
    for place, run in _ended(alike):
        if run.length >= FEWEST and place not in inside:
            found.append(_loop(answers, (place,), run, place))
    return tuple(sorted(found, key=lambda each: (-each.count, each.first, each.last)))


def _is_more(alike: _Run, turns: _Run) -> bool:
    """Tell whether one of two things was called more often than in turn with the other."""
    return alike.goes_on or alike.length > -(-turns.length // 2)


def _loop(answers: Answers, told: Sequence[int], run: _Run, place: int) -> Loop:
    """Give the loop of a run; the calls that are `told` say of what."""
    calls = answers.calls
    things = tuple(answers.things[calls[each].thing] for each in told)
    return Loop(things, run.length, calls[run.first].row, calls[place].row, run.is_same)


def _ended(runs: Sequence[_Run]) -> Iterator[tuple[int, _Run]]:
    return ((place, run) for place, run in enumerate(runs) if not run.goes_on)


def _alike(calls: Sequence[ToolCall]) -> list[_Run]:
    """Give the run of calls of the same thing that ends with each call."""
    runs: list[_Run] = []
    for place, call in enumerate(calls):
        before = _same_before(calls, call)
        if before == NO_CALL:
            runs.append(_Run(1, place, is_same=True))
        else:
            runs.append(_longer(runs[before], calls[before], call))
    return runs


def _same_before(calls: Sequence[ToolCall], call: ToolCall) -> int:
    """Give the nearest call of the same thing above a call, NO_CALL if none is near enough."""
    above = call.above
    for _ in range(WINDOW):
        if above == NO_CALL or calls[above].thing == call.thing:
            return above
        above = calls[above].above
    return NO_CALL


def _turns(calls: Sequence[ToolCall]) -> list[_Run]:
    """Give the run of two things in turn that ends with each call."""
    runs: list[_Run] = []
    for place, call in enumerate(calls):
        before = call.above
        if before == NO_CALL or calls[before].thing == call.thing:
            runs.append(_Run(1, place, is_same=True))
            continue
        again = calls[before].above
        if again != NO_CALL and calls[again].thing == call.thing:
            runs.append(_longer(runs[before], calls[again], call))
        else:
            runs.append(_Run(2, before, is_same=True))
    return runs


def _longer(run: _Run, before: ToolCall, call: ToolCall) -> _Run:
    """Give a run with one more call; `before` is the last of it that is of the same thing."""
    run.goes_on = True
    is_same = run.is_same
    if NO_ROW in (before.result_row, call.result_row):
        is_same = None if is_same else is_same
    elif before.result != call.result:
        is_same = False
    return _Run(run.length + 1, run.first, is_same)
