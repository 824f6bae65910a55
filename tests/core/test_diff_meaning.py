"""Messages by what they say and do, compared aspect by aspect, and in the normal form."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.diff.meaning import About, Aspect, aspects, compared_aspects
from tt_debugger.core.diff.normal import left_out, normal_messages, normal_state
from tt_debugger.core.diff.states import diff


def call(name: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block]}


def told(old: Any, new: Any) -> list[tuple[str, str | None, str | None]]:
    """Give what differs of two messages: what it is about, the old text and the new one."""
    return [
        (
            str((each.old or each.new or Aspect(About.OTHER, "", "")).about),
            each.old and each.old.text,
            each.new and each.new.text,
        )
        for each in compared_aspects(old, new)
        if not each.equal
    ]


def test_a_call_is_its_name_and_its_arguments_one_by_one():
    assert aspects(call("grep", pattern="x", path="a.py", limit=3)) == (
        Aspect(About.CALL, "grep", "grep"),
        Aspect(About.ARGUMENT, "path", "a.py"),
        Aspect(About.ARGUMENT, "pattern", "x"),
        Aspect(About.ARGUMENT, "limit", "3"),
    )


def test_an_edit_is_the_lines_that_it_takes_out_and_puts_in():
    edit = call("edit", path="a.py", oldText="one\ntwo\nthree\n", newText="one\n2\nthree\n")

    assert aspects(edit)[-1] == Aspect(About.EDIT, "", "  one\n- two\n+ 2\n  three")


def test_several_edits_of_one_call_are_told_one_by_one():
    edits = [{"old_string": "a", "new_string": "b"}, {"old_string": "c", "new_string": ""}]

    assert [each.text for each in aspects(call("Edit", file_path="f", edits=edits))] == [
        "Edit",
        "f",
        "- a\n+ b",
        "- c",
    ]


def test_of_two_calls_only_the_arguments_that_differ_are_told():
    old, new = (
        call("bash", command="pytest -q", timeout=5),
        call("bash", command="pytest -v", timeout=5),
    )

    assert told(old, new) == [("command", "pytest -q", "pytest -v")]


def test_another_tool_is_another_call():
    assert told(call("read", path="a"), call("cat", path="a")) == [("call", "read", "cat")]


def test_a_result_says_whether_it_failed():
    def result(text: str, *, failed: bool) -> dict[str, Any]:
        content = [{"type": "text", "text": text}]
        return {"role": "toolResult", "toolName": "bash", "content": content, "isError": failed}

    assert told(result("2 failed", failed=True), result("212 passed", failed=False)) == [
        ("result", "2 failed", "212 passed")
    ]
    assert [each.failed for each in aspects(result("x", failed=True))] == [True]
    assert told(result("x", failed=True), result("x", failed=False)) == [("result", "x", "x")]


def test_thinking_that_only_one_side_has_is_told_apart_from_what_was_said():
    old = {"role": "assistant", "content": [{"type": "text", "text": "done"}]}
    new = {
        "role": "assistant",
        "content": [{"type": "thinking", "thinking": "hm"}, *old["content"]],
    }

    assert told(old, new) == [("thinking", None, "hm")]


PI = {
    "messages": [
        {"role": "user", "content": [{"type": "text", "text": "list"}], "timestamp": 5},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will."},
                {"type": "toolCall", "id": "call_1a2b3c4d", "name": "ls", "arguments": {"p": "."}},
            ],
            "usage": {"input": 3},
        },
        {
            "role": "toolResult",
            "toolCallId": "call_1a2b3c4d",
            "toolName": "ls",
            "content": [{"type": "text", "text": "a.py"}],
            "isError": False,
        },
    ],
    "model": "m",
    "thinking_level": "off",
}
ANTHROPIC = {
    "messages": [
        {"role": "user", "content": "list"},
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "I will."},
                {"type": "tool_use", "id": "toolu_99zz88yy", "name": "ls", "input": {"p": "."}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_99zz88yy", "content": "a.py"}
            ],
        },
    ],
    "model": "m",
    "thinking_level": "off",
    "todos": [],
}
OPENAI = [
    {"role": "user", "content": "list"},
    {
        "role": "assistant",
        "content": "I will.",
        "tool_calls": [{"id": "call_77", "function": {"name": "ls", "arguments": '{"p": "."}'}}],
    },
    {"role": "tool", "tool_call_id": "call_77", "content": "a.py"},
]


def test_the_same_talk_of_two_agents_is_equal_in_the_normal_form():
    found = diff(normal_state(PI), normal_state(ANTHROPIC))

    assert found.equal
    assert found.masked == {"minted ids": 2}


def test_the_normal_form_names_what_it_leaves_out():
    assert left_out(PI) == ()
    assert left_out(ANTHROPIC) == ("todos",)


def test_a_result_without_the_name_of_its_tool_has_that_of_its_call():
    assert [each.get("toolName") for each in normal_messages(OPENAI)] == [None, None, "ls"]
    assert normal_messages(OPENAI)[2]["content"] == [{"type": "text", "text": "a.py"}]


def test_text_around_a_result_stays_in_its_order():
    message = {
        "role": "user",
        "content": [
            {"type": "text", "text": "before"},
            {"type": "tool_result", "tool_use_id": "t", "content": "r", "is_error": True},
            {"type": "text", "text": "after"},
        ],
    }

    assert [(each["role"], each.get("isError")) for each in normal_messages([message])] == [
        ("user", None),
        ("toolResult", True),
        ("user", None),
    ]
