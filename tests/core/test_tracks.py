"""Tracks: which change is above a row, which below, and what of it is drawn in a graph."""

from __future__ import annotations

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.scrub import column_of, columns_of, scrub_index
from tt_debugger.core.tracks import Drawn, Stop, Track, drawn_columns, number_of, track_of
from tt_debugger.core.tree import Tree

RUN = "a b c d e f g h"


def stop(row: int, said: str | None, number: float | None = None) -> Stop:
    """Give a stop on a path that has no other rows above it."""
    return Stop(row, row, said, number)


SMALL, LARGE, GONE = stop(1, "small"), stop(4, "large"), stop(6, None)
TRACK = Track(7, (SMALL, LARGE, GONE))


@pytest.mark.parametrize(
    ("depth", "at", "last", "next_one"),
    [
        (0, None, None, SMALL),
        (1, SMALL, None, LARGE),
        (2, SMALL, SMALL, LARGE),
        (4, LARGE, SMALL, GONE),
        (5, LARGE, LARGE, GONE),
        (6, GONE, LARGE, None),
        (7, GONE, GONE, None),
    ],
)
def test_the_changes_around_a_depth(depth, at, last, next_one):
    assert (TRACK.at(depth), TRACK.last(depth), TRACK.next(depth)) == (at, last, next_one)


def test_what_happens_is_there_only_where_it_does():
    track = Track(7, (stop(1, "yes", 1.0), stop(4, "yes", 1.0)), happens=True)

    assert [track.at(depth) is not None for depth in range(6)] == [
        *(False, True, False, False, True, False)
    ]
    assert track.since(6) == stop(4, "yes", 1.0)


def test_a_row_above_a_fork_is_on_the_branch_of_the_heir():
    # The last of the children goes on the active path: c is left for d.
    forked = session("a b c d<b e")
    left, heir = track_of(forked, 2, ()), track_of(forked, 4, ())

    assert [left.holds(forked, row) for row in range(5)] == [True, True, True, False, False]
    assert [left.goes_on_from(forked, row) for row in range(3)] == [False, False, True]
    assert [heir.goes_on_from(forked, row) for row in range(5)] == [True, True, False, True, True]


@given(parent_rows())
def test_a_track_goes_on_from_just_the_rows_whose_branch_ends_at_its_leaf(parents):
    tree = Tree(parents)
    made = session(" ".join(_word(row, parent) for row, parent in enumerate(parents)))

    for leaf in tree.leaves():
        track = track_of(made, leaf, ())
        for row in range(len(made)):
            assert track.goes_on_from(made, row) == (leaf_of(made, row) == leaf)


def _word(row: int, parent: int) -> str:
    return f"r{row}<{'' if parent < 0 else f'r{parent}'}"


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (3, 3.0),
        (0.5, 0.5),
        (True, 1.0),
        ([1, 2], 2.0),
        ("3", None),
        (None, None),
        ({}, None),
        (float("nan"), None),
        (10**400, float(1 << 53)),
    ],
)
def test_what_is_drawn_as_a_number(value, number):
    assert number_of(value) == number


def test_numbers_that_differ_have_a_scale_and_what_is_gone_does_not_count():
    assert Track(3, (stop(0, "1", 1.0), stop(1, "5", 5.0), GONE)).scale == (1.0, 5.0)
    assert Track(3, (stop(0, "1", 1.0),)).scale is None
    assert Track(3, (stop(0, "1", 1.0), stop(1, "x"))).scale is None
    assert Track(3, ()).scale is None


def drawn(text: str, track: Track, width: int) -> list[Drawn | None]:
    made = session(text)
    columns = columns_of(scrub_index(made), width)
    return list(drawn_columns(track, made, columns))


def test_a_graph_has_what_a_column_ends_with_and_whether_anything_changed_in_it():
    assert drawn(RUN, TRACK, 4) == [
        Drawn(is_there=True, changes=True),
        Drawn(is_there=True, changes=False),
        Drawn(is_there=True, changes=True),
        Drawn(is_there=False, changes=True),
    ]


def test_a_row_that_is_several_columns_wide_has_its_change_in_one():
    found = drawn("a b", Track(1, (stop(0, "x"), stop(1, "y"))), 6)

    assert [each is not None and each.changes for each in found] == [
        *(False, True, False, False, True, False)
    ]


def test_numbers_are_drawn_by_how_high_they_are():
    track = Track(3, (stop(0, "1", 1.0), stop(2, "5", 5.0), stop(3, "2", 2.0)))

    assert drawn("a b c d", track, 4) == [
        Drawn(is_there=True, changes=True, level=0.0),
        Drawn(is_there=True, changes=False, level=0.0),
        Drawn(is_there=True, changes=True, level=1.0),
        Drawn(is_there=True, changes=True, level=0.25),
    ]


def test_a_column_without_a_row_of_the_path_has_nothing():
    forked = "a b c d<b e"
    track = Track(4, (Stop(0, 0, "x"), Stop(3, 2, "y")))

    assert drawn(forked, track, 5) == [
        Drawn(is_there=True, changes=True),
        Drawn(is_there=True, changes=False),
        None,
        Drawn(is_there=True, changes=True),
        Drawn(is_there=True, changes=False),
    ]


@given(parent_rows(), st.integers(1, 12), st.data())
def test_each_stop_on_the_path_is_seen_in_the_column_of_its_row(parents, width, data):
    made = session(" ".join(_word(row, parent) for row, parent in enumerate(parents)))
    leaf = data.draw(st.sampled_from(made.tree.leaves()))
    path = made.tree.path_to(leaf)
    rows = sorted(data.draw(st.sets(st.sampled_from(path))), key=made.tree.depth)
    stops = tuple(Stop(row, made.tree.depth(row), str(row)) for row in rows)
    columns = columns_of(scrub_index(made), width)

    found = drawn_columns(Track(leaf, stops), made, columns)

    for place, (column, each) in enumerate(zip(columns, found, strict=True)):
        inside = [row for row in path if column.first <= row <= column.last]
        assert (each is None) == (not inside)
        if each is not None:
            here = [row for row in inside if row in rows]
            if len(made) < width:
                here = [row for row in here if column_of(row, len(made), width) == place]
            assert each.changes == bool(here)
