"""Values in few words."""

from __future__ import annotations

from typing import Any

import pytest

from tt_debugger.views.values import message_parts


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (
            {"role": "tool", "content": "no", "is_error": True},
            "tool: failed, text of 2 characters",
        ),
        (
            {"role": "tool", "name": "bash", "content": "no", "is_error": True},
            "tool: bash failed, text of 2 characters",
        ),
        ({"role": "tool", "name": "bash", "content": "ok"}, "tool: bash, text of 2 characters"),
        (
            {
                "role": "user",
                "content": [{"type": "tool_result", "is_error": True, "content": "no"}],
            },
            "user: failed, text of 2 characters",
        ),
        (
            {"role": "bashExecution", "command": "", "output": "", "exitCode": 1},
            "bashExecution: failed, command exit code 1",
        ),
    ],
)
def test_what_has_no_name_leaves_no_gap(message: dict[str, Any], words: str):
    assert message_parts(message) == words
