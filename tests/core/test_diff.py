"""The difference of two states: it leads from one to the other, and names what was changed."""

from __future__ import annotations

from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from strategies import changes_of, json_values, states

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State, fold
from tt_debugger.core.diff.edits import Op, apply, edit_json, edits, inverted
from tt_debugger.core.diff.states import diff
from tt_debugger.core.paths import pointer, value_at


def told(old: State, new: State, *, mask: bool = True) -> list[str]:
    """Give the edits in short: sign, places, values."""
    signs = {Op.ADD: "+", Op.REMOVE: "-", Op.CHANGE: "~", Op.MOVE: ">"}
    words: list[str] = []
    for edit in edits(diff(old, new, mask=mask).difference, old):
        word = f"{signs[edit.op]} {pointer(edit.path)}"
        if edit.origin is not None and edit.origin != edit.path:
            word += f" from {pointer(edit.origin)}"
        words.append(word)
    return words


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": [{"type": "text", "text": text}], **more}


def called(name: str, arguments: Any, call: str = "call_1", text: str = "") -> dict[str, Any]:
    block = {"type": "toolCall", "id": call, "name": name, "arguments": arguments}
    texts = [{"type": "text", "text": text}] if text else []
    return {"role": "assistant", "content": [*texts, block]}


messages = st.builds(
    said,
    st.sampled_from(("go on", "fix the test", "it fails again", "fix the other test", "ok")),
    st.sampled_from(("user", "assistant")),
    id=st.sampled_from((None, "a", "b", "c", "d", 1, 1.0, True)),
)
talks = st.fixed_dictionaries({"messages": st.lists(messages, max_size=8)})
any_states = st.one_of(states, json_values, talks)


@st.composite
def related(draw: st.DrawFn) -> tuple[State, State]:
    """Give two states of which one came from the other, or has nothing to do with it."""
    old = draw(any_states)
    if draw(st.booleans()):
        return old, draw(any_states)
    new = fold(old, draw(changes_of(old)))
    listed = new.get("messages") if isinstance(new, dict) else None
    if isinstance(listed, list) and draw(st.booleans()):
        new = new | {"messages": draw(st.permutations(listed))}
    return old, new


@given(related())
def test_applied_to_one_state_a_difference_gives_the_other_and_back(
    pair: tuple[State, State],
) -> None:
    old, new = pair
    difference = diff(old, new, mask=False).difference

    assert is_same(apply(difference, old), new)
    assert is_same(apply(inverted(difference), new), old)
    assert (difference is None) == is_same(old, new)


@given(related())
def test_every_edit_names_its_values_where_they_stand(pair: tuple[State, State]) -> None:
    old, new = pair

    for edit in edits(diff(old, new, mask=False).difference, old):
        if edit.origin is not None:
            assert is_same(value_at(old, edit.origin), edit.old)
        if edit.op in {Op.ADD, Op.CHANGE}:
            assert is_same(value_at(new, edit.path), edit.new)


@given(related())
def test_what_is_masked_is_counted_and_what_is_equal_is_not(pair: tuple[State, State]) -> None:
    old, new = pair
    masked = diff(old, new)

    assert all(count > 0 for count in masked.masked.values())
    if diff(old, new, mask=False).equal:
        assert masked.equal
        assert not masked.masked
    else:
        assert not masked.equal or masked.masked


def test_a_value_of_another_type_differs_even_where_python_takes_it_for_equal():
    old, new = {"a": 1, "b": 1, "c": 0.0, "d": [1]}, {"a": True, "b": 1.0, "c": -0.0, "d": [True]}

    assert told(old, new) == ["~ /a", "~ /b", "~ /c", "~ /d/0"]


def test_an_insertion_at_the_head_of_ten_thousand_messages_is_one_small_edit():
    old = {"messages": [said(f"message number {n}") for n in range(10_000)]}
    new = {"messages": [said("one more"), *old["messages"]]}

    (edit,) = edits(diff(old, new).difference, old)

    assert edit_json(edit) == {
        "op": "add",
        "path": "/messages/0",
        "from": None,
        "old": None,
        "new": said("one more"),
        "text": [],
    }
    assert len(msgspec.json.encode(edit_json(edit))) < 1024


def test_messages_are_aligned_by_id_whatever_they_say():
    old = {"messages": [said("a", id="1"), said("b", id="2"), said("c", id="3")]}
    new = {"messages": [said("new", id="9"), said("a", id="1"), said("quite other", id="3")]}

    assert told(old, new) == [
        "- /messages/1",
        "+ /messages/0",
        "~ /messages/2/content/0/text",
    ]


def test_without_ids_messages_are_aligned_by_what_they_are_and_then_by_likeness():
    old = {"messages": [said("fix the flaky test"), said("no"), said("run all of the tests")]}
    new = {"messages": [said("no"), said("run all of the tests again"), said("thanks")]}

    assert told(old, new) == [
        "- /messages/0",
        "~ /messages/1/content/0/text from /messages/2/content/0/text",
        "+ /messages/2",
    ]


def test_what_stands_elsewhere_is_a_move():
    names = ["build", "test", "review", "ship"]
    old = {"steps": [{"do": name, "done": False} for name in names]}
    new = {"steps": [old["steps"][place] for place in (3, 0, 1, 2)]}

    assert told(old, new) == ["> /steps/0 from /steps/3"]


def test_a_moved_item_that_changed_has_both_edits():
    steps = [{"id": name, "done": False} for name in ("build", "test", "ship")]
    old = {"steps": steps}
    new = {"steps": [{"id": "ship", "done": True}, *steps[:2]]}

    assert told(old, new) == ["> /steps/0 from /steps/2", "~ /steps/0/done from /steps/2/done"]


def test_items_that_say_the_same_several_times_are_kept_in_order():
    old, new = {"a": ["x", "y", "x", "x"]}, {"a": ["x", "x", "y", "x"]}

    assert told(old, new) == ["> /a/2 from /a/1"]


def test_scalars_that_gave_way_to_others_in_one_place_are_changes():
    assert told({"a": [1, 2, "x", 4]}, {"a": [1, 3, True, 4]}) == ["~ /a/1", "~ /a/2"]


def test_a_call_with_another_id_is_the_same_call_but_its_arguments_are_not_masked():
    old = {"messages": [called("bash", {"command": "ls", "id": "call_a1b2c3d4"})]}
    new = {
        "messages": [called("bash", {"command": "ls", "id": "call_z9y8x7w6"}, "call_2abcdefgh")]
    }
    old["messages"][0]["content"][0]["id"] = "call_1abcdefgh"

    found = diff(old, new)

    assert [pointer(each.path) for each in edits(found.difference, old)] == [
        "/messages/0/content/0/arguments/id"
    ]
    assert found.masked == {"minted ids": 1}


def test_noise_alone_is_no_difference_but_is_counted_by_rule():
    old = said("hi", timestamp=1, usage={"input": 3}, responseId="r1", durationMs=5)
    new = said("hi", timestamp=2, usage={"input": 4}, responseId="r2", durationMs=6)

    found = diff({"messages": [old]}, {"messages": [new]})

    assert found.equal
    assert found.masked == {"timestamps": 1, "usage": 1, "request ids": 1, "durations": 1}
    assert len(told({"messages": [old]}, {"messages": [new]}, mask=False)) == 4


def test_noise_that_only_one_side_has_is_masked_too():
    found = diff({"messages": [said("hi")]}, {"messages": [said("hi", timestamp=7)]})

    assert found.equal
    assert found.masked == {"timestamps": 1}


def test_what_somebody_wrote_under_a_name_of_noise_is_not_masked():
    old = {"time": "in the morning", "duration": "a while", "usage": "see README", "ts": True}
    new = {"time": "in the evening", "duration": "long", "usage": "none", "ts": False}

    assert told(old, new) == ["~ /time", "~ /duration", "~ /usage", "~ /ts"]
    assert diff({"time": "2026-09-14T10:00:00Z"}, {"time": 3}).masked == {"timestamps": 1}


def test_numbers_are_no_minted_ids():
    assert told({"id": "12345678"}, {"id": "87654321"}) == ["~ /id"]
    assert told({"id": "order_12345678"}, {"id": "order_87654321"}) == ["~ /id"]


def test_among_messages_said_again_and_again_one_that_moved_is_a_move():
    old = [*[said("go on"), said("ok", "assistant")] * 20, said("a tail of its own")]

    assert told({"messages": old}, {"messages": [old[-1], *old[:-1]]}) == [
        "> /messages/0 from /messages/40"
    ]


def test_a_result_is_not_taken_for_that_of_another_call():
    old = [called("edit", {"path": "a"}, "call_1a"), answered("call_1a", "replaced 1 block in a")]
    new = [called("edit", {"path": "b"}, "call_2b"), answered("call_2b", "replaced 2 blocks in b")]

    assert [each[0] for each in told({"messages": old}, {"messages": new})] == list("--++")


def test_an_id_that_somebody_chose_is_not_masked():
    assert told({"id": "task one"}, {"id": "task two"}) == ["~ /id"]
    assert told({"id": "L1"}, {"id": "L2"}) == ["~ /id"]


def test_a_re_run_whose_ids_and_times_are_all_new_differs_in_what_it_said_only():
    def run(stamp: int, answer: str) -> State:
        return {
            "messages": [
                said("fix it", timestamp=stamp, id=f"{stamp:08x}-0000-4000-8000-000000000001"),
                called("bash", {"command": "pytest"}, f"call_{stamp}abcdefg"),
                {
                    "role": "toolResult",
                    "toolCallId": f"call_{stamp}abcdefg",
                    "toolName": "bash",
                    "content": [{"type": "text", "text": answer}],
                    "timestamp": stamp + 2,
                },
            ]
        }

    assert told(run(100, "2 failed, 210 passed"), run(900, "212 passed")) == [
        "~ /messages/2/content/0/text"
    ]


def answered(call: str, text: str) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": call, "toolName": "bash", "content": content}


def test_a_result_belongs_to_that_of_the_same_call_whatever_it_says():
    old = [
        called("bash", {"command": "pytest -q"}, "call_a1b2c3d4e5"),
        answered("call_a1b2c3d4e5", "x"),
    ]
    new = [
        called("bash", {"command": "pytest -v"}, "call_f6g7h8i9j0"),
        answered("call_f6g7h8i9j0", "1 2"),
    ]

    assert told({"messages": old}, {"messages": new}) == [
        "~ /messages/0/content/0/arguments/command",
        "~ /messages/1/content/0/text",
    ]


def test_calls_about_different_things_are_not_one_call_that_changed():
    old = [called("read", {"path": "a.py"}, "call_1"), answered("call_1", "some text")]
    new = [called("read", {"path": "b.md"}, "call_2"), answered("call_2", "quite other words")]

    assert told({"messages": old}, {"messages": new}) == [
        "- /messages/0",
        "- /messages/1",
        "+ /messages/0",
        "+ /messages/1",
    ]


def test_deep_states_are_compared_as_a_whole_where_nobody_would_read_them():
    def deep(leaf: int) -> State:
        value: Any = leaf
        for _ in range(200):
            value = {"a": value}
        return value

    found = diff(deep(1), deep(2)).difference

    assert is_same(apply(found, deep(1)), deep(2))


leaves = st.one_of(st.none(), st.booleans(), st.integers(-9, 9), st.text("ab", max_size=3))
objects = st.recursive(
    st.dictionaries(st.sampled_from("abc"), leaves, max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), st.one_of(leaves, inner), max_size=3),
    max_leaves=6,
)


@given(objects, objects)
def test_of_objects_deepdiff_finds_the_same_places(old: State, new: State) -> None:
    from deepdiff import DeepDiff

    found = DeepDiff(old, new, view="tree", threshold_to_diff_deeper=0)
    theirs = {tuple(each.path(output_format="list")) for kind in found.values() for each in kind}

    ours = {each.path for each in edits(diff(old, new, mask=False).difference, old)}
    assert ours == theirs
