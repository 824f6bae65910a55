"""Why a condition holds nowhere: what it asks for that no checkpoint that was asked of has.

A name that nobody wrote, a figure that nobody recorded, or a field that no state has makes a
condition false everywhere, as a true no would. What is told is what was seen: all checkpoints are
looked at once more, and only of what none of them has it is said so.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import Any, Protocol, cast

from tt_debugger.core.changes import Append, Change, Put, Snapshot, Splice, State
from tt_debugger.core.conditions import figures
from tt_debugger.core.conditions.asked import Asked, ExpressionAsked, FigureAsked, NameAsked
from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.condition import Condition
from tt_debugger.core.conditions.forms import And, Atom, Form, Not, Or, Single
from tt_debugger.core.conditions.names import NAMES_AT, Pattern
from tt_debugger.core.conditions.reading import condition_like
from tt_debugger.core.json import as_list, as_map, is_number
from tt_debugger.core.messages import NO_NAME
from tt_debugger.core.model import iso_time
from tt_debugger.core.nearby import CLOSE, nearby, places
from tt_debugger.core.nearby import MOST as MOST_OFFERED
from tt_debugger.core.paths import Path, jmespath_of, value_or_unset
from tt_debugger.core.text import summary_line

MOST = 10
"""Names that are told of those that there are."""
MOST_KEPT = 5000
"""Names that are kept."""
MOST_ENTRIES = 20
"""Checkpoints that are kept, to look for what may have been meant."""
LONGEST = 60
"""Characters that are told of a name."""

_NO_NAMES = {
    "tool": "no tool is called here",
    "model": "no checkpoint here names a model",
    "label": "no checkpoint here has a label",
    "role": "nobody speaks here",
}
_NO_FIGURES = {
    "cost": "no checkpoint here tells a cost",
    "tokens": "no checkpoint here tells its tokens",
    "output": "no checkpoint here tells tokens of output",
    "took": "no checkpoint here tells how long it took",
    "bytes": "no checkpoint here tells its bytes",
    "messages": "no state here has a list of messages",
    "step": "no checkpoint here has a step",
    "time": "no checkpoint here has a time",
}
_FIELDS = {
    "cost": ("cost",),
    "tokens": ("tokens", "token"),
    "output": ("output_tokens", "completion_tokens"),
    "took": ("took", "duration", "elapsed", "latency"),
    "bytes": ("bytes", "size"),
    "step": ("step",),
}
"""What fields of states are called that may tell the same."""


class Unmet:
    """What is seen of a condition that holds nowhere.

    `looking` is to be asked of each checkpoint at which the condition was, along paths or one by
    one as the condition itself; it holds at none. Then there are reasons.
    """

    looking: Condition
    sees_anything: bool
    """Whether there is anything of which it could be said that it is nowhere."""

    def __init__(self, condition: Condition) -> None:
        self._sights = [_sight_of(each) for each in _wanted(condition.form)]
        self.sees_anything = bool(self._sights)
        needs_changes = any(each.needs_changes for each in self._sights)
        # One walk reads the changes of many rows at once, as asking one by one does not.
        needs_state = needs_changes or any(each.needs_state for each in self._sights)
        looks = Atom(self._look, needs_state=needs_state, needs_changes=needs_changes)
        self.looking = Condition(
            condition.text,
            Single(looks),
            is_of_checkpoints=not needs_state,
            happens=True,
            needs_state=needs_state,
            needs_changes=needs_changes,
            expression=None,
        )

    def reasons(self, state: State) -> tuple[str, ...]:
        """Say what is asked for and nowhere; what is offered instead is in a state."""
        return tuple(dict.fromkeys(each for one in self._sights for each in one.reasons(state)))

    def _look(self, at: At) -> bool:
        for each in self._sights:
            each.look(at)
        return False


def _wanted(form: Form, *, is_negated: bool = False) -> Iterator[Asked]:
    """Give what a form asks for; what it asks not to be is no reason where it is nowhere."""
    match form:
        case Single(atom=atom):
            if atom.asked is not None and not is_negated:
                yield atom.asked
        case Not(form=inner):
            yield from _wanted(inner, is_negated=not is_negated)
        case And(forms=forms) | Or(forms=forms):
            for each in forms:
                yield from _wanted(each, is_negated=is_negated)


class _Sight(Protocol):
    """What is seen of one thing that is asked for."""

    needs_state: bool
    needs_changes: bool

    def look(self, at: At) -> None:
        """Look at a checkpoint."""
        ...

    def reasons(self, state: State) -> Iterator[str]:
        """Say that it is nowhere, if that is so."""
        ...


def _sight_of(asked: Asked) -> _Sight:
    match asked:
        case NameAsked():
            return _Names(asked)
        case FigureAsked():
            return _Figures(asked)
        case ExpressionAsked():
            return _Fields(asked)


class _Names:
    """The names of a kind that there are."""

    def __init__(self, asked: NameAsked) -> None:
        self.needs_state = asked.what == "model"
        self.needs_changes = asked.what in {"model", "tool"}
        self._asked = asked
        self._at = NAMES_AT[asked.what]
        self._matches = Pattern.of(asked.name).matches
        self._is_there = False
        self._found: dict[str, None] = {}

    def look(self, at: At) -> None:
        for name in () if self._is_there else self._at(at):
            if self._matches(name):
                self._is_there = True
            elif len(self._found) < MOST_KEPT:
                self._found[name] = None

    def reasons(self, state: State) -> Iterator[str]:
        what, name = self._asked.what, self._asked.name
        if self._is_there:
            return
        # Not all have a name of their own.
        named = [each for each in self._found if each and each != NO_NAME]
        if not named:
            none = _NO_NAMES.get(what)
            yield f"no {what} {name} here" if self._found or none is None else none
            return
        part = name.casefold().strip("*")
        is_part = bool(part) and any(part in each.casefold() for each in named)
        meant = f"; did you mean '{what}=*{name.strip('*')}*'?" if is_part else ""
        yield f"no {what} {name} here; there {_listed(named)}{meant}"


def _listed(names: Iterable[str]) -> str:
    found = sorted(names, key=str.casefold)
    told = ", ".join(summary_line(each, LONGEST) for each in found[:MOST])
    more = f" and {len(found) - MOST} more" if len(found) > MOST else ""
    return f"{'is' if len(found) == 1 else 'are'} {told}{more}"


class _Figures:
    """The figures of a name that there are."""

    needs_changes = False

    def __init__(self, asked: FigureAsked) -> None:
        self.needs_state = asked.name == "messages"
        self._asked = asked
        self._at = figures.figure_of(asked.name)
        self._compare = figures.COMPARISONS[asked.comparison]
        self._low: float | None = None
        self._high: float | None = None
        self._is_told = False
        self._is_met = False

    def look(self, at: At) -> None:
        known = self._at(at)
        if known is None:
            return
        # The sum of costs that nobody recorded is none.
        self._is_told = self._is_told or bool(known) or self._asked.name != "cost"
        self._low = known if self._low is None else min(self._low, known)
        self._high = known if self._high is None else max(self._high, known)
        self._is_met = self._is_met or self._compare(known, self._asked.number)

    def reasons(self, state: State) -> Iterator[str]:
        name = self._asked.name
        if self._is_met:
            return
        if self._low is None or self._high is None or not self._is_told:
            yield _NO_FIGURES[name] + self._field_of(state)
        else:
            low, high = self._told(self._low), self._told(self._high)
            yield f"{name} is {low} here" if low == high else f"{name} is {low} to {high} here"

    def _field_of(self, state: State) -> str:
        """Ask for the field of a state that may tell the same."""
        asked = self._asked
        for part in _FIELDS.get(asked.name, ()):
            for path in places(state):
                value = value_or_unset(state, path)
                if part in str(path[-1]).casefold() and is_number(value) and value:
                    sign = "==" if asked.comparison == "=" else asked.comparison
                    return f"; did you mean 'jmes:{jmespath_of(path)} {sign} {asked.number}'?"
        return ""

    def _told(self, figure: float) -> str:
        match self._asked.name:
            case figures.TIME:
                return iso_time(figure) or ""
            case "took":
                return f"{figure:.4g}s"
            case _:
                return str(figure) if isinstance(figure, int) else f"{figure:.6g}"


class _Fields:
    """Which of the fields that an expression names there are, in states or in checkpoints."""

    def __init__(self, asked: ExpressionAsked) -> None:
        # Only who asks in JMESPath pays for the import.
        from tt_debugger.core.conditions.states import Entries
        from tt_debugger.core.formula.places import fields_of

        expression = asked.expression
        self._expression = expression
        self._entries = Entries(expression) if asked.is_of_entry else None
        self._depths: dict[Path, int] = {each: 0 for each in expression.reads if each}
        """How much of each place was seen."""
        placed = {key for place in self._depths for key in place}
        self._unseen = {each for each in fields_of(expression.node) if each not in placed}
        """Names of what is looked at in items, in no object that was seen."""
        self._others: dict[str, None] = {}
        self._entries_seen: dict[tuple[Path, frozenset[str]], State] = {}
        """Checkpoints that go as far as is seen of a place, one for each way they look there."""
        self.needs_state = not asked.is_of_entry
        self.needs_changes = self.needs_state or Entries(expression).have_messages

    def look(self, at: At) -> None:
        missing = [place for place, depth in self._depths.items() if depth < len(place)]
        if not (missing or self._unseen):
            return
        value = at.state if self._entries is None else self._entries.at(at)
        for place in missing:
            depth = self._depths[place]
            while depth < len(place) and _is_there(value, place[: depth + 1]):
                depth += 1
            self._depths[place] = depth
            if self._entries is not None and len(self._entries_seen) < MOST_ENTRIES:
                shape = frozenset(as_map(value_or_unset(value, place[:depth])))
                self._entries_seen.setdefault((place[:depth], shape), value)
        if self._unseen:
            # A state holds nothing that was not written to it.
            self._see(_written(at.changes) if self._entries is None else [value])

    def reasons(self, state: State) -> Iterator[str]:
        states = [state] if self._entries is None else [*self._entries_seen.values()]
        where = "state" if self._entries is None else "checkpoint"
        missing = [place[: size + 1] for place, size in self._depths.items() if size < len(place)]
        texts = _meant_as_texts(
            self._expression.node,
            {str(place[0]) for place in missing if len(place) == 1} | self._unseen,
        )
        for name in texts:
            typed = f'"{name}"' if f'"{name}"' in self._expression.text else name
            yield (
                f"{typed} is a field in JMESPath, and no {where} here has it; "
                f"a text is written '{name}'"
            )
        for place in dict.fromkeys(missing):
            if place not in {(name,) for name in texts}:
                yield f"no {where} here has {jmespath_of(place)}{self._instead(states, place)}"
        for name in sorted(self._unseen.difference(texts)):
            like = get_close_matches(name, self._others, 1, CLOSE)
            meant = f"; did you mean {like[0]}?" if like else ""
            yield f"no {where} here has a field {name}{meant}"

    def _instead(self, states: Iterable[State], place: Path) -> str:
        above, last = place[:-1], str(place[len(place) - 1])
        found: dict[Path, None] = {}
        for state in states:
            if not last.isdecimal() and as_list(value_or_unset(state, above)):
                return f"; {jmespath_of(above)} is a list: {jmespath_of(above)}[].{last}"
            found |= dict.fromkeys(nearby(state, place))
        names = [jmespath_of(each) for each in found][:MOST_OFFERED]
        ready = None if above or self._entries is not None else condition_like(last)
        offered = ([f"the condition {ready}"] if ready else []) + names
        return f"; did you mean {' or '.join(offered)}?" if offered else ""

    def _see(self, values: Iterable[Any]) -> None:
        waiting = list(values)
        while waiting and self._unseen:
            value = waiting.pop()
            for key, each in as_map(value).items():
                self._unseen.discard(key)
                if len(self._others) < MOST_KEPT:
                    self._others[key] = None
                waiting.append(each)
            waiting += as_list(value)


def _is_there(value: Any, place: Path) -> bool:
    from msgspec import UNSET

    return value_or_unset(value, place) is not UNSET


def _written(changes: Iterable[Change]) -> Iterator[Any]:
    """Give what changes wrote, under the names by which they did."""
    for change in changes:
        yield {str(key): None for key in change.path if isinstance(key, str)}
        match change:
            case Append(value=value) | Put(value=value) | Snapshot(value=value):
                yield value
            case Splice(values=values):
                yield from values
            case _:
                pass


def _meant_as_texts(node: dict[str, Any], missing: set[str]) -> dict[str, None]:
    """Give the names of missing fields that something which may be a text is compared with."""
    found: dict[str, None] = {}
    waiting: list[Any] = [node]
    while waiting:
        part = waiting.pop()
        children = cast("list[Any]", part["children"])
        waiting += [each for each in children if isinstance(each, dict)]
        if part["type"] != "comparator":
            continue
        left, right = children
        if _is_missing(right, missing) and left["type"] != "literal":
            found[right["value"]] = None
        elif _is_missing(left, missing) and right["type"] == "field":
            found[left["value"]] = None
    return found


def _is_missing(part: dict[str, Any], missing: set[str]) -> bool:
    return part["type"] == "field" and part["value"] in missing
