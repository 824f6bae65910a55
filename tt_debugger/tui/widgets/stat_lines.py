"""The lines of statistics with a cursor; some of them lead to a checkpoint.

The cursor passes what is blank, and the pictures, which come into view with their titles.
"""

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
        self._cursor = self._nearest(self._cursor, is_down=False)
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
        wanted = self._nearest(place, is_down=place > self._cursor)
        if wanted != self._cursor:
            self.refresh_line(self._cursor)
            self._cursor = wanted
            self.refresh_line(wanted)
        self._reveal()

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_to(len(self._lines))

    def _nearest(self, place: int, *, is_down: bool) -> int:
        """Give the line nearest to a place that is not passed, from there on or else before."""
        last = max(len(self._lines) - 1, 0)
        place = min(max(place, 0), last)
        below, above = range(place, len(self._lines)), range(place, -1, -1)
        ways = (*below, *above) if is_down else (*above, *below)
        return next((each for each in ways if not self._is_passed(each)), place)

    def _is_passed(self, place: int) -> bool:
        return place < len(self._lines) and self._lines[place].is_passed

    def _reveal(self) -> None:
        """Bring the cursor into view, with as much as can be of what it passes below."""
        end = self._cursor + 1
        while self._is_passed(end):
            end += 1
        for region in (Region(0, end - 1, 1, 1), Region(0, self._cursor, 1, 1)):
            self.scroll_to_region(region, animate=False, force=True, immediate=True)

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.virtual_size = Size(self.size.width, len(self._lines))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where it was clicked; a second click takes the line."""
        place = event.y + self.scroll_offset.y
        if place < len(self._lines):
            self.move_to(place)
            if event.chain > 1 and place == self._cursor:
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
