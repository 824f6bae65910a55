"""A message as people read it: what was said, called and answered, errors first."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich.text import Text

from tt_debugger.core.changes import Append, Change, Put, Splice
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.text import pieces, safe_line, summary_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import json_lines

_LONG_VALUE = 60
PIECE = 32_768
"""Characters of one line of the view; a longer line of a message is drawn in pieces."""


def messages_in(changes: Sequence[Change]) -> list[dict[str, Any]]:
    """Give the messages that a checkpoint put into the state."""
    values: list[Any] = []
    for change in changes:
        match change:
            case Append(value=value) | Put(value=value):
                values.append(value)
            case Splice(values=several):
                values += several
            case _:
                pass
    return [as_map(each) for each in values if isinstance(as_map(each).get("role"), str)]


def message_lines(message: dict[str, Any], palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    """Give a message of any of the known shapes as lines."""
    yield from _title(message, palette, glyphs)
    for key in ("errorMessage", "error"):
        if isinstance(message.get(key), str):
            yield from _text_lines(message[key], palette.bad)
    content = message.get("content", message.get("summary", message.get("output")))
    if isinstance(message.get("command"), str):
        yield from _text_lines(f"$ {message['command']}", palette.text)
    if isinstance(content, str):
        if content:
            yield from _text_lines(content, palette.text)
    elif isinstance(content, list):
        for number, block in enumerate(as_list(content)):
            if number:
                yield Text()
            yield from _block_lines(as_map(block), palette, glyphs)
    elif content is not None:
        yield from (Text(line) for line in json_lines(content))
    yield from _prompt_lines(message, palette)


def _prompt_lines(message: dict[str, Any], palette: Palette) -> Iterator[Text]:
    """Give the parts of a system prompt, and the tools that it adds or takes away."""
    for name, text in as_map(message.get("sections")).items():
        yield Text(f"{safe_line(name)}:" + ("" if text else " removed"), palette.dim)
        if isinstance(text, str):
            yield from _text_lines(text, palette.text)
    for key, sign, style in (
        ("toolsAdded", "+", palette.add),
        ("toolsRemoved", "-", palette.remove),
    ):
        for tool in map(as_map, as_list(message.get(key))):
            about = safe_line(summary_line(str(tool.get("description") or "")))
            name = safe_line(str(tool.get("name")))
            yield Text.assemble((f"{sign} tool {name}", style), f"  {about}" if about else "")


def _title(message: dict[str, Any], palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    parts = [str(message.get("role"))]
    parts += [
        str(message[key])
        for key in ("toolName", "customType", "model", "stopReason")
        if isinstance(message.get(key), str)
    ]
    failed = message.get("isError") is True or message.get("stopReason") in ("error", "aborted")
    title = Text(safe_line(" · ".join(parts)), palette.dim)
    if failed:
        title = Text.assemble((f"{glyphs.bad} failed  ", palette.bad), title)
    yield title


def _block_lines(block: dict[str, Any], palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    match block.get("type"):
        case "text":
            yield from _text_lines(str(block.get("text")), palette.text)
        case "thinking":
            if block.get("redacted"):
                yield Text("(thinking, redacted)", palette.dim)
            else:
                yield Text("thinking", palette.dim)
                yield from _text_lines(str(block.get("thinking")), f"{palette.dim} italic".strip())
        case "toolCall":
            yield from _call_lines(block, palette, glyphs)
        case "image":
            yield Text(image_line(block), palette.dim)
        case _:
            yield from (Text(line, palette.dim) for line in json_lines(block))


def _call_lines(call: dict[str, Any], palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    name = Text.assemble(
        (f"{glyphs.call} ", palette.good), (safe_line(str(call.get("name"))), "bold")
    )
    arguments = as_map(call.get("arguments"))
    name.append(f"  {safe_line(str(call.get('id')))}", palette.dim)
    yield name
    yield from _member_lines(arguments.items(), "  ", palette)


def _member_lines(
    members: Iterable[tuple[Any, Any]], indent: str, palette: Palette
) -> Iterator[Text]:
    """Give named values, a line each; texts of several lines and containers below their name."""
    for key, value in members:
        name = f"{indent}{safe_line(str(key))}:"
        is_block = isinstance(value, str) and ("\n" in value or len(value) > _LONG_VALUE)
        inside = list(as_map(value).items()) or list(enumerate(as_list(value)))
        if is_block or inside:
            yield Text(name, palette.dim)
        if is_block:
            for line in _text_lines(value, palette.text):
                yield Text.assemble(f"{indent}  ", line)
        elif inside:
            yield from _member_lines(inside, f"{indent}  ", palette)
        else:
            shown = value if isinstance(value, str) else next(json_lines(value))
            yield Text.assemble((f"{name} ", palette.dim), safe_line(shown))


def image_line(block: dict[str, Any]) -> str:
    """Give an image as its type, size and hash; the picture itself stays in the file."""
    data = block.get("data")
    try:
        decoded = base64.b64decode(data if isinstance(data, str) else "", validate=True)
    except ValueError:
        return safe_line(f"[image {block.get('mimeType')}, not decodable]")
    digest = hashlib.sha256(decoded).hexdigest()[:12]
    return safe_line(f"[image {block.get('mimeType')}, {len(decoded):,} bytes, sha256 {digest}]")


def _text_lines(text: str, style: str) -> Iterator[Text]:
    # Split first: a text can be megabytes long, and only what is seen need be made safe.
    for line in text.replace("\r\n", "\n").split("\n"):
        yield from (Text(safe_line(piece), style) for piece in pieces(line, PIECE))
