"""The second wall: whatever a widget draws, no control character of it reaches the terminal.

The first wall is `core.text.safe_text`, which every view uses. Textual itself passes most
control characters on, so this filter stands first among the app's own and mends what slipped by.
"""

from __future__ import annotations

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
