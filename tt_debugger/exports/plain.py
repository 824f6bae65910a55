"""Messages as lines of plain text: what diffs compare and pictures show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_debugger.core.diff.meaning import About, Aspect
from tt_debugger.core.text import safe_text
from tt_debugger.exports.telling import aspect_title, speaker, told

SHORT = 100
"""Characters of a text that stands behind its title, in one line."""


def message_lines(message: Any) -> Iterator[str]:
    """Give a message: a line that says who speaks, then what it says and does."""
    yield f"== {speaker(message)}"
    yield from said_lines(message)


def said_lines(message: Any) -> Iterator[str]:
    """Give what a message says and does, without who speaks."""
    for aspect in told(message):
        yield from _lines(aspect)


def _lines(aspect: Aspect) -> Iterator[str]:
    text = safe_text(aspect.text)
    title = aspect_title(aspect)
    match aspect.about:
        case About.TEXT:
            yield from text.split("\n")
        case About.CALL:
            yield title
        case _ if "\n" not in text and len(text) <= SHORT:
            yield f"  {title}: {text}".rstrip()
        case _:
            yield f"  {title}:"
            yield from (f"    {line}".rstrip() for line in text.split("\n"))
