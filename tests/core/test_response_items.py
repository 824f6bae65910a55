"""Responses items: read as messages, whatever stands in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.changes import Append
from tt_debugger.core.messages import (
    Call,
    Result,
    Said,
    Thought,
    calls_in,
    messages_in,
    read_message,
    results_in,
)
from tt_debugger.core.response_items import CALLS, OUTPUTS, command_line, is_item, item_as_message

PATCH = "*** Begin Patch"


@pytest.mark.parametrize(
    ("item", "call"),
    [
        (
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": '{"a":1}'},
            Call("c", "f", {"a": 1}),
        ),
        (
            {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{torn"},
            Call("c", "f", "{torn"),
        ),
        (
            {
                "type": "function_call",
                "call_id": "c",
                "name": "shell",
                "arguments": '{"command":["bash","-lc","ls | wc"]}',
            },
            Call("c", "shell", {"command": "ls | wc"}),
        ),
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "apply_patch", "input": PATCH},
            Call("c", "apply_patch", {"input": PATCH}),
        ),
        (
            {
                "type": "local_shell_call",
                "call_id": "c",
                "action": {"type": "exec", "command": ["ls", "a b"]},
            },
            Call("c", "local_shell", {"type": "exec", "command": "ls 'a b'"}),
        ),
        (
            {"type": "web_search_call", "status": "completed", "action": {"query": "q"}},
            Call(None, "web_search", {"query": "q"}),
        ),
    ],
)
def test_a_call_is_read_with_its_arguments(item: dict[str, Any], call: Call):
    assert calls_in(item) == (call,)


@pytest.mark.parametrize(
    ("output", "text", "failed"),
    [
        ("ok", "ok", False),
        ('{"output":"no","metadata":{"exit_code":1}}', "no", True),
        ('{"output":"ok","metadata":{"exit_code":0}}', "ok", False),
        ('{"other":1}', '{"other":1}', False),
        ("Exit code: 2\nOutput:\nno", "Exit code: 2\nOutput:\nno", True),
        ("Output:\nExit code: 2", "Output:\nExit code: 2", False),
        ("apply_patch verification failed: no such line", None, True),
        ({"content": "no", "success": False}, "no", True),
        ([{"type": "input_text", "text": "ok"}], "ok", False),
    ],
)
def test_an_output_tells_whether_its_call_failed(output: Any, text: str | None, failed: bool):  # noqa: FBT001 - a column of the table
    item = {"type": "function_call_output", "call_id": "c", "output": output}

    assert results_in(item) == (Result("c", "", (Said(text or output),), failed),)


@pytest.mark.parametrize(
    ("item", "thought"),
    [
        ({"summary": [{"text": "a"}, {"text": "b"}]}, Thought("a\nb")),
        ({"summary": [], "content": [{"text": "c"}]}, Thought("c")),
        ({"summary": [], "encrypted_content": "gAAA"}, Thought("", is_redacted=True)),
    ],
)
def test_a_thought_is_its_summary_and_what_is_encrypted_stays_so(
    item: dict[str, Any], thought: Thought
):
    assert read_message({"type": "reasoning", **item}).parts == (thought,)


def test_items_are_among_the_messages_that_a_change_puts():
    item = {"type": "function_call", "call_id": "c", "name": "f"}
    changes = [Append(("messages",), each) for each in (item, {"type": "mystery"}, "text")]

    assert messages_in(changes) == [item]


def test_what_is_a_message_or_nothing_known_is_left_alone():
    others: list[dict[str, Any]] = [
        {"type": "message", "role": "user"},
        {"type": "x"},
        {"type": []},
        {},
        {"type": "function_call", "call_id": "c", "role": None},
    ]

    assert [item_as_message(each) for each in others] == [None] * 5
    assert not any(map(is_item, others))


@pytest.mark.parametrize(
    ("argv", "line"),
    [
        (["ls"], "ls"),
        (["/bin/bash", "-c", "a && b"], "a && b"),
        (["bash", "-c", "a", "b"], "bash -c a b"),
        (["python", "-c", "print(1)"], "python -c 'print(1)'"),
        ([], ""),
    ],
)
def test_a_command_of_words_is_one_line(argv: list[str], line: str):
    assert command_line(argv) == line


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)


@given(
    st.sampled_from([*CALLS, *OUTPUTS, "reasoning", "compaction"]),
    st.dictionaries(
        st.sampled_from(["call_id", "id", "name", "arguments", "input", "action", "output"]), JSON
    ),
)
def test_whatever_an_item_holds_it_is_read(kind: str, members: dict[str, Any]):
    keys = ("call_id", "status", "summary", "tools", "encrypted_content", "action", "arguments")
    whole: dict[str, Any] = dict.fromkeys(keys, 1)

    assert read_message({"type": kind, **whole, **members}).role in ("assistant", "tool")
