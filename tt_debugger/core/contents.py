"""Contents as Google's models write them, a role and `parts`, as messages that others know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none

_ROLES = {"model": "assistant"}


def content_as_message(value: dict[str, Any]) -> dict[str, Any] | None:
    """Give a content as a message of blocks, None for what is no content."""
    role = text_or_none(value.get("role"))
    if role is None or not isinstance(value.get("parts"), list) or "content" in value:
        return None
    return {"role": _ROLES.get(role, role), "content": list(_blocks(value))}


def _blocks(content: dict[str, Any]) -> Iterator[Any]:
    for part in as_list(content.get("parts")):
        own = as_map(part)
        if isinstance(own.get("text"), str):
            is_thought = own.get("thought") is True
            yield (
                {"type": "thinking", "thinking": own["text"]}
                if is_thought
                else {"type": "text", "text": own["text"]}
            )
        elif isinstance(own.get("functionCall"), dict):
            call = as_map(own["functionCall"])
            yield {
                "type": "tool_use",
                "id": call.get("id"),
                "name": call.get("name"),
                "input": call.get("args"),
            }
        elif isinstance(own.get("functionResponse"), dict):
            yield _result(as_map(own["functionResponse"]))
        elif isinstance(own.get("inlineData"), dict):
            data = as_map(own["inlineData"])
            yield {"type": "image", "mimeType": data.get("mimeType"), "data": data.get("data")}
        else:
            yield part


def _result(answer: dict[str, Any]) -> dict[str, Any]:
    """Give a result by what it says: an error, an output, or all of what came back."""
    response = as_map(answer.get("response"))
    said = next((response[key] for key in ("error", "output") if key in response), response)
    return {
        "type": "tool_result",
        "tool_use_id": answer.get("id"),
        "name": answer.get("name"),
        "content": said if isinstance(said, str) else msgspec.json.encode(said).decode(),
        "is_error": "error" in response,
    }
