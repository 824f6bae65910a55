"""A JSON Patch, applied by another program, makes the old state into the new one."""

from __future__ import annotations

import copy
import json
from typing import Any

import jsonpatch
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, states

from tt_debugger.core.between import is_same
from tt_debugger.core.diff.states import diff
from tt_debugger.exports.gate import Gate
from tt_debugger.exports.json_patch import difference, operations
from tt_debugger.exports.subjects import Origin, TwoStates

messages = st.lists(
    st.one_of(
        json_values,
        st.builds(
            lambda name, text: {"id": f"m{name}", "role": "user", "content": text},
            st.integers(0, 9),
            st.sampled_from(("one", "two", "one and two", "a long text of many words")),
        ),
        st.integers(0, 6),
    ),
    max_size=8,
)


def patched(old: Any, new: Any) -> Any:
    patch = list(operations(diff(old, new, mask=False).difference, old))
    return jsonpatch.apply_patch(copy.deepcopy(old), json.loads(json.dumps(patch)))


@given(states, states)
def test_a_patch_of_any_two_states_gives_the_new_one(old: Any, new: Any):
    assert is_same(patched(old, new), new)


@given(messages, messages)
def test_a_patch_of_any_two_lists_of_messages_gives_the_new_one(old: Any, new: Any):
    assert is_same(patched({"messages": old}, {"messages": new}), {"messages": new})


@given(st.lists(st.integers(0, 30), unique=True, max_size=12), st.data())
def test_a_patch_moves_adds_and_removes_at_once(old: list[int], data: st.DataObject):
    new = data.draw(st.permutations(old))
    new = new[: data.draw(st.integers(0, len(new)))] + data.draw(st.lists(st.integers(40, 50)))
    new = data.draw(st.permutations(new))
    before = [{"id": f"i{each}", "v": each} for each in old]
    after = [{"id": f"i{each}", "v": each * data.draw(st.integers(1, 2))} for each in new]

    assert patched(before, after) == after


def test_a_message_that_moved_is_one_operation():
    old = [{"id": name, "role": "user"} for name in "abcd"]

    patch = list(operations(diff(old, [*old[1:], old[0]]).difference, old))

    assert patch == [{"op": "move", "from": "/0", "path": "/3"}]


def test_very_many_moves_are_the_list_anew():
    old = [{"id": f"m{each}", "role": "user"} for each in range(3000)]
    new = old[::-1]

    patch = list(operations(diff(old, new, mask=False).difference, old))

    assert patch == [{"op": "replace", "path": "", "value": new}]
    assert patched(old, new) == new


def test_a_patch_masks_nothing(origin: Origin):
    subject = TwoStates(origin, origin, {"time": 1}, {"time": 2}, is_masked=True)

    patch = json.loads(difference(Gate(None).passed(subject)))

    assert patch == [{"op": "replace", "path": "/time", "value": 2}]
