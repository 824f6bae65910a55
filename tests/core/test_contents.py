"""Contents of Google's models, read as messages of blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tt_debugger.core.contents import content_as_message
from tt_debugger.core.messages import Call, Image, Other, Result, Said, Thought, read_message


def test_each_part_is_read_as_the_block_that_it_is():
    content = {
        "role": "model",
        "parts": [
            {"text": "hm", "thought": True},
            {"text": "I look"},
            {"functionCall": {"id": "c1", "name": "ls", "args": {"path": "."}}},
            {"inlineData": {"mimeType": "image/png", "data": "aGk="}},
            {"executableCode": {"code": "1"}},
            "not a part",
        ],
    }

    message = content_as_message(content)

    assert message is not None
    assert message["role"] == "assistant"
    assert read_message(message).parts == (
        Thought("hm"),
        Said("I look"),
        Call("c1", "ls", {"path": "."}),
        Image("image/png", "aGk="),
        Other({"executableCode": {"code": "1"}}),
        Said("not a part"),
    )


@pytest.mark.parametrize(
    ("response", "said", "failed"),
    [
        ({"output": "a b"}, "a b", False),
        ({"error": "no such file"}, "no such file", True),
        ({"seats": 40}, '{"seats":40}', False),
        ({"output": {"n": 1}}, '{"n":1}', False),
        (None, "{}", False),
    ],
)
def test_a_response_is_what_it_says(response: Any, said: str, failed: bool):  # noqa: FBT001 - a column
    part = {"functionResponse": {"id": "c1", "name": "ls", "response": response}}
    message = content_as_message({"role": "user", "parts": [part]})

    assert read_message(message).parts == (Result("c1", "ls", (Said(said),), failed),)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"role": "user"},
        {"role": "user", "parts": "text"},
        {"parts": []},
        {"role": 1, "parts": []},
        {"role": "user", "parts": [], "content": "hi"},
    ],
)
def test_what_has_no_role_or_no_list_of_parts_is_no_content(value: dict[str, Any]):
    assert content_as_message(value) is None
