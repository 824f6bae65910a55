"""The state as a tree that fills as it is opened; what a checkpoint changed is marked."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tt_debugger.core.paths import Path
from tt_debugger.core.text import safe_line
from tt_debugger.tui.widgets.lines import line_strip
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.state import StateRow, StateRows
from tt_debugger.views.values import preview


class StateTree(ScrollView, can_focus=True, inherit_bindings=False):
    """A state, folded to its top; which paths are open is remembered from state to state."""

    DEFAULT_CSS = """
    StateTree { scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._palette = palette
        self._glyphs = glyphs
        self._state: Any = None
        self._changed: tuple[Path, ...] = ()
        self._open: set[Path] = set()
        self.rows = StateRows(None, self._open, ())
        self._cursor = 0

    def update_from(self, state: Any, changed: Iterable[Path]) -> None:
        """Show another state; `changed` are the paths that its checkpoint wrote."""
        self._state, self._changed = state, tuple(changed)
        self._list_rows()

    def _list_rows(self) -> None:
        self.rows = StateRows(self._state, self._open, self._changed)
        self._cursor = min(self._cursor, max(len(self.rows) - 1, 0))
        self.virtual_size = Size(self.size.width, len(self.rows))
        self.refresh()

    @property
    def cursor_path(self) -> Path | None:
        """The path under the cursor."""
        row = self._row
        return None if row is None else row.path

    @property
    def _row(self) -> StateRow | None:
        return self.rows[self._cursor] if len(self.rows) else None

    def toggle(self) -> None:
        """Open or close what is under the cursor."""
        row = self._row
        if row is not None and row.is_container:
            self._open.symmetric_difference_update((row.path,))
            self._list_rows()

    def unfold(self) -> None:
        """Open what is under the cursor, or go into it."""
        row = self._row
        if row is not None and row.is_open:
            self.move_by(1)
        else:
            self.toggle()

    def fold(self) -> None:
        """Close what is under the cursor, or go to what holds it."""
        row = self._row
        if row is None:
            return
        if row.is_open:
            self.toggle()
            return
        holder = self.rows.place_of(row.path[:-1])
        if holder is not None:
            self.move_by(holder - self._cursor)

    def to_start(self) -> None:
        """Move the cursor to the first line."""
        self.move_by(-self._cursor)

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_by(len(self.rows))

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        if not len(self.rows):
            return
        self.refresh_line(self._cursor)
        self._cursor = min(max(self._cursor + lines, 0), len(self.rows) - 1)
        self.refresh_line(self._cursor)
        self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """Open or close what was clicked."""
        place = event.y + self.scroll_offset.y
        if place < len(self.rows):
            self.move_by(place - self._cursor)
            self.toggle()

    def on_focus(self) -> None:
        """Show the cursor."""
        self.refresh_line(self._cursor)

    def on_blur(self) -> None:
        """Hide the cursor."""
        self.refresh_line(self._cursor)

    def render_line(self, y: int) -> Strip:
        """Draw one member of the state."""
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        if place >= len(self.rows):
            return Strip.blank(width, self.rich_style)
        line = self._line(self.rows[place], width - 1)
        if not self.has_focus or place != self._cursor:
            return line_strip(Text.assemble(" ", line), width, self)
        sign = (self._glyphs.cursor, self._palette.accent)
        return line_strip(Text.assemble(sign, line), width, self, self._palette.cursor)

    def _line(self, row: StateRow, width: int) -> Text:
        fold = " "
        if row.is_container:
            fold = self._glyphs.open if row.is_open else self._glyphs.closed
        key = row.path[-1]
        aligned = f"{key:>{row.key_width}}" if isinstance(key, int) else f"{key:<{row.key_width}}"
        style = self._palette.add if row.is_changed else self._palette.text
        line = Text.assemble(
            ("+ " if row.is_changed else "  ", self._palette.add),
            (f"{'  ' * row.depth}{fold} ", self._palette.dim),
            (safe_line(aligned), style),
            (f"  {preview(row.value)}", self._palette.dim),
            no_wrap=True,
            end="",
        )
        line.truncate(width, overflow="ellipsis")
        return line
