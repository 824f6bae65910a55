"""Edits of a fork: places named as people read them, and the changes that they become."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from strategies import containers, states

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Drop, Put
from tt_debugger.core.fork.edits import (
    dropping,
    edited,
    edits_between,
    parse_assignment,
    parse_path,
    putting,
)
from tt_debugger.core.paths import Path, dotted, pointer
from tt_debugger.errors import UsageError

STATE: Any = {"messages": [{"content": "a"}, {"content": "b"}], "title": None, "0": {"x": 1}}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("title", ("title",)),
        ("messages[1].content", ("messages", 1, "content")),
        ("messages[-1]", ("messages", "-1")),
        ("messages[-]", ("messages", "-")),
        ("/messages/1/content", ("messages", 1, "content")),
        ("/a~1b/m~0n", ("a/b", "m~n")),
        ("values.0", ("values", "0")),
        ('files["a.py"]', ("files", "a.py")),
        ('files["a\\"[0]"].x', ("files", 'a"[0]', "x")),
        ("", ()),
    ],
)
def test_a_path_is_read_in_both_ways_of_writing(text: str, path: Path):
    assert parse_path(text) == path


@pytest.mark.parametrize("text", ["a..b", "a[x]", "a[1", "]", ".a.", 'a["x]'])
def test_what_is_no_path_is_refused(text: str):
    with pytest.raises(UsageError, match="is no path"):
        parse_path(text)


def test_an_assignment_splits_at_its_first_sign():
    assert parse_assignment('title="a=b"') == (("title",), "a=b")
    assert parse_assignment("/n = 3") == (("n",), 3)


@pytest.mark.parametrize(
    ("text", "said"),
    [("title", "has no ="), ("title=three", "is no JSON"), ("title=", "is no JSON")],
)
def test_what_is_no_assignment_is_refused_with_a_way_out(text: str, said: str):
    with pytest.raises(UsageError, match=said) as refused:
        parse_assignment(text)
    assert refused.value.hint


@pytest.mark.parametrize(
    ("text", "change"),
    [
        ("messages[0].content", Put(("messages", 0, "content"), 1)),
        ("messages[-1].content", Put(("messages", 1, "content"), 1)),
        ("messages[-1]", Put(("messages", 1), 1)),
        ("messages[-]", Append(("messages",), 1)),
        ("/messages/-", Append(("messages",), 1)),
        ("new", Put(("new",), 1)),
        ("/0/x", Put(("0", "x"), 1)),
    ],
)
def test_a_place_is_found_in_the_state(text: str, change: Change):
    assert putting(STATE, parse_path(text), 1) == change


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("messages[2]", r"there is no 2 in messages: it has 2 items"),
        ("messages[-3]", r"there is no -1 in messages: it has 2 items"),
        ("messages.x.y", r"there is no x in messages"),
        ("gone.x", r"there is no gone in the state"),
        ("title.x", r"there is no x in title: it is no list and no map"),
        ("", "the whole state"),
    ],
)
def test_a_place_that_is_not_there_is_told_by_name(text: str, said: str):
    with pytest.raises(UsageError, match=said):
        putting(STATE, parse_path(text), 1)


def test_what_is_taken_away_must_be_there():
    assert dropping(STATE, ("messages", "-1")) == Drop(("messages", 1))
    with pytest.raises(UsageError, match="there is no gone in the state"):
        dropping(STATE, ("gone",))


@given(states)
def test_each_place_of_a_state_is_found_by_either_of_its_names(state: Any):
    for path, _ in containers(state):
        # What a key like `a.b` is read as, only the pointer tells.
        names = [pointer(path)]
        if all(isinstance(key, int) or key.isidentifier() for key in path):
            names.append(dotted(path))
        for name in filter(None, names):
            assert putting(state, parse_path(name), 7) == Put(path, 7)


@given(states, states)
def test_the_edits_between_two_states_make_one_of_the_other(before: Any, after: Any):
    assert is_same(edited(before, edits_between(before, after)), after)


@pytest.mark.parametrize("value", [True, 1.0])
def test_a_value_of_another_type_is_an_edit(value: Any):
    assert edits_between({"stream": 1, "n": 0}, {"stream": value, "n": 0}) == (
        Put(("stream",), value),
    )
