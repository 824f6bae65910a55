"""Columns: what a projection makes of the items of a list, item by item, as the list changes.

`Mirror` is told the changes of each step and keeps the items of the list that it had, so that an
item that stays is not looked at again. Each `Column` of it has what its stages made of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, groupby, islice
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State, touches
from tt_debugger.core.formula.evaluation import evaluated, is_true
from tt_debugger.core.formula.folds import Fold
from tt_debugger.core.formula.syntax import Node
from tt_debugger.core.json import as_list
from tt_debugger.core.paths import Path

Stage = Callable[[list[Any]], list[Any]]
"""What is made of some values: those that are left, or what each of them gives."""

Run = tuple[int, Sequence[Any]]
"""Neighbouring items of a list, and where the first of them stands."""


def projecting(right: Node) -> Stage:
    """Give what `right` makes of each value, where that is something."""
    if right["type"] == "identity":
        return lambda values: [each for each in values if each is not None]
    return lambda values: [
        found for each in values if (found := evaluated(right, each)) is not None
    ]


def filtering(condition: Node, right: Node) -> Stage:
    """Give what `right` makes of the values for which a condition is true."""
    if right["type"] == "identity":
        return lambda values: [
            each for each in values if is_true(evaluated(condition, each)) and each is not None
        ]
    project = projecting(right)
    return lambda values: project([each for each in values if is_true(evaluated(condition, each))])


def flattening(values: list[Any]) -> list[Any]:
    """Give the values, those of a list one by one."""
    flat: list[Any] = []
    for each in values:
        if isinstance(each, list):
            flat += cast("list[Any]", each)
        else:
            flat.append(each)
    return flat


class Column:
    """What some stages made of the items of a list; its value is None where there is no list."""

    def __init__(self, path: Path, stages: Sequence[Stage]) -> None:
        self.path = path
        self.stages = stages
        self.value: list[Any] | None = None
        self.tallies: list[Tally] = []
        self.is_changed = True
        self._counts: list[int] = []
        """How many values each item gave."""

    def take_after(self, other: Column) -> None:
        """Become what another column of the same stages is."""
        self.value = None if other.value is None else [*other.value]
        self.is_changed = other.is_changed
        self._counts = [*other._counts]
        for tally, its in zip(self.tallies, other.tallies, strict=True):
            tally.take_after(its)

    def begin(self, *, has_list: bool) -> None:
        """Forget all: there are no items, or there is no list."""
        self.value = [] if has_list else None
        self._counts = []
        self.is_changed = True
        for tally in self.tallies:
            tally.keep(0)

    def cut(self, begin: int, count: int, added: int) -> None:
        """Let go of `count` items, and make room for others that are filled in later."""
        gone = sum(self._counts[begin : begin + count]) if count else 0
        if gone:
            place = self._place(begin)
            self._put(place, gone, [])
        self._counts[begin : begin + count] = [0] * added

    def fill(self, runs: Sequence[Run]) -> None:
        """Take in items for which there is room, from left to right."""
        place = behind = -1
        for begin, items in runs:
            if place < 0:
                place = self._place(begin)
            else:
                place += sum(self._counts[behind:begin])
            behind = begin + len(items)
            if len(items) == 1:
                values = self._values(list(items))
                self._counts[begin] = len(values)
            else:
                each = [self._values([item]) for item in items]
                self._counts[begin:behind] = map(len, each)
                values = [value for found in each for value in found]
            if values:
                self._put(place, 0, values)
                place += len(values)

    def _values(self, values: list[Any]) -> list[Any]:
        for stage in self.stages:
            values = stage(values)
        return values

    def _place(self, begin: int) -> int:
        """Give where the values of an item begin, counted from the end that is nearer."""
        counts = self._counts
        if 2 * begin > len(counts):
            return len(self.value or ()) - sum(counts[begin:])
        return sum(counts[:begin])

    def _put(self, place: int, count: int, values: list[Any]) -> None:
        """Put values in the place of `count` others."""
        self.is_changed = True
        mine = as_list(self.value)
        mine[place : place + count] = values
        for tally in self.tallies:
            tally.keep(place)


class Tally:
    """What a fold makes of a column; of the values that stay, each is folded once."""

    def __init__(self, column: Column, fold: Fold) -> None:
        self._column = column
        self._fold = fold
        self._states = [fold.start]
        """What the first values are folded into: none of them, one, two ..."""

    def take_after(self, other: Tally) -> None:
        """Become what another tally of the same fold is."""
        self._states = [*other._states]

    def keep(self, count: int) -> None:
        """Hear that only so many of the first values are what they were."""
        del self._states[count + 1 :]

    @property
    def value(self) -> Any:
        """What the fold gives now, None where there is no list."""
        values, states = self._column.value, self._states
        if values is None:
            return None
        if len(states) <= len(values):
            new = values[len(states) - 1 :]
            states += islice(accumulate(new, self._fold.step, initial=states[-1]), 1, None)
        return self._fold.end(states[-1], len(values))


class Mirror:
    """The list at a path, as far as a walk has told of it, with its columns."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._columns: list[Column] = []
        self._items: list[Any] | None = None
        self._waiting: list[int] = []
        """The items that are new, from left to right within what was cut."""
        # A list that is reached through another one may come back, changed, to where it was.
        self._keeps_items = all(isinstance(key, str) for key in path)

    def add(self, column: Column) -> None:
        """Keep a column of this list from now on, before the walk begins."""
        if column not in self._columns:
            self._columns.append(column)

    def take_after(self, other: Mirror) -> None:
        """Become what another mirror with the same columns is."""
        self._items = None if other._items is None else [*other._items]
        self._waiting = [*other._waiting]
        for column, its in zip(self._columns, other._columns, strict=True):
            column.take_after(its)

    def settled(self) -> bool:
        """Tell whether no column has changed since this was last asked."""
        is_settled = True
        for column in self._columns:
            if column.is_changed:
                is_settled = column.is_changed = False
        return is_settled

    def tell(self, state: State, changes: Sequence[Change]) -> None:
        """Hear of a step: its changes, and the state after it."""
        for change in changes:
            if not self._hear(change):
                self.take_over(state)
                return
        if self._waiting and not self._fill(_list_at(state, self.path)):
            # They lead to another list: this is no walk that goes on.
            self._items = None
            self.take_over(state)

    def take_over(self, state: State) -> None:
        """Take the list of a state; what it has in common with the one before is kept."""
        new, old = _list_at(state, self.path), self._items
        self._waiting = []
        if new is None or old is None or not self._keeps_items:
            for column in self._columns:
                column.begin(has_list=new is not None)
            self._items = None if new is None else []
            if new:
                self._cut(0, 0, len(new))
        else:
            begin, end = _common(old, new)
            self._cut(begin, len(old) - begin - end, len(new) - begin - end)
            # Equal items may be other objects, which are those that are there now.
            old[:] = [*new[:begin], *old[begin : len(new) - end], *new[len(new) - end :]]
        if self._waiting:
            self._fill(new)

    def _hear(self, change: Change) -> bool:
        """Take in a change; False where it leaves nothing certain about the list."""
        items, path, size = self._items, self.path, len(self.path)
        place = change.path
        if place[:size] != path:
            return not touches(change, path)
        if isinstance(change, Append) and len(place) == size and items is not None:
            self._cut(len(items), 0, 1)
            return True
        if items is None or isinstance(change, Snapshot):
            return False
        match change:
            case Splice(path=where, index=index, count=count, values=values) if len(where) == size:
                begin, end, _ = slice(index, index + count).indices(len(items))
                self._cut(begin, max(end - begin, 0), len(values))
            case Drop(path=(*_, int(index)) as where) if len(
                where
            ) == size + 1 and 0 <= index < len(items):
                self._cut(index, 1, 0)
            case Append() | Put() | Splice() | Drop() if len(place) > size:
                index = place[size]
                if not isinstance(index, int) or not 0 <= index < len(items):
                    return False
                self._cut(index, 1, 1)
            case _:
                return False
        return True

    def _cut(self, begin: int, count: int, added: int) -> None:
        if not (count or added):
            return
        items = self._items
        if items is not None:
            items[begin : begin + count] = [_NOT_SEEN] * added
        for column in self._columns:
            column.cut(begin, count, added)
        new = range(begin, begin + added)
        if not self._waiting:
            self._waiting += new
            return
        end, moved = begin + count, added - count
        before = [each for each in self._waiting if each < begin]
        self._waiting = [*before, *new, *(each + moved for each in self._waiting if each >= end)]

    def _fill(self, new: list[Any] | None) -> bool:
        """Look at the items that are new; False where the list is not as long as it should be."""
        items = self._items
        if new is None or items is None or len(items) != len(new):
            return False
        runs = [(begin, new[begin:end]) for begin, end in _runs(self._waiting)]
        self._waiting.clear()
        for begin, some in runs:
            items[begin : begin + len(some)] = some
        for column in self._columns:
            column.fill(runs)
        return True


class _NotSeen:
    """Stands for an item that is not looked at yet: it is equal to nothing."""


_NOT_SEEN = _NotSeen()


def _runs(places: list[int]) -> list[tuple[int, int]]:
    """Give the begin and end of each run of neighbouring places."""
    if len(places) == 1:
        return [(places[0], places[0] + 1)]
    runs: list[tuple[int, int]] = []
    for _, run in groupby(enumerate(places), lambda pair: pair[1] - pair[0]):
        some = [place for _, place in run]
        runs.append((some[0], some[-1] + 1))
    return runs


def _list_at(state: State, path: Path) -> list[Any] | None:
    """Give the list at a path, None where there is none."""
    value = state
    for key in path:
        if isinstance(value, dict) and isinstance(key, str):
            value = cast("dict[str, Any]", value).get(key)
        elif isinstance(value, list) and isinstance(key, int):
            items = cast("list[Any]", value)
            value = items[key] if key < len(items) else None
        else:
            return None
    return cast("list[Any]", value) if isinstance(value, list) else None


def _common(old: list[Any], new: list[Any]) -> tuple[int, int]:
    """Give how many items two lists have in common at their beginning, and then at their end."""
    size = min(len(old), len(new))
    begin = 0
    while begin < size and _is_same(old[begin], new[begin]):
        begin += 1
    end = 0
    while end < size - begin and _is_same(old[-1 - end], new[-1 - end]):
        end += 1
    return begin, end


def _is_same(old: Any, new: Any) -> bool:
    """Tell whether two items are the same in every way that an expression may ask for."""
    if old is new:
        return True
    try:
        # What is equal may still differ: 1 is True for Python, and 1.0 too.
        return old == new and _encode(old) == _encode(new)
    except (RecursionError, ValueError, TypeError, OverflowError):
        return False


_encode = msgspec.json.Encoder().encode
