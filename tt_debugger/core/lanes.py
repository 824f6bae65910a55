"""Lanes: where each row of a tree is drawn, and which lines pass beside it.

Rows keep their order in time, and each stands in a lane. Lane 0 belongs to the active path
alone. A linear run stays in its lane; a branch opens a lane at its first row and gives it back
at its leaf, so lanes are reused. A fork's *heir* is the child that keeps its lane: the one on the
active path, else the newest. An older sibling branches off the lane while it still waits for the
heir; for a younger one the fork opens a second lane that waits, so that no line ever seems to
come from another row than it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heappop, heappush
from itertools import compress
from operator import eq
from typing import NamedTuple, overload

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
    """The lanes of all rows, in columns; the cells of a row are worked out when it is drawn.

    Of each row `lanes` has the lane, `in_use` a bit for each lane in use behind it, `hidden` how
    many more there are; `origins` the lane a branch comes from, where that is another, and `late`
    the lane that is opened for late children.
    """

    def __init__(self, count: int) -> None:
        self.lanes = [0] * count
        self.in_use = [0] * count
        self.hidden = [0] * count
        self.origins: dict[int, int] = {}
        self.late: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self.lanes)

    @overload
    def __getitem__(self, index: int) -> LaneRow: ...
    @overload
    def __getitem__(self, index: slice) -> list[LaneRow]: ...
    def __getitem__(self, index: int | slice) -> LaneRow | list[LaneRow]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        row = range(len(self))[index]
        lane, hidden = self.lanes[row], self.hidden[row]
        before = self.in_use[row - 1] if row else 0
        origin, late = self.origins.get(row, lane), self.late.get(row, NO_ROW)
        return LaneRow(lane, _cells(before, self.in_use[row], lane, origin, late, hidden), hidden)


def lay_out(
    parents: Sequence[int], on_active_path: bytes | bytearray, last: list[int] | None = None
) -> Lanes:
    """Give the lanes of rows in the order they are drawn, each known by the place of its parent.

    A parent stands before its children, or is NO_ROW; `on_active_path` is 1 for the rows there.
    `last` has the last child of each row and of NO_ROW, where that is known already.
    """
    last = _last_children(parents) if last is None else last
    heirs = last.copy()
    for row in compress(range(len(parents)), on_active_path):
        heirs[parents[row]] = row
    lanes = Lanes(len(parents))
    _place(lanes, parents, on_active_path, last, heirs)
    return lanes


def _last_children(parents: Sequence[int]) -> list[int]:
    """Give the last child of each row, and of NO_ROW, which is the last item."""
    last = [NO_ROW] * (len(parents) + 1)
    for row, parent in enumerate(parents):
        last[parent] = row
    return last


# One long loop over local names: a switch of the filter places each of 100,000 rows anew.
def _place(  # noqa: C901, PLR0912, PLR0915 - calls would take longer than all that they do
    lanes: Lanes,
    parents: Sequence[int],
    on_active_path: bytes | bytearray,
    last: Sequence[int],
    heirs: list[int],
) -> None:
    """Place every row from top to bottom; it costs the same however many lanes are in use.

    A row that waits for children waits in its lane, `waits_in`, which its heir takes. A fork whose
    heir has been placed waits in its late lane, which its last child takes: its heir from then on.
    """
    late_lanes, origins = lanes.late, lanes.origins
    lane_of, in_use_behind, hidden_beside = lanes.lanes, lanes.in_use, lanes.hidden
    most = MOST_LANES
    waits_in = [NO_ROW] * len(last)
    free: list[int] = []
    lane_count, in_use, hidden = 1, 0, 0
    # 1 for a row whose only child follows it at once.
    flows = bytes(map(eq, last, range(1, len(last))))
    row, end = 0, len(parents)
    while row < end:
        parent, child = parents[row], last[row]
        if parent >= 0 and heirs[parent] == row:
            lane = waits_in[parent]
            if last[parent] != row:
                waits_in[parent], heirs[parent] = late_lanes[parent], last[parent]
            if child < 0:
                if lane:
                    heappush(free, lane)
                if lane < most:
                    in_use &= ~(1 << lane)
                else:
                    hidden -= 1
        else:
            lane = free[0] if free else lane_count
            if parent >= 0:
                origins[row] = waits_in[parent]
            elif on_active_path[row]:
                lane = 0
            if child >= 0:
                if lane == lane_count:
                    lane_count += 1
                elif lane:
                    heappop(free)
                if lane < most:
                    in_use |= 1 << lane
                else:
                    hidden += 1
        if child >= 0:
            waits_in[row] = lane
            if heirs[row] != child:
                late_lane = late_lanes[row] = free[0] if free else lane_count
                if late_lane == lane_count:
                    lane_count += 1
                else:
                    heappop(free)
                if late_lane < most:
                    in_use |= 1 << late_lane
                else:
                    hidden += 1
            hidden_beside[row] = hidden
        else:
            hidden_beside[row] = hidden + (lane >= most)
        lane_of[row] = lane
        in_use_behind[row] = in_use
        row += 1
        if flows[row - 1]:
            # Rows that just go on: all of them look the same.
            stop = flows.find(0, row)
            if (count := stop - row) > 0:
                lane_of[row:stop] = [lane] * count
                in_use_behind[row:stop] = [in_use] * count
                hidden_beside[row:stop] = [hidden] * count
                waits_in[stop - 1] = lane
                row = stop


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
