"""Shapes: how the fields of one state differ from those of another."""

from __future__ import annotations

import pytest
from hypothesis import given
from strategies import json_values

from tt_debugger.core.shapes import MOST_VALUES, Drift, Retyped, drift_between, drift_text

CASES = [
    ({}, {}, Drift()),
    ({"a": 1}, {"a": 2.5}, Drift()),
    ({"a": 1}, {"a": 1, "b": {"c": 2}}, Drift(added=("/b",))),
    ({"a": {"b": 1, "c": 2}}, {"a": {"c": 2}}, Drift(gone=("/a/b",))),
    ({"a": "1"}, {"a": [1]}, Drift(retyped=(Retyped("/a", "text", "list"),))),
    ({"a": None}, {"a": "filled in"}, Drift()),
    ({"a": True}, {"a": 1}, Drift(retyped=(Retyped("/a", "boolean", "number"),))),
    ({"m": []}, {"m": [{"role": "user"}]}, Drift()),
    ({"m": [{"x": 1}]}, {"m": [{"x": 1}, {"x": 2, "y": 3}]}, Drift(added=("/m/*/y",))),
    ({"m": [1]}, {"m": [1, "b"]}, Drift(retyped=(Retyped("/m/*", "number", "number or text"),))),
    ({"a": {"b": 1}}, {"a": [1]}, Drift(retyped=(Retyped("/a", "object", "list"),))),
    ({"a/b~": 1}, {}, Drift(gone=("/a~1b~0",))),
]


@pytest.mark.parametrize(("before", "after", "expected"), CASES)
def test_a_drift_is_what_came_what_went_and_what_has_another_type(before, after, expected):
    assert drift_between(before, after) == expected


def test_a_drift_is_said_field_by_field_and_many_fields_are_counted():
    before = {"old": 1, "kind": "a", **{f"gone{n}": n for n in range(9)}}
    after = {"new": 1, "kind": ["a"]}

    assert drift_text(drift_between(before, after)) == (
        "added /new; gone /old, /gone0, /gone1, /gone2, /gone3, /gone4 and 4 more;"
        " other type /kind (text to list)"
    )
    assert drift_text(Drift()) == "the same fields"
    assert (bool(Drift()), bool(Drift(gone=("/a",)))) == (False, True)


def test_a_name_that_acts_on_a_terminal_is_made_harmless_and_short():
    (named,) = drift_between({}, {"a\nb" + "x" * 200: 1}).added

    assert "\n" not in named
    assert len(named) == 60


@given(json_values, json_values)
def test_what_one_way_adds_the_other_way_takes(before, after):
    there, back = drift_between(before, after), drift_between(after, before)

    assert there.added == back.gone
    assert {each.path for each in there.retyped} == {each.path for each in back.retyped}
    assert not drift_between(before, before)


def test_of_a_state_without_end_only_the_beginning_is_looked_at():
    huge = {"list": [{"n": n} for n in range(MOST_VALUES)], "last": 1}

    assert drift_between({}, huge).added == ("/list", "/last")
