"""The history of a value: where it changed, where it was written as it was, and what it costs."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import changes_of, json_values, keys

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, fold
from tt_debugger.core.history import Watched, history, turns
from tt_debugger.core.paths import Path, parse_pointer, pointer, value_at

UNSET = msgspec.UNSET
Steps = Sequence[Sequence[Change]]
Told = list[tuple[int, Any, bool]]
M = ("messages",)


def told(steps: Steps, text: str) -> Told:
    """Give row, value and whether it is a rewrite of each moment, the value as it was then."""
    found = history(range(len(steps)), steps, Watched.parse(text))
    return [(each.row, _copy(each.value), each.is_rewrite) for each in found]


def _copy(value: Any) -> Any:
    return value if value is UNSET else msgspec.json.decode(msgspec.json.encode(value))


def states_of(steps: Steps) -> list[Any]:
    """Give the state after each step, folded anew."""
    states: list[Any] = []
    for step in steps:
        states.append(fold(states[-1] if states else {}, step))
    return states


def test_a_value_is_told_where_it_first_is_there_where_it_changes_and_where_it_goes():
    steps = [
        [Put(("title",), "a")],
        [Put(("model",), "small")],
        [Put(("title",), "b")],
        [Put(("model",), "large")],
        [Drop(("model",))],
    ]

    assert told(steps, "/model") == [(1, "small", False), (3, "large", False), (4, UNSET, False)]


def test_a_value_that_is_written_as_it_was_is_a_rewrite():
    steps = [
        [Put(("usage",), {"cost": 1, "input": 1})],
        [Put(("usage",), {"cost": 1, "input": 2})],
        [Put(("usage", "cost"), 1)],
        [Snapshot({"usage": {"cost": 1}})],
        [Snapshot({"usage": {"cost": 1.0}})],
    ]

    assert told(steps, "/usage/cost") == [
        (0, 1, False),
        (1, 1, True),
        (2, 1, True),
        (3, 1, True),
        (4, 1.0, False),
    ]


def test_what_is_written_and_taken_back_within_a_step_is_a_rewrite():
    steps = [[Put(M, [1])], [Append(M, 2), Splice(M, 1, 1, ())], [Append(M, 2), Drop((*M, 1))]]

    assert told(steps, "/messages") == [(0, [1], False), (1, [1], True), (2, [1], True)]


@pytest.mark.parametrize(
    ("step", "path"),
    [
        ([Put(M, [1]), Append(M, 2)], "/messages"),
        ([Append(M, 3), Put(M, [1, 2])], "/messages"),
        ([Put(M, [1]), Append(M, 2)], ""),
        ([Snapshot({"messages": []}), Append(M, 1), Append(M, 2)], ""),
        ([Snapshot({"messages": [[]]}), Put(M, [[]]), Append((*M, 0), 1), Put(M, [1, 2])], ""),
        ([Put((*M, 1), {"x": []}), Append((*M, 1, "x"), 3), Put((*M, 1), 2)], "/messages"),
        ([Put((*M, 1), 2)], "/messages/1"),
        ([Put((*M, 1), 2)], "/messages"),
        ([Drop((*M, 1)), Append(M, 2)], "/messages/1"),
        ([Drop(M), Put(M, [1, 2])], "/messages/0"),
    ],
)
def test_a_step_that_leaves_a_value_as_it_was_is_a_rewrite(step: list[Change], path: str):
    steps = [[Put(M, [1, 2])], step]

    assert [(row, again) for row, _, again in told(steps, path)] == [(0, False), (1, True)]


@pytest.mark.parametrize(
    "step",
    [
        [Splice(M, 2, 1, (9,)), Append(M, 9)],
        [Append(M, 9), Drop((*M, 3))],
        [Splice(M, 2, 1, ()), Append(M, 3)],
    ],
)
def test_a_step_that_writes_behind_an_item_is_no_moment_of_it(step: list[Change]):
    assert told([[Put(M, [1, 2, 3])], step], "/messages/1") == [(0, 2, False)]


def test_to_put_nothing_in_the_place_of_nothing_writes_nothing():
    assert told([[Put(M, [1])], [Splice(M, 0, 0, ())]], "/messages") == [(0, [1], False)]


@pytest.mark.parametrize(
    "change",
    [
        Append(M, 9),
        Splice(M, 2, 0, (9,)),
        Splice(M, 0, 1, (9,)),
        Splice(M, 0, 0, ()),
        Splice(M, 1, 0, ()),
        Drop((*M, 2)),
        Put((*M, 0), 9),
        Put(("messages2",), 9),
    ],
)
def test_a_step_that_writes_beside_a_value_is_no_moment_of_it(change: Change):
    assert told([[Put(M, [1, 2, 3])], [change]], "/messages/1") == [(0, 2, False)]


@pytest.mark.parametrize(
    ("change", "value", "is_rewrite"),
    [
        (Splice(M, 0, 1, ()), 2, True),
        (Splice(M, 0, 0, (1,)), 1, False),
        (Drop((*M, 0)), 2, True),
        (Drop((*M, 1)), 2, True),
        (Splice(M, 1, 2, ()), UNSET, False),
        (Splice(M, 0, 2, (1, 2)), 2, True),
        (Put(M, [1, 3]), 3, False),
    ],
)
def test_where_items_move_another_value_stands_at_an_index(
    change: Change, value: Any, *, is_rewrite: bool
):
    steps = [[Put(M, [1, 2, 2])], [change]]

    assert told(steps, "/messages/1") == [(0, 2, False), (1, value, is_rewrite)]


def test_an_item_is_first_there_when_it_is_added():
    steps = [[Put(M, [])], [Append(M, "a")], [Append(M, "b")], [Append(M, "c")]]

    assert told(steps, "/messages/1") == [(2, "b", False)]


def test_what_is_put_beyond_the_end_of_a_list_stands_at_its_end():
    steps = [[Put(M, ["a"])], [Splice(M, 9, 2, ("b", "c"))], [Splice(M, 1, 9, ("d",))]]

    assert told(steps, "/messages/1") == [(1, "b", False), (2, "d", False)]
    assert told(steps, "/messages/2") == [(1, "c", False), (2, UNSET, False)]


def test_a_number_in_a_pointer_is_a_key_of_an_object_too():
    steps = [[Put(("tasks",), {"1": "a"})], [Put(("tasks", "1"), "b")]]

    assert told(steps, "/tasks/1") == [(0, "a", False), (1, "b", False)]


def test_the_whole_state_is_there_from_the_root_on():
    assert told([[], [], [Put(("a",), 1)], []], "") == [
        (0, {}, False),
        (2, {"a": 1}, False),
    ]


def test_a_place_that_is_never_there_has_no_moments():
    assert told([[Put(("a",), 1)], [Put(("a",), [1])]], "/a/b/c") == []


def test_of_an_object_the_keys_that_changed_are_told_and_of_a_list_the_items():
    steps: Steps = [
        [Put(("usage",), {"input": 1, "cost": 1, "total": 2}), Put(M, [{"a": [1]}, {}])],
        [Put(("usage",), {"input": 2, "cost": 1})],
        [Put(("usage", "cost"), 3)],
        [Put((*M, 0, "a", 0), 2), Put((*M, 1), {})],
        [Append(M, 1)],
    ]

    def keys_of(path: Path) -> list[tuple[Any, ...]]:
        return [each.keys for each in history(range(5), steps, Watched.at(path))]

    assert keys_of(("usage",)) == [(), ("input", "total"), ("cost",)]
    assert keys_of(M) == [(), (0,), ()]
    assert keys_of(()) == [(), ("usage",), ("usage",), ("messages",), ("messages",)]


def test_a_value_that_no_encoding_takes_is_compared_all_the_same():
    odd = {"a": ["\ud800", 1 << 80]}
    steps = [
        [Put(("x",), odd)],
        [Put(("x",), {"a": ["\ud800", 1 << 80]})],
        [Append(("x", "a"), 1)],
    ]

    found = history(range(3), steps, Watched.at(("x",)))

    assert [(each.row, each.is_rewrite) for each in found] == [(0, False), (1, True), (2, False)]


@st.composite
def walks(draw: st.DrawFn) -> list[list[Change]]:
    """Give steps that fit one after the other, from the empty state on."""
    state: Any = {}
    steps: list[list[Change]] = []
    for _ in range(draw(st.integers(1, 6))):
        if steps and draw(st.integers(0, 4)) == 0:
            # What was there once comes back, so that values are written as they were.
            earlier = draw(st.sampled_from(states_of(steps)))
            step: list[Change] = [Snapshot(_copy(earlier))]
        else:
            step = draw(changes_of(state, 3))
        state = fold(state, step)
        steps.append(step)
    return steps


def _places(state: Any, path: Path = ()) -> list[Path]:
    items: Any = ()
    if isinstance(state, dict):
        items = state.items()
    elif isinstance(state, list):
        items = enumerate(state)
    return [path, *(place for key, each in items for place in _places(each, (*path, key)))]


@st.composite
def walks_with_a_path(draw: st.DrawFn) -> tuple[list[list[Change]], Path]:
    """Give steps, and a path that is there for a while, or nearly."""
    steps = draw(walks())
    places = [place for state in states_of(steps) for place in _places(state)]
    path = draw(st.sampled_from(places))
    return steps, draw(st.sampled_from((path, path, path, (*path, draw(keys)), (*path, 0))))


@given(walks_with_a_path())
def test_the_history_of_a_place_is_that_of_comparing_neighbouring_states(
    walk: tuple[list[list[Change]], Path],
):
    steps, path = walk
    values = [UNSET, *(_at(state, path) for state in states_of(steps))]

    changed = [
        (row, new) for row, (old, new) in enumerate(pairwise(values)) if not is_same(old, new)
    ]

    assert [(row, value) for row, value, again in told(steps, pointer(path)) if not again] == (
        changed
    )


@given(walks_with_a_path())
def test_rewrites_are_the_steps_that_wrote_a_place_and_kept_its_value(
    walk: tuple[list[list[Change]], Path],
):
    """A place was written where another object stands there, if each value is one of its own."""
    steps, path = walk
    before: Any = {}
    expected: list[int] = []
    for row, step in enumerate(steps):
        after = fold(before, step)
        old, new = _at(before, path), _at(after, path)
        if row and new is not UNSET and is_same(old, new) and _is_written(before, step, path):
            expected.append(row)
        before = after

    assert [row for row, _, again in told(steps, pointer(path)) if again] == expected


@given(walks_with_a_path())
def test_the_keys_of_a_moment_are_those_that_differ(walk: tuple[list[list[Change]], Path]):
    steps, path = walk
    values = [UNSET, *(_at(state, path) for state in states_of(steps))]

    for moment in history(range(len(steps)), steps, Watched.at(parse_pointer(pointer(path)))):
        old, new = values[moment.row], values[moment.row + 1]
        if isinstance(old, dict) and isinstance(new, dict):
            differ = {
                key
                for key in {**old, **new}
                if not is_same(old.get(key, UNSET), new.get(key, UNSET))
            }
            assert (set(moment.keys), len(moment.keys)) == (differ, len(differ))
        else:
            assert all(not is_same(old[key], new[key]) for key in moment.keys)


def _at(state: Any, path: Path) -> Any:
    try:
        return value_at(state, path)
    except KeyError:
        return UNSET


class _Leaf:
    """A value that is the same as no other."""


def _marked(value: Any) -> Any:
    match value:
        case dict():
            return {key: _marked(each) for key, each in value.items()}
        case list() | tuple():
            return type(value)(map(_marked, value))
        case Splice(values=values):
            return msgspec.structs.replace(value, values=_marked(values))
        case Drop():
            return value
        case Put(value=inner) | Append(value=inner) | Snapshot(value=inner):
            return msgspec.structs.replace(value, value=_marked(inner))
        case _:
            return _Leaf()


def _is_written(state: Any, step: Sequence[Change], path: Path) -> bool:
    state = _marked(state)
    for change in step:
        if isinstance(change, Splice) and not (change.count or change.values):
            continue
        before, state = state, fold(state, [_marked(change)])
        if _at(before, path) is not _at(state, path):
            return True
    return False


EXPRESSIONS = (
    *("a.b", "messages[0]", 'messages."0"', "messages[-1]", "length(messages)", "a == b"),
    *("messages[*].a", "messages[?a].b", "messages[].a", "a || b", "[a, b]", "keys(a)", "@"),
    *("length(messages[?a == `1`])", "to_string(messages)", "{x: a, y: messages[-1].b}", "!a"),
)


@given(walks(), st.sampled_from(EXPRESSIONS))
def test_the_history_of_an_expression_is_that_of_comparing_neighbouring_states(
    steps: list[list[Change]], text: str
):
    watched = Watched.parse(text)
    values = [UNSET, *(watched.value(state) for state in states_of(steps))]

    changed = [
        (row, new, False)
        for row, (old, new) in enumerate(pairwise(values))
        if not is_same(old, new)
    ]

    found = told(steps, text)
    if watched.path is not None:
        found = [each for each in found if not each[2]]
    assert found == changed


def test_an_expression_is_told_where_its_value_changes():
    steps: Steps = [
        [Put(M, [])],
        [Append(M, {"role": "user"})],
        [Append(M, {"role": "user"})],
        [Put(("title",), "x")],
        [Append(M, {"role": "tool"})],
        [],
        [Drop(M)],
    ]

    assert told(steps, "length(messages)") == [
        (0, 0, False),
        (1, 1, False),
        (2, 2, False),
        (4, 3, False),
        (6, UNSET, False),
    ]
    assert told(steps, "messages[-1].role") == [
        (1, "user", False),
        (4, "tool", False),
        (6, UNSET, False),
    ]
    assert told(steps, "messages[?role == 'tool']") == [
        (0, [], False),
        (4, [{"role": "tool"}], False),
        (6, UNSET, False),
    ]


def test_an_expression_that_only_names_a_place_is_watched_as_the_place():
    steps = [[Put(("usage",), {"cost": 1})], [Put(("usage",), {"cost": 1})]]

    assert told(steps, "usage.cost") == told(steps, "/usage/cost") == [(0, 1, False), (1, 1, True)]


@pytest.mark.parametrize("text", ["a.", "a b", "length(", "[", "a = 1"])
def test_what_is_no_expression_is_refused_with_the_place(text: str):
    with pytest.raises(ValueError, match=r"\(column \d+\)"):
        Watched.parse(text)


def test_a_condition_is_told_where_its_truth_changes():
    truths = [False, True, True, False, True]

    assert [(each.row, each.value) for each in turns(range(5), truths)] == [
        (1, True),
        (3, False),
        (4, True),
    ]


def test_what_happens_is_told_wherever_it_does():
    truths = [False, True, True, False, True]

    assert [(each.row, each.value) for each in turns(range(5), truths, happens=True)] == [
        (1, True),
        (2, True),
        (4, True),
    ]


@given(st.dictionaries(keys, json_values, max_size=4), json_values)
def test_a_place_to_watch_is_named_by_its_pointer(state: Any, value: Any):
    state = {**state, "a/b~c": {"0": value}}

    assert is_same(Watched.at(("a/b~c", "0")).value(state), value)
    assert is_same(Watched.parse("/a~1b~0c/0").value(state), value)
    assert Watched.parse("/a~1b~0c/1").value(state) is UNSET
