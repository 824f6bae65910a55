"""The watched values at a checkpoint, in view below whichever tab is seen."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.views.checkpoint import rule_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.watched import Seen, watched_lines

AIRY = 20
"""Lines of the whole from which there is room for a title, and for two lines a value."""
MARGIN = 1
MOST = 3
"""Values that have two lines each."""
SHARE = 3
"""The part of the whole that is taken at most: one of so many."""


class WatchPane(Widget):
    """What is watched, each on a line or two; it takes no room where nothing is."""

    DEFAULT_CSS = "WatchPane { height: 0; }"

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._watched: Sequence[Seen] = ()
        self._is_brief = True
        self._lines: list[Text] | None = None

    def update_from(self, watched: Sequence[Seen], height: int) -> None:
        """Show other values, in a whole that is so many lines high."""
        if not (watched or self._watched):
            return
        self._watched, self._lines = watched, None
        is_airy = height >= AIRY
        self._is_brief = not is_airy or len(watched) > MOST
        wanted = len(watched) * (1 if self._is_brief else 2) + (is_airy and bool(watched))
        self.styles.height = min(wanted, max(height // SHARE, 1))
        self.refresh()

    @property
    def plain_lines(self) -> list[str]:
        """What is shown, as text."""
        return [line.plain.rstrip() for line in self._drawn()]

    def on_resize(self) -> None:
        """Draw for the new width."""
        self._lines = None

    def _drawn(self) -> list[Text]:
        if self._lines is None:
            palette, glyphs, is_brief = self._palette, self._glyphs, self._is_brief
            width = self.size.width - MARGIN
            lines = [*watched_lines(self._watched, width, palette, glyphs, is_brief=is_brief)]
            room = self.size.height
            if room > len(lines) > 0:
                lines.insert(0, rule_line("watched", width, palette, glyphs))
            self._lines = lines[:room]
        return self._lines

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        lines, width = self._drawn(), self.size.width
        if y >= len(lines):
            return Strip.blank(width, self.rich_style)
        line, console = lines[y], self.app.console
        # A line's own style is not among those that it is rendered with.
        own = self.rich_style + console.get_style(line.style)
        strip = Strip(line.render(console), line.cell_len).apply_style(own)
        return strip.adjust_cell_length(width, self.rich_style)
