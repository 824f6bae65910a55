"""The changes between two states lead from the one to the other, and say no more than needed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import changes_of, json_values, states

from tt_debugger.core.between import changes_between, is_same, keys_between
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, fold


@given(json_values, json_values)
def test_the_changes_between_two_values_make_the_one_the_other(old: Any, new: Any):
    assert is_same(fold(old, changes_between(old, new)), new)


@given(states, st.data())
def test_the_changes_between_two_states_of_a_session_make_the_one_the_other(
    old: Any, data: st.DataObject
):
    new = fold(old, data.draw(changes_of(old, 6)))

    assert is_same(fold(old, changes_between(old, new)), new)


@given(json_values)
def test_between_a_state_and_itself_there_are_no_changes(state: Any):
    assert changes_between(state, state) == ()


LONG = list(range(9))


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ({"a": 1}, {"a": 1}, ()),
        ({"a": 1}, {"a": 2, "b": 3}, (Put(("a",), 2), Put(("b",), 3))),
        ({"a": 1, "b": 2}, {"b": 2}, (Drop(("a",)),)),
        ({"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}, (Put(("a", "b", "c"), 2),)),
        ({"l": [1, 2]}, {"l": [1, 2, 3, 4]}, (Append(("l",), 3), Append(("l",), 4))),
        ({"l": []}, {"l": [1]}, (Append(("l",), 1),)),
        ({"l": [1, 2, 3]}, {"l": []}, (Splice(("l",), 0, 3, ()),)),
        ({"l": LONG}, {"l": [*LONG[:3], 7, *LONG[5:]]}, (Splice(("l",), 3, 2, (7,)),)),
        (
            {"l": [1, {"a": 1}, 3]},
            {"l": [1, {"a": 2}, 4]},
            (Put(("l", 2), 4), Put(("l", 1, "a"), 2)),
        ),
        ({"l": [1, 1]}, {"l": [1]}, (Splice(("l",), 1, 1, ()),)),
        ({"a": 1}, {"a": True}, (Put(("a",), value=True),)),
        ({"a": 1}, {"a": 1.0}, (Put(("a",), 1.0),)),
        ({"a": [[0]]}, {"a": [[False]]}, (Put(("a", 0, 0), value=False),)),
        ({"a": 0.0}, {"a": -0.0}, (Put(("a",), -0.0),)),
        ({"a": [1]}, {"a": {"0": 1}}, (Put(("a",), {"0": 1}),)),
        ({"a": 1}, [1], (Snapshot([1]),)),
        (None, {}, (Snapshot({}),)),
        ({}, {"a": 1}, (Put(("a",), 1),)),
    ],
)
def test_the_changes_are_the_smallest_that_make_sense(
    old: Any, new: Any, changes: tuple[Change, ...]
):
    found = changes_between(old, new)

    assert [(type(each), repr(each)) for each in found] == [
        (type(each), repr(each)) for each in changes
    ]


def test_the_order_of_keys_is_no_change():
    assert changes_between({"a": [{"x": 1, "y": 2}, 3]}, {"a": [{"y": 2, "x": 1}, 3]}) == ()
    assert is_same({"x": 1, "y": [2]}, {"y": [2], "x": 1})


def test_what_two_states_share_is_not_looked_into():
    class Sealed(dict[str, Any]):
        def items(self) -> Any:
            raise AssertionError("looked into")

    shared = Sealed(a=1)

    assert changes_between({"s": shared, "n": 1}, {"s": shared, "n": 2}) == (Put(("n",), 2),)


def test_states_as_deep_as_a_record_may_be_are_compared():
    old: Any = 1
    new: Any = 2
    for _ in range(250):
        old, new = {"a": old}, {"a": new}

    assert changes_between(old, new) == (Put(("a",) * 250, 2),)


@given(st.dictionaries(st.text(max_size=2), json_values), st.data())
def test_the_keys_between_two_objects_are_those_that_one_must_change(
    before: dict[str, Any], data: st.DataObject
):
    kept = data.draw(st.sets(st.sampled_from(sorted(before)))) if before else set[str]()
    after = {key: before[key] for key in before if key in kept}
    after |= data.draw(st.dictionaries(st.text(max_size=2), json_values))

    found = keys_between(before, after)
    both = before.keys() & after.keys()
    alike = {key for key in both if is_same(before[key], after[key])}
    assert set(found) == {*before, *after} - alike
    assert len(found) == len(set(found))


def test_keys_between_objects_have_other_types_or_are_in_one_alone():
    before = {"stream": 1, "same": [1], "gone": None, "deep": {"x": [0]}}
    after = {"new": None, "deep": {"x": [False]}, "same": [1], "stream": True}
    assert keys_between(before, after) == ("stream", "gone", "deep", "new")
