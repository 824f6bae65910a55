"""Refs: every form of CONTRACT, and what is said when a ref names nothing or too much."""

from __future__ import annotations

import pytest
from builders import ids_of, session
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, nasty_ids, parent_rows

from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.refs import Fragment, Point, Resolver, parse_fragment, quoted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import AmbiguousRefError, UnknownRefError, UsageError
from tt_debugger.formats.shared.memory import MemoryRecord, MemoryStore

SHAPE = "root1 aaaa1 aaaa2 bbbb1<aaaa1 bbbb2 gap@9< bbbb3<bbbb2 cccc1<bbbb1"
HEADS = {
    "root1": Head(Kind.MESSAGE, line=2, time=100.0, step=0),
    "aaaa1": Head(Kind.MESSAGE, line=3, time=200.0, step=1),
    "aaaa2": Head(Kind.MESSAGE, line=4, time=250.0, step=2),
    "bbbb1": Head(Kind.MESSAGE, line=5, time=300.0, step=2),
    "bbbb2": Head(Kind.MESSAGE, line=6, step=3),
    "gap@9": Head(Kind.GAP, line=9, step=-1, failed=True),
    "bbbb3": Head(Kind.MESSAGE, line=12, time=350.0),
    "cccc1": Head(Kind.MESSAGE, line=13, time=400.0),
}


def asked() -> Resolver:
    labels = {"aaaa1": "before it broke", "bbbb1": "twice", "bbbb2": "twice"}
    made = session(SHAPE, active="bbbb3", labels=labels, heads=HEADS)
    return Resolver(made, {"here": "aaaa2", "lost": "zzzz"})


def found(text: str) -> str:
    """Give the id that a ref names in the session above."""
    (point,) = parse_fragment(text).points
    resolver = asked()
    return resolver._session.ids[resolver.row(point)]


@pytest.mark.parametrize(
    ("text", "session_id", "points"),
    [
        ("", None, ()),
        ("@", None, (Point(None, "@"),)),
        ("root", None, (Point(None, "root"),)),
        ("abc", None, (Point(None, "abc"),)),
        ("s1:", "s1", ()),
        ("s1:abc", "s1", (Point(None, "abc"),)),
        ("a:b:abc", "a:b", (Point(None, "abc"),)),
        ("row=14", None, (Point("row", "14"),)),
        ("s1:step=4~2", "s1", (Point("step", "4", (-2,)),)),
        ("label=a:b", None, (Point("label", "a:b"),)),
        ("s1:mark=m", "s1", (Point("mark", "m"),)),
        ("line=7+", None, (Point("line", "7", (1,)),)),
        ("abc~~+3~2", None, (Point(None, "abc", (-1, -1, 3, -2)),)),
        ("time=2026-01-31T12:00:00Z", None, (Point("time", "2026-01-31T12:00:00Z"),)),
        ("time=2026-01-31T12:00:00+02:00", None, (Point("time", "2026-01-31T12:00:00+02:00"),)),
        ("time=2026-01-31T12:00Z~2", None, (Point("time", "2026-01-31T12:00Z", (-2,)),)),
        ("time=2026-01-31T12:00+0200~1", None, (Point("time", "2026-01-31T12:00+0200", (-1,)),)),
        ("time=2026-01-31T12:00+02:00+2", None, (Point("time", "2026-01-31T12:00+02:00", (2,)),)),
        ("time=2026-01-31T12+02~12", None, (Point("time", "2026-01-31T12+02", (-12,)),)),
        ("time=2026-01-31+02~12", None, (Point("time", "2026-01-31", (2, -12)),)),
        ("time=soon+0200~", None, (Point("time", "soon", (200, -1)),)),
        ("step=-1~", None, (Point("step", "-1", (-1,)),)),
        ("s:time=2026-01-31~", "s", (Point("time", "2026-01-31", (-1,)),)),
        ("a..b", None, (Point(None, "a"), Point(None, "b"))),
        ("s:a~..row=4", "s", (Point(None, "a", (-1,)), Point("row", "4"))),
        ("root..@", None, (Point(None, "root"), Point(None, "@"))),
        ("%72oot", None, (Point(None, "%72oot"),)),
    ],
)
def test_a_fragment_is_read_as_the_grammar_says(
    text: str, session_id: str | None, points: tuple[Point, ...]
):
    read = parse_fragment(text)

    assert read == Fragment(session_id, points)
    assert read.is_range == (len(points) == 2)


@pytest.mark.parametrize("text", ["..", "a..", "..b", "a..b..c", "~2", "+", "s:~", "a..~"])
def test_what_is_no_fragment_is_a_usage_error(text: str):
    with pytest.raises(UsageError):
        parse_fragment(text)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("@", "bbbb3"),
        ("root", "root1"),
        ("aaaa1", "aaaa1"),
        ("r", "root1"),
        ("c", "cccc1"),
        ("gap@9", "gap@9"),
        ("gap%409", "gap@9"),
        ("row=1", "root1"),
        ("row=8", "cccc1"),
        ("step=1", "aaaa1"),
        ("step=-1", "gap@9"),
        ("row=%31", "root1"),
        ("step=%31", "aaaa1"),
        ("step=%2D1", "gap@9"),
        ("line=%35", "bbbb1"),
        ("step=2", "bbbb1"),
        ("label=before it broke", "aaaa1"),
        ("label=before%20it%20broke", "aaaa1"),
        ("mark=here", "aaaa2"),
        ("line=5", "bbbb1"),
        ("line=10", "gap@9"),
        ("line=11", "gap@9"),
        ("line=12", "bbbb3"),
        ("time=1970-01-01T00:05:00Z", "bbbb1"),
        ("time=1970-01-01T00:05:49.999Z", "bbbb1"),
        ("time=1970-01-01T02:05:00+02:00", "bbbb1"),
        ("time=1970-01-01T00:05:00", "bbbb1"),
        ("time=2999-01-01", "bbbb3"),
        ("@~", "bbbb2"),
        ("@~3", "aaaa1"),
        ("@~0", "bbbb3"),
        ("root+2", "bbbb1"),
        ("root+4", "bbbb3"),
        ("aaaa1+", "bbbb1"),
        ("bbbb1+", "bbbb2"),
        ("@~2+2", "bbbb3"),
        ("cccc1~+", "bbbb2"),
    ],
)
def test_a_point_names_its_checkpoint(text: str, name: str):
    assert found(text) == name


def test_off_the_active_path_the_next_one_is_the_newest_child():
    made = session("a b c<a d<b e<b f<a", active="f")

    assert ids_of(made, [Resolver(made).row(Point(None, "b", (1,)))]) == "e"


def test_behind_the_active_leaf_the_next_one_is_its_newest_child():
    made = session("a b c<b d<b", active="b")

    assert ids_of(made, [Resolver(made).row(Point(None, "@", (1,)))]) == "d"


@pytest.mark.parametrize(
    ("text", "says", "hint"),
    [
        ("zzzz", "no checkpoint 'zzzz'", "there are: aaaa2, bbbb1"),
        ("row=0", "no row 0", "rows: 1 to 8"),
        ("row=9", "no row 9", "rows: 1 to 8"),
        ("step=7", "no step 7", "steps: -1 to 3"),
        ("line=8", "line 8", None),
        ("label=lost", "no label 'lost'", "there are: before%20it%20broke, twice"),
        ("mark=nowhere", "no mark 'nowhere'", "there are: here, lost"),
        ("mark=lost", "checkpoint 'zzzz' of mark 'lost'", "set the mark again, or drop it"),
        ("time=1970-01-01", "as early as 1970-01-01", None),
        ("@~9", "only 4 ancestors", None),
        ("@+", "no children", None),
    ],
)
def test_a_ref_that_names_nothing_says_what_there_is(text: str, says: str, hint: str | None):
    with pytest.raises(UnknownRefError, match=says) as error:
        found(text)

    assert hint is None or (error.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    "text",
    [
        *("row=x", "row=-1", "step=x", "step=-", "step=--1", "step=+1"),
        *("line=", "line=x", "line=-1", "time=soon", "time=2026-13-01"),
    ],
)
def test_a_value_of_the_wrong_kind_is_a_usage_error(text: str):
    with pytest.raises(UsageError):
        found(text)


@pytest.mark.parametrize("key", ["row", "step", "line"])
def test_a_number_with_thousands_of_digits_is_a_usage_error(key: str):
    with pytest.raises(UsageError):
        found(f"{key}={'9' * 5000}")


def test_an_unknown_id_of_thousands_of_digits_names_nothing():
    with pytest.raises(UnknownRefError):
        found("9" * 5000)


@pytest.mark.parametrize("sign", "~+")
def test_a_step_with_thousands_of_digits_is_a_usage_error(sign: str):
    with pytest.raises(UsageError):
        found(f"@{sign}{'9' * 5000}")


@pytest.mark.parametrize(
    ("text", "hint"), [("aaaa", "aaaa1, aaaa2"), ("b", "bbbb1, bbbb2, bbbb3")]
)
def test_an_ambiguous_prefix_lists_its_candidates(text: str, hint: str):
    with pytest.raises(AmbiguousRefError) as error:
        found(text)

    assert error.value.hint == hint


def test_a_name_among_several_of_one_row_is_a_label_too():
    made = session("a b c", labels={"a": "main, v1", "b": "v1, x", "c": "v2, y"})
    resolver = Resolver(made)

    for name, row in (("main", 0), ("y", 2), ("v1, x", 1)):
        assert resolver.row(Point("label", name)) == row
    with pytest.raises(AmbiguousRefError):
        resolver.row(Point("label", "v1"))


def test_a_label_used_twice_lists_where_it_is():
    with pytest.raises(AmbiguousRefError) as error:
        found("label=twice")

    assert error.value.hint == "bbbb1, bbbb2"


def test_many_candidates_are_counted():
    made = session(" ".join(f"same{n:02}" for n in range(20)))

    with pytest.raises(AmbiguousRefError) as error:
        Resolver(made).row(Point(None, "same"))

    assert (error.value.hint or "").endswith("same05 and 14 more")


def test_an_exact_id_wins_over_longer_ones_that_begin_so():
    made = session("abcd abcde abcdef")

    assert [Resolver(made).row(Point(None, name)) for name in ("abcd", "abcde")] == [0, 1]


@pytest.mark.parametrize("text", ["@", "root", "row=1", "abc"])
def test_an_empty_session_has_no_points(text: str):
    (point,) = parse_fragment(text).points

    with pytest.raises(UnknownRefError):
        Resolver(session("")).row(point)


def ranged(text: str) -> str:
    first, last = parse_fragment(text).points
    resolver = asked()
    return ids_of(resolver._session, resolver.rows((first, last)))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("root..@", "root1 aaaa1 bbbb1 bbbb2 bbbb3"),
        ("bbbb1..cccc1", "bbbb1 cccc1"),
        ("@..@", "bbbb3"),
        ("@~2..row=7", "bbbb1 bbbb2 bbbb3"),
    ],
)
def test_a_range_runs_along_the_path_both_ends_included(text: str, names: str):
    assert ranged(text) == names


@pytest.mark.parametrize("text", ["@..root", "aaaa2..bbbb1", "gap@9..@"])
def test_a_range_from_no_ancestor_is_a_usage_error(text: str):
    with pytest.raises(UsageError, match="is no ancestor of"):
        ranged(text)


@given(parent_rows(), st.data())
def test_up_and_down_are_inverse_on_the_active_path(parents: list[int], data: st.DataObject):
    names = [f"m{row}" for row in range(len(parents))]
    words = " ".join(
        f"{names[row]}<{'' if parent == NO_ROW else names[parent]}"
        for row, parent in enumerate(parents)
    )
    made = session(words, active=data.draw(st.sampled_from(names)))
    path = made.active_path
    place = data.draw(st.integers(0, len(path) - 1))
    distance = data.draw(st.integers(0, len(path) - 1 - place))
    low, high = made.ids[path[place + distance]], made.ids[path[place]]

    assert Resolver(made).row(Point(None, low, (-distance, distance))) == path[place + distance]
    assert Resolver(made).row(Point(None, high, (distance, -distance))) == path[place]


def flat(ids: list[str]) -> Session:
    """Give a session of these ids, each the child of the one before."""
    parents = [None, *ids]
    records = [MemoryRecord(own, above) for own, above in zip(ids, parents, strict=False)]
    store = MemoryStore({"s": records})
    return store.load(store.sessions()[0]).session


@given(st.lists(nasty_ids, min_size=1, max_size=12, unique=True))
def test_the_short_id_of_a_row_leads_back_to_it(ids: list[str]):
    made = flat(ids)
    resolver = Resolver(made)

    for row in range(len(ids)):
        text = resolver.short_id(row)
        assert parse_fragment(text).points == (Point(None, text),)
        assert resolver.row(Point(None, text)) == row


@given(st.lists(nasty_ids, min_size=2, max_size=8, unique=True))
def test_short_ids_stand_in_ranges_after_sessions_and_before_steps(ids: list[str]):
    made = flat(ids)
    resolver = Resolver(made)
    first, last = resolver.short_id(0), resolver.short_id(len(ids) - 1)
    both = parse_fragment(f"{quoted(ids[0])}:{first}+..{last}~0")

    assert both.session == quoted(ids[0])
    assert [resolver.row(each) for each in both.points] == [1, len(ids) - 1]


def test_short_ids_have_four_characters_or_as_many_as_tell_them_apart():
    made = session("0123456789 0123499999 abcdefgh abc")
    resolver = Resolver(made)

    assert [resolver.short_id(row) for row in range(4)] == ["012345", "012349", "abcd", "abc"]


@given(any_text)
def test_any_text_is_a_fragment_or_a_usage_error(text: str):
    try:
        read = parse_fragment(text)
    except UsageError:
        return
    for point in read.points:
        try:
            assert 0 <= asked().row(point) < 8
        except UsageError:
            continue


@given(st.lists(st.text("ab", min_size=1, max_size=7), min_size=1, max_size=20, unique=True))
def test_a_short_id_is_the_same_whether_one_is_asked_for_or_all(ids: list[str]):
    made = session(" ".join(ids))
    resolver = Resolver(made)
    every = [resolver.short_id(row) for row in range(len(ids))]

    assert [Resolver(made).short_id(row) for row in range(len(ids))] == every
    resolver._sorted_ids()
    assert [resolver.short_id(row) for row in range(len(ids))] == every
