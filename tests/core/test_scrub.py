"""The scrubber's columns: every row in one of them, and the most telling mark of each shown."""

from __future__ import annotations

from array import array

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core.model import Head, Heads, Kind, Role, Session, SessionId, Usage
from tt_debugger.core.scrub import (
    BLOCK,
    Column,
    Mark,
    MarkKind,
    ScrubIndex,
    column_of,
    columns_of,
    mark_beside,
    mark_of,
    scrub_index,
)
from tt_debugger.core.tree import NO_ROW

USER = Head(Kind.MESSAGE, Role.USER)
FAILED = Head(Kind.TOOL_RESULT, Role.TOOL, failed=True)
COMPACTION = Head(Kind.COMPACTION)


def answer(tokens: int) -> Head:
    return Head(Kind.MESSAGE, Role.ASSISTANT, usage=Usage(input=tokens))


heads = st.one_of(
    st.just(Head(Kind.SETTING)),
    st.builds(answer, st.integers(0, 200_000)),
    st.builds(
        Head, st.sampled_from(Kind), st.sampled_from((None, *Role)), failed=st.sampled_from((0, 1))
    ),
)


@st.composite
def indices(draw: st.DrawFn) -> ScrubIndex:
    """Give the index of a session of any tree and any heads; some are longer than a block."""
    parents = draw(parent_rows())
    copies = draw(st.sampled_from((1, 1, BLOCK // 4)))
    drawn = [draw(heads) for _ in parents]
    columns = Heads()
    for head in drawn * copies:
        columns.append(head)
    size = len(parents)
    moved = (
        NO_ROW if parent == NO_ROW else parent + size * copy
        for copy in range(copies)
        for parent in parents
    )
    rows = size * copies
    made = Session(
        SessionId("s"),
        "memory",
        columns,
        [f"m{row}" for row in range(rows)],
        array("q", moved),
        labels=draw(st.dictionaries(st.integers(0, rows - 1), st.just("label"), max_size=3)),
        active=draw(st.one_of(st.none(), st.integers(0, rows - 1))),
    )
    return scrub_index(made)


widths = st.integers(1, 120)


def context_of(made: Session, row: int) -> int:
    """Give the context that the nearest row above tells, or the row itself."""
    for each in made.tree.ancestors(row):
        head = made.heads[each]
        if head.kind is Kind.COMPACTION:
            return 0
        if head.role is Role.ASSISTANT and head.usage is not None and head.usage.context:
            return head.usage.context
    return 0


@given(indices())
def test_the_context_of_a_row_is_what_was_told_last_above_it(index: ScrubIndex):
    made = index.session

    assert list(made.context_sizes) == [context_of(made, row) for row in range(len(made))]


@given(indices())
def test_the_active_path_is_that_of_the_active_leaf(index: ScrubIndex):
    made = index.session
    path = [] if made.active is None else [*made.tree.ancestors(made.active)][::-1]

    assert made.active_path == path
    assert list(made.on_active_path) == [row in path for row in range(len(made))]


def most_telling(made: Session, row: int) -> Mark | None:
    """Give the mark of a row by asking for each kind of it in turn."""
    head = made.heads[row]
    is_tool = head.kind in {Kind.TOOL_CALL, Kind.TOOL_RESULT}
    holds = {
        MarkKind.ERROR: head.failed or head.kind in {Kind.GAP, Kind.UNREADABLE},
        MarkKind.COMPACTION: head.kind is Kind.COMPACTION,
        MarkKind.INTERRUPT: head.kind is Kind.INTERRUPT,
        MarkKind.LABEL: row in made.labels,
        MarkKind.FORK: made.tree.child_count(row) > 1,
        MarkKind.USER: head.role is Role.USER and not is_tool,
    }
    return next((Mark(kind, row) for kind in MarkKind if holds[kind]), None)


def all_marks(index: ScrubIndex) -> list[Mark]:
    found = (most_telling(index.session, row) for row in range(len(index)))
    return [mark for mark in found if mark is not None]


@given(indices(), widths)
def test_columns_hold_all_rows_in_storage_order(index: ScrubIndex, width: int):
    columns = columns_of(index, width)

    assert len(columns) == width
    if width <= len(index):
        rows = [row for each in columns for row in range(each.first, each.last + 1)]
        assert rows == list(range(len(index)))
    else:
        assert all(each.first == each.last for each in columns)
        firsts = [each.first for each in columns]
        assert firsts == sorted(firsts)
        shares = [firsts.count(row) for row in range(len(index))]
        assert max(shares) - min(shares) <= 1


@given(indices(), widths)
def test_a_column_tells_the_largest_context_and_whether_it_is_active(
    index: ScrubIndex, width: int
):
    made = index.session
    for each in columns_of(index, width):
        rows = range(each.first, each.last + 1)
        assert each.size == max(made.context_sizes[row] for row in rows)
        assert each.is_active == any(row in made.active_path for row in rows)
    assert index.largest == max(made.context_sizes)


@given(indices(), widths)
def test_every_mark_is_in_the_column_of_its_row_or_a_more_telling_one_is(
    index: ScrubIndex, width: int
):
    columns = columns_of(index, width)
    marks = all_marks(index)
    for mark in marks:
        shown = columns[column_of(mark.row, len(index), width)].mark
        assert shown is not None
        assert shown.kind <= mark.kind
    drawn = [each.mark for each in columns if each.mark is not None]
    assert all(mark in marks for mark in drawn)
    assert len({mark.row for mark in drawn}) == len(drawn)


@given(indices(), widths)
def test_a_row_is_in_its_column(index: ScrubIndex, width: int):
    columns = columns_of(index, width)
    for row in range(len(index)):
        holder = columns[column_of(row, len(index), width)]
        assert holder.first <= row <= holder.last


@given(indices())
def test_steps_meet_all_marks_in_the_order_of_rows_and_back(index: ScrubIndex):
    marks = all_marks(index)
    assert [mark_of(index, mark.row) for mark in marks] == marks

    forward: list[Mark] = []
    at = mark_beside(index, -1, 1)
    while at is not None:
        forward.append(at)
        at = mark_beside(index, at.row, 1)
    assert forward == marks

    backward: list[Mark] = []
    at = mark_beside(index, len(index), -1)
    while at is not None:
        backward.append(at)
        at = mark_beside(index, at.row, -1)
    assert backward == marks[::-1]


def test_a_session_in_columns():
    made = session(
        "a b c d e<b f",
        active="d",
        labels={"c": "here"},
        heads={"a": USER, "b": answer(900), "c": answer(1200), "d": COMPACTION, "f": FAILED},
    )
    assert columns_of(scrub_index(made), 3) == (
        Column(0, 1, 900, is_active=True, mark=Mark(MarkKind.FORK, 1)),
        Column(2, 3, 1200, is_active=True, mark=Mark(MarkKind.COMPACTION, 3)),
        Column(4, 5, 900, is_active=False, mark=Mark(MarkKind.ERROR, 5)),
    )


def test_a_row_of_several_columns_has_its_mark_in_the_middle_one():
    made = session("a b", heads={"a": USER, "b": FAILED})
    marks = [each.mark for each in columns_of(scrub_index(made), 6)]
    assert marks == [None, Mark(MarkKind.USER, 0), None, None, Mark(MarkKind.ERROR, 1), None]


@pytest.mark.parametrize("width", [0, 1, 80])
def test_no_rows_have_no_columns(width: int):
    index = scrub_index(session(""))
    assert columns_of(index, width) == ()
    assert mark_beside(index, 0, 1) is mark_beside(index, 0, -1) is None
