"""Heads of messages whatever agent or provider wrote them, and where in a record they stand.

The parts of a message are read by `core.messages`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.arguments import arguments_summary
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import Call, Other, Part, Result, Said, Thought, read_message
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.response_items import is_item
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.dialect import NAMES
from tt_debugger.formats.shared.reading import moment_of
from tt_debugger.formats.shared.tokens import counted_tokens

_WRAPPERS = ("message", "payload")
_CONTENTS = frozenset(("content", "tool_calls", "function_call", "parts"))
_TIMES = ("timestamp", "time", "created_at", "createdAt", "created", "ts", "date", "datetime")
_ROLES = {
    "user": Role.USER,
    "human": Role.USER,
    "assistant": Role.ASSISTANT,
    "model": Role.ASSISTANT,
    "ai": Role.ASSISTANT,
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "tool": Role.TOOL,
    "toolResult": Role.TOOL,
    "function": Role.TOOL,
}
_NAMES = {Role.USER: "user", Role.ASSISTANT: "asst", Role.SYSTEM: "system", Role.TOOL: "tool"}
_USAGE = {
    "input": ("input_tokens", "prompt_tokens", "input"),
    "output": ("output_tokens", "completion_tokens", "output"),
    "cache_read": ("cache_read_input_tokens", "cacheRead"),
    "cache_write": ("cache_creation_input_tokens", "cacheWrite"),
    "total": ("total_tokens", "totalTokens"),
}
_COUNTS = frozenset(name for names in _USAGE.values() for name in names)
_LATEST_IN_SECONDS = 1e11
"""Beyond it, in the year 5138, a number counts milliseconds, then micro- and nanoseconds."""


def message_in(record: dict[str, Any]) -> dict[str, Any] | None:
    """Give the message that a record is or holds, None if it has none."""
    if is_message(record):
        return record
    for key in _WRAPPERS:
        held = as_map(record.get(key))
        if isinstance(held.get("role"), str) or is_message(held):
            return held
    return None


def is_message(value: Mapping[str, Any]) -> bool:
    """Tell whether an object is a message itself: a role with a content, or a Responses item."""
    if isinstance(value.get("role"), str):
        return not _CONTENTS.isdisjoint(value)
    return is_item(value)


def head_of(message: dict[str, Any]) -> tuple[Head, tuple[Part, ...]]:
    """Give the head of a message, and the parts that it was made from."""
    read = read_message(message)
    usage = usage_of(message.get("usage"))
    calls = [each for each in read.parts if isinstance(each, Call)]
    results = [each for each in read.parts if isinstance(each, Result)]
    if calls:
        more = f" (and {len(calls) - 1} more)" if len(calls) > 1 else ""
        summary = summary_line(f"{arguments_summary(calls[0].arguments)}{more}")
        head = Head(
            Kind.TOOL_CALL, Role.ASSISTANT, calls[0].name, summary, usage=usage, failed=read.failed
        )
    elif results:
        failed = read.failed or any(each.failed for each in results)
        summary = summary_line("\n".join(_text(each.parts) for each in results))
        name = results[0].name or "tool"
        head = Head(Kind.TOOL_RESULT, Role.TOOL, name, summary, usage=usage, failed=failed)
    else:
        role = _ROLES.get(read.role)
        name = _NAMES[role] if role else read.role
        summary = summary_line(_text(read.parts))
        head = Head(Kind.MESSAGE, role, name, summary, usage=usage, failed=read.failed)
    return head, read.parts


def _text(parts: tuple[Part, ...]) -> str:
    """Give what was said; where nothing was, what was thought, or else what is there."""
    said = "\n".join(each.text for each in parts if isinstance(each, Said))
    if said:
        return said
    thoughts = [each for each in parts if isinstance(each, Thought)]
    if thoughts:
        return "\n".join(each.text for each in thoughts) or "[hidden thoughts]"
    return " ".join(_compact(each.value) for each in parts if isinstance(each, Other))


def _compact(value: Any) -> str:
    kind = as_map(value).get("type")
    return f"[{kind}]" if isinstance(kind, str) else msgspec.json.encode(value).decode()


def usage_of(value: Any) -> Usage | None:
    """Give what a usage object counts by the names of any provider, None where there is none."""
    counts = as_map(value)
    if _COUNTS.isdisjoint(counts):
        return None
    found = {
        key: next((counted_tokens(counts[name]) for name in names if name in counts), 0)
        for key, names in _USAGE.items()
    }
    # What OpenAI reads from its cache is part of what it counts as input.
    details = counts.get("input_tokens_details", counts.get("prompt_tokens_details"))
    cached = min(counted_tokens(as_map(details).get("cached_tokens")), found["input"])
    found["input"] -= cached
    found["cache_read"] += cached
    parts = ("input", "output", "cache_read", "cache_write")
    total = found.pop("total") or sum(found[part] for part in parts)
    return Usage(**found, total=total)


def time_in(record: Mapping[str, Any]) -> float | None:
    """Give the seconds since 1970 at which a record says that it was written."""
    times = (_seconds(record[key]) for key in _TIMES if key in record)
    return next((time for time in times if time is not None), None)


def _seconds(value: Any) -> float | None:
    if isinstance(value, str):
        return moment_of(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    time = float(value)
    if not math.isfinite(time):
        return None
    for _ in range(3):
        if abs(time) > _LATEST_IN_SECONDS:
            time /= 1000
    return time


def record_head(record: Mapping[str, Any]) -> Head:
    """Give the head of a record that holds no message: its type, and what else it says.

    What an envelope holds says more than the envelope.
    """
    held = next(filter(None, (as_map(record.get(key)) for key in _WRAPPERS)), record)
    layers = (held, record)
    name = next((each[key] for each in layers for key in _TYPES if _is_text(each, key)), "record")
    said = next((each[key] for each in layers for key in _TELLING if _is_text(each, key)), "")
    rest = {key: value for key, value in held.items() if key not in _ENVELOPE}
    if not said and rest:
        said = msgspec.json.encode(rest).decode()
    return Head(Kind.CUSTOM, None, summary_line(name, _LONGEST_NAME), summary_line(said))


def _is_text(record: Mapping[str, Any], key: str) -> bool:
    return isinstance(record.get(key), str)


_TYPES = ("type", "event", "kind", "name", "event_type")
_TELLING = ("summary", "text", "message", "content", "title", "error", "msg")
_ENVELOPE = NAMES.union(_TYPES, _TIMES)
_LONGEST_NAME = 40
