"""Messages of Gemini CLI: what a record is to the model, and the head of a row that shows it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import head_of
from tt_debugger.formats.shared.tokens import counted_tokens

METADATA = frozenset(("sessionId", "projectHash", "startTime"))
"""What is said of every session."""
_ROLES = {"user": "user", "gemini": "assistant"}
"""The types of records that the model gets to see."""
_FAILED = frozenset(("error", "cancelled"))


def is_message(record: Mapping[str, Any]) -> bool:
    """Tell whether a record is a message of any type."""
    own = record.get("id")
    return isinstance(own, str) and bool(own) and isinstance(record.get("type"), str)


def messages_of(record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Give the messages that a record is to the model: what was said, then results of tools."""
    kind = text_or_none(record.get("type")) or ""
    role = _ROLES.get(kind)
    if role is None:
        return []
    calls = [as_map(each) for each in as_list(record.get("toolCalls"))]
    blocks = [*_thoughts(record), *_blocks(record.get("content")), *map(_call, calls)]
    is_text = len(blocks) == 1 and blocks[0].get("type") == "text"
    content: Any = blocks[0]["text"] if is_text else blocks
    said = {"role": role, "content": content}
    return [said, *(_result(each) for each in calls if each.get("result") is not None)]


def head_of_record(record: dict[str, Any], *, is_update: bool = False) -> Head:
    """Give the head of a message; one that is written again shows what came of its calls."""
    messages = messages_of(record)
    usage = usage_of(record.get("tokens"))
    if not messages:
        kind = text_or_none(record.get("type")) or "record"
        said = "\n".join(_texts(record.get("content")))
        failed = kind == "error"
        return Head(Kind.CUSTOM, None, summary_line(kind, 40), summary_line(said), failed=failed)
    has_results = is_update and len(messages) > 1
    heads = [head_of(each)[0] for each in (messages[1:] if has_results else messages[:1])]
    failed = any(each.failed for each in heads)
    return msgspec.structs.replace(heads[0], usage=usage, failed=failed)


def settings_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a message says of the model that wrote it."""
    model = record.get("model")
    return {"model": model} if isinstance(model, str) else {}


def usage_of(value: Any) -> Usage | None:
    """Give what the tokens of a message count; what was cached is part of what went in."""
    tokens = as_map(value)
    if not tokens:
        return None
    counts = {
        key: counted_tokens(tokens.get(key)) for key in ("input", "output", "cached", "thoughts")
    }
    cached = min(counts["cached"], counts["input"])
    output = counts["output"] + counts["thoughts"]
    total = counted_tokens(tokens.get("total")) or counts["input"] + output
    return Usage(counts["input"] - cached, output, cached, 0, total)


def _parts(content: Any) -> list[Any]:
    return as_list(content) if isinstance(content, list) else [content]


def _texts(content: Any) -> Iterator[str]:
    for part in _parts(content):
        text = part if isinstance(part, str) else as_map(part).get("text")
        if isinstance(text, str):
            yield text


def _blocks(content: Any) -> Iterator[dict[str, Any]]:
    for part in _parts(content):
        held = as_map(part)
        data = as_map(held.get("inlineData"))
        if isinstance(part, str) or isinstance(held.get("text"), str):
            text = part if isinstance(part, str) else held["text"]
            if text:
                yield {"type": "text", "text": text}
        elif data:
            yield {"type": "image", "mimeType": data.get("mimeType"), "data": data.get("data")}
        elif part is not None:
            yield {"type": "part", "part": part}


def _thoughts(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for thought in map(as_map, as_list(record.get("thoughts"))):
        said = [thought.get(key) for key in ("subject", "description")]
        text = ": ".join(each for each in said if isinstance(each, str) and each)
        if text:
            yield {"type": "thinking", "thinking": text}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "tool_use",
        "id": call.get("id"),
        "name": call.get("name"),
        "input": call.get("args"),
    }


def _result(call: Mapping[str, Any]) -> dict[str, Any]:
    """Give what a call gave back: texts, or the responses that hold them."""
    content: list[Any] = []
    for part in _parts(call.get("result")):
        response = as_map(as_map(part).get("functionResponse")).get("response")
        texts = [part] if isinstance(part, str) else [as_map(part).get("text")]
        texts += [as_map(response).get(key) for key in ("output", "error")]
        said = [{"type": "text", "text": each} for each in texts if isinstance(each, str)]
        content += said or [part]
    message = {
        "role": "tool",
        "tool_call_id": call.get("id"),
        "name": call.get("name"),
        "content": content,
    }
    return (
        {**message, "is_error": True} if text_or_none(call.get("status")) in _FAILED else message
    )
