"""The outline: visible rows in drawing order, each on its nearest visible ancestor."""

from __future__ import annotations

from array import array

from builders import ids_of, session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.lanes import lay_out
from tt_debugger.core.model import Heads, Session, SessionId
from tt_debugger.core.outline import outline
from tt_debugger.core.tree import NO_ROW


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Give a session of any tree, with any row as its active leaf."""
    parents = draw(parent_rows())
    ids = [f"m{row}" for row in range(len(parents))]
    active = draw(st.integers(0, len(parents) - 1))
    return Session(SessionId("s"), "memory", Heads(), ids, parents, active=active)


def nearest(made: Session, visible: set[int], row: int) -> int:
    """Give the nearest visible one of a row and its ancestors."""
    return next((each for each in made.tree.ancestors(row) if each in visible), NO_ROW)


@given(sessions(), st.data())
def test_each_row_has_its_own_line_or_that_of_its_nearest_visible_ancestor(
    made: Session, data: st.DataObject
):
    visible = data.draw(st.sets(st.integers(0, len(made) - 1)))

    drawn = outline(made, visible.__contains__)

    assert list(drawn.rows) == [row for row in made.tree.parents_first() if row in visible]
    lines = {row: line for line, row in enumerate(drawn.rows)} | {NO_ROW: NO_ROW}
    assert list(drawn.places) == [lines[nearest(made, visible, row)] for row in range(len(made))]


@given(sessions(), st.data())
def test_a_row_is_drawn_on_its_nearest_visible_ancestor(made: Session, data: st.DataObject):
    visible = data.draw(st.sets(st.integers(0, len(made) - 1)))

    drawn = outline(made, visible.__contains__)

    above = [
        NO_ROW if made.parents[row] == NO_ROW else drawn.places[made.parents[row]]
        for row in drawn.rows
    ]
    assert all(place < line for line, place in enumerate(above))
    assert drawn.lanes == lay_out(above, [made.on_active_path[row] for row in drawn.rows])


@given(sessions())
def test_without_a_filter_every_row_is_shown(made: Session):
    drawn, everything = outline(made), outline(made, lambda _: True)

    assert list(drawn.rows) == made.tree.parents_first() == list(everything.rows)
    assert drawn.lanes == everything.lanes
    assert [drawn.rows[place] for place in drawn.places] == list(range(len(made)))


@given(sessions())
def test_a_filter_of_everything_leaves_nothing(made: Session):
    drawn = outline(made, lambda _: False)

    assert (list(drawn.rows), list(drawn.lanes)) == ([], [])
    assert list(drawn.places) == [NO_ROW] * len(made)


def test_an_empty_session_has_an_empty_outline():
    drawn = outline(Session(SessionId("s"), None, Heads(), [], array("q")))

    assert (list(drawn.rows), list(drawn.lanes), list(drawn.places)) == ([], [], [])


def test_what_hung_on_a_hidden_row_stays_on_its_branch():
    made = session("a b c d<b e f<d", active="c")

    drawn = outline(made, lambda row: made.ids[row] not in "bd")

    assert ids_of(made, drawn.rows) == "a c e f"
    assert [row.lane for row in drawn.lanes] == [0, 0, 2, 1]
    assert list(drawn.places) == [0, 0, 1, 0, 2, 3]
