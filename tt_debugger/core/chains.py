"""Chains: a tree told by the few places that do not hang on the one before.

A place is a row in drawing order, where parents stand first. All places from one that does not
hang on the place before it up to the next such one are a chain; a session of a million rows has
few. What is known of each chain is known of every place, so nothing here walks them one by one.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import accumulate, chain, compress, count, islice
from operator import ne

from tt_debugger.core.tree import NO_ROW


def chains_of(parents: Sequence[int]) -> Chains:
    """Give the chains of places of which each names its parent, which stands before it."""
    begins = compress(count(), map(ne, parents, count(NO_ROW)))
    return Chains(len(parents), {begin: parents[begin] for begin in begins})


class Chains:
    """`count` places, each hung on the one before, but for those in `hung`, lowest first.

    NO_ROW stands for what is above the roots: it is a place with children, but none itself.
    """

    def __init__(self, count: int, hung: Mapping[int, int]) -> None:
        self.count = count
        self.hung = hung

    def __len__(self) -> int:
        return self.count

    def parent(self, place: int) -> int:
        """Give the place that one hangs on, NO_ROW for a root."""
        return self.hung.get(place, place - 1)

    def newest_child(self, place: int) -> int:
        """Give the last of the places that hang on one, NO_ROW where there are none."""
        return self.newest.get(place, place + 1)

    @cached_property
    def begins(self) -> list[int]:
        """The first place of each chain."""
        return [0, *self.hung] if self.count else []

    def begin_of(self, place: int) -> int:
        """Give the first place of the chain that a place is in."""
        return self.begins[bisect_right(self.begins, place) - 1]

    def begins_between(self, begin: int, end: int) -> list[int]:
        """Give the first places of chains that begin behind `begin` and before `end`."""
        begins = self.begins
        return begins[bisect_right(begins, begin) : bisect_left(begins, end)]

    @cached_property
    def newest(self) -> dict[int, int]:
        """The newest child of each place, where that is another than the place behind it."""
        return self._children[0]

    @cached_property
    def older(self) -> list[int]:
        """All children but the newest of each place."""
        return self._children[1]

    @cached_property
    def forked(self) -> bytearray:
        """1 for each place with several children; NO_ROW finds the last."""
        forked = bytearray(self.count + 1)
        for place in self.older:
            forked[self.parent(place)] = 1
        return forked

    @cached_property
    def flows(self) -> bytes:
        """1 for each place whose only child is the place behind it."""
        flows = bytearray(b"\1") * (self.count + 1)
        for place in self.newest:
            flows[place] = 0
        return bytes(flows[:-1])

    @cached_property
    def leaves(self) -> list[int]:
        """The places without children."""
        leaves = (place for place, child in self.newest.items() if child < 0)
        return sorted(place for place in leaves if place >= 0)

    @cached_property
    def _children(self) -> tuple[dict[int, int], list[int]]:
        newest: dict[int, int] = {}
        older: list[int] = []
        for place, parent in self.hung.items():
            # Nothing that hangs on the place before is met yet: it would stand further down.
            newest[place - 1] = NO_ROW
            before = newest.get(parent, parent + 1)
            if before >= 0:
                older.append(before)
            newest[parent] = place
        newest[self.count - 1] = NO_ROW
        if self.count:
            newest.setdefault(NO_ROW, 0)
        return newest, older

    def nearest_marked(self, mask: bytes | bytearray) -> array[int]:
        """Give for each place its nearest ancestor or self with a 1 in `mask`, NO_ROW for none.

        Of those, each is told by how many marked ones stand before it. NO_ROW finds the last item.
        """
        # Right at once but for what a chain begins with, up to its first marked place.
        nearest = array("q", accumulate(mask, initial=NO_ROW))
        nearest.append(NO_ROW)
        del nearest[0]
        for begin, end, parent in self._hung_stretches():
            if not mask[begin]:
                marked = _find(mask, begin, end)
                nearest[begin:marked] = array("q", (nearest[parent],)) * (marked - begin)
        return nearest

    def marked(self, mask: bytes | bytearray, nearest: Sequence[int]) -> Chains:
        """Give the chains of marked places alone, each hung on its nearest marked ancestor."""
        hung: dict[int, int] = {}
        for begin, end, parent in self._hung_stretches():
            marked = begin if mask[begin] else _find(mask, begin, end)
            if marked < end and nearest[parent] != nearest[marked] - 1:
                hung[nearest[marked]] = nearest[parent]
        return Chains(mask.count(1), hung)

    def _hung_stretches(self) -> Iterator[tuple[int, int, int]]:
        """Give where each chain but the first begins, where it ends, and what it hangs on."""
        ends = chain(islice(self.hung, 1, None), (self.count,))
        return zip(self.hung, ends, self.hung.values(), strict=False)


def _find(mask: bytes | bytearray, begin: int, end: int) -> int:
    found = mask.find(1, begin, end)
    return end if found < 0 else found
