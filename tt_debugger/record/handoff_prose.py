"""The prose of a handoff: what people find in it, and may have changed since it was written."""

from __future__ import annotations

import re
from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from markdown_it import MarkdownIt

from tt_debugger.formats.handoff.fields import document_of, field_named

_BULLET = re.compile(r"[-*+] +")


class Prose:
    """The text of a handoff as Markdown.

    `code` are its blocks of JSON that stand in nothing else, in order.
    """

    def __init__(self, text: str) -> None:
        text = re.sub(r"\r\n?", "\n", text.removeprefix("\ufeff"))
        # What stands within a line is not asked for, and takes most of the time.
        tokens = MarkdownIt("commonmark").disable(["inline", "text_join"]).parse(text)
        self.code = [
            each.content
            for each in tokens
            if each.type == "fence" and each.level == 0 and each.info.strip() == "json"
        ]
        headings = [
            (each.map[0], each.map[1], each.tag, field_named(tokens[place + 1].content))
            for place, each in enumerate(tokens)
            if each.type == "heading_open" and each.level == 0 and each.map
        ]
        self._sections = _sections(text.split("\n"), headings)
        self._fields = document_of(text)

    def said(self, field: str) -> Any:
        """Give what stands under the heading of a field: of a step all, of a list its items."""
        found = self._fields[field]
        is_list = not isinstance(found, str)
        return found if is_list or field not in self._sections else self._sections[field]


def _sections(
    lines: list[str], headings: list[tuple[int, int, str, str | None]]
) -> Mapping[str, str]:
    """Give by field the text under its first heading, that of smaller headings included."""
    sections: dict[str, str] = {}
    for place, (_, begin, depth, field) in enumerate(headings):
        if field is not None and field not in sections:
            after = (line for line, _, tag, _ in headings[place + 1 :] if tag <= depth)
            sections[field] = _text_of("\n".join(lines[begin : next(after, len(lines))]))
    return sections


def _text_of(section: str) -> str:
    """Give the text of a section, without the sign before it where it is a single item."""
    text = section.strip()
    bullet = _BULLET.match(text)
    rest = text.split("\n")[1:]
    if bullet is None or any(each and not each.startswith(" ") for each in rest):
        return text
    first = text[bullet.end() : len(text.split("\n", 1)[0])]
    return "\n".join((first, dedent("\n".join(rest)))).strip()
