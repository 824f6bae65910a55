"""Calls and results among acts: which tools a model calls next, and what came of the same call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count, islice, takewhile
from typing import NamedTuple

from tt_debugger.core.arguments import arguments_summary
from tt_debugger.core.diff.acts import Act, From
from tt_debugger.core.diff.meaning import About
from tt_debugger.core.diff.side import Side
from tt_debugger.core.inspection import FARTHEST
from tt_debugger.core.json import canonical
from tt_debugger.core.messages import Call, Result, calls_in, messages_in


class Outcome(NamedTuple):
    """What a tool gave back, the row of that, and its call in a line."""

    row: int
    place: int
    text: str
    failed: bool
    call: str


Known = tuple[str, str | bytes, int]
"""How a call is known in another session: its tool, its arguments, its number among such."""


def next_calls(following: Sequence[Act]) -> list[Call]:
    """Give the first calls of an answer; its thoughts may be rows of their own before it."""
    for act in takewhile(lambda each: each.source is From.MODEL, following):
        calls = [part for part in act.parts if isinstance(part, Call)]
        if calls:
            return calls
    return []


def are_same_calls(one: Call, other: Call) -> bool:
    """Tell whether two calls of a tool have the same arguments."""
    return canonical(one.arguments) == canonical(other.arguments)


def outcomes(side: Side, following: Sequence[Act], *, is_exact: bool) -> dict[Known, Outcome]:
    """Give the results that come one after the other, by their calls.

    Not exact, tools and arguments are known by what agents of several makes have in common.
    """
    results = list(takewhile(lambda each: each.source is From.TOOL, following))
    calls = _calls_above(side, results[0].row) if results else {}
    found: dict[Known, Outcome] = {}
    place = count()
    for act in results:
        for result, text in _results(act):
            call = calls.get(result.call or "") or Call(None, result.name, None)
            name, arguments = call.name.casefold(), arguments_summary(call.arguments)
            key = (call.name, canonical(call.arguments)) if is_exact else (name, arguments)
            times = next(number for number in count() if (*key, number) not in found)
            line = f"{call.name} {arguments}".strip()
            found[*key, times] = Outcome(act.row, next(place), text, result.failed, line)
    return found


def first_other(one: dict[Known, Outcome], other: dict[Known, Outcome]) -> Known | None:
    """Give the first call that both sides made and that had another result, None for none."""
    differ = [
        key
        for key in one.keys() & other.keys()
        if (one[key].text, one[key].failed) != (other[key].text, other[key].failed)
    ]
    places = ((one[key].place + other[key].place, key) for key in differ)
    return min(places, default=(0, None))[1]


def _results(act: Act) -> Iterator[tuple[Result, str]]:
    texts = (each.text for each in act.said if each.about is About.RESULT)
    return zip((each for each in act.parts if isinstance(each, Result)), texts, strict=False)


def _calls_above(side: Side, row: int) -> dict[str, Call]:
    """Give the calls that were made not long before a row, by their ids."""
    rows = list(islice(side.session.tree.ancestors(row), FARTHEST))[::-1]
    return {
        call.id: call
        for changes in side.changes_along(rows)
        for message in messages_in(changes)
        for call in calls_in(message)
        if call.id is not None
    }
