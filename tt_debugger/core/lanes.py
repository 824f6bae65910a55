"""Lanes: where each row of a tree is drawn, and which lines pass beside it.

Rows keep their order in time, and each stands in a lane. Lane 0 belongs to the active path
alone. A linear run stays in its lane; a branch opens a lane at its first row and gives it back
at its leaf, so lanes are reused. A fork's *heir* is the child that keeps its lane: the one on the
active path, else the newest. An older sibling branches off the lane while it still waits for the
heir; for a younger one the fork opens a second lane that waits, so that no line ever seems to
come from another row than it does.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import NamedTuple, overload

from tt_debugger.core.chains import Chains
from tt_debugger.core.tree import NO_ROW

UP, DOWN, LEFT, RIGHT = 1, 2, 4, 8
MOST_LANES = 8


class LaneRow(NamedTuple):
    """How one row is drawn: the lane of its node, and the lines of each cell.

    Two cells a lane: the lane itself and the gap behind it. A cell is the sum of the directions
    (UP, DOWN, LEFT, RIGHT) in which a line leaves it. Lanes from `MOST_LANES` on are not drawn;
    `hidden` counts those of them that are in use.
    """

    lane: int
    cells: tuple[int, ...]
    hidden: int = 0


class Lanes(Sequence[LaneRow]):
    """The lanes of all rows, by stretches of rows that look the same; cells are made when drawn.

    Of each stretch `begins` has the first row, `lanes` the lane, `in_use` a bit for each lane in
    use behind its rows, `hidden` how many more there are. Of a row `origins` has the lane a branch
    comes from, where that is another, and `late` the lane that is opened for late children.
    """

    def __init__(self, count: int) -> None:
        self._rows = range(count)
        self.begins: list[int] = []
        self.lanes: list[int] = []
        self.in_use: list[int] = []
        self.hidden: list[int] = []
        self.origins: dict[int, int] = {}
        self.late: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> LaneRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[LaneRow]: ...
    def __getitem__(self, index: int | slice) -> LaneRow | list[LaneRow]:
        if isinstance(index, slice):
            return [self[each] for each in self._rows[index]]
        row = self._rows[index]
        place = bisect_right(self.begins, row) - 1
        lane, after, hidden = self.lanes[place], self.in_use[place], self.hidden[place]
        before = after
        if row == self.begins[place]:
            before = self.in_use[place - 1] if place else 0
        origin, late = self.origins.get(row, lane), self.late.get(row, NO_ROW)
        return LaneRow(lane, _cells(before, after, lane, origin, late, hidden), hidden)


def lay_out(chains: Chains, on_active_path: bytes | bytearray) -> Lanes:
    """Give the lanes of rows in drawing order; `on_active_path` has 1 for the rows there."""
    heirs = {chains.parent(row): row for row in chains.older if on_active_path[row]}
    lanes = Lanes(len(chains))
    _place(lanes, chains, on_active_path, heirs)
    return lanes


# One long loop over local names: a switch of the filter places each of 100,000 rows anew.
def _place(  # noqa: C901, PLR0912, PLR0915 - calls would take longer than all that they do
    lanes: Lanes, chains: Chains, on_active_path: bytes | bytearray, heirs: dict[int, int]
) -> None:
    """Place every row from top to bottom; it costs the same however many lanes are in use.

    A row and all that just go on behind it are one step; the last of them, `end`, is a leaf or
    has children elsewhere. A row that waits for children waits in its lane, `waits_in`, which its
    heir takes. A fork whose heir has been placed waits in its late lane, which its last child
    takes: its heir from then on. `heirs` has those that are not the newest child.
    """
    late_lanes, origins = lanes.late, lanes.origins
    begins, lane_of, in_use_behind, hidden_beside = (
        lanes.begins,
        lanes.lanes,
        lanes.in_use,
        lanes.hidden,
    )
    most, hung, newest, flows = MOST_LANES, chains.hung, chains.newest, chains.flows
    waits_in: dict[int, int] = {}
    free: list[int] = []
    lane_count, in_use, hidden = 1, 0, 0
    row, count = 0, len(chains)
    while row < count:
        end = flows.find(0, row)
        parent, child = hung.get(row, row - 1), newest[end]
        is_dot = child < 0 and row == end
        if parent >= 0 and heirs.get(parent, newest[parent]) == row:
            lane = waits_in[parent]
            if newest[parent] != row:
                waits_in[parent], heirs[parent] = late_lanes[parent], newest[parent]
            is_dot = False
        else:
            lane = free[0] if free else lane_count
            if parent >= 0:
                origins[row] = waits_in[parent]
            elif on_active_path[row]:
                lane = 0
            if not is_dot:
                if lane == lane_count:
                    lane_count += 1
                elif lane:
                    heappop(free)
                if lane < most:
                    in_use |= 1 << lane
                else:
                    hidden += 1
        if row < end:
            begins.append(row)
            lane_of.append(lane)
            in_use_behind.append(in_use)
            hidden_beside.append(hidden)
        beside = hidden
        if child >= 0:
            waits_in[end] = lane
            if heirs.get(end, child) != child:
                late_lane = late_lanes[end] = free[0] if free else lane_count
                if late_lane == lane_count:
                    lane_count += 1
                else:
                    heappop(free)
                if late_lane < most:
                    in_use |= 1 << late_lane
                else:
                    hidden += 1
                beside = hidden
        elif is_dot:
            beside += lane >= most
        else:
            if lane:
                heappush(free, lane)
            if lane < most:
                in_use &= ~(1 << lane)
            else:
                hidden -= 1
        begins.append(end)
        lane_of.append(lane)
        in_use_behind.append(in_use)
        hidden_beside.append(beside)
        row = end + 1


def _cells(
    before: int, after: int, lane: int, origin: int, late_lane: int, hidden: int
) -> tuple[int, ...]:
    """Give the cells of a row; `before` and `after` have a bit for each lane in use."""
    ends = (lane, origin, late_lane)
    width = MOST_LANES if hidden else max(*ends, (before | after).bit_length() - 1) + 1
    cells = [0] * (2 * width)
    for each in range(width):
        cells[2 * each] = (UP if before >> each & 1 else 0) | (DOWN if after >> each & 1 else 0)
    for end in (origin, late_lane):
        if end >= 0:
            _draw_between(cells, lane, end)
    return tuple(cells)


def _draw_between(cells: list[int], one: int, other: int) -> None:
    """Draw a horizontal line between two lanes, as far as there are cells."""
    left, right = 2 * min(one, other), 2 * max(one, other)
    for cell in range(left, min(right, len(cells))):
        cells[cell] |= RIGHT
    for cell in range(left + 1, min(right + 1, len(cells))):
        cells[cell] |= LEFT
