"""Changes: folded into a state, which is shared and never touched."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import change_of, changes_of, containers, states

from tt_debugger.core.changes import (
    Append,
    Change,
    Drop,
    Put,
    Snapshot,
    Splice,
    change_json,
    fold,
    touches,
    written_paths,
)
from tt_debugger.core.paths import Path, parse_pointer, pointer, value_at

STATE: Any = {"messages": [{"role": "user"}, {"role": "tool"}], "usage": {"input": 1}}


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Put(("usage", "input"), 2), {**STATE, "usage": {"input": 2}}),
        (Put(("title",), "t"), {**STATE, "title": "t"}),
        (Put(("messages", 1), 0), {**STATE, "messages": [{"role": "user"}, 0]}),
        (Drop(("usage",)), {"messages": STATE["messages"]}),
        (Drop(("messages", 0)), {**STATE, "messages": [{"role": "tool"}]}),
        (Append(("messages",), 3), {**STATE, "messages": [*STATE["messages"], 3]}),
        (Splice(("messages",), 1, 1, (4, 5)), {**STATE, "messages": [{"role": "user"}, 4, 5]}),
        (Splice(("messages",), 2, 0, (6,)), {**STATE, "messages": [*STATE["messages"], 6]}),
        (Snapshot({"new": True}), {"new": True}),
    ],
)
def test_each_kind_of_change_does_what_it_says(change: Change, after: Any):
    assert fold(STATE, [change]) == after


@given(states, st.data())
def test_folding_a_run_is_folding_one_by_one(state: Any, data: st.DataObject):
    changes = data.draw(changes_of(state))
    one_by_one = state
    for change in changes:
        one_by_one = fold(one_by_one, [change])

    assert fold(state, changes) == one_by_one


@given(states, st.data())
def test_folding_touches_neither_the_state_nor_the_changes(state: Any, data: st.DataObject):
    changes = data.draw(changes_of(state))
    before = copy.deepcopy((state, changes))

    fold(state, changes)

    assert (state, changes) == before


@given(states, st.data())
def test_what_a_change_does_not_reach_is_the_same_object(state: Any, data: st.DataObject):
    change = data.draw(change_of(state))
    given_objects = {id(each) for _, each in containers([state, *_values(change)])}
    reached = {change.path[:depth] for depth in range(len(change.path) + 1)}

    for path, container in containers(fold(state, [change])):
        assert path in reached or id(container) in given_objects


def _values(change: Change) -> tuple[Any, ...]:
    match change:
        case Splice(values=values):
            return values
        case Drop():
            return ()
        case _:
            return (change.value,)


def test_a_value_that_was_put_is_not_written_into_by_what_follows():
    put: list[int] = [1]

    state = fold({}, [Put(("a",), put), Append(("a",), 2), Append(("a",), 3)])

    assert (state, put) == ({"a": [1, 2, 3]}, [1])


def test_a_snapshot_is_not_written_into_by_what_follows():
    snapshot = {"a": {"b": 1}}

    state = fold({"old": 1}, [Snapshot(snapshot), Put(("a", "b"), 2)])

    assert (state, snapshot) == ({"a": {"b": 2}}, {"a": {"b": 1}})


def test_no_change_gives_the_very_same_state():
    assert fold(STATE, []) is STATE


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (Append(("nowhere",), 1), KeyError),
        (Drop(("nowhere",)), KeyError),
        (Put(("messages", 7), 1), IndexError),
        (Put((), 1), IndexError),
        (Drop(()), IndexError),
        (Put(("usage", "input", "x"), 1), TypeError),
    ],
)
def test_a_change_at_a_place_that_is_not_there_is_an_error(change: Change, error: type[Exception]):
    with pytest.raises(error):
        fold(STATE, [change])


A, M = ("usage", "input"), ("messages",)


@pytest.mark.parametrize(
    ("changes", "paths"),
    [
        ([], []),
        ([Put(A, 2)], [A]),
        ([Drop(("usage",))], [("usage",)]),
        ([Append(M, 3), Append(M, 4)], [(*M, 2), (*M, 3)]),
        ([Splice(M, 1, 1, (4, 5))], [(*M, 1), (*M, 2)]),
        ([Splice(M, 0, 1, ())], [M]),
        ([Splice(M, 0, 0, ())], []),
        ([Drop((*M, 0))], [M]),
        ([Snapshot({"a": []}), Append(("a",), 1)], [(), ("a", 0)]),
        # What is written last counts, at the place where it is at the end.
        ([Append(M, 3), Splice(M, 0, 1, ())], [(*M, 1), M]),
        ([Append(M, 3), Splice(M, 2, 1, ())], [M]),
        ([Put((*M, 1, "role"), "x"), Splice(M, 0, 0, (1,))], [(*M, 2, "role"), (*M, 0)]),
        ([Put(A, 2), Put(("usage",), {})], [("usage",)]),
        ([Put(("usage",), {}), Put(A, 2)], [("usage",), A]),
        ([Put(("new",), [1]), Append(("new",), 2)], [("new",), ("new", 1)]),
        ([Append(M, 3), Snapshot({})], [()]),
    ],
)
def test_the_written_paths_of_a_run(changes: list[Change], paths: list[Path]):
    assert written_paths(changes, STATE) == paths


@given(states, st.data())
def test_what_is_new_in_the_state_stands_at_or_below_a_written_path(
    state: Any, data: st.DataObject
):
    """Every leaf is made a number of its own, so that each tells where it comes from."""
    numbers = itertools.count()
    before = _numbered(state, numbers)
    old = set(_leaves(before).values())
    changes = [_numbered(each, numbers) for each in data.draw(changes_of(state))]

    written = written_paths(changes, before)
    after = fold(before, changes)

    # A list that only lost items is written too, but what it still holds is not new.
    only_adds = all(isinstance(each, (Put, Append, Snapshot)) for each in changes)
    for path, leaf in _leaves(after).items():
        is_written = any(path[:depth] in written for depth in range(len(path) + 1))
        assert is_written or leaf in old
        assert not (is_written and only_adds and leaf in old)


@given(states, st.data())
def test_a_written_path_is_there_or_its_key_was_dropped(state: Any, data: st.DataObject):
    changes = data.draw(changes_of(state))
    after = fold(state, changes)

    for path in written_paths(changes, state):
        container = value_at(after, path[:-1])
        assert not path or isinstance(container, dict) or path[-1] < len(container)


@pytest.mark.parametrize(
    ("change", "path", "may"),
    [
        (Put(A, 2), A, True),
        (Put(A, 2), ("usage",), True),
        (Put(A, 2), (*A, "x"), True),
        (Put(A, 2), ("usage", "output"), False),
        (Put(A, 2), (), True),
        (Snapshot({}), A, True),
        (Append(M, 3), M, True),
        (Append(M, 3), (*M, 2), True),
        (Append(M, 3), A, False),
        (Splice(M, 0, 1, ()), (*M, 1, "role"), True),
        (Drop((*M, 0)), (*M, 1), True),
        (Drop(("usage",)), ("title",), False),
        (Put(("tasks", "1"), 2), ("tasks", 1), True),
        (Put(("tasks", "1"), 2), ("tasks", 2), False),
    ],
)
def test_a_change_may_alter_what_is_at_above_or_inside_of_its_place(
    change: Change, path: Path, *, may: bool
):
    assert touches(change, path) is may


@given(states, st.data())
def test_what_a_change_does_not_touch_is_the_same_object_or_still_not_there(
    state: Any, data: st.DataObject
):
    """Every value is made one of its own, so that another one in its place is seen."""
    change = data.draw(change_of(state))
    before = _numbered(state, itertools.count())
    after = fold(before, [_numbered(change, itertools.count(10**6))])

    for path in {**_places(before), **_places(after)}:
        asked = parse_pointer(pointer(path))  # as a person types it: a number may be a key
        assert touches(change, asked) or _places(before).get(path) is _places(after).get(path)


def _places(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Give every place of a value with what is there."""
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    places = {path: value}
    for key, each in items:
        places |= _places(each, (*path, key))
    return places


def _numbered(value: Any, numbers: Iterator[int]) -> Any:
    """Give a value, or a change, with another number in the place of each leaf."""
    match value:
        case dict():
            return {key: _numbered(each, numbers) for key, each in value.items()}
        case list() | tuple():
            return type(value)(_numbered(each, numbers) for each in value)
        case Splice(values=values):
            return msgspec.structs.replace(value, values=_numbered(values, numbers))
        case Drop():
            return value
        case Put(value=inner) | Append(value=inner) | Snapshot(value=inner):
            return msgspec.structs.replace(value, value=_numbered(inner, numbers))
        case _:
            return next(numbers)


def _leaves(value: Any, path: Path = ()) -> dict[Path, Any]:
    if not isinstance(value, (dict, list)):
        return {path: value}
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return {
        place: leaf for key, each in items for place, leaf in _leaves(each, (*path, key)).items()
    }


@pytest.mark.parametrize(
    ("change", "form"),
    [
        (Put(("a/b", 0), 1), ("put", "/a~1b/0", 1, None, None)),
        (Drop(("a",)), ("drop", "/a", None, None, None)),
        (Append(("a",), [1]), ("append", "/a", [1], None, None)),
        (Splice(("a",), 2, 3, (1, 2)), ("splice", "/a", [1, 2], 2, 3)),
        (Snapshot({}), ("snapshot", "", {}, None, None)),
    ],
)
def test_the_json_of_a_change_has_every_key(change: Change, form: tuple[Any, ...]):
    keys = ("op", "path", "value", "index", "count")

    assert change_json(change) == dict(zip(keys, form, strict=True))


def test_an_indexed_value_is_found_after_folding():
    state = fold(STATE, [Put(("messages", 1, "role"), "system")])

    assert value_at(state, ("messages", 1, "role")) == "system"
    assert state["messages"][0] is STATE["messages"][0]
