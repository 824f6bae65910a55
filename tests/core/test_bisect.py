"""Bisect: which row is tested next, what is known after each test, and the result."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, log2

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.bisect import (
    Bisection,
    Found,
    FoundDespiteSkips,
    NotFound,
    Result,
    Stand,
    Verdict,
    bisected,
    first_bad,
    first_row,
    stands,
)
from tt_debugger.errors import UsageError

GOOD, BAD, SKIP = Verdict.GOOD, Verdict.BAD, Verdict.SKIP
SIGNS = {"-": GOOD, "+": BAD, "0": SKIP}


def searched(signs: str) -> tuple[list[int], Result]:
    """Search a path whose rows come out as these signs; gives the rows tested, and the result."""
    bisection, tested = Bisection.of(range(len(signs))), list[int]()
    while isinstance(row := bisection.asked, int):
        tested.append(row)
        bisection = bisection.told(row, SIGNS[signs[row]])
    return tested, bisection.asked


@pytest.mark.parametrize(
    ("signs", "tested", "result"),
    [
        ("", [], NotFound()),
        ("-", [0], NotFound()),
        ("+", [0], Found(0)),
        ("--------", [7], NotFound()),
        ("++++++++", [7, 3, 1, 0], Found(0)),
        ("-----+++", [7, 3, 5, 4], Found(5)),
        ("-------+", [7, 3, 5, 6], Found(7)),
        ("0", [0], NotFound((0,))),
        ("-0+", [2, 0, 1], FoundDespiteSkips((1, 2))),
        ("00+", [2, 0, 1], FoundDespiteSkips((0, 1, 2))),
        ("--00", [3, 2, 0, 1], NotFound((2, 3))),
        ("-+00", [3, 2, 0, 1], Found(1)),
    ],
)
def test_the_end_is_tested_then_the_middle_of_what_is_left(
    signs: str, tested: list[int], result: Result
):
    assert searched(signs) == (tested, result)


def test_a_long_run_that_cannot_be_tested_is_left_by_longer_and_longer_steps():
    signs = "-" * 30 + "0" * 40 + "+" * 30
    tested, result = searched(signs)

    assert result == FoundDespiteSkips(tuple(range(30, 71)))
    away = [row for row in tested if signs[row] != "0"]
    assert [row - 49 for row in tested[1 : tested.index(away[1]) + 1]] == [0, -1, 3, -7, 15, -31]


@given(st.integers(0, 2000), st.integers(0, 2000))
def test_it_finds_what_a_scan_finds_and_tests_few_rows(size: int, first: int):
    signs = ("-" * first + "+" * size)[:size]
    tested, result = searched(signs)

    assert result == first_bad((row, SIGNS[sign]) for row, sign in enumerate(signs))
    assert len(tested) == len(set(tested)) <= (ceil(log2(size)) + 2 if size else 0)


@st.composite
def skipping(draw: st.DrawFn) -> tuple[str, int]:
    """Give how rows come out, some of them skipped, and how many rows are before what is bad."""
    size = draw(st.integers(0, 60))
    first = draw(st.integers(0, size))
    skips = draw(st.sets(st.integers(0, 60)))
    signs = "".join("0" if n in skips else "-" if n < first else "+" for n in range(size))
    return signs, first


@given(skipping())
def test_whatever_is_skipped_the_first_bad_row_is_among_the_candidates(drawn: tuple[str, int]):
    signs, first = drawn
    tested, result = searched(signs)

    assert len(tested) == len(set(tested))
    begin = signs.rfind("-") + 1
    # What is known in the end is all that the rows which can be tested tell.
    if "+" not in signs:
        assert result == NotFound(tuple(range(begin, len(signs))))
        assert first in {*result.candidates, len(signs)}
        return
    end = signs.index("+")
    candidates = (result.row,) if isinstance(result, Found) else result.candidates
    assert candidates == tuple(range(begin, end + 1))
    assert isinstance(result, Found) == (begin == end)
    assert first in candidates


@given(skipping(), st.randoms(use_true_random=False))
def test_rows_may_be_judged_in_any_order(drawn: tuple[str, int], random: st.DataObject):
    signs, _ = drawn
    rows = list(range(len(signs)))
    random.shuffle(rows)
    bisection = Bisection.of(range(len(signs)))
    for row in rows:
        bisection = bisection.told(row, SIGNS[signs[row]])
        asked = bisection.asked
        if isinstance(asked, int):
            assert asked in bisection.left
            assert asked not in bisection.verdicts

    assert bisection.asked == searched(signs)[1]
    assert bisection.verdicts == {row: SIGNS[signs[row]] for row in rows}
    assert bisection.tested == len(signs)


@given(st.integers(1, 300), st.integers(0, 300))
def test_it_is_told_how_many_tests_it_takes_at_most(size: int, first: int):
    signs = ("-" * first + "+" * size)[:size]
    begun = Bisection.of(range(size))
    known = [begun, *bisected(begun, lambda row: SIGNS[signs[row]])]

    for place, bisection in enumerate(known):
        assert len(known) - 1 - place <= bisection.steps
    assert known[-1].steps == 0 or isinstance(known[-1].asked, NotFound)


def test_the_rows_of_a_path_are_the_rows_of_the_session():
    shown = session("a b c d<b e f<b g<e h")
    path = shown.tree.path_to(shown.rows["h"])
    bisection = Bisection.of(path)

    assert [shown.ids[row] for row in path] == ["a", "b", "d", "e", "g", "h"]
    assert shown.ids[bisection.asked] == "h"
    bisection = bisection.told(shown.rows["h"], BAD).told(shown.rows["d"], GOOD)
    assert [shown.ids[row] for row in bisection.left] == ["e", "g", "h"]
    assert (bisection.steps, shown.ids[bisection.asked]) == (2, "e")
    signs = {0: " ", Stand.GOOD: "-", Stand.BAD: "+", Stand.LEFT: "?"}
    told = bisection.told(shown.rows["g"], BAD)
    assert "".join(signs[each] for each in stands(bisection, len(shown))) == "-- -? ??"
    assert "".join(signs[each] for each in stands(told, len(shown))) == "-- -? ?+"


def test_the_verdict_on_a_row_may_be_changed():
    bisection = Bisection.of(range(8)).told(7, BAD).told(3, BAD)

    assert list(bisection.left) == [0, 1, 2, 3]
    assert list(bisection.told(3, GOOD).left) == [4, 5, 6, 7]
    assert list(bisection.told(3, SKIP).left) == list(range(8))


def test_what_is_bad_cannot_come_before_what_is_good():
    bisection = Bisection.of(range(8)).told(3, BAD)

    with pytest.raises(UsageError, match="row 4 is bad, but row 6 behind it good"):
        bisection.told(5, GOOD)
    with pytest.raises(UsageError, match="row 2 is bad, but row 3 behind it good"):
        Bisection.of(range(8)).told(2, GOOD).told(1, BAD)


def test_a_row_of_another_branch_cannot_be_judged():
    with pytest.raises(UsageError, match="row 3 is not on the path to row 5"):
        Bisection.of((0, 1, 4)).told(2, GOOD)


@pytest.mark.parametrize(
    ("signs", "result"),
    [
        ("", NotFound()),
        ("---", NotFound()),
        ("-+-", Found(1)),
        ("+", Found(0)),
        ("-0-+", FoundDespiteSkips((1, 3))),
        ("0-0", NotFound((0, 2))),
    ],
)
def test_a_scan_takes_the_first_of_all_and_every_row_skipped_before_it_may_be_it(
    signs: str, result: Result
):
    looked_at: list[int] = []

    def judged(signs: str) -> Sequence[tuple[int, Verdict]]:
        for row, sign in enumerate(signs):
            looked_at.append(row)
            yield row, SIGNS[sign]

    assert first_bad(judged(signs)) == result
    assert len(looked_at) == (signs.index("+") + 1 if "+" in signs else len(signs))


def test_a_result_names_the_first_row_that_is_known_to_be_bad():
    results = (Found(3), FoundDespiteSkips((1, 2)), NotFound((4,)))

    assert [first_row(each) for each in results] == [3, 2, None]
