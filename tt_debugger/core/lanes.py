"""Lanes: where each row of a tree is drawn, and which lines pass beside it.

Rows keep their order in time, and each stands in a lane. Lane 0 belongs to the active path
alone. A linear run stays in its lane; a branch opens a lane at its first row and gives it back
at its leaf, so lanes are reused. A fork's *heir* is the child that keeps its lane: the one on the
active path, else the newest. An older sibling branches off the lane while it still waits for the
heir; for a younger one the fork opens a second lane that waits, so that no line ever seems to
come from another row than it does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

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
    """The lanes in which a row waits for its children: its own, and one for late children."""

    __slots__ = ("heir", "lane", "last", "late_lane")

    def __init__(self, lane: int, heir: int, last: int) -> None:
        self.lane = lane
        self.heir = heir
        self.last = last
        self.late_lane = -1


def lay_out(
    order: Sequence[int],
    parent_of: Callable[[int], int],
    children_of: Callable[[int], Sequence[int]],
    on_active_path: Callable[[int], bool],
) -> list[LaneRow]:
    """Give the lanes of rows in the order they are drawn, parents before children.

    `parent_of` gives a negative number for a root; `children_of` gives children in drawing order.
    """
    layout = _Layout(on_active_path)
    return [layout.place(row, parent_of(row), children_of(row)) for row in order]


class _Layout:
    def __init__(self, on_active_path: Callable[[int], bool]) -> None:
        self._on_active_path = on_active_path
        self._busy: list[bool] = [False]
        self._forks: dict[int, _Fork] = {}
        self._runs: dict[int, int] = {}
        self._passing: dict[int, LaneRow] = {}
        self._known: dict[LaneRow, LaneRow] = {}

    def place(self, row: int, parent: int, children: Sequence[int]) -> LaneRow:
        """Give the lanes of the next row. In a run they are those of the row before, mostly."""
        lane = self._runs.pop(parent, None)
        if lane is None:
            return self._place_apart(row, parent, children)
        if len(children) == 1:
            self._runs[row] = lane
        else:
            return self._drawn(list(self._busy), lane, lane, self._open(row, lane, children))
        if lane not in self._passing:
            self._passing[lane] = self._drawn(list(self._busy), lane, lane, -1)
        return self._passing[lane]

    def _place_apart(self, row: int, parent: int, children: Sequence[int]) -> LaneRow:
        before = list(self._busy)
        lane, origin = self._lane_for(row, parent)
        return self._drawn(before, lane, origin, self._open(row, lane, children))

    def _drawn(self, before: list[bool], lane: int, origin: int, late_lane: int) -> LaneRow:
        cells = self._cells(before, lane, origin, late_lane)
        hidden = {lane, *_busy_from(MOST_LANES, before), *_busy_from(MOST_LANES, self._busy)}
        hidden.difference_update(range(MOST_LANES))
        laid = LaneRow(lane, tuple(cells[: 2 * MOST_LANES]), len(hidden))
        return self._known.setdefault(laid, laid)

    def _lane_for(self, row: int, parent: int) -> tuple[int, int]:
        """Give the lane of a row, and the lane that its line comes from (its own if none)."""
        fork = self._forks.get(parent)
        if fork is None:
            lane = 0 if self._on_active_path(row) else self._free_lane()
            return lane, lane
        is_late = fork.late_lane >= 0 and row > fork.heir
        home = fork.late_lane if is_late else fork.lane
        if row == fork.last:
            del self._forks[parent]
        if row == (fork.last if is_late else fork.heir):
            return home, home
        return self._free_lane(), home

    def _open(self, row: int, lane: int, children: Sequence[int]) -> int:
        """Keep the row's lane for its children; give the lane opened for late ones, or -1."""
        self._take(lane, busy=bool(children))
        if len(children) == 1:
            self._runs[row] = lane
        if len(children) < 2:  # noqa: PLR2004 - a fork has two ways
            return -1
        active = (child for child in children if self._on_active_path(child))
        fork = _Fork(lane, next(active, children[-1]), children[-1])
        self._forks[row] = fork
        if fork.last != fork.heir:
            fork.late_lane = self._free_lane()
            self._take(fork.late_lane, busy=True)
        return fork.late_lane

    def _free_lane(self) -> int:
        free = (lane for lane in range(1, len(self._busy)) if not self._busy[lane])
        return next(free, len(self._busy))

    def _take(self, lane: int, *, busy: bool) -> None:
        self._busy += [False] * (lane + 1 - len(self._busy))
        if self._busy[lane] != busy:
            self._busy[lane] = busy
            self._passing.clear()

    def _cells(self, before: list[bool], lane: int, origin: int, late_lane: int) -> list[int]:
        width = max(lane, origin, late_lane, _last_busy(before), _last_busy(self._busy)) + 1
        cells = [0] * (2 * width)
        for each in range(width):
            was = each < len(before) and before[each]
            now = each < len(self._busy) and self._busy[each]
            cells[2 * each] = (UP if was else 0) | (DOWN if now else 0)
        for end in (origin, late_lane):
            if end >= 0:
                _draw_between(cells, lane, end)
        return cells


def _busy_from(first: int, lanes: Sequence[bool]) -> Iterator[int]:
    return (lane for lane in range(first, len(lanes)) if lanes[lane])


def _last_busy(lanes: Sequence[bool]) -> int:
    return max((lane for lane, busy in enumerate(lanes) if busy), default=0)


def _draw_between(cells: list[int], one: int, other: int) -> None:
    """Draw a horizontal line between two lanes."""
    left, right = 2 * min(one, other), 2 * max(one, other)
    for cell in range(left, right):
        cells[cell] |= RIGHT
        cells[cell + 1] |= LEFT
