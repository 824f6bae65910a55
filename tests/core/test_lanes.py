"""Lanes: small trees as pictures, and what must hold in the picture of any tree."""

from __future__ import annotations

import sys
from array import array
from typing import Any

import pytest
from builders import family
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core import lanes
from tt_debugger.core.chains import chains_of
from tt_debugger.core.lanes import DOWN, LEFT, MOST_LANES, RIGHT, UP, LaneRow, lay_out
from tt_debugger.core.tree import NO_ROW, Tree

_SIGNS = " ╵╷│╴┘┐┤╶└┌├─┴┬┼"


def laid(parents: array[int], active: int) -> tuple[list[int], list[LaneRow]]:
    tree = Tree(parents)
    path = set(tree.path_to(active))
    order = tree.parents_first()
    places = {row: place for place, row in enumerate(order)} | {NO_ROW: NO_ROW}
    active_path = bytes(row in path for row in order)
    return order, list(lay_out(chains_of([places[parents[row]] for row in order]), active_path))


def picture(text: str, active: str) -> str:
    """Draw a tree of one-letter ids, each id in its lane."""
    pairs = family(text)
    names = [name for name, _ in pairs]
    parents = array("q", (names.index(above) if above else NO_ROW for _, above in pairs))
    order, rows = laid(parents, names.index(active))
    lines: list[str] = []
    for row, drawn in zip(order, rows, strict=True):
        signs = [_SIGNS[cell] for cell in drawn.cells]
        if drawn.lane < MOST_LANES:
            signs[2 * drawn.lane] = names[row]
        lines.append("".join(signs).rstrip() + (f" +{drawn.hidden}" if drawn.hidden else ""))
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "active", "drawn"),
    [
        (
            "a b c",
            "c",
            """
a
b
c""",
        ),
        # The active branch is the older one: the younger waits in a lane of its own.
        (
            "a b c d<b e",
            "c",
            """
a
b─┐
c │
  d
  e""",
        ),
        # The active branch is the younger one: the older branches off its lane.
        (
            "a b c d<b e",
            "e",
            """
a
b
├─c
d
e""",
        ),
        # A lane is given back at its leaf and used again.
        (
            "a b c<a d<a e<a",
            "e",
            """
a
├─b
├─c
├─d
e""",
        ),
        # A fork in the middle of its children: one before the heir, two behind it.
        (
            "a b<a c<a d<a e<a",
            "c",
            """
a─┐
├─┼─b
c │
  ├─d
  e""",
        ),
        # Branches of branches.
        (
            "a b c d<b e<a f<d",
            "f",
            """
a─┐
b │
├─┼─c
d │
│ e
f""",
        ),
        # Several roots: lane 0 belongs to the active path alone.
        (
            "a b x< y c<b z<y",
            "z",
            """
  a
  b
x │
y │
│ c
z""",
        ),
    ],
)
def test_a_tree_is_drawn_like_this(text: str, active: str, drawn: str):
    assert f"\n{picture(text, active)}" == drawn


def test_lanes_from_the_ninth_on_are_counted_not_drawn():
    roots = " ".join(f"{name}<" for name in "abcdefghij")
    leaves = " ".join(f"{name.upper()}<{name}" for name in "abcdefghij")

    lines = picture(f"{roots} {leaves}", "J").splitlines()

    assert lines[8] == "  │ │ │ │ │ │ │ +2"
    assert lines[9] == "j │ │ │ │ │ │ │ +2"


def branches(count: int) -> tuple[array[int], int]:
    """Give branches of two rows from one root, all open at once, and the active leaf."""
    parents = array("q", [NO_ROW, *[0] * count, *range(1, count + 1)])
    return parents, len(parents) - 1


def lines_run(count: int) -> int:
    """Give how many lines of Python it takes to lay out so many open branches."""
    parents, active = branches(count)
    on_active_path = bytearray(len(parents))
    for row in Tree(parents).path_to(active):
        on_active_path[row] = 1
    run = 0

    def counting(*_: object) -> Any:
        nonlocal run
        run += 1
        return counting

    before = sys.gettrace()
    sys.settrace(counting)
    try:
        lay_out(chains_of(parents), on_active_path)
    finally:
        sys.settrace(before)
    return run


def test_ten_times_as_many_open_branches_take_ten_times_the_work():
    assert lines_run(1000) < 10.1 * lines_run(100)


def test_twenty_thousand_open_branches_are_laid_out():
    count = 20_000

    _, rows = laid(*branches(count))

    assert max(drawn.lane for drawn in rows) == count - 1
    assert max(drawn.hidden for drawn in rows) == count - MOST_LANES
    assert rows[-1].hidden == 0


@given(parent_rows(40), st.data())
def test_one_node_a_row_and_the_active_path_alone_in_lane_0(
    parents: array[int], data: st.DataObject
):
    active = data.draw(st.integers(0, len(parents) - 1))
    order, rows = laid(parents, active)
    path = Tree(parents).path_to(active)

    assert len(rows) == len(parents)
    for row, drawn in zip(order, rows, strict=True):
        if row in path:
            assert drawn.lane == 0
        elif active not in Tree(parents).path_to(row):
            assert drawn.lane > 0


@given(parent_rows(40), st.data())
def test_no_line_ends_in_nothing(parents: array[int], data: st.DataObject):
    _, rows = laid(parents, data.draw(st.integers(0, len(parents) - 1)))

    for above, below in zip([LaneRow(0, ()), *rows], [*rows, LaneRow(0, ())], strict=True):
        assert len(above.cells) <= 2 * MOST_LANES
        width = max(len(above.cells), len(below.cells))
        for cell in range(width):
            assert bool(_cell(above, cell) & DOWN) == bool(_cell(below, cell) & UP)
        for cell in range(2 * MOST_LANES - 1):
            assert bool(_cell(above, cell) & RIGHT) == bool(_cell(above, cell + 1) & LEFT)


@given(parent_rows(30), st.data())
def test_each_line_leads_up_from_a_row_to_its_parent(parents: array[int], data: st.DataObject):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lanes, "MOST_LANES", 100)
        order, rows = laid(parents, data.draw(st.integers(0, len(parents) - 1)))

    for place, row in enumerate(order):
        above = _line_up(rows, place)
        assert (NO_ROW if above is None else order[above]) == parents[row]


def _cell(row: LaneRow, cell: int) -> int:
    return row.cells[cell] if cell < len(row.cells) else 0


def _line_up(rows: list[LaneRow], place: int) -> int | None:
    """Follow the line from a node as an eye does: straight on at a crossing. None for a root."""
    lane = _lane_of_origin(rows[place])
    if lane is None:
        return None
    for above in range(place - 1, -1, -1):
        row = rows[above]
        if row.lane == lane or not _cell(row, 2 * lane) & UP:
            return above
    raise AssertionError("the line never ends")


def _lane_of_origin(row: LaneRow) -> int | None:
    """Give the lane in which a node's line comes from above, itself or at the end of a beam."""
    if _cell(row, 2 * row.lane) & UP:
        return row.lane
    for forth, back, step in ((LEFT, RIGHT, -1), (RIGHT, LEFT, 1)):
        cell = 2 * row.lane
        while _cell(row, cell) & forth:
            cell += step
            assert _cell(row, cell) & back
        if cell != 2 * row.lane and _cell(row, cell) & UP:
            return cell // 2
    return None
