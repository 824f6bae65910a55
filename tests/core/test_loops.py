"""Loops: the same calls again and again are found, whatever stands between and beside."""

from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.answers import NO_CALL, Answers, Thing, ToolCall
from tt_debugger.core.loops import FEWEST, WINDOW, Loop, loops_of
from tt_debugger.core.tree import NO_ROW


def answers(text: str) -> Answers:
    """Give calls that follow each other: a letter for what is called, then what it gave.

    Without a digit a call has no result. Each call has a row, and its result the one below.
    """
    letters = sorted({word[0] for word in text.split()})
    calls = [
        ToolCall(
            2 * place,
            letters.index(word[0]),
            place - 1 if place else NO_CALL,
            2 * place + 1 if word[1:] else NO_ROW,
            word[1:].encode(),
        )
        for place, word in enumerate(text.split())
    ]
    return Answers(calls, [Thing(letter, "") for letter in letters], {})


def loops(text: str) -> list[tuple[str, int, int, int, bool | None]]:
    """Give each loop of a text: what is called, how often, from which row to which."""
    return [
        (
            "".join(each.tool for each in loop.things),
            loop.count,
            loop.first,
            loop.last,
            loop.is_same,
        )
        for loop in loops_of(answers(text))
    ]


def _tools(loop: Loop) -> str:
    return "".join(each.tool for each in loop.things)


def test_a_call_that_is_made_three_times_is_a_loop_and_two_times_is_none():
    assert loops("a1 a1 a1") == [("a", 3, 0, 4, True)]
    assert loops("a1 a1") == []
    assert loops("a1 b1 c1 d1") == []


def test_other_calls_may_stand_between_if_they_are_few():
    between = " ".join(f"{letter}1" for letter in "bcdefgh")
    assert loops(f"a1 {between} a1 b1 a1")[0] == ("a", 3, 0, 20, True)
    assert len(between.split()) + 1 == WINDOW
    assert loops(f"a1 {between} x1 a1 y1 z1 a1") == []


def test_two_calls_that_take_turns_are_one_loop():
    assert loops("a1 b1 a1 b1") == [("ab", 4, 0, 6, True)]
    assert loops("b1 a1 b1 a1 b1") == [("ba", 5, 0, 8, True)]
    assert loops("a1 b1 a1") == []


def test_a_call_that_is_made_more_often_than_in_turn_is_a_loop_of_its_own():
    assert loops("a1 a1 a1 b1 a1 b1") == [("a", 4, 0, 8, True)]
    assert loops("a1 b1 a1 b1 c1 a1") == [("a", 3, 0, 10, True)]


def test_it_is_told_whether_the_results_were_the_same_each_time():
    assert loops("a1 a1 a2") == [("a", 3, 0, 4, False)]
    assert loops("a1 a1 a") == [("a", 3, 0, 4, None)]
    assert loops("a1 a a2 a3") == [("a", 4, 0, 6, False)]
    assert loops("a1 b1 a1 b2") == [("ab", 4, 0, 6, False)]
    assert loops("a1 b2 a1 b2") == [("ab", 4, 0, 6, True)]


def test_a_loop_ends_where_its_branch_does():
    told = answers("a1 a1 a1 a1 a1")
    # The last two calls are on two branches, which both go on from the third.
    told.calls[4].above = 2

    assert [(each.count, each.last) for each in loops_of(told)] == [(4, 6), (4, 8)]


def test_the_loop_of_the_most_calls_comes_first():
    assert [each[:2] for each in loops("a1 a1 a1 b1 b1 b1 b1")] == [("b", 4), ("a", 3)]


sequences = st.lists(st.sampled_from(("a1", "a2", "a", "b1", "b2", "c1")), max_size=20)


@given(sequences)
def test_what_stands_right_behind_itself_often_enough_is_always_in_a_loop(words):
    text = " ".join(words)
    found = loops_of(answers(text))

    for begin in range(len(words) - FEWEST + 1):
        first, *more = (word[0] for word in words[begin : begin + FEWEST])
        if all(each == first for each in more):
            assert any(_covers(loop, first, 2 * begin, 2 * (begin + FEWEST - 1)) for loop in found)


def _covers(loop: Loop, tool: str, first: int, last: int) -> bool:
    is_of = any(each.tool == tool for each in loop.things)
    return is_of and loop.first <= first and last <= loop.last


@given(sequences)
def test_a_loop_says_no_more_than_is_there(words):
    for loop in loops_of(answers(" ".join(words))):
        within = words[loop.first // 2 : loop.last // 2 + 1]
        tools = {each.tool for each in loop.things}
        counts = Counter(word[0] for word in within if word[0] in tools)

        assert (counts.total(), set(counts)) == (loop.count, tools)
        if loop.is_same:
            assert len({word for word in within if word[0] in tools}) == len(tools)
