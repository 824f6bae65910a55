"""Figures as conditions: numbers of a checkpoint, or of the path to it, compared with one."""

from __future__ import annotations

import operator
import re
from array import array
from collections.abc import Callable, Mapping

from tt_debugger.core.conditions.asked import FigureAsked
from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Atom
from tt_debugger.core.conditions.refusal import ConditionError
from tt_debugger.core.durations import seconds_taken
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Session
from tt_debugger.core.refs import moment_of

Number = float | int
Compare = Callable[[Number, Number], bool]

COMPARISONS: dict[str, Compare] = {
    ">": operator.gt,
    ">=": operator.ge,
    "<": operator.lt,
    "<=": operator.le,
    "=": operator.eq,
    "==": operator.eq,
    "!=": operator.ne,
}

TIME = "time"
"""The figure that is compared with ISO times."""
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_THOUSANDS = {"k": 1000, "M": 1_000_000, "G": 1_000_000_000}
UNITS: Mapping[str, Mapping[str, Number]] = {"took": _SECONDS}
"""The units of figures that are no plain numbers."""
_NUMBER = re.compile(r"(-?(?:\d+(?:\.\d*)?|\.\d+))(\w*)", re.ASCII)
_LONGEST = 30


def figure(name: str, comparison: str, number: str) -> Atom:
    """Compare a figure with a number, which is never so where a checkpoint does not have it.

    Raises ValueError where the number is none.
    """
    value = _moment(number) if name == TIME else _parsed(number, UNITS.get(name, _THOUSANDS))
    compare = COMPARISONS[comparison]
    figure = figure_of(name)

    def holds(at: At) -> bool:
        known = figure(at)
        return known is not None and compare(known, value)

    return Atom(
        holds,
        happens=name in _OF_CHECKPOINTS,
        needs_state=name == "messages",
        asked=FigureAsked(name, comparison, value),
    )


def figure_of(name: str) -> Callable[[At], Number | None]:
    """Give what tells a figure of a checkpoint, None where that has none."""
    # What is summed is kept for as long as somebody has the condition.
    return _Costs().up_to if name == "cost" else _FIGURES[name]


def comparisons(name: str) -> tuple[str, ...]:
    """Give the comparisons that a figure goes with: that of a time never equals one."""
    return tuple(COMPARISONS) if name != TIME else (">", ">=", "<", "<=")


def _moment(text: str) -> float:
    found = moment_of(text)
    if found is None:
        message = f"{text!r} is no time"
        hint = "write a date, or a date and a time of day: 2026-01-31T09:40, in UTC"
        raise ConditionError(message, f"{hint} where no zone is named")
    return found


def _parsed(text: str, units: Mapping[str, Number]) -> Number:
    found = _NUMBER.fullmatch(text)
    known = {each.lower(): factor for each, factor in units.items()}
    unit = 1 if found is None or not found[2] else known.get(found[2].lower())
    if found is None or unit is None or len(text) > _LONGEST:
        message = f"{text!r} is no number"
        if "," in text and _NUMBER.fullmatch(text.replace(",", "")):
            raise ConditionError(f"{message}: write {_without_comma(text)}")
        raise ConditionError(message, f"a number may end with a unit: {', '.join(units)}")
    number = float(found[1]) * unit
    return int(number) if number.is_integer() else number


def _without_comma(text: str) -> str:
    """Give a number as it is written here: a comma parts thousands, or begins a fraction."""
    is_of_thousands = re.search(r",\d{3}(?!\d)", text) and not text.startswith(("0,", "-0,"))
    return text.replace(",", "" if is_of_thousands else ".")


class _Costs:
    """What the agent recorded as spent on the path to each row, worked out once for a session.

    It is summed from the root on, so that it is the same to the last digit whatever the way.
    """

    def __init__(self) -> None:
        self._session: Session | None = None
        self._sums = array("d")

    def up_to(self, at: At) -> float:
        session = at.session
        if session is not self._session:
            self._sums = _sums_of(session)
            self._session = session
        return self._sums[at.row]


def _sums_of(session: Session) -> array[float]:
    parents, usage = session.parents, session.heads.usage
    sums = array("d", bytes(8 * (len(session) + 1)))
    # NO_ROW finds the last item, above the roots.
    for row in session.order:
        used = usage(row)
        above = sums[parents[row]]
        # Sums of decimal fractions; without rounding 0.1 + 0.2 would be more than 0.3.
        sums[row] = above if used is None else round(above + used.cost, 10)
    return sums


def _messages(at: At) -> Number | None:
    found = as_map(at.state).get("messages")
    return len(as_list(found)) if isinstance(found, list) else None


def _output(at: At) -> Number | None:
    usage = at.session.heads.usage(at.row)
    return None if usage is None else usage.output


_FIGURES: dict[str, Callable[[At], Number | None]] = {
    "tokens": lambda at: at.session.context_sizes[at.row] or None,
    "output": _output,
    "took": lambda at: seconds_taken(at.session, at.row),
    "bytes": lambda at: at.session.heads.length(at.row),
    "messages": _messages,
    "row": lambda at: at.row + 1,
    "step": lambda at: at.session.heads.step(at.row),
    TIME: lambda at: at.session.heads.time(at.row),
}
_OF_CHECKPOINTS = frozenset(("output", "took", "bytes", TIME))
NAMES = ("cost", *_FIGURES)
"""The figures that can be asked for."""
