"""Touches: which rows wrote each place of the states of a session, found without a walk.

One pass over the changes of all rows notes, for each place that is named by keys alone, the rows
that wrote it, and for each list at such a place which of its items. That is a few bytes a row.
Then the last row on a path that wrote a value is looked up, stretch by stretch upwards; only where
a row wrote somewhere inside of the same item are its changes looked at.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import msgspec

from tt_debugger.core.changes import (
    Append,
    Change,
    Drop,
    LiveState,
    Put,
    Snapshot,
    Splice,
    State,
    touches,
)
from tt_debugger.core.item_writes import NO_END, UNTOLD, ItemWrites
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Key, Path, value_at, value_or_unset
from tt_debugger.core.runs import ChangesAlong, runs
from tt_debugger.core.tree import NO_ROW

DEEPEST = 8
"""Keys of a place that rows are noted for; what is written further in is noted there."""
MOST_PLACES = 100_000
"""Places that rows are noted for; what is written elsewhere is noted where it lies in."""
RUN = 4096
"""Rows whose changes are asked for at once."""

Progress = Callable[[int, int], None]
"""Is told how many rows are done, and of how many."""


class Touches:
    """Which rows of a session wrote what. The changes and states it asks for are the session's.

    A row writes a value by writing it, something in it or something that it is in, and by moving
    it to another index of a list.
    """

    def __init__(
        self, session: Session, changes_along: ChangesAlong, state: Callable[[int], State]
    ) -> None:
        self.session = session
        self._changes_along = changes_along
        self._state = state
        self._root = _Place()
        self._places = 0
        self._sizes: dict[_Place, int] = {}
        """The sizes of lists after the row that was noted last, where they are known."""
        self._noted = 0
        """Rows, the first ones of the session, that are noted."""

    def take_in(
        self, session: Session, kept: int | None = None, progress: Progress | None = None
    ) -> None:
        """Note all rows of what the session has become; of its first rows so many were kept."""
        kept = self._noted if kept is None else min(kept, self._noted)
        if kept and session.heads[kept - 1] != self.session.heads[kept - 1]:
            # A last record without its line end may have been written anew.
            kept -= 1
        self.session, first = session, kept if session.tree.has_parents_first else 0
        self._noted = 0
        if first:
            self._root.drop_from(first)
        else:
            self._root, self._places = _Place(), 0
        for run in _runs(session, first):
            self._sizes.clear()
            for row, changes in zip(run, self._changes_along(run), strict=True):
                for place, change in enumerate(changes):
                    self._note(row, change, changes[:place])
            first += len(run)
            if progress is not None:
                progress(first, len(session))
        self._noted = len(session)

    def is_of(self, session: Session) -> bool:
        """Tell whether all rows of a session are noted."""
        return session is self.session and self._noted == len(session)

    def last(self, row: int, path: Path) -> int | None:
        """Give the last row on the path to a row at which a value changed or was written again.

        That it went away is a change too. None where it never was there.
        """
        found = self.last_write(row, path)
        while found is not None and not self._is_there_after(found, path):
            above = self.session.parents[found]
            before = None if above == NO_ROW else self.last_write(above, path)
            if before is None:
                return None
            if self._is_there_after(before, path):
                return found
            found = before
        return found

    def next(self, row: int, path: Path) -> int | None:
        """Give the first row below a row at which a value changes or is written again.

        The way goes down to the leaf of the branch that the row is on.
        """
        written = self.last_write(row, path)
        was_there = written is not None and self._is_there_after(written, path)
        found = self._next_write(row, path)
        while found is not None and not was_there and not self._is_there_after(found, path):
            found = self._next_write(found, path)
        return found

    def last_write(self, row: int, path: Path) -> int | None:
        """Give the last row on the path to a row that wrote what stands at a place, if anything.

        Of a value that is there this is what `last` gives, and its state is not asked for.
        """
        sources = self._sources(path)
        for begin, end in self.session.tree.stretches_above(row):
            behind = end
            while (write := _last_of(sources, begin, behind)) is not None:
                if write.is_sure or self._writes(write.row, path):
                    return write.row
                behind = write.row
        return None

    def has_added(self, row: int, path: Path) -> bool:
        """Tell whether all that a row did to the list of an item was to add it, and others."""
        place: _Place | None = self._root
        for key in path[:-1]:
            place = None if place is None else place.inside.get(str(key))
        index = path[-1]
        if place is None or place.items is None or not isinstance(index, int):
            return False
        return place.items.has_added(row, index)

    def _next_write(self, row: int, path: Path) -> int | None:
        sources = self._sources(path)
        for begin, end in self._stretches_below(row):
            first = begin
            while (write := _next_of(sources, first, end)) is not None:
                if write.is_sure or self._writes(write.row, path):
                    return write.row
                first = write.row + 1
        return None

    def _stretches_below(self, row: int) -> list[tuple[int, int]]:
        """Give the way down from a row to its leaf, by stretches of rows, without the row."""
        session = self.session
        active = session.active if session.on_active_path[row] else None
        leaf = leaf_of(session, row if active is None else active)
        stretches: list[tuple[int, int]] = []
        for begin, end in session.tree.stretches_above(leaf):
            if begin <= row < end:
                stretches.append((row + 1, end))
                break
            stretches.append((begin, end))
        return stretches[::-1]

    def _is_there_after(self, row: int, path: Path) -> bool:
        """Tell whether a value is there after a row that wrote it or took it away."""
        told = self._told_by_size(row, path)
        if told is None:
            told = _told(self._changes(row), path)
        return _has(self._state(row), path) if told is None else told

    def _told_by_size(self, row: int, path: Path) -> bool | None:
        """Tell whether an item is there after a row that wrote it, where its list is noted."""
        place: _Place | None = self._root
        for depth, key in enumerate(path, 1):
            if isinstance(key, int):
                size = self._size_after(place, row)
                if not size or (key < size and depth < len(path)):
                    # Perhaps it is an object, whose keys are numbers.
                    return None
                return key < size
            place = place.inside.get(key)
            if place is None:
                return None
        return None

    def _size_after(self, place: _Place, row: int) -> int | None:
        """Give the size of the list at a place after a row on whose path it was changed."""
        if place.items is None:
            return None
        stretches = self.session.tree.stretches_above(row)
        sizes = (place.items.size_after(begin, end) for begin, end in stretches)
        return next((each for each in sizes if each is not None), None)

    def _writes(self, row: int, path: Path) -> bool:
        if not path and self.session.parents[row] == NO_ROW:
            # The state begins there, with whatever in it.
            return True
        return writes(self._changes(row), path, lambda: self._before(row))

    def _changes(self, row: int) -> tuple[Change, ...]:
        (changes,) = self._changes_along((row,))
        return changes

    def _before(self, row: int) -> State:
        above = self.session.parents[row]
        return {} if above == NO_ROW else self._state(above)

    def _sources(self, path: Path) -> list[_Source]:
        """Give where it stands which rows wrote a place, or may have."""
        if not path:
            # Nothing is noted of the state as a whole: most rows write something in it.
            return [_Source(range(len(self.session)), is_sure=False)]
        place = self._root
        sources = [_Source(place.wholes)]
        for depth, key in enumerate(path, 1):
            if isinstance(key, int) and place.items is not None:
                # What is written inside of an item may be elsewhere than at the place.
                sources.append(_Source(place.items.rows, depth == len(path), place.items, key))
            inside = place.inside.get(str(key))
            if inside is None:
                return [*sources, _Source(place.strays, is_sure=False)]
            place = inside
            sources.append(_Source(place.wholes))
        sources += [_Source(place.below), _Source(place.strays)]
        if place.items is not None:
            sources.append(_Source(place.items.rows))
        return sources

    def _note(self, row: int, change: Change, earlier: Sequence[Change]) -> None:
        """Note a change of a row, which made those earlier ones before it."""
        match change:
            case Snapshot(value=value):
                self._note_whole(self._root, row, value)
            case Put(path=path, value=value):
                self._note_value(row, path, value)
            case Drop(path=(*above, int(index))):
                self._note_items(row, tuple(above), (index, 1, 0), earlier)
            case Drop(path=path):
                self._note_value(row, path, None)
            case Append(path=path):
                self._note_items(row, path, None, earlier)
            case Splice(path=path, index=index, count=count, values=values):
                if count or values:
                    self._note_items(row, path, (index, count, len(values)), earlier)

    def _note_value(self, row: int, path: Path, value: State) -> None:
        """Note that a row wrote a value, or took away the one that was there."""
        place, rest = self._place(row, path)
        match rest:
            case ():
                self._note_whole(place, row, value)
            case (int(index),):
                place.items_made().replace(row, index, index + 1, UNTOLD)
            case _:
                place.touch(row, rest)

    def _note_items(
        self,
        row: int,
        path: Path,
        replaced: tuple[int, int, int] | None,
        earlier: Sequence[Change],
    ) -> None:
        """Note that a row changed items of a list: see `_span`; None adds one at the end."""
        place, rest = self._place(row, path)
        if rest:
            place.touch(row, rest)
            return
        size = self._size(place, row, path, earlier)
        if replaced is None:
            place.items_made().append(row, size)
            self._sizes[place] = size + 1
            return
        begin, end, size = _span(replaced, size)
        place.items_made().replace(row, begin, end, size)
        self._sizes[place] = size

    def _place(self, row: int, path: Path) -> tuple[_Place, Path]:
        """Give the place where a change is noted and what of its path leads on from there.

        The row is noted with all places that this one is in.
        """
        place = self._root
        for depth, key in enumerate(path):
            if isinstance(key, int):
                return place, path[depth:]
            inside = place.inside.get(key)
            if inside is None:
                if depth == DEEPEST or self._places >= MOST_PLACES:
                    return place, path[depth:]
                self._places += 1
                inside = place.inside[key] = _Place(place)
            if depth:
                place.below = _with(place.below, row)
            place = inside
        return place, ()

    def _note_whole(self, place: _Place, row: int, value: State) -> None:
        """Note that a row wrote all that is at a place, and what became of the lists in it."""
        place.wholes = _with(place.wholes, row)
        waiting: list[tuple[_Place, State]] = [(place, value)] if place.leads_to_items else []
        while waiting:
            place, value = waiting.pop()
            if place.items is not None:
                # No list has no items.
                self._sizes[place] = size = len(as_list(value))
                place.items.replace(row, 0, NO_END, size)
            waiting += (
                (each, as_map(value).get(key))
                for key, each in place.inside.items()
                if each.leads_to_items
            )

    def _size(self, place: _Place, row: int, path: Path, earlier: Sequence[Change]) -> int:
        """Give the size of the list at a place before a change of a row."""
        size = self._sizes.get(place)
        above = self.session.parents[row]
        if size is None and above != NO_ROW:
            size = self._size_after(place, above)
        if size is None:
            live = LiveState(self._before(row))
            live.apply(earlier)
            size = len(as_list(value_at(live.value, path)))
        return size


def writes(changes: Sequence[Change], path: Path, before: Callable[[], State]) -> bool:
    """Tell whether one of some changes to a state writes what is at a path."""

    def size(place: int) -> int:
        live = LiveState(before())
        live.apply(changes[:place])
        return len(as_list(value_at(live.value, changes[place].path)))

    return any(
        _is_written_by(change, path, partial(size, place)) for place, change in enumerate(changes)
    )


def _is_written_by(change: Change, path: Path, size: Callable[[], int]) -> bool:
    """Tell whether a change writes what is at a path; a list that it is made to has a size."""
    match change:
        case Drop(path=(*above, int(index))):
            place, replaced = tuple(above), (index, 1, 0)
        case Splice(path=place, index=index, count=count, values=values):
            replaced = (index, count, len(values))
        case Append(path=place):
            replaced = None
        case Put(path=place) | Drop(path=place) | Snapshot(path=place):
            shorter = min(len(place), len(path))
            return _is_same_place(place[:shorter], path[:shorter])
    depth = len(place)
    is_nothing = replaced is not None and replaced[1:] == (0, 0)
    if is_nothing or not _is_same_place(place[: len(path)], path[:depth]):
        return False
    return depth >= len(path) or _is_item_written(path[depth], replaced, size)


def _is_item_written(
    key: Key, replaced: tuple[int, int, int] | None, size: Callable[[], int]
) -> bool:
    if not isinstance(key, int):
        return False
    if replaced is None:
        return key == size()
    begin, end, _ = _span(replaced, size())
    return begin <= key < end


def _span(replaced: tuple[int, int, int], size: int) -> tuple[int, int, int]:
    """Give which items are written where from an index on so many give way to so many others.

    From, to, and the size of the list after it. A damaged file may name items that are not there.
    """
    index, count, added = replaced
    begin = min(index, size)
    count = min(count, size - begin)
    return begin, begin + count if count == added else NO_END, size + added - count


def _told(changes: Sequence[Change], path: Path) -> bool | None:
    """Tell whether a value is there after changes that wrote it; None where only the state tells.

    To have the state takes longer than to have the changes.
    """
    touching = [each for each in changes if touches(each, path)]
    last = touching[-1] if touching else None
    match last:
        case Put(path=place, value=value) | Snapshot(path=place, value=value):
            return len(place) > len(path) or _has(value, path[len(place) :])
        case Append(path=place, value=value) if len(touching) == 1 and len(place) < len(path):
            # It wrote the value, so it is the item that it added.
            return _has(value, path[len(place) + 1 :])
        case _:
            return None


def _has(state: State, path: Path) -> bool:
    return value_or_unset(state, path) is not msgspec.UNSET


def _is_same_place(one: Path, other: Path) -> bool:
    # In an object the key of a path that is a number stands for a text.
    return one == other or [*map(str, one)] == [*map(str, other)]


class _Place:
    """What is noted of one place. Most places are only written as a whole."""

    __slots__ = ("above", "below", "inside", "items", "leads_to_items", "strays", "wholes")

    def __init__(self, above: _Place | None = None) -> None:
        self.above = above
        self.inside: dict[str, _Place] = {}
        self.wholes = _NO_ROWS
        """The rows that wrote all that is there."""
        self.below = _NO_ROWS
        """The rows that wrote at a place further in."""
        self.strays = _NO_ROWS
        """The rows that wrote somewhere further in where no place is."""
        self.items: ItemWrites | None = None
        """Of a list that is changed item by item."""
        self.leads_to_items = False

    def items_made(self) -> ItemWrites:
        if self.items is None:
            self.items = ItemWrites()
            place: _Place | None = self
            while place is not None:
                place.leads_to_items = True
                place = place.above
        return self.items

    def touch(self, row: int, rest: Path) -> None:
        """Note that a row wrote somewhere further in."""
        if isinstance(rest[0], int):
            self.items_made().touch(row, rest[0])
        else:
            self.strays = _with(self.strays, row)

    def drop_from(self, row: int) -> None:
        """Forget all rows from one on, here and further in."""
        waiting: list[_Place] = [self]
        while waiting:
            place = waiting.pop()
            for rows in (place.wholes, place.below, place.strays):
                del rows[bisect_left(rows, row) :]
            if place.items is not None:
                place.items.drop_from(row)
            waiting += place.inside.values()


_NO_ROWS = array("I")


class _Source(NamedTuple):
    """Rows that wrote a place for sure, or perhaps; with an index those that wrote that item."""

    rows: Sequence[int]
    is_sure: bool = True
    items: ItemWrites | None = None
    item: int = 0


class _Write(NamedTuple):
    row: int
    is_sure: bool


def _last_of(sources: Iterable[_Source], begin: int, end: int) -> _Write | None:
    """Give the last of some rows that any of the sources has."""
    return max(_found(sources, begin, end, -1), default=None)


def _next_of(sources: Iterable[_Source], begin: int, end: int) -> _Write | None:
    """Give the first of some rows that any of the sources has."""
    found = _found(sources, begin, end, 1)
    return min(found, default=None, key=lambda each: (each.row, not each.is_sure))


def _found(sources: Iterable[_Source], begin: int, end: int, step: int) -> Iterator[_Write]:
    for rows, is_sure, items, item in sources:
        if items is not None:
            hit = (items.last if step < 0 else items.next)(item, begin, end)
            if hit is not None:
                yield _Write(hit.row, is_sure or hit.is_whole)
            continue
        place = bisect_left(rows, end) - 1 if step < 0 else bisect_left(rows, begin)
        if 0 <= place < len(rows) and begin <= rows[place] < end:
            yield _Write(rows[place], is_sure)


def _with(rows: array[int], row: int) -> array[int]:
    """Give rows, in order, with one more."""
    if rows is _NO_ROWS:
        return array("I", (row,))
    if not rows or row > rows[-1]:
        rows.append(row)
    elif row < rows[-1]:
        # A parent may stand behind its children.
        place = bisect_left(rows, row)
        if rows[place] != row:
            rows.insert(place, row)
    return rows


def _runs(session: Session, kept: int) -> Iterator[Sequence[int]]:
    """Give the rows but for the first ones, in runs that are not too long."""
    order = session.order if kept == 0 else range(kept, len(session))
    for run in runs(session, order):
        yield from (run[begin : begin + RUN] for begin in range(0, len(run), RUN))
