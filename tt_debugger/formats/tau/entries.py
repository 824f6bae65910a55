"""Tau's entries: how old shapes are migrated, and which entries Tau refuses.

Tau 0.4.8 refuses a whole file for one unknown key, a missing one, or a value of the wrong type.
`refusal` says so for a single entry; the tables follow what its models accept, in lax mode: texts
that are numbers pass for numbers, numbers never pass for texts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from tt_debugger.core.json import as_list, as_map

Check = Callable[[Any], bool]


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _number(value: Any) -> bool:
    return isinstance(value, (int, float)) or _float(_digits(value)) is not None


def _whole(value: Any) -> bool:
    if isinstance(value, float):
        return value.is_integer() and abs(value) < _BEYOND_WHOLE_FLOATS
    if isinstance(value, int):
        return True
    text = _digits(value)
    return text is not None and len(text) <= _MOST_DIGITS and _WHOLE.match(text) is not None


_BEYOND_WHOLE_FLOATS = 2.0**63
_MOST_DIGITS = 4300
_WHOLE = re.compile(r"\s*[+-]?[0-9]+(_[0-9]+)*(\.0+)?\s*\Z")


def _digits(value: Any) -> str | None:
    """Give a text that may be a number; one that JSON lacks or cannot hold was kept as text."""
    odd = as_map(value)
    text = odd["$value"] if odd.keys() == {"$type", "$value"} else value
    return text if isinstance(text, str) else None


def _float(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None


def seconds(value: Any) -> float | None:
    """Give a time in seconds; a text that is a number is one for Tau. None where it is no time."""
    if isinstance(value, bool):
        return None
    number = float(value) if isinstance(value, (int, float)) else _float(_digits(value))
    return number if number is not None and math.isfinite(number * 1000) else None


def _truth(value: Any) -> bool:
    if isinstance(value, str):
        return value.lower() in _TRUTHS
    return isinstance(value, (int, float)) and value in {0, 1}


_TRUTHS = frozenset(("true", "false", "yes", "no", "on", "off", "t", "f", "y", "n", "1", "0"))


def _anything(_value: Any) -> bool:
    return True


def _object(value: Any) -> bool:
    return isinstance(value, dict)


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(map(check, as_list(value)))


def _or_none(check: Check) -> Check:
    return lambda value: value is None or check(value)


def _one_of(*texts: str) -> Check:
    return lambda value: value in texts


class Shape:
    """The keys that an object may have and must have, and what their values may be."""

    def __init__(self, required: Mapping[str, Check], optional: Mapping[str, Check]) -> None:
        self._checks = {**required, **optional}
        self._required = frozenset(required)

    def refusal(self, value: Any, name: str) -> str | None:
        """Say why Tau refuses the object, or None."""
        if not isinstance(value, dict):
            return f"{name} is not an object"
        fields = as_map(value)
        for key, each in fields.items():
            check = self._checks.get(key)
            if check is None:
                return f"the key {key!r:.60} of {name} is not one of Tau's"
            if not check(each):
                return f"the value of {key!r} of {name} is not what Tau takes"
        missing = sorted(self._required - fields.keys())
        return f"{name} has no {missing[0]!r}" if missing else None

    def __call__(self, value: Any) -> bool:
        """Tell whether Tau takes the object."""
        return self.refusal(value, "") is None


_COST = Shape({}, dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "total"), _number))
_USAGE = Shape(
    {},
    {
        **dict.fromkeys(("input", "output", "cacheRead", "cacheWrite", "totalTokens"), _whole),
        "cacheWrite1H": _or_none(_whole),
        "reasoning": _or_none(_whole),
        "cost": _COST,
    },
)
_TIMING = Shape({"totalDurationMs": _whole}, {"timeToFirstOutputMs": _or_none(_whole)})
_DIAGNOSTIC = Shape(
    {"type": _text},
    {"timestamp": _whole, "error": _or_none(_object), "details": _or_none(_object)},
)
_BLOCKS = {
    "text": Shape({"text": _text}, {"type": _text, "textSignature": _or_none(_text)}),
    "image": Shape({"data": _text, "mimeType": _text}, {"type": _text}),
    "thinking": Shape(
        {"thinking": _text},
        {"type": _text, "thinkingSignature": _or_none(_text), "redacted": _truth},
    ),
    "toolCall": Shape(
        {"id": _text, "name": _text},
        {"type": _text, "arguments": _object, "thoughtSignature": _or_none(_text)},
    ),
}


def _block(*kinds: str) -> Check:
    def fits(value: Any) -> bool:
        kind = as_map(value).get("type")
        if kind is None:
            return any(_BLOCKS[each](value) for each in kinds)
        return kind in kinds and _BLOCKS[kind](value)

    return fits


def _text_or_blocks(value: Any) -> bool:
    return isinstance(value, str) or _list_of(_block("text", "image"))(value)


_MESSAGES = {
    "user": Shape({"role": _text, "content": _text_or_blocks}, {"timestamp": _whole}),
    "assistant": Shape(
        {"role": _text},
        {
            "content": _list_of(_block("text", "thinking", "toolCall")),
            "api": _text,
            "provider": _text,
            "model": _text,
            "responseModel": _or_none(_text),
            "responseProvider": _or_none(_text),
            "responseId": _or_none(_text),
            "diagnostics": _or_none(_list_of(_DIAGNOSTIC)),
            "usage": _or_none(_USAGE),
            "timing": _or_none(_TIMING),
            "stopReason": _one_of("stop", "length", "toolUse", "error", "aborted"),
            "errorMessage": _or_none(_text),
            "timestamp": _whole,
        },
    ),
    "toolResult": Shape(
        {"role": _text, "toolCallId": _text, "toolName": _text},
        {
            "content": _list_of(_block("text", "image")),
            "details": _anything,
            "addedToolNames": _or_none(_list_of(_text)),
            "isError": _truth,
            "timestamp": _whole,
        },
    ),
    "bashExecution": Shape(
        {"role": _text, "command": _text, "output": _text},
        {
            "exitCode": _or_none(_whole),
            "cancelled": _truth,
            "truncated": _truth,
            "fullOutputPath": _or_none(_text),
            "timestamp": _whole,
            "excludeFromContext": _truth,
        },
    ),
    "branchSummary": Shape(
        {"role": _text, "summary": _text, "fromId": _text}, {"timestamp": _whole}
    ),
    "compactionSummary": Shape(
        {"role": _text, "summary": _text, "tokensBefore": _whole}, {"timestamp": _whole}
    ),
}

_ANY_ENTRY: dict[str, Check] = {
    "id": _text,
    "parent_id": _or_none(_text),
    "timestamp": _number,
    "type": _text,
}
_WHO_SUMMED_UP: dict[str, Check] = {
    "usage": _or_none(_USAGE),
    "provider": _or_none(_text),
    "model": _or_none(_text),
    "response_provider": _or_none(_text),
}


def _entry(required: Mapping[str, Check], optional: Mapping[str, Check]) -> Shape:
    return Shape(required, {**_ANY_ENTRY, **optional})


ENTRIES = {
    "message": _entry({"message": _object}, {}),
    "custom_message": _entry(
        {"custom_type": _text, "content": _text_or_blocks},
        {"display": _truth, "details": _anything},
    ),
    "model_change": _entry({"model": _text}, {"provider": _or_none(_text)}),
    "thinking_level_change": _entry({}, {"thinking_level": _or_none(_text)}),
    "compaction": _entry(
        {"summary": _text},
        {
            "replaces_entry_ids": _list_of(_text),
            "first_kept_entry_id": _or_none(_text),
            "tokens_before": _or_none(_whole),
            **_WHO_SUMMED_UP,
        },
    ),
    "branch_summary": _entry(
        {"summary": _text}, {"branch_root_id": _or_none(_text), **_WHO_SUMMED_UP}
    ),
    # Without `target_id` an old label; Tau finds its target itself.
    "label": _entry({}, {"target_id": _text, "label": _or_none(_text)}),
    "leaf": _entry({}, {"entry_id": _or_none(_text)}),
    "session_info": _entry(
        {}, {"created_at": _number, "cwd": _or_none(_text), "title": _or_none(_text)}
    ),
    "custom": _entry({"namespace": _text}, {"data": _object}),
}


def refusal(entry: dict[str, Any]) -> str | None:
    """Say why Tau refuses a migrated entry, or None where it takes it."""
    kind = entry.get("type")
    shape = ENTRIES.get(kind) if isinstance(kind, str) else None
    if shape is None:
        return f"the entry type {kind!r:.60} is not one of Tau's"
    reason = shape.refusal(entry, "the entry")
    if reason is None and kind == "message":
        message = as_map(entry.get("message"))
        role = message.get("role")
        form = _MESSAGES.get(role) if isinstance(role, str) else None
        if form is None:
            return f"the message role {role!r:.60} is not one of Tau's"
        return form.refusal(message, "the message")
    return reason


def migrated(record: dict[str, Any]) -> dict[str, Any]:
    """Give an entry in today's shape: what Tau itself does to old ones before it reads them."""
    match record.get("type"):
        case "custom_message":
            entry = {key: value for key, value in record.items() if key != "customType"}
            if "customType" in record:
                entry.setdefault("custom_type", record["customType"])
            return _camel_at("content", entry)
        case "compaction" | "branch_summary":
            return _camel_at("usage", record)
        case "message" if isinstance(record.get("message"), dict):
            message = as_map(record["message"])
            role = message.get("role")
            if role == "custom" or (role == "user" and message.keys() & _CUSTOM_TYPES):
                return _camel_at("content", _custom_message(record, message))
            return {**record, "message": _migrated_message(message)}
        case _:
            return record


_CUSTOM_TYPES = frozenset(("custom_type", "customType"))
_OF_THE_MESSAGE = ("content", "display", "details")


def _custom_message(record: Mapping[str, Any], message: Mapping[str, Any]) -> dict[str, Any]:
    """Give the entry with what its message said; an unknown key stays, and Tau refuses it."""
    taken = {"type", "message", "custom_type", *_OF_THE_MESSAGE}
    entry = {key: value for key, value in record.items() if key not in taken}
    time = message.get("timestamp")
    if isinstance(time, (int, float)) and not isinstance(time, bool):
        entry["timestamp"] = time / 1000
    entry["type"] = "custom_message"
    names = ["customType", "custom_type"]
    if message.get("role") == "user":
        names.reverse()
    entry["custom_type"] = next((message[name] for name in names if name in message), None)
    return entry | {key: message[key] for key in _OF_THE_MESSAGE if key in message}


def _migrated_message(message: dict[str, Any]) -> dict[str, Any]:
    match message.get("role"):
        case "assistant":
            return camel_message(_migrated_assistant(message))
        case "tool":
            return camel_message(_migrated_tool(message))
        case "toolResult":
            return camel_message({**message, **_as_blocks(message)})
        case _:
            return camel_message(message)


def _migrated_assistant(message: dict[str, Any]) -> dict[str, Any]:
    calls = message.get("tool_calls", message.get("toolCalls"))
    plain = {k: v for k, v in message.items() if k not in {"tool_calls", "toolCalls"}}
    if "content" not in message or isinstance(message["content"], str) or calls is not None:
        blocks = [*as_list(_as_blocks(plain).get("content", plain.get("content")))]
        blocks += [{"type": "toolCall", **as_map(call)} for call in as_list(calls)]
        plain["content"] = blocks
    usage = plain.get("usage")
    if isinstance(usage, dict) and as_map(usage).get("cost") is None:
        plain["usage"] = {**as_map(usage), "cost": {}}
    return plain


def _migrated_tool(message: Mapping[str, Any]) -> dict[str, Any]:
    old = {"name", "tool_call_id", "ok", "data", "error"}
    result: dict[str, Any] = {
        "content": [],
        **{key: value for key, value in message.items() if key not in old},
        **_as_blocks(message),
        "role": "toolResult",
        "toolCallId": message.get("tool_call_id", message.get("toolCallId", "")),
        "toolName": message.get("name", message.get("toolName", "unknown")),
        "isError": not message.get("ok", True),
    }
    data, details = message.get("data"), message.get("details")
    if isinstance(data, dict) and isinstance(details, dict):
        result["details"] = {**as_map(data), **as_map(details)}
    elif details is None and data is not None:
        result["details"] = data
    error = message.get("error")
    if error and not result["content"]:
        result["content"] = [{"type": "text", "text": str(error)}]
    return result


def _as_blocks(message: Mapping[str, Any]) -> dict[str, Any]:
    """Give the content as blocks, where there is one: a text becomes a block, none if empty."""
    content = message.get("content")
    if isinstance(content, str):
        return {"content": [{"type": "text", "text": content}] if content else []}
    return {"content": content} if "content" in message else {}


# Objects inside a message whose keys are Tau's own; the keys of all others stay as they are.
_OWN_OBJECTS = frozenset(("usage", "cost", "timing", "diagnostics", "error", "content"))


def camel_message(message: Mapping[str, Any]) -> dict[str, Any]:
    """Give a message with Tau's own keys in camelCase; a key in both spellings stays twice."""
    camel: dict[str, Any] = {}
    for key, value in message.items():
        name = _camel(key)
        name = key if name in message and name != key else name
        camel[name] = _camel_inside(value) if name in _OWN_OBJECTS else value
    return camel


def _camel_at(key: str, entry: dict[str, Any]) -> dict[str, Any]:
    """Give an entry, whose own keys are in snake_case, with camelCase inside one of its values."""
    return {**entry, key: _camel_inside(entry[key])} if key in entry else entry


def _camel_inside(value: Any) -> Any:
    if isinstance(value, dict):
        return camel_message(as_map(value))
    if isinstance(value, list):
        return [_camel_inside(each) for each in as_list(value)]
    return value


def _camel(key: str) -> str:
    if "_" not in key:
        return key
    first, *rest = key.split("_")
    return first + "".join(part.title() for part in rest)
