"""Growth: what of a session still stands in what it has become."""

from __future__ import annotations

from array import array

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.growth import LATE, carry_over, nearest_row, rows_kept
from tt_debugger.core.model import Head, Heads, Kind, Role, Session, SessionId, Usage

LONG = " ".join(f"r{row}" for row in range(2 * LATE))


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("", "a b", 0),
        ("a b", "a b", 2),
        ("a b", "a b c d<a", 2),
        ("a b c", "a b", 2),
        ("a b c", "a x c<a", 1),
        ("a b c", "a b c<a d", 2),
        ("a b", "x a b", 0),
        (LONG, f"{LONG} more", 2 * LATE),
    ],
)
def test_rows_are_kept_up_to_the_first_that_is_called_or_hangs_otherwise(
    before: str, after: str, kept: int
):
    assert rows_kept(session(before), session(after)) == kept


def test_no_more_rows_are_kept_than_are_known_to_be():
    assert rows_kept(session("a b c"), session("a b c d"), 1) == 1


def test_a_row_that_says_something_else_is_not_kept_nor_is_any_behind_it():
    said = {"b": Head(Kind.SNAPSHOT, summary="before")}
    other = {"b": Head(Kind.SNAPSHOT, summary="after")}

    assert rows_kept(session("a b c", heads=said), session("a b c d", heads=other)) == 1


def test_only_the_last_row_may_get_its_line_end():
    short = {"b": Head(Kind.SNAPSHOT, offset=10, length=20)}
    whole = {"b": Head(Kind.SNAPSHOT, offset=10, length=21)}

    assert rows_kept(session("a b", heads=short), session("a b c", heads=whole)) == 2
    assert rows_kept(session("a b c", heads=short), session("a b c", heads=whole)) == 1


def test_a_gap_that_has_grown_is_not_kept():
    gaps = [{"b": Head(Kind.GAP, offset=10, length=size)} for size in (20, 30)]

    assert rows_kept(session("a b", heads=gaps[0]), session("a b", heads=gaps[1])) == 1


heads = st.builds(
    Head,
    st.sampled_from((Kind.MESSAGE, Kind.COMPACTION, Kind.CUSTOM)),
    st.sampled_from((None, Role.ASSISTANT, Role.USER)),
    usage=st.sampled_from((None, Usage(), Usage(input=7), Usage(output=9))),
)


def session_with(parents: array[int], rows: list[Head]) -> Session:
    columns = Heads()
    for head in rows:
        columns.append(head)
    ids = [f"r{row}" for row in range(len(rows))]
    return Session(SessionId("s"), None, columns, ids, parents[: len(rows)])


@given(parent_rows(), st.data())
def test_what_is_carried_over_is_what_would_be_worked_out(
    parents: array[int], data: st.DataObject
):
    rows = data.draw(st.lists(heads, min_size=len(parents), max_size=len(parents)))
    size = data.draw(st.integers(0, len(parents)))
    if any(parent >= size for parent in parents[:size]):
        size = 0
    before, after = session_with(parents, rows[:size]), session_with(parents, rows)
    _ = before.rows, before.context_sizes

    carry_over(before, after)

    fresh = session_with(parents, rows)
    assert after.rows == fresh.rows
    assert after.context_sizes == fresh.context_sizes
    assert len(before.rows) == len(before.context_sizes) == size


@pytest.mark.parametrize(
    ("after", "row"), [("x a b c", 3), ("x a b", 2), ("x y", 1), ("x y z w v", 2)]
)
def test_the_nearest_row_is_that_of_the_id_else_of_an_ancestor_else_as_far_down(
    after: str, row: int
):
    assert nearest_row(session("a b c"), session(after), 2) == row
