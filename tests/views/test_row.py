"""A row in words: counts, times and what a search marks."""

from __future__ import annotations

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text

from tt_debugger.core.filters import Filter
from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.model import Head, Kind, Role, Session
from tt_debugger.core.outline import outline
from tt_debugger.core.search import Query
from tt_debugger.views.palette import ANSI, ASCII, UNICODE, Glyphs
from tt_debugger.views.row import RowView, count_text, duration_text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0k"),
        (99_949, "99.9k"),
        (128_000, "128k"),
        (999_499, "999k"),
        (999_500, "1.0M"),
        (1_500_000_000, "1.5G"),
        (1_500_000_000_000, "1.5T"),
        (10**18, ">999T"),
    ],
)
def test_a_count_takes_at_most_five_characters(number: int, text: str):
    assert count_text(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.44, "0.4s"),
        (41, "41s"),
        (185, "3m05s"),
        (7_800, "2h10m"),
        (86_399, "23h59m"),
        (86_400, "1d"),
        (68.9 * 86_400, "68d"),
        (999.9 * 86_400, "999d"),
        (4_541_656.5 * 3_600, ">999d"),
        (1e300, ">999d"),
    ],
)
def test_a_time_span_takes_at_most_six_characters(seconds: float, text: str):
    assert duration_text(seconds) == text


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII])
@pytest.mark.parametrize("seconds", [9, 3_545, 86_399, 1e10])
def test_a_space_stands_between_columns_whatever_is_in_them(glyphs: Glyphs, seconds: float):
    heads = {
        "a": Head(Kind.TOOL_CALL, Role.ASSISTANT, "bash", "make", time=0),
        "b": Head(Kind.TOOL_RESULT, Role.TOOL, "bash", "ok", time=seconds, length=99_900),
    }
    loaded = session("a b", heads=heads)
    shown = outline(loaded)

    lines = [
        RowView(ANSI, glyphs, 1).text(loaded, 1, shown.lanes[shown.places[1]], width).plain
        for width in (60, 90, 160)
    ]

    took = f"{glyphs.good} {duration_text(seconds)}"
    assert [f" {took} " in f"{line} " for line in lines] == [True, True, True]
    assert [" 99.9k " in line for line in lines] == [False, True, True]
    assert [len(line) for line in lines] == [60, 90, 160]


def drawn(loaded: Session, name: str, width: int, typed: str = "") -> tuple[str, list[str]]:
    """Give a row as text, and what of it is marked as found."""
    view = RowView(ANSI, UNICODE, 1, Query.parse(typed))
    shown = outline(loaded)
    row = loaded.rows[name]
    line = view.text(loaded, row, shown.lanes[shown.places[row]], width)
    found = [line.plain[each.start : each.end] for each in line.spans if each.style == ANSI.found]
    return line.plain, found


def test_a_search_marks_what_a_row_says_and_not_its_number_and_columns():
    said = Head(Kind.MESSAGE, Role.ASSISTANT, "asst", "2 of 22", time=20.2, length=222)

    line, found = drawn(session("a b", heads={"b": said}), "b", 110, "2")

    assert line.startswith("2 ")
    assert " 222" in line
    assert found == ["2", "2", "2"]


def test_how_a_tool_came_out_is_told_at_every_width_and_its_time_counts_from_its_call():
    heads = {
        "call": Head(Kind.TOOL_CALL, Role.ASSISTANT, "bash", "make", time=10),
        "one": Head(Kind.TOOL_RESULT, Role.TOOL, "bash", "ok", time=12),
        "two": Head(Kind.TOOL_RESULT, Role.TOOL, "bash", "no", time=13, failed=True),
    }
    loaded = session("call one two", heads=heads)

    assert [
        drawn(loaded, name, 80)[0].rstrip().endswith(took)
        for name, took in (
            ("one", "✓ 2.0s"),
            ("two", "✗ 3.0s"),
        )
    ] == [True, True]
    assert ["✓" in drawn(loaded, "one", 40)[0], "✗" in drawn(loaded, "two", 40)[0]] == [True, True]


heads_of_any_kind = st.builds(
    Head,
    kind=st.sampled_from(Kind),
    role=st.sampled_from((None, *Role)),
    name=any_text,
    summary=any_text,
    time=st.none() | st.floats(0, 1e6),
    failed=st.booleans(),
)


@given(st.lists(heads_of_any_kind, min_size=5, max_size=5), any_text)
def test_a_row_as_text_alone_says_the_same(heads: list[Head], mark: str):
    loaded = session("a b c, b d, a e", heads=dict(zip("abcde", heads, strict=True)))
    shown = outline(loaded, Filter.ALL, Folding(FoldRule.NOTHING))
    view = RowView(ANSI, UNICODE, 2, marks={0: mark})

    for row, lanes in zip(shown.lines, shown.lanes, strict=True):
        assert view.plain(loaded, row, lanes) == view.text(loaded, row, lanes).plain
