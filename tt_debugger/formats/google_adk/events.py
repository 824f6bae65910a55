"""Events of Google's ADK: what one is to the model, and the head of a row that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.contents import content_as_message
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import head_of, record_head
from tt_debugger.formats.shared.tokens import counted_tokens

_PARTS = {
    "function_call": "functionCall",
    "function_response": "functionResponse",
    "inline_data": "inlineData",
}
"""What the kinds of parts are called in Python, and what others call them."""


def actions_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an event did beside what it says."""
    return as_map(event.get("actions"))


def message_of(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give what an event says as a message, None where it says nothing."""
    content = as_map(event.get("content"))
    author = text_or_none(event.get("author"))
    role = text_or_none(content.get("role")) or ("user" if author == "user" else "model")
    return _message(content, role, author)


def summary_of(event: Mapping[str, Any]) -> dict[str, Any] | None:
    """Give the summary that takes the place of other events, None where there is none."""
    compaction = as_map(actions_of(event).get("compaction"))
    content = as_map(compaction.get("compacted_content"))
    return _message(content, text_or_none(content.get("role")) or "model", None)


def _message(content: dict[str, Any], role: str, author: str | None) -> dict[str, Any] | None:
    parts = [_part(each) for each in as_list(content.get("parts"))]
    if not parts:
        return None
    message = content_as_message({"role": role, "parts": parts}) or {}
    # More than one agent may speak in a session.
    return message if author in {None, role} else {**message, "author": author}


def _part(part: Any) -> Any:
    own = as_map(part)
    name = next((each for each in _PARTS if isinstance(own.get(each), dict)), None)
    if name is None:
        return part
    value = as_map(own[name])
    if name == "inline_data" and "mime_type" in value:
        value = {**value, "mimeType": value["mime_type"]}
    return {_PARTS[name]: value}


def event_head(event: dict[str, Any], message: dict[str, Any] | None) -> Head:
    """Give the head of an event: what it says, or else what it did."""
    usage = _usage(as_map(event.get("usage_metadata")))
    error = text_or_none(event.get("error_message")) or text_or_none(event.get("error_code"))
    head = _head(event, message)
    if error is not None and message is None:
        head = Head(Kind.CUSTOM, None, "error", summary_line(error))
    return msgspec.structs.replace(head, usage=usage, failed=head.failed or error is not None)


def _head(event: dict[str, Any], message: dict[str, Any] | None) -> Head:
    actions = actions_of(event)
    before = text_or_none(actions.get("rewind_before_invocation_id"))
    if before is not None:
        return Head(Kind.CUSTOM, None, "rewind", summary_line(f"to before {before}"))
    summary = summary_of(event)
    if summary is not None:
        head = head_of(summary)[0]
        return msgspec.structs.replace(head, kind=Kind.COMPACTION, name="compact")
    if message is not None:
        return head_of(message)[0]
    delta = as_map(actions.get("state_delta"))
    if delta:
        return Head(Kind.SETTING, None, "state", summary_line(", ".join(delta)))
    return record_head({key: value for key, value in event.items() if key != "actions"})


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    """Give what a call used; what was cached is part of what went in."""
    if not counts:
        return None
    found = {name: counted_tokens(counts.get(f"{name}_token_count")) for name in _COUNTED}
    cached = min(found["cached_content"], found["prompt"])
    output = found["candidates"] + found["thoughts"]
    entered = found["prompt"] + found["tool_use_prompt"]
    return Usage(entered - cached, output, cached, 0, found["total"] or entered + output)


_COUNTED = ("prompt", "tool_use_prompt", "candidates", "thoughts", "cached_content", "total")


def deltas_of(event: Mapping[str, Any], name: str) -> Iterator[tuple[str, Any]]:
    """Give the keys that an event sets of the state, or of the versions of artifacts."""
    yield from as_map(actions_of(event).get(name)).items()
