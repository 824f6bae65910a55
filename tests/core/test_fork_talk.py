"""A talk: what is carried over to another agent, whatever wire shape it had."""

from __future__ import annotations

from typing import Any

import pytest

from tt_debugger.core.fork.talk import Speaker, Talk, Turn, talk_of
from tt_debugger.core.messages import Call, Result, Said, Thought

ASKED = Turn(Speaker.USER, (Said("list files"),))
CALLED = Turn(Speaker.ASSISTANT, (Said("I look."), Call("c1", "bash", {"command": "ls"})))
GAVE = Turn(Speaker.TOOL, (Result("c1", "", (Said("a b"),), failed=False),))
ANSWERED = Turn(Speaker.ASSISTANT, (Said("There are two."),))

ANTHROPIC = [
    {"role": "user", "content": "list files"},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
        ],
    },
    {
        "role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "a b"}],
    },
    {"role": "assistant", "content": [{"type": "text", "text": "There are two."}]},
]
OPENAI = [
    {"role": "user", "content": "list files"},
    {
        "role": "assistant",
        "content": "I look.",
        "tool_calls": [
            {"id": "c1", "function": {"name": "bash", "arguments": '{"command": "ls"}'}}
        ],
    },
    {"role": "tool", "tool_call_id": "c1", "content": "a b"},
    {"role": "assistant", "content": "There are two."},
]
RESPONSES = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "list files"}]},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "I look."}],
    },
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "bash",
        "arguments": '{"command": "ls"}',
    },
    {"type": "function_call_output", "call_id": "c1", "output": "a b"},
    {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "There are two."}],
    },
]
PI = [
    {"role": "user", "content": [{"type": "text", "text": "list files"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "text", "text": "I look."},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}},
        ],
    },
    {"role": "toolResult", "toolCallId": "c1", "content": [{"type": "text", "text": "a b"}]},
    {"role": "assistant", "content": [{"type": "text", "text": "There are two."}]},
]


@pytest.mark.parametrize("messages", [ANTHROPIC, OPENAI, RESPONSES, PI])
def test_one_talk_is_the_same_in_every_wire_shape(messages: list[Any]):
    assert talk_of({"messages": messages}) == Talk((ASKED, CALLED, GAVE, ANSWERED), ())


def test_messages_are_found_among_the_channels_of_a_graph():
    kind = "langchain_core.messages"
    messages = [
        {"$type": f"{kind}.human.HumanMessage", "content": "list files", "type": "human"},
        {
            "$type": f"{kind}.ai.AIMessage",
            "content": "I look.",
            "type": "ai",
            "tool_calls": [{"id": "c1", "name": "bash", "args": {"command": "ls"}}],
        },
        {
            "$type": f"{kind}.tool.ToolMessage",
            "content": "a b",
            "type": "tool",
            "tool_call_id": "c1",
        },
        {"$type": f"{kind}.ai.AIMessage", "content": "There are two.", "type": "ai"},
    ]

    talk = talk_of({"values": {"messages": messages}})

    assert talk == Talk((ASKED, CALLED, GAVE, ANSWERED), ())


def test_what_only_its_own_agent_can_use_is_counted():
    talk = talk_of(
        {
            "model": "m",
            "cwd": "/w",
            "messages": [
                {"role": "system", "content": "You are one."},
                {"role": "user", "content": "go", "timestamp": 1500},
                {
                    "role": "assistant",
                    "model": "m",
                    "provider": "p",
                    "usage": {"input": 1},
                    "content": [
                        {"type": "thinking", "thinking": "hm"},
                        {"type": "redacted_thinking", "data": "x"},
                        {"type": "widget"},
                        {"type": "text", "text": "ok"},
                    ],
                },
            ],
        }
    )

    assert talk == Talk(
        (
            Turn(Speaker.USER, (Said("go"),), 1.5),
            Turn(Speaker.ASSISTANT, (Thought("hm"), Said("ok")), None, "m", "p"),
        ),
        (
            "1 message of the system not carried over",
            "1 token count not carried over",
            "1 hidden thought not carried over",
            "1 part of an unknown kind not carried over",
        ),
        model="m",
        cwd="/w",
    )


def test_summaries_and_commands_of_the_user_are_said_by_the_user():
    talk = talk_of(
        {
            "messages": [
                {"role": "compactionSummary", "summary": "It went well."},
                {"role": "bashExecution", "command": "ls", "output": "a", "exitCode": 2},
            ]
        }
    )

    assert talk.turns == (
        Turn(Speaker.USER, (Said("It went well."),)),
        Turn(Speaker.USER, (Said("$ ls\na\n(exit code 2)"),)),
    )


def test_a_state_without_messages_is_no_talk():
    assert talk_of({"values": None}) == Talk((), ())


def test_each_call_has_its_result_right_behind_it():
    calls = [{"type": "toolCall", "id": each, "name": "t", "arguments": {}} for each in "abc"]

    def result(call: str) -> dict[str, Any]:
        return {"role": "toolResult", "toolCallId": call, "content": call}

    talk = talk_of(
        {
            "messages": [
                result("b"),
                {"role": "assistant", "content": calls},
                {"role": "user", "content": "go on"},
                result("c"),
                result("a"),
                result("x"),
            ]
        }
    )

    assert talk == Talk(
        (
            Turn(Speaker.ASSISTANT, (Call("a", "t", {}), Call("c", "t", {}))),
            Turn(Speaker.TOOL, (Result("a", "", (Said("a"),), failed=False),)),
            Turn(Speaker.TOOL, (Result("c", "", (Said("c"),), failed=False),)),
            Turn(Speaker.USER, (Said("go on"),)),
        ),
        (
            "1 result before its call not carried over",
            "1 call without a result not carried over",
            "1 result without a call not carried over",
        ),
    )


def test_calls_of_one_id_are_told_apart():
    call = {"type": "toolCall", "id": "a", "name": "t", "arguments": {}}
    result = {"role": "toolResult", "toolCallId": "a", "content": "x"}
    asked = {"role": "assistant", "content": [call]}

    turns = talk_of({"messages": [asked, result, asked, result]}).turns

    assert [part.id for turn in turns for part in turn.parts if isinstance(part, Call)] == [
        "a",
        "a-1",
    ]
    assert [part.call for turn in turns for part in turn.parts if isinstance(part, Result)] == [
        "a",
        "a-1",
    ]
