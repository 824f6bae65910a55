"""The tree of the rows that a filter shows, each hung on its nearest visible ancestor."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from itertools import compress

from tt_debugger.core.filters import UNEVENTFUL, Chosen, shown_mask
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW

SHORTEST_RUN = 6
"""Uneventful rows in a row that are worth a fold; of a branch, two behind its first row are."""


class VisibleTree:
    """What a filter shows of a session, by place: 0, 1, 2 ... in drawing order.

    `rows` gives the row of a place, `chains` how places hang on each other, `active` 1 for those
    on the active path. `branches` are the first places of branches: those that do not go on where
    their parent stood.
    """

    def __init__(self, session: Session, chosen: Chosen) -> None:
        self.session = session
        order = session.order
        mask = self._mask = _in_order(session, shown_mask(session, chosen))
        active = _in_order(session, session.on_active_path)
        if 0 in mask:
            self._near: Sequence[int] = session.chains.nearest_marked(mask)
            self.rows: Sequence[int] = list(compress(order, mask))
            self.chains = session.chains.marked(mask, self._near)
            self.active = bytes(compress(active, mask))
        else:
            self._near = range(len(session))
            self.rows = order
            self.chains = session.chains
            self.active = active
        self._led = {
            self.chains.parent(place): place for place in self.chains.older if self.active[place]
        }
        behind = map(self.chains.newest_child, self._led)
        self.branches = sorted({*self.chains.older, *behind}.difference(self._led.values()))

    def __len__(self) -> int:
        return len(self.rows)

    def place_of(self, row: int) -> int:
        """Give the place of a row, else of its nearest visible ancestor, else NO_ROW."""
        return self._near[self.session.positions[row]]

    def is_branch(self, place: int) -> bool:
        """Tell whether a place is the first of a branch."""
        parent = self.chains.parent(place)
        return self._led.get(parent, self.chains.newest_child(parent)) != place

    @cached_property
    def branches_worth_folding(self) -> list[int]:
        """The first places of branches with at least two places behind them."""
        newest, forked = self.chains.newest.get, self.chains.forked
        return [
            branch
            for branch in self.branches
            if forked[branch]
            or ((child := newest(branch, branch + 1)) >= 0 and newest(child, child + 1) >= 0)
        ]

    def branches_above(self, place: int) -> Iterator[int]:
        """Give the branches worth a fold that a place is in, the innermost first."""
        branches = self.branches_worth_folding
        while place != NO_ROW:
            begin = self.chains.begin_of(place)
            inside = range(bisect_left(branches, begin), bisect_right(branches, place))
            yield from (branches[each] for each in inside[::-1])
            place = self.chains.parent(begin)

    def runs(self, covered: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
        """Give the stretches of places that may vanish in the fold of a run, from and to.

        That is an uneventful one with one child, the only child of its parent; none that is
        covered already. What hangs on the first row of a branch is never in a run, so that a head
        names one fold. Of a run that others interrupt each stretch is given, of one too short to
        fold perhaps none.
        """
        chains, count = self.chains, len(self)
        flows, forked = chains.flows, chains.forked
        candidates = self._uneventful()
        for begin, end in covered:
            candidates[begin:end] = bytes(end - begin)
        for place, child in chains.newest.items():
            if child < 0 or forked[place]:
                candidates[place] = 0
        # All that does not just go on from the place before it.
        begins = [place + 1 for place in chains.newest if candidates[place + 1]]
        begins += [place + 1 for place in self.branches if candidates[place + 1]]
        goes_on, starts = candidates[:-1], candidates[:-1]
        for place in begins:
            goes_on[place] = 0
            starts[place] = self._may_lead_a_run(chains.parent(place))
        stretches: list[tuple[int, int]] = []
        begin = starts.find(1)
        while begin >= 0:
            end = goes_on.find(0, begin + 1)
            end = count if end < 0 else end
            # Too short, and between what is in no run; there are many of those.
            if end - begin >= SHORTEST_RUN or not (goes_on[begin] and flows[end - 1]):
                stretches.append((begin, end))
            begin = starts.find(1, end)
        return stretches

    def _may_lead_a_run(self, place: int) -> bool:
        return place >= 0 and not self.chains.forked[place] and not self.is_branch(place)

    def _uneventful(self) -> bytearray:
        """Give 1 for each plain step that went well; NO_ROW finds the last, which is none."""
        session = self.session
        quiet = bytearray(_in_order(session, session.traits).translate(UNEVENTFUL))
        if 0 in self._mask:
            quiet = bytearray(compress(quiet, self._mask))
        quiet.append(0)
        active = session.active
        if active is not None and (place := self.place_of(active)) >= 0:
            quiet[place] &= self.rows[place] != active
        return quiet

    def run_of(self, place: int) -> int:
        """Give the head of the run worth a fold that a place is in, or NO_ROW."""
        if not self._is_in_run(place):
            return NO_ROW
        head, length, below = self.chains.parent(place), 1, self.chains.newest_child(place)
        while self._is_in_run(head):
            head, length = self.chains.parent(head), length + 1
        while length < SHORTEST_RUN and self._is_in_run(below):
            below, length = self.chains.newest_child(below), length + 1
        return head if length >= SHORTEST_RUN else NO_ROW

    def _is_in_run(self, place: int) -> bool:
        if place == NO_ROW:
            return False
        chains, row = self.chains, self.rows[place]
        parent = chains.parent(place)
        return bool(
            UNEVENTFUL[self.session.traits[row]]
            and row != self.session.active
            and chains.newest_child(place) >= 0
            and not chains.forked[place]
            and self._may_lead_a_run(parent)
        )


def _in_order(session: Session, column: bytes | bytearray) -> bytes | bytearray:
    """Give one byte per row in drawing order."""
    if isinstance(session.order, range):
        return column
    return bytes(map(column.__getitem__, session.order))
