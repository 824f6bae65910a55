"""Values of a state in a few words, and folded to lines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.text import safe_line, safe_text, summary_line

PREVIEW = 72


def preview(value: Any, limit: int = PREVIEW) -> str:
    """Give a value as one safe line: a message by role and content, a container by its size."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return safe_line(f'"{summary_line(value, limit)}"')
        case dict():
            return _map_preview(as_map(value), limit)
        case list():
            items = as_list(value)
            return f"[{counted(len(items), 'item')}]" if items else "[]"
        case _:
            return safe_line(str(value))


def counted(number: int, noun: str, plural: str = "") -> str:
    """Give a number with its noun: 1 item, 2 items."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def _map_preview(value: dict[str, Any], limit: int) -> str:
    if "$type" in value and "$value" in value:
        return safe_line(f"{value['$value']} ({value['$type']})")
    if "$opaque" in value:
        return safe_line(f"{value['$opaque']}, {value.get('size')} bytes, not decoded")
    role = value.get("role")
    if isinstance(role, str):
        return safe_line(summary_line(f"{role}: {_content_preview(value)}", limit))
    if not value:
        return "{}"
    inside = ", ".join(f"{key} {_leaf(each)}" for key, each in list(value.items())[:4])
    more = ", …" if len(value) > 4 else ""  # noqa: PLR2004 - as many as fit a line
    return safe_line(summary_line(f"{{{inside}{more}}}", limit))


def _leaf(value: Any) -> str:
    if isinstance(value, dict):
        return "{…}"
    if isinstance(value, list):
        return "[…]"
    return summary_line(value, 24) if isinstance(value, str) else preview(value)


def _content_preview(message: dict[str, Any]) -> str:
    content = message.get("content", message.get("summary", message.get("command", "")))
    if not content and message.get("sections"):
        return f"sections {', '.join(as_map(message['sections']))}"
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return preview(content)
    return ", ".join(_block_preview(block) for block in as_list(content)) or "(empty)"


def _block_preview(block: Any) -> str:
    if not isinstance(block, dict):
        return preview(block)
    parts = as_map(block)
    kind = parts.get("type")
    if kind == "text":
        return summary_line(str(parts.get("text")), PREVIEW)
    if kind == "thinking":
        return "(thinking)"
    if kind == "toolCall":
        texts = (each for each in as_map(parts.get("arguments")).values() if isinstance(each, str))
        argument = next(texts, "")
        return f"calls {parts.get('name')}" + (f"({argument})" if argument else "")
    return str(kind)


def json_lines(value: Any) -> Iterator[str]:
    """Give a value as indented JSON, line by line, each line safe."""
    text = msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
    return map(safe_text, text.split("\n"))
