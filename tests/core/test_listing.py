"""The listing: facts, order and filter of sessions."""

from __future__ import annotations

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.listing import Entry, Facts, Sort, facts_of, filtered, last_part, ordered
from tt_debugger.core.model import Head, Kind, Role, Usage


def entry(name: str, *, modified: float = 0.0, size: int = 1, **facts: object) -> Entry:
    known = Facts(**facts) if facts else None
    return Entry(f"/s/{name}.jsonl", "pi", size, modified, facts=known)


def names(entries: list[Entry]) -> str:
    return " ".join(each.name.removesuffix(".jsonl") for each in entries)


def test_the_facts_of_a_session_are_those_of_its_rows():
    loaded = session(
        "a b c d<b",
        heads={
            "a": Head(Kind.MODEL_CHANGE, summary="small", time=5.0),
            "b": Head(Kind.MESSAGE, Role.USER, summary="do it", time=3.0),
            "c": Head(Kind.COMPACTION, usage=Usage(total=10, cost=0.1), failed=True),
            "d": Head(Kind.MESSAGE, Role.USER, summary="again", usage=Usage(total=5, cost=0.2)),
        },
    )

    facts = facts_of(loaded, ["/s/agent.jsonl"])

    assert facts == Facts(
        None,
        "",
        "do it",
        3.0,
        5.0,
        4,
        2,
        1,
        1,
        0,
        15,
        0.3,
        ("small",),
        "s",
        "",
        facts.openings,
        ("/s/agent.jsonl",),
    )


def openings(question: str, *, asked: float | None = 1.0, answer: str = "") -> set[str]:
    heads = {"a": Head(Kind.MESSAGE, Role.USER, summary=question, time=asked)}
    if answer:
        heads["b"] = Head(Kind.MESSAGE, Role.ASSISTANT, summary=answer)
    return set(facts_of(session("a b", heads=heads)).openings)


def test_copies_share_an_opening_and_others_do_not():
    whole = openings("hi", answer="hello")

    assert len(whole) == 2
    assert whole & openings("hi", asked=2.0, answer="hello")
    assert whole & openings("hi", answer="cut off")
    assert whole & openings("hi", asked=2.0, answer="good day") == set()
    assert whole & openings("ho", answer="hello") == set()
    assert openings("hi", asked=None) == set()


@pytest.mark.parametrize(
    ("path", "last"),
    [("/home/dev/notes", "notes"), ("C:\\dev\\notes\\", "notes"), ("", ""), ("/", "")],
)
def test_a_project_is_the_last_part_of_a_path(path, last):
    assert last_part(path) == last


def test_a_title_is_what_the_session_has_else_how_it_began_else_its_file():
    assert entry("x", title="T", first_words="F").title == "T"
    assert entry("x", first_words="F").title == "F"
    assert entry("x").title == "x.jsonl"


@pytest.mark.parametrize(
    ("sort", "reverse", "order"),
    [
        (Sort.NEWEST, False, "c b a"),
        (Sort.NEWEST, True, "a b c"),
        (Sort.NAME, False, "b a c"),
        (Sort.TOKENS, False, "b a c"),
        (Sort.TOKENS, True, "a b c"),
        (Sort.SIZE, False, "a c b"),
        (Sort.PROJECT, False, "b a c"),
    ],
)
def test_a_sort_orders_and_what_is_not_known_comes_last(sort, reverse, order):
    entries = [
        entry("a", modified=1, size=9, title="beta", tokens=1, cwd="z"),
        entry("b", modified=2, title="Alpha", tokens=2, cwd="y"),
        entry("c", modified=3, size=5),
    ]

    assert names(ordered(entries, sort, reverse=reverse)) == order


@pytest.mark.parametrize("sort", list(Sort))
@pytest.mark.parametrize("reverse", [False, True])
def test_of_equal_sessions_the_newest_comes_first_in_any_order(sort, reverse):
    entries = [entry(name, title="t", ended=7.0, modified=time) for name, time in ("a1", "b3")]
    entries = [Entry(each.location, "pi", 1, 0.0, facts=each.facts) for each in entries]

    assert names(ordered(entries, sort, reverse=reverse)) == "a b"


def test_a_filter_gives_exact_matches_in_their_order_and_then_what_is_alike():
    entries = [
        entry("a", title="the flakey test"),
        entry("b", title="Fix the FLAKY test"),
        entry("c", title="docs"),
        entry("d", title="another flaky thing"),
    ]

    assert names(filtered(entries, "flaky")) == "b d a"


def test_every_word_of_a_filter_must_be_there_in_any_field():
    entries = [
        entry("2026-01", title="flaky test", cwd="notekeeper"),
        entry("2026-02", title="flaky test", cwd="ledger"),
    ]

    assert names(filtered(entries, "pi note FLAKY")) == "2026-01"
    assert names(filtered(entries, "-02")) == "2026-02"
    assert filtered(entries, "xq") == []


@given(
    st.lists(st.text(st.characters(categories=["L", "P"]), max_size=8), max_size=6),
    st.text(max_size=6),
)
def test_a_filter_only_chooses_and_never_misses_what_is_there_letter_for_letter(titles, query):
    entries = [entry(str(place), title=title) for place, title in enumerate(titles)]

    found = filtered(entries, query)

    assert len({each.key for each in found}) == len(found)
    assert set(found) <= set(entries)
    words = query.casefold().split()
    exact = [e for e in entries if words and all(w in e.title.casefold() for w in words)]
    assert [each for each in found if each in exact] == exact
