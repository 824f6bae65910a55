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
from typing import NamedTuple

from tt_debugger.core.tree import child_columns, heir_among

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


class _Fork:
    """The lane in which a row waits for its children, and who takes it.

    Until the heir is drawn that is the row's own lane; then, for younger siblings, the late lane,
    which the last of them takes.
    """

    __slots__ = ("heir", "lane", "last", "late_lane")

    def __init__(self, lane: int, heir: int, last: int) -> None:
        self.lane = lane
        self.heir = heir
        self.last = last
        self.late_lane = -1


def lay_out(parents: Sequence[int], on_active_path: Sequence[int]) -> list[LaneRow]:
    """Give the lanes of rows in the order they are drawn, each known by the place of its parent.

    A parent stands before its children, or is NO_ROW; `on_active_path` is 1 for the rows there.
    """
    begins, children = child_columns(parents)
    layout = _Layout(on_active_path)
    return [
        layout.place(row, parent, children[begins[row + 1] : begins[row + 2]])
        for row, parent in enumerate(parents)
    ]


class _Layout:
    """The lanes in use after the rows placed so far; a row costs the same however many those are.

    Of the lanes that are drawn, `_drawn` has a bit for each in use; those beyond are only counted.
    """

    def __init__(self, on_active_path: Sequence[int]) -> None:
        self._on_active_path = on_active_path
        self._forks: dict[int, _Fork] = {}
        self._runs: dict[int, int] = {}
        self._free: list[int] = []
        self._count = 1
        self._drawn = 0
        self._hidden = 0
        self._known: dict[tuple[int, ...], LaneRow] = {}

    def place(self, row: int, parent: int, children: Sequence[int]) -> LaneRow:
        """Give the lanes of the next row."""
        before = self._drawn
        lane, origin, is_new = self._lane_for(row, parent)
        if is_new and children:
            self._take(lane)
        elif not (is_new or children):
            self._give_back(lane)
        late_lane = self._open(row, lane, children)
        hidden = self._hidden + (lane >= MOST_LANES and not children)
        drawn = (before, self._drawn, lane, origin, late_lane, hidden)
        laid = self._known.get(drawn)
        if laid is None:
            laid = self._known[drawn] = LaneRow(lane, _cells(*drawn), hidden)
        return laid

    def _lane_for(self, row: int, parent: int) -> tuple[int, int, bool]:
        """Give the lane of a row, the lane its line comes from, and whether it is a new one."""
        lane = self._runs.pop(parent, -1)
        if lane >= 0:
            return lane, lane, False
        fork = self._forks.get(parent)
        if fork is None:
            lane = 0 if self._on_active_path[row] else self._free_lane()
            return lane, lane, True
        home = fork.lane
        if row != fork.heir:
            return self._free_lane(), home, True
        if row == fork.last:
            del self._forks[parent]
        else:
            fork.lane, fork.heir = fork.late_lane, fork.last
        return home, home, False

    def _open(self, row: int, lane: int, children: Sequence[int]) -> int:
        """Keep the row's lane for its children; give the lane opened for late ones, or -1."""
        if len(children) == 1:
            self._runs[row] = lane
        if len(children) < 2:  # noqa: PLR2004 - a fork has two ways
            return -1
        fork = _Fork(lane, heir_among(children, self._on_active_path), children[-1])
        self._forks[row] = fork
        if fork.last != fork.heir:
            fork.late_lane = self._free_lane()
            self._take(fork.late_lane)
        return fork.late_lane

    def _free_lane(self) -> int:
        """Give the first lane that is free; lane 0 never is."""
        return self._free[0] if self._free else self._count

    def _take(self, lane: int) -> None:
        """Put lane 0 or the first free lane to use."""
        if lane == self._count:
            self._count += 1
        elif lane:
            heappop(self._free)
        if lane < MOST_LANES:
            self._drawn |= 1 << lane
        else:
            self._hidden += 1

    def _give_back(self, lane: int) -> None:
        if lane:
            heappush(self._free, lane)
        if lane < MOST_LANES:
            self._drawn &= ~(1 << lane)
        else:
            self._hidden -= 1


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
