"""The lines of statistics with a cursor; some of them lead to a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from tt_debugger.tui.widgets.lines import CursorPane
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.stats import StatLine


class StatLines(CursorPane, can_focus=True, inherit_bindings=False):
    """Lines that are drawn for the width of the pane, whoever owns it."""

    class Taken(Message):
        """The line under the cursor was clicked."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._lines: Sequence[StatLine] = ()

    def update_from(self, lines: Sequence[StatLine]) -> None:
        """Show other lines; the cursor stays on its place."""
        self._lines = lines
        self._cursor = min(self._cursor, max(len(lines) - 1, 0))
        self.virtual_size = Size(self.size.width, len(lines))
        self._reveal()
        self.refresh()

    @property
    def chosen(self) -> StatLine | None:
        """The line under the cursor, None where there is none."""
        return self._lines[self._cursor] if self._lines else None

    @property
    def plain_lines(self) -> list[str]:
        """The lines as text."""
        return [each.text.plain for each in self._lines]

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there are fewer."""
        wanted = min(max(place, 0), max(len(self._lines) - 1, 0))
        if wanted != self._cursor:
            self.refresh_line(self._cursor)
            self._cursor = wanted
            self.refresh_line(wanted)
        self._reveal()

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_to(len(self._lines))

    def _reveal(self) -> None:
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1), animate=False, force=True, immediate=True
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.virtual_size = Size(self.size.width, len(self._lines))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where it was clicked; a second click takes the line."""
        place = event.y + self.scroll_offset.y
        if place < len(self._lines):
            self.move_to(place)
            if event.chain > 1:
                self.post_message(self.Taken())

    def render_line(self, y: int) -> Strip:
        """Draw one line; a cell at the left is the cursor's."""
        place = y + self.first_line
        if place >= len(self._lines):
            return self.blank(self.room)
        text = self._lines[place].text
        if place == self._cursor:
            return self.cursor_strip(text, self.room, self._palette, self._glyphs)
        return self.strip(Text.assemble(" ", text), self.room)
