"""Which items of one list each row wrote, in columns: a row that appends costs eight bytes.

The items that neighbouring rows wrote lie near each other as a rule, so what a block of rows
reached is kept beside them, and a block that did not reach an item is passed over as one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from typing import NamedTuple

BLOCK = 256
NO_END = 2**32 - 1
"""The end of what a row wrote where that is all to the end of the list."""
UNTOLD = 2**32 - 1
"""A size that a row does not tell: it is what it was before."""


class Hit(NamedTuple):
    """A row that wrote an item, or only something inside of it."""

    row: int
    is_whole: bool


class ItemWrites:
    """What rows wrote of the items of one list. They are added in the order of a walk."""

    def __init__(self) -> None:
        self.rows = array("I")
        self._marks = array("i")
        """The index that a row appended, else a number below 0 that stands for a span."""
        self._begins, self._ends, self._sizes = array("I"), array("I"), array("I")
        """Of each span the items from and to, and the size of the list after it.

        A span without an item stands for something inside of the item where it begins.
        """
        self._reached: list[tuple[int, int]] = []
        """Of each whole block the first item that any of its rows wrote, and the end of all."""

    def append(self, row: int, index: int) -> None:
        """Note that a row added an item at the end."""
        self._add(row, index)

    def replace(self, row: int, begin: int, end: int, size: int) -> None:
        """Note that a row wrote the items from one to another, which left so many."""
        self._begins.append(begin)
        self._ends.append(end)
        self._sizes.append(size)
        self._add(row, -len(self._begins))

    def touch(self, row: int, index: int) -> None:
        """Note that a row wrote something inside of an item."""
        self.replace(row, index, index, UNTOLD)

    def drop_from(self, row: int) -> None:
        """Forget what rows from one on wrote."""
        place = bisect_left(self.rows, row)
        del self.rows[place:], self._marks[place:], self._reached[place // BLOCK :]

    def has_added(self, row: int, index: int) -> bool:
        """Tell whether all that a row did was to add items at the end, this one among them."""
        marks = self._marks[bisect_left(self.rows, row) : bisect_right(self.rows, row)]
        return index in marks and min(marks) >= 0

    def size_after(self, begin: int, end: int) -> int | None:
        """Give how many items the last of some rows left that tells it, None if none does."""
        low = bisect_left(self.rows, begin)
        for place in range(bisect_left(self.rows, end) - 1, low - 1, -1):
            mark = self._marks[place]
            size = mark + 1 if mark >= 0 else self._sizes[-mark - 1]
            if size != UNTOLD:
                return size
        return None

    def last(self, index: int, begin: int, end: int) -> Hit | None:
        """Give the last of some rows that wrote an item."""
        low, place = bisect_left(self.rows, begin), bisect_left(self.rows, end)
        while place > low:
            block = (place - 1) // BLOCK
            first = max(low, block * BLOCK)
            if self._reaches(block, index):
                hit = self._first_hit(index, range(place - 1, first - 1, -1))
                if hit is not None:
                    return hit
            place = first
        return None

    def next(self, index: int, begin: int, end: int) -> Hit | None:
        """Give the first of some rows that wrote an item."""
        place, high = bisect_left(self.rows, begin), bisect_left(self.rows, end)
        while place < high:
            block = place // BLOCK
            behind = min(high, (block + 1) * BLOCK)
            if self._reaches(block, index):
                hit = self._first_hit(index, range(place, behind))
                if hit is not None:
                    return hit
            place = behind
        return None

    def _add(self, row: int, mark: int) -> None:
        if not self.rows or row >= self.rows[-1]:
            self.rows.append(row)
            self._marks.append(mark)
            return
        # A parent may stand behind its children.
        place = bisect_right(self.rows, row)
        self.rows.insert(place, row)
        self._marks.insert(place, mark)
        del self._reached[place // BLOCK :]

    def _first_hit(self, index: int, places: Iterable[int]) -> Hit | None:
        marks = self._marks
        for place in places:
            mark = marks[place]
            if mark == index:
                return Hit(self.rows[place], is_whole=True)
            if mark < 0:
                begin, end = self._begins[-mark - 1], self._ends[-mark - 1]
                if begin <= index < end or begin == end == index:
                    return Hit(self.rows[place], is_whole=begin < end)
        return None

    def _reaches(self, block: int, index: int) -> bool:
        """Tell whether a block may have written an item; one that still grows may."""
        if (block + 1) * BLOCK > len(self.rows):
            return True
        while block >= len(self._reached):
            self._reached.append(self._reach(len(self._reached)))
        first, end = self._reached[block]
        return first <= index < end

    def _reach(self, block: int) -> tuple[int, int]:
        first, end = NO_END, 0
        for mark in self._marks[block * BLOCK : (block + 1) * BLOCK]:
            if mark >= 0:
                begin, behind = mark, mark + 1
            else:
                begin, behind = self._begins[-mark - 1], self._ends[-mark - 1]
                behind = max(behind, begin + 1)
            first, end = min(first, begin), max(end, behind)
        return first, end
