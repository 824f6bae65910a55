"""A list of choices with a cursor, drawn by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip

from tt_debugger.core.text import safe_line
from tt_debugger.tui.widgets.lines import LinePane
from tt_debugger.views.palette import Glyphs, Palette


class Choice(msgspec.Struct, frozen=True):
    """One thing that can be chosen: its name, what it is, and what choosing it gives."""

    text: str
    detail: str = ""
    value: Any = None


class ChoiceList(LinePane, can_focus=False, inherit_bindings=False):
    """The choices that match; whoever owns the list moves its cursor."""

    class Moved(Message):
        """The cursor stands on another choice."""

    class Taken(Message):
        """The choice under the cursor was clicked."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._choices: Sequence[Choice] = ()
        self._cursor = 0

    def update_from(self, choices: Sequence[Choice], cursor: int = 0) -> None:
        """Show other choices."""
        self._choices, self._cursor = choices, cursor
        self.virtual_size = Size(self.size.width, max(len(choices), 1))
        self._reveal()
        self.refresh()

    @property
    def chosen(self) -> Choice | None:
        """The choice under the cursor, None where nothing matches."""
        return self._choices[self._cursor] if self._choices else None

    def move_by(self, lines: int) -> None:
        """Move the cursor; a single step beyond an end leads to the other one."""
        if not self._choices:
            return
        last = len(self._choices) - 1
        wanted = self._cursor + lines
        if abs(lines) == 1:
            wanted %= last + 1
        self._move_to(min(max(wanted, 0), last))

    def _move_to(self, place: int) -> None:
        if place != self._cursor:
            self.refresh_line(self._cursor)
            self._cursor = place
            self.refresh_line(place)
            self._reveal()
            self.post_message(self.Moved())

    def _reveal(self) -> None:
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1), animate=False, force=True, immediate=True
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.virtual_size = Size(self.size.width, max(len(self._choices), 1))
        self._reveal()

    def on_click(self, event: events.Click) -> None:
        """Take the choice that was clicked."""
        place = event.y + self.scroll_offset.y
        if place < len(self._choices):
            self._move_to(place)
            self.post_message(self.Taken())

    def render_line(self, y: int) -> Strip:
        """Draw one choice: its name at the left, what it is behind it."""
        place = y + self.first_line
        width = self.room
        if not self._choices and not place:
            return self.strip(Text(" nothing matches", self._palette.dim), width)
        if place >= len(self._choices):
            return self.blank(width)
        choice, palette = self._choices[place], self._palette
        is_current = place == self._cursor
        sign = (self._glyphs.cursor if is_current else " ", palette.accent)
        line = Text.assemble(sign, no_wrap=True)
        line.append(safe_line(choice.text), palette.strong if is_current else palette.text)
        room = max((len(each.text) for each in self._choices), default=0) + 3
        line.append(" " * max(min(room, width // 2) - line.cell_len, 2))
        line.append(safe_line(choice.detail), palette.dim)
        line.truncate(width, overflow="ellipsis")
        return self.strip(line, width, palette.cursor if is_current else "")
