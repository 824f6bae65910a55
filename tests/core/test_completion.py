"""Completion: what a ref that is being typed may become, and where it leads."""

from __future__ import annotations

import pytest
from builders import session
from hypothesis import given
from strategies import any_text

from tt_debugger.core.completion import MOST, Completer, Completion, Nowhere
from tt_debugger.core.model import Head, Kind
from tt_debugger.core.refs import Resolver, parse_fragment

SHAPE = "base1 aaaa1 aaaa2 bbbb1<aaaa1 bbbb2"
HEADS = {
    "base1": Head(Kind.MESSAGE, name="user", summary="Fix the tests", line=2, time=100.0),
    "aaaa1": Head(Kind.MESSAGE, name="assistant", summary="I look at it", line=3, time=200.0),
    "aaaa2": Head(Kind.TOOL_CALL, name="bash", summary="pytest -q", line=4),
    "bbbb1": Head(Kind.MESSAGE, name="user", summary="not so", line=5),
    "bbbb2": Head(Kind.MESSAGE, name="assistant", summary="Tests pass: 100%", line=6),
}
LABELS = {"aaaa1": "before it broke", "bbbb1": "twice", "bbbb2": "twice"}
MARKS = {"m": "aaaa2", "big one": "base1", "lost": "zzzz"}


def asked(*, steps: bool = False) -> Completer:
    heads = {"base1": Head(Kind.MESSAGE, step=1)} if steps else HEADS
    made = session(SHAPE, labels=LABELS, heads=heads)
    return Completer(made, Resolver(made, MARKS), MARKS)


def offered(text: str) -> list[tuple[str, int | None]]:
    return [(each.text, each.row) for each in asked().complete(text)]


def test_before_anything_is_typed_words_keys_labels_and_marks_are_offered():
    assert offered("") == [
        ("@", 4),
        ("root", 0),
        ("label=", None),
        ("mark=", None),
        ("row=", None),
        ("line=", None),
        ("time=", None),
        ("label=before%20it%20broke", 1),
        ("bbbb1", 3),
        ("bbbb2", 4),
        ("mark=big%20one", 0),
        ("mark=m", 2),
    ]


def test_what_a_session_does_not_have_is_not_offered():
    made = session("a1")

    assert [each.text for each in Completer(made, Resolver(made)).complete("")] == [
        "@", "root", "row=", "line=", "time=",
    ]  # fmt: skip
    empty = session("")
    assert [each.text for each in Completer(empty, Resolver(empty)).complete("")] == [
        "row=", "line=", "time=",
    ]  # fmt: skip
    assert "step=" in [each.text for each in asked(steps=True).complete("")]


@pytest.mark.parametrize(
    ("text", "texts"),
    [
        ("ro", [("root", 0), ("row=", None), ("label=before%20it%20broke", 1)]),
        ("aa", [("aaaa1", 1), ("aaaa2", 2)]),
        ("aaaa2", [("aaaa2", 2), ("aaaa2~", 1)]),
        ("base1", [("base1", 0), ("base1+", 1)]),
        ("base1+", [("base1+", 1), ("base1+~", 0), ("base1++", 3)]),
        ("@~2", [("@~2", 1), ("@~2~", 0), ("@~2+", 3)]),
        ("label=", [("label=before%20it%20broke", 1), ("bbbb1", 3), ("bbbb2", 4)]),
        ("label=BROKE", [("label=before%20it%20broke", 1)]),
        ("label=it%20br", [("label=before%20it%20broke", 1)]),
        ("mark=", [("mark=big%20one", 0), ("mark=m", 2)]),
        ("mark=o", [("mark=big%20one", 0)]),
        ("row=", []),
        ("row=5", [("row=5", 4), ("row=5~", 3)]),
        ("row=9", []),
        ("line=3", [("line=3", 1), ("line=3~", 0), ("line=3+", 3)]),
        ("2", [("row=2", 1)]),
        ("tests", [("bbbb2", 4), ("base", 0)]),
        ("Look at", [("aaaa1", 1)]),
        ("broke", [("label=before%20it%20broke", 1)]),
        ("100%", [("bbbb2", 4)]),
        ("nothing like it", []),
    ],
)
def test_a_text_is_completed(text: str, texts: list[tuple[str, int | None]]):
    assert offered(text) == texts


def test_a_completion_says_what_it_is():
    assert asked().complete("@")[:2] == [
        Completion("@", "assistant Tests pass: 100%", 4),
        Completion("@~", "its parent: user not so", 3),
    ]
    assert asked().complete("mark=m")[0] == Completion("mark=m", "bash pytest -q", 2)
    assert asked().complete("label=bef") == [
        Completion("label=before%20it%20broke", "label before it broke", 1)
    ]


def test_a_number_goes_on_by_one_digit():
    made = session(" ".join(f"id{row}" for row in range(34)))
    completer = Completer(made, Resolver(made))

    assert [each.text for each in completer.complete("row=3")] == [
        "row=3", "row=3~", "row=3+", "row=30", "row=31", "row=32", "row=33", "row=34",
    ]  # fmt: skip


def test_no_more_are_offered_than_anyone_reads():
    made = session(" ".join(f"same{row:04}" for row in range(3000)))
    offers = Completer(made, Resolver(made)).complete("same")

    assert len(offers) == MOST
    assert offers[0] == Completion("same0000", "", 0)


def test_titles_are_found_newest_first_across_blocks():
    heads = {f"id{row}": Head(Kind.MESSAGE, summary="Needle") for row in (3, 1500, 2999)}
    made = session(" ".join(f"id{row}" for row in range(3000)), heads=heads)

    assert [each.row for each in Completer(made, Resolver(made)).complete("needle")] == [
        2999, 1500, 3,
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "row"),
    [("", 4), ("@", 4), (" root ", 0), ("mark=m", 2), ("s:aaaa1", 1), ("s:", 4), ("aaaa1+", 3)],
)
def test_where_a_ref_leads(text: str, row: int):
    assert asked().where(text) == row


@pytest.mark.parametrize(
    ("text", "nowhere"),
    [
        (
            "mark=x",
            Nowhere("there is no mark 'x' in this session", "there are: big%20one, lost, m"),
        ),
        ("aaaa", Nowhere("checkpoint 'aaaa' names 2 checkpoints", "aaaa1, aaaa2")),
        ("root..@", Nowhere("one point is needed here, not a range")),
        ("t:@", Nowhere("'t' is not this session", "this one is s")),
        ("root~", Nowhere("base has only 0 ancestors, not 1")),
    ],
)
def test_a_ref_that_leads_nowhere_says_why(text: str, nowhere: Nowhere):
    assert asked().where(text) == nowhere


@given(any_text)
def test_each_completion_of_any_text_leads_to_its_row(text: str):
    completer = asked()
    offers = completer.complete(text)

    assert len({each.text for each in offers}) == len(offers)
    for each in offers:
        if each.row is not None:
            assert completer.where(each.text) == each.row
            # A session alone, such as `:` for this one, means its active leaf.
            assert parse_fragment(each.text).points or each.text.endswith(":")


def test_a_session_without_a_point_is_completed_without_steps():
    assert not [each.text for each in asked().complete(":") if each.text in (":~", ":+")]
