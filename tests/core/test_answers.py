"""Answers: every call once, with what came of it, and the model that made it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from builders import memories, memory

from tt_debugger.core.answers import NO_CALL, Answers, answers_of
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.core.tree import NO_ROW

MESSAGES = ("messages",)
HEADS = {
    "c": Head(Kind.TOOL_CALL, Role.ASSISTANT, "read"),
    "r": Head(Kind.TOOL_RESULT, Role.TOOL, "read"),
    "a": Head(Kind.MESSAGE, Role.ASSISTANT),
}


def calling(*calls: tuple[str | None, str, Any], **more: Any) -> dict[str, Any]:
    """Give a message that calls tools: of each the id, the name and the arguments."""
    blocks = [
        {"type": "toolCall", "id": own, "name": name, "arguments": arguments}
        for own, name, arguments in calls
    ]
    return {"role": "assistant", "content": blocks, **more}


def result(of: str | None, text: str, *, failed: bool = False) -> dict[str, Any]:
    """Give what a tool gave back."""
    content = [{"type": "text", "text": text}]
    own = {} if of is None else {"toolCallId": of}
    return {"role": "toolResult", "content": content, "isError": failed, **own}


def said(*messages: Any) -> list[Change]:
    """Give the changes that put messages behind the others."""
    return [Append(MESSAGES, message) for message in messages]


def read(tree: str, changes: Mapping[str, Sequence[Change]], lost: str = "") -> Answers:
    """Give the answers of a tree; the first letter of a row says what it is.

    Rows that are `lost` cannot be read.
    """
    names = [word.partition("<")[0] for word in tree.split()]
    heads = {name: HEADS.get(name[0], Head(Kind.SETTING)) for name in names}
    records = memories(tree, {name: changes.get(name, ()) for name in names}, heads)
    _, session = memory(records)
    return answers_of(
        session,
        (
            (row, None if session.ids[row] in lost.split() else records[row].changes)
            for row in session.order
        ),
    )


def told(answers: Answers) -> list[tuple[int, str, str, int, int]]:
    """Give each call: its row, tool and arguments, the call above it, the row of its result."""
    return [
        (
            each.row,
            answers.tool(each),
            answers.things[each.thing].arguments,
            each.above,
            each.result_row,
        )
        for each in answers.calls
    ]


def test_every_call_of_a_message_counts_and_has_the_result_of_its_id():
    answers = read(
        "c1 r1 r2",
        {
            "c1": said(calling(("x", "read", {"path": "a.py"}), ("y", "bash", {"command": "ls"}))),
            "r1": said(result("y", "no such file", failed=True)),
            "r2": said(result("x", "text")),
        },
    )

    assert told(answers) == [(0, "read", "a.py", NO_CALL, 2), (0, "bash", "ls", 0, 1)]
    assert [each.failed for each in answers.calls] == [False, True]


def test_results_without_ids_come_in_the_order_of_their_calls():
    answers = read(
        "c1 r1 r2 c2",
        {
            "c1": said(calling((None, "read", {"path": "a"}), (None, "read", {"path": "b"}))),
            "r1": said(result(None, "first")),
            "r2": said(result(None, "second")),
            "c2": said(calling((None, "read", {"path": "c"}))),
        },
    )

    assert [each.result_row for each in answers.calls] == [1, 2, NO_ROW]


def test_what_a_compaction_keeps_is_not_called_again_but_an_id_may_be_used_again():
    kept = calling(("x", "read", {"path": "a"}))
    answers = read(
        "c1 r1 k c2 r2",
        {
            "c1": said(kept),
            "r1": said(result("x", "one")),
            "k": [Splice(MESSAGES, 0, 2, (kept, result("x", "one")))],
            "c2": said(kept),
            "r2": said(result("x", "two")),
        },
    )

    assert [(each.row, each.result_row) for each in answers.calls] == [(0, 1), (3, 4)]


def test_a_call_that_comes_with_messages_written_anew_counts_once():
    first, both = calling(("x", "read", {})), calling(("x", "read", {}), ("y", "read", {}))
    answers = read("c1 c2", {"c1": said(first), "c2": [Splice(MESSAGES, 0, 1, (both,))]})

    assert [each.row for each in answers.calls] == [0, 1]


def test_a_call_that_cannot_be_read_counts_as_the_index_tells_it_and_is_like_no_other():
    called = {f"c{number}": said(calling((str(number), "read", {}))) for number in range(4)}
    answers = read("c0 c1 c2 c3 a1", called, lost="c1 c2 a1")

    assert [answers.tool(each) for each in answers.calls] == ["read"] * 4
    assert [each.thing for each in answers.calls] == [0, 1, 2, 0]
    assert answers.unread == 3


def test_on_each_branch_a_result_answers_the_call_on_its_own_path():
    answers = read(
        "s c1 r1 c2<s r2",
        {
            "c1": said(calling(("x", "read", {"path": "a"}))),
            "r1": said(result("x", "one")),
            "c2": said(calling(("x", "read", {"path": "a"}))),
            "r2": said(result("x", "two")),
        },
    )

    assert [(each.row, each.above, each.result_row) for each in answers.calls] == [
        (1, NO_CALL, 2),
        (3, NO_CALL, 4),
    ]


def test_the_same_arguments_are_the_same_thing_whatever_their_order():
    answers = read(
        "c1 c2 c3",
        {
            "c1": said(calling(("x", "read", {"path": "a", "limit": 1}))),
            "c2": said(calling(("y", "read", {"limit": 1, "path": "a"}))),
            "c3": said(calling(("z", "read", {"limit": 2, "path": "a"}))),
        },
    )

    assert [each.thing for each in answers.calls] == [0, 0, 1]


def test_an_answer_is_of_the_model_it_names_else_of_the_one_that_the_state_names():
    answers = read(
        "s a1 a2 k a3 d a4 a5<a1",
        {
            "s": [Snapshot({"model": "small"})],
            "a1": said({"role": "assistant", "content": "1"}),
            "a2": said({"role": "assistant", "content": "2", "model": "own"}),
            "k": [Put(("model",), "large")],
            "a3": said({"role": "assistant", "content": "3"}),
            "d": [Drop(("model",))],
            "a4": said({"role": "assistant", "content": "4"}),
            "a5": said({"role": "assistant", "content": "5"}),
        },
    )

    assert answers.models == {1: "small", 2: "own", 4: "large", 7: "small"}
