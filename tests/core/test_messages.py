"""The parts of messages, in every wire shape that is known, and in none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, json_values

from tt_debugger.core.changes import Append, Put, Snapshot
from tt_debugger.core.messages import (
    Call,
    Failure,
    Image,
    Other,
    Part,
    Reading,
    Result,
    Said,
    Section,
    Shell,
    Thought,
    Tool,
    calls_in,
    messages_in,
    read_message,
    results_in,
)

FACES = {
    "Pi": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "Yes."},
            {"type": "toolCall", "id": "c", "name": "read", "arguments": {"path": "a"}},
        ],
    },
    "Anthropic": {
        "role": "assistant",
        "content": [
            {"type": "thinking", "thinking": "hm", "signature": "s"},
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a"}},
        ],
    },
    "OpenAI": {
        "role": "assistant",
        "reasoning_content": "hm",
        "content": "Yes.",
        "tool_calls": [
            {
                "id": "c",
                "type": "function",
                "function": {"name": "read", "arguments": '{"path": "a"}'},
            }
        ],
    },
    "LangChain": {
        "$type": "langchain_core.messages.ai.AIMessage",
        "type": "ai",
        "content": [
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "c", "name": "read", "input": {"path": "a"}},
        ],
        "additional_kwargs": {"reasoning_content": "hm"},
        "tool_calls": [{"id": "c", "name": "read", "args": {"path": "a"}, "type": "tool_call"}],
    },
}
RESULTS = {
    "Pi": {
        "role": "toolResult",
        "toolCallId": "c",
        "toolName": "read",
        "content": [{"type": "text", "text": "no"}],
        "isError": True,
    },
    "Anthropic": {
        "role": "user",
        "content": [
            {"type": "tool_result", "tool_use_id": "c", "content": "no", "is_error": True}
        ],
    },
    "OpenAI": {"role": "tool", "tool_call_id": "c", "content": "no", "isError": True},
    "LangChain": {
        "$type": "langchain_core.messages.tool.ToolMessage",
        "type": "tool",
        "tool_call_id": "c",
        "content": "no",
        "status": "error",
    },
}


def parts(content: object, **more: object) -> tuple[Part, ...]:
    return read_message({"role": "user", "content": content, **more}).parts


@pytest.mark.parametrize("name", FACES)
def test_what_a_model_says_and_calls_is_the_same_in_every_shape(name):
    assert read_message(FACES[name]) == Reading(
        "assistant", (), False, (Thought("hm"), Said("Yes."), Call("c", "read", {"path": "a"}))
    )


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_the_same_in_every_shape(name):
    tool = RESULTS[name].get("toolName", "")

    assert results_in(RESULTS[name]) == (Result("c", tool, (Said("no"),), failed=True),)


@pytest.mark.parametrize(
    ("message", "role", "said"),
    [
        ({"$type": "a.HumanMessageChunk", "content": "x"}, "user", (Said("x"),)),
        ({"$type": "a.SystemMessage", "content": ["x"]}, "system", (Said("x"),)),
        ({"$type": "a.ChatMessage", "content": "x", "role": "judge"}, "judge", (Said("x"),)),
        ({"type": "human", "content": "x", "additional_kwargs": {}}, "user", (Said("x"),)),
        ({"type": "function", "content": "", "response_metadata": 7}, "tool", None),
        ({"$type": "a.Document", "type": "human", "content": "x"}, "(no name)", None),
        ({"$type": ["a.HumanMessage"], "content": "x"}, "(no name)", None),
        ({"type": "human", "content": "x"}, "(no name)", None),
        ({"$type": "a.AIMessage"}, "(no name)", None),
    ],
)
def test_a_message_of_langchain_is_told_by_its_class_or_type(message, role, said):
    reading = read_message(message)

    assert reading.role == role
    assert said is None or reading.parts == said


def test_a_list_of_messages_that_is_new_is_what_a_checkpoint_put_into_the_state():
    human, ai = ({"$type": f"a.{each}Message", "content": "x"} for each in ("Human", "AI"))
    changes = [
        Put(("values",), {"messages": [human, 7], "n": [1]}),
        Put(("values", "messages"), [ai]),
        Append(("values", "messages"), human),
        Put(("values", "n"), 1),
        Snapshot({"values": {"messages": [ai]}}),
    ]

    assert messages_in(changes) == [human, ai, human, ai]


def test_a_result_is_failed_by_its_exit_code_too():
    message = {"role": "toolResult", "toolCallId": "c", "content": "", "details": {"exit_code": 2}}

    assert results_in(message) == (Result("c", "", (), failed=True),)


def test_the_parts_of_openai_content_are_told_by_their_types():
    content = [
        {"type": "input_text", "text": "a"},
        {"type": "output_text", "text": "b"},
        {"type": "refusal", "refusal": "c"},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}},
        {"type": "image_url", "image_url": "https://example.org/x.png"},
    ]

    assert parts(content) == (
        Said("a"),
        Said("b"),
        Said("c"),
        Image("image/png", "AAAA"),
        Image("", "", "https://example.org/x.png"),
    )


def test_images_of_pi_and_anthropic_are_the_same():
    source = {"type": "base64", "media_type": "image/png", "data": "AAAA"}

    assert parts(
        [
            {"type": "image", "mimeType": "image/png", "data": "AAAA"},
            {"type": "image", "source": source},
        ]
    ) == (Image("image/png", "AAAA"), Image("image/png", "AAAA"))


def test_thinking_may_be_redacted():
    assert parts(
        [
            {"type": "thinking", "thinking": "", "redacted": True},
            {"type": "redacted_thinking", "data": "x"},
        ]
    ) == (Thought("", is_redacted=True), Thought("", is_redacted=True))


def test_a_system_prompt_has_sections_and_tools():
    message = {
        "role": "system",
        "content": "",
        "sections": {"rules": "Be brief.", "old": None},
        "toolsAdded": [{"name": "bash", "description": "Runs."}],
        "toolsRemoved": [{"name": "read"}],
    }

    assert read_message(message).parts == (
        Section("rules", "Be brief."),
        Section("old", None),
        Tool("bash", "Runs.", is_added=True),
        Tool("read", "", is_added=False),
    )


def test_a_command_of_the_user_has_its_output_and_says_how_it_failed():
    message = {"role": "bashExecution", "command": "ls", "output": "x", "exitCode": 2}

    assert read_message(message) == Reading(
        "bashExecution", (), True, (Shell("ls", "x", "exit code 2"),)
    )


def test_an_error_comes_before_what_was_said():
    assert parts("so", errorMessage="overloaded") == (Failure("overloaded"), Said("so"))


def test_what_no_table_knows_stays_as_it_is():
    odd = {"type": "hologram", "x": 1}

    assert parts([odd, 5, {"type": "text"}, "plain"]) == (
        Other(odd),
        Other(5),
        Other({"type": "text"}),
        Said("plain"),
    )


def test_arguments_that_are_no_json_stay_text():
    function = {"name": "f", "arguments": "{oops"}

    assert calls_in({"role": "assistant", "tool_calls": [{"id": "c", "function": function}]}) == (
        Call("c", "f", "{oops"),
    )


_kinds = st.sampled_from(
    (
        *("text", "thinking", "redacted_thinking", "toolCall", "tool_use", "tool_result"),
        *("image", "image_url", "refusal", "other"),
    )
)
_fields = st.sampled_from(
    (
        *("text", "thinking", "id", "name", "arguments", "input", "content", "source", "data"),
        *("image_url", "toolCallId", "is_error", "redacted", "refusal", "function", "mimeType"),
        *("role", "command", "output", "exitCode", "details", "sections", "toolsAdded"),
        *("tool_calls", "errorMessage", "summary", "stopReason", "isError", "cancelled"),
    )
)
_odd = st.one_of(any_text, json_values, st.dictionaries(_fields, st.one_of(any_text, json_values)))
_blocks = st.builds(
    lambda kind, block: {"type": kind, **block}, _kinds, st.dictionaries(_fields, _odd)
)
messages = st.builds(
    lambda role, blocks, more: {"role": role, "content": blocks, **more},
    st.sampled_from(("user", "assistant", "toolResult", "tool", "system", "bashExecution", 5)),
    st.one_of(st.lists(_blocks, max_size=4), _odd),
    st.dictionaries(_fields, st.one_of(_odd, st.lists(_blocks, max_size=2)), max_size=4),
)


@given(st.one_of(messages, _odd))
def test_any_field_may_have_any_type(message):
    reading = read_message(message)

    assert isinstance(reading.role, str)
    assert all(isinstance(each, Part) for each in reading.parts)


def test_results_in_each_other_are_not_followed_down():
    block = {"type": "tool_result", "content": []}
    for _ in range(5000):
        block = {"type": "tool_result", "content": [block]}

    (result,) = results_in({"role": "user", "content": [block]})

    assert [type(each) for each in result.parts] == [Other]
