"""Values of a state in a few words, in a given room, and as lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import msgspec
from rich.cells import cell_len, set_cell_size

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import (
    Call,
    Failure,
    Image,
    Other,
    Part,
    Result,
    Said,
    Section,
    Shell,
    Thought,
    Tool,
    is_message,
    read_message,
)
from tt_debugger.core.text import counted, safe_line, safe_text, summary_line
from tt_debugger.views.palette import Glyphs

PREVIEW = 72
_SHORTEST_PREVIEW = 8


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


def folded(value: Any, room: int) -> str:
    """Give a value as one safe line; a text that does not fit says how much of it is left out."""
    if not isinstance(value, str) or len(value) + 2 <= room:
        return preview(value, max(room, _SHORTEST_PREVIEW))
    note = f" {len(value):,} more characters"
    start = summary_line(value, max(room - len(note) - 2, _SHORTEST_PREVIEW))
    more = max(len(value) - len(start) + 1, 1)
    return safe_line(f'"{start}" {counted(more, "more character")}')


def sized(value: Any) -> str:
    """Give the type of a value and how large it is: `text, 2,341 characters`."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return f"text, {counted(len(value), 'character')}"
        case dict():
            return f"object, {counted(len(as_map(value)), 'key')}"
        case list():
            return f"list, {counted(len(as_list(value)), 'item')}"
        case _:
            return "number"


def cut(text: str, width: int, glyphs: Glyphs) -> str:
    """Give a safe text in at most so many cells, its end given up for an ellipsis."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(glyphs.ellipsis)
    return set_cell_size(text, room) + glyphs.ellipsis if room > 0 else ""


def cut_left(text: str, width: int, glyphs: Glyphs) -> str:
    """Give a safe text in at most so many cells, its start given up for an ellipsis."""
    if cell_len(text) <= width:
        return text
    room = width - cell_len(glyphs.ellipsis)
    if room <= 0:
        return ""
    kept = text[-room:]
    while cell_len(kept) > room:
        kept = kept[1:]
    return glyphs.ellipsis + kept


def wrapped(text: str, width: int) -> list[str]:
    """Give a safe text as lines of at most so many cells, broken at words where there are any."""
    # Characters are counted rather than cells, which is what keeps megabytes quick; a text with
    # wide ones gets lines of half as many.
    size = max(width if cell_len(text) <= len(text) else width // 2, 1)
    lines: list[str] = []
    for line in text.split("\n"):
        if len(line) <= size:
            lines.append(line)
        else:
            lines += [each.group().rstrip() for each in _pieces_of(size).finditer(line)]
    return lines


@lru_cache(64)
def _pieces_of(size: int) -> re.Pattern[str]:
    return re.compile(rf".{{1,{size}}}(?:\s|\Z)|.{{1,{size}}}")


def message_parts(message: dict[str, Any]) -> str:
    """Give what a message is made of, in few words: `assistant: text, tool call edit(a.py)`."""
    reading = read_message(message)
    parts = [_part_words(part) for part in reading.parts if not isinstance(part, (Section, Tool))]
    counts = (
        (sum(isinstance(part, Section) for part in reading.parts), "section"),
        (sum(isinstance(part, Tool) for part in reading.parts), "tool"),
    )
    parts += [counted(number, noun) for number, noun in counts if number]
    if reading.failed and not any(isinstance(part, Result) for part in reading.parts):
        parts.insert(0, "failed")
    return safe_line(f"{reading.role}: {', '.join(parts) or 'empty'}")


def _part_words(part: Part) -> str:
    return _WORDS[type(part)](part)


def _result_words(result: Result) -> str:
    outcome = f"{result.name} failed".lstrip() if result.failed else result.name
    return ", ".join(filter(None, (outcome, *map(_part_words, result.parts))))


_WORDS: dict[type[Part], Callable[[Any], str]] = {
    Said: lambda said: f"text of {counted(len(said.text), 'character')}",
    Thought: lambda _: "thinking",
    Call: lambda call: f"tool call {call.name}{_argument(call.arguments)}",
    Result: _result_words,
    Image: lambda image: f"image {image.mime}".rstrip(),
    Shell: lambda shell: " ".join(
        filter(None, ("command", summary_line(shell.command, 40), shell.failure))
    ),
    Failure: lambda failure: summary_line(failure.text, 40),
    Other: lambda other: preview(other.value),
}


def message_text(message: dict[str, Any]) -> str:
    """Give what a message says as it stands, not made safe; what is no text as JSON."""
    return "\n\n".join(_part_text(part) for part in read_message(message).parts)


def _part_text(part: Part) -> str:
    return _TEXTS[type(part)](part)


_TEXTS: dict[type[Part], Callable[[Any], str]] = {
    Said: lambda said: said.text,
    Thought: lambda thought: thought.text,
    Failure: lambda failure: failure.text,
    Call: lambda call: f"{call.name} {json_text(call.arguments)}",
    Result: lambda result: "\n\n".join(map(_part_text, result.parts)),
    Image: lambda image: f"[image {image.mime} {image.url}]",
    Section: lambda section: f"{section.name}:\n{section.text or ''}",
    Tool: lambda tool: f"{'+' if tool.is_added else '-'} tool {tool.name}",
    Shell: lambda shell: f"$ {shell.command}\n{shell.output}",
    Other: lambda other: json_text(other.value),
}


def _map_preview(value: dict[str, Any], limit: int) -> str:
    if "$type" in value and "$value" in value:
        return safe_line(f"{value['$value']} ({value['$type']})")
    if "$opaque" in value:
        return safe_line(f"{value['$opaque']}, {value.get('size')} bytes, not decoded")
    if is_message(value):
        return safe_line(summary_line(_message_preview(value), limit))
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


def _message_preview(message: dict[str, Any]) -> str:
    """Give who says what in a message of any shape, in few words."""
    reading = read_message(message)
    parts = reading.parts
    sections = ", ".join(part.name for part in parts if isinstance(part, Section))
    said = [_part_preview(part) for part in parts if not isinstance(part, (Section, Tool))]
    said += [f"sections {sections}"] if sections else []
    return f"{reading.role}: {', '.join(filter(None, said)) or '(empty)'}"


def _part_preview(part: Part) -> str:
    match part:
        case Said(text=text) | Failure(text=text):
            return summary_line(text, PREVIEW)
        case Thought():
            return "(thinking)"
        case Call(name=name, arguments=arguments):
            return f"calls {name}{_argument(arguments)}"
        case Result(parts=parts):
            return ", ".join(map(_part_preview, parts))
        case Shell(command=command):
            return summary_line(command, PREVIEW)
        case _:
            return _part_words(part)


def _argument(arguments: Any) -> str:
    """Give the first text among the arguments of a call, in brackets."""
    argument = next((each for each in as_map(arguments).values() if isinstance(each, str)), "")
    return f"({summary_line(argument, PREVIEW)})" if argument else ""


def json_text(value: Any, *, indent: int = 2) -> str:
    """Give a value as JSON, not made safe; with an indent of 0 on one line."""
    return msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()


def json_lines(value: Any) -> Iterator[str]:
    """Give a value as indented JSON, line by line, each line safe."""
    return map(safe_text, json_text(value).split("\n"))
