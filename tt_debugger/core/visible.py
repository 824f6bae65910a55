"""The tree of the rows that a filter shows, each hung on its nearest visible ancestor."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate, compress
from operator import eq

from tt_debugger.core.filters import MASKS, UNEVENTFUL, Filter
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW

_INVERTED = bytes((1, *bytes(255)))

SHORTEST_RUN = 6
"""Uneventful rows in a row that are worth a fold; of a branch, two behind its first row are."""


class VisibleTree:
    """What a filter shows of a session, by place: 0, 1, 2 ... in drawing order.

    Every list has one more item than there are places, so that NO_ROW finds the last: what is
    said of it is said of the place above the roots. `rows` gives the row of a place, `near` the
    place of each row's nearest visible ancestor or self in drawing order; `parents`, the newest
    child (`last`) and the `heirs` are places. `branches` are the first places of branches: those
    that do not go on where their parent stood.
    """

    def __init__(self, session: Session, chosen: Filter) -> None:
        self.session = session
        order = session.order
        mask = _in_order(session, session.traits).translate(MASKS[chosen])
        self.rows: Sequence[int] = order if 0 not in mask else list(compress(order, mask))
        self.near, self.parents = _nearest(_parents_in_order(session), mask)
        self.active = bytes(compress(_in_order(session, session.on_active_path), mask))
        self.last, self.forked, branches = _children(self.parents)
        self.heirs = self.last
        if led := [place for place in branches if self.active[place]]:
            self.heirs = self.last.copy()
            for place in led:
                parent = self.parents[place]
                self.heirs[parent] = place
                branches.remove(place)
                branches.add(self.last[parent])
        self.branches = sorted(branches)
        self._mask = mask

    def __len__(self) -> int:
        return len(self.rows)

    def place_of(self, row: int) -> int:
        """Give the place of a row, else of its nearest visible ancestor, else NO_ROW."""
        return self.near[self.session.positions[row]]

    def is_branch(self, place: int) -> bool:
        """Tell whether a place is the first of a branch."""
        return self.heirs[self.parents[place]] != place

    def branches_worth_folding(self) -> list[int]:
        """Give the first places of branches with at least two places behind them."""
        last, forked = self.last, self.forked
        return [
            place
            for place in self.branches
            if forked[place] or ((child := last[place]) >= 0 and last[child] >= 0)
        ]

    def branches_above(self, place: int) -> Iterator[int]:
        """Give the branches worth a fold that a place is in, the innermost first."""
        last, forked = self.last, self.forked
        while place != NO_ROW:
            is_long = forked[place] or last[last[place]] >= 0
            if is_long and last[place] >= 0 and self.is_branch(place):
                yield place
            place = self.parents[place]

    def runs(self, covered: bytes | bytearray) -> list[tuple[int, int]]:
        """Give the stretches of places that may vanish in the fold of a run, from and to.

        That is an uneventful one with one child, the only child of its parent; none that is
        covered already. What hangs on the first row of a branch is never in a run, so that a head
        names one fold. Of a run that others interrupt each stretch is given, of one too short to
        fold perhaps none.
        """
        parents, last, forked = self.parents, self.last, self.forked
        quiet = _every(self._uneventful(), covered.translate(_INVERTED))
        flows = bytes(map(eq, last, range(1, len(last))))
        single = bytearray(flows)
        rest = _every(quiet, flows.translate(_INVERTED), forked[:-1].translate(_INVERTED))
        for place in compress(range(len(self)), rest):
            single[place] = last[place] >= 0
        follows = bytearray(flows[:-1])
        follows.insert(0, 0)
        for place in self.branches:
            if flows[place]:
                follows[place + 1] = 0
        candidates = _every(quiet, single)
        goes_on = _every(candidates, follows)
        starts = bytearray(goes_on)
        for place in compress(range(len(self)), _every(candidates, follows.translate(_INVERTED))):
            parent = parents[place]
            starts[place] = parent >= 0 and not forked[parent] and not self.is_branch(parent)
        stretches: list[tuple[int, int]] = []
        begin = starts.find(1)
        while begin >= 0:
            end = goes_on.find(0, begin + 1)
            end = len(self) if end < 0 else end
            # Too short, and between what is in no run; there are many of those.
            if end - begin >= SHORTEST_RUN or not (goes_on[begin] and flows[end - 1]):
                stretches.append((begin, end))
            begin = starts.find(1, end)
        return stretches

    def _uneventful(self) -> bytes:
        traits = _in_order(self.session, self.session.traits)
        quiet = bytearray(compress(traits.translate(UNEVENTFUL), self._mask))
        active = self.session.active
        if active is not None and (place := self.place_of(active)) >= 0:
            quiet[place] &= self.rows[place] != active
        return bytes(quiet)

    def run_of(self, place: int) -> int:
        """Give the head of the run worth a fold that a place is in, or NO_ROW."""
        if not self._is_in_run(place):
            return NO_ROW
        head, count, below = self.parents[place], 1, self.last[place]
        while self._is_in_run(head):
            head, count = self.parents[head], count + 1
        while count < SHORTEST_RUN and self._is_in_run(below):
            below, count = self.last[below], count + 1
        return head if count >= SHORTEST_RUN else NO_ROW

    def _is_in_run(self, place: int) -> bool:
        if place == NO_ROW:
            return False
        parent, row = self.parents[place], self.rows[place]
        return bool(
            UNEVENTFUL[self.session.traits[row]]
            and row != self.session.active
            and self.last[place] >= 0
            and not self.forked[place]
            and parent != NO_ROW
            and not self.forked[parent]
            and not self.is_branch(parent)
        )


def _in_order(session: Session, column: bytes | bytearray) -> bytes | bytearray:
    """Give one byte per row in drawing order."""
    if isinstance(session.order, range):
        return column
    return bytes(map(column.__getitem__, session.order))


def _parents_in_order(session: Session) -> Sequence[int]:
    """Give the parent of each row; both by their place in drawing order."""
    if isinstance(session.order, range):
        return session.parents
    positions = array("q", [*session.positions, NO_ROW])
    return [positions[session.parents[row]] for row in session.order]


def _nearest(parents: Sequence[int], mask: bytes | bytearray) -> tuple[list[int], list[int]]:
    """Give the place of the nearest visible one of each row, and the parent of each place."""
    if 0 not in mask:
        return [*range(len(parents)), NO_ROW], list(parents)
    # Right at once for visible rows; a hidden one then takes over what its parent has.
    near = [*accumulate(mask, initial=NO_ROW), NO_ROW]
    del near[0]
    for row in compress(range(len(parents)), mask.translate(_INVERTED)):
        near[row] = near[parents[row]]
    return near, list(map(near.__getitem__, compress(parents, mask)))


def _children(parents: Sequence[int]) -> tuple[list[int], bytearray, set[int]]:
    """Give each place's newest child, 1 for those with several, and all other children."""
    last = [NO_ROW] * (len(parents) + 1)
    forked = bytearray(len(last))
    older: set[int] = set()
    for place, parent in enumerate(parents):
        if (before := last[parent]) >= 0:
            forked[parent] = 1
            older.add(before)
        last[parent] = place
    return last, forked, older


def _every(*masks: bytes | bytearray) -> bytes:
    """Give 1 where all masks of one length have it."""
    both = int.from_bytes(masks[0], "little")
    for mask in masks[1:]:
        both &= int.from_bytes(mask, "little")
    return both.to_bytes(len(masks[0]), "little")
