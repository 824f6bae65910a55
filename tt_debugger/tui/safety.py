"""The second wall: whatever a widget draws, no control character of it reaches the terminal.

The first wall is `core.text.safe_text`, which every view uses. Textual itself passes most
control characters on, so this filter stands first among the app's own and mends what slipped by.
"""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from rich.cells import get_character_cell_size
from rich.segment import Segment
from textual.color import Color
from textual.filter import LineFilter

from tt_debugger.core.text import acting, safe_line


class SafetyFilter(LineFilter):
    """Makes control characters visible and takes links away; counts how often it had to."""

    def __init__(self) -> None:
        super().__init__()
        self.caught = 0

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Give the segments with nothing in them that a terminal could obey."""
        if not any(map(_is_suspect, segments)):
            return segments
        self.caught += 1
        return [_mended(segment) for segment in segments]


def _is_suspect(segment: Segment) -> bool:
    linked = segment.style is not None and segment.style.link is not None
    return linked or "\n" in segment.text or bool(acting(segment.text))


def _mended(segment: Segment) -> Segment:
    style = segment.style
    if style is not None and style.link is not None:
        style = style.update_link(None)
    return Segment(safe_line(segment.text), style, segment.control)


class AsciiFilter(LineFilter):
    """Puts plain ASCII in the place of all else, for a terminal that has no more.

    Frames and scrollbars are Textual's own and have no ASCII twin there; content may be anything.
    """

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Give the segments in ASCII, each as wide as it was."""
        if all(segment.text.isascii() for segment in segments):
            return segments
        return [
            Segment("".join(map(_ascii, segment.text)), segment.style, segment.control)
            for segment in segments
        ]


@lru_cache(4096)
def _ascii(character: str) -> str:
    if character.isascii():
        return character
    name = unicodedata.name(character, "")
    if name.startswith("BOX DRAWINGS"):
        is_line = name.endswith(("HORIZONTAL", "VERTICAL"))
        return ("-" if "HORIZONTAL" in name else "|") if is_line else "+"
    if "BLOCK" in name:
        return "#"
    return _TWINS.get(character, "?") * get_character_cell_size(character)


_TWINS = {
    "\N{MIDDLE DOT}": "-",
    "\N{HORIZONTAL ELLIPSIS}": "~",
    "\N{RIGHTWARDS ARROW}": ">",
    "\N{NO-BREAK SPACE}": " ",
    "\N{EN DASH}": "-",
    "\N{EM DASH}": "-",
    "\N{LEFT SINGLE QUOTATION MARK}": "'",
    "\N{RIGHT SINGLE QUOTATION MARK}": "'",
    "\N{LEFT DOUBLE QUOTATION MARK}": '"',
    "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
}
