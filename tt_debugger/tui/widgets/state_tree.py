"""The state as a tree that fills as it is opened; what a checkpoint changed is marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from tt_debugger.views.values import StateRow, children_of, preview

CHILDREN_AT_ONCE = 1000
"""Members of one container that are listed when it is opened."""


class StateTree(ScrollView, can_focus=True, inherit_bindings=False):
    """A state, folded to its top; which paths are open is remembered from state to state."""

    DEFAULT_CSS = """
    StateTree { scrollbar-size-vertical: 1; overflow-x: hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._palette = Palette()
        self._glyphs = Glyphs()
        self._state: Any = None
        self._changed: frozenset[Path] = frozenset()
        self._open: set[Path] = set()
        self._rows: list[StateRow] = []
        self._cursor = 0

    def update_from(
        self, state: Any, changed: Sequence[Path], palette: Palette, glyphs: Glyphs
    ) -> None:
        """Show another state; `changed` are the paths that its checkpoint wrote."""
        self._palette, self._glyphs = palette, glyphs
        self._state = state
        self._changed = frozenset(path[:n] for path in changed for n in range(1, len(path) + 1))
        self._list_rows()

    def _list_rows(self) -> None:
        self._rows = list(self._rows_below((), self._state, 0))
        self._cursor = min(self._cursor, max(len(self._rows) - 1, 0))
        self.virtual_size = Size(self.size.width, len(self._rows))
        self.refresh()

    def _rows_below(self, path: Path, value: Any, depth: int) -> Iterator[StateRow]:
        members = children_of(value)
        for key, member in members[:CHILDREN_AT_ONCE]:
            below = (*path, key)
            is_container = bool(children_of(member)) if isinstance(member, (dict, list)) else False
            yield StateRow(below, str(key), member, depth, is_container, below in self._changed)
            if below in self._open and is_container:
                yield from self._rows_below(below, member, depth + 1)
        if len(members) > CHILDREN_AT_ONCE:
            rest = f"({len(members) - CHILDREN_AT_ONCE:,} more)"
            yield StateRow(path, rest, None, depth, is_container=False)

    @property
    def cursor_path(self) -> Path | None:
        """The path under the cursor."""
        return self._rows[self._cursor].path if self._rows else None

    def toggle(self) -> None:
        """Open or close what is under the cursor."""
        row = self._rows[self._cursor] if self._rows else None
        if row is not None and row.is_container:
            self._open.symmetric_difference_update((row.path,))
            self._list_rows()

    def unfold(self) -> None:
        """Open what is under the cursor, or go into it."""
        row = self._rows[self._cursor] if self._rows else None
        if row is not None and row.is_container:
            if row.path in self._open:
                self.move_by(1)
            else:
                self.toggle()

    def fold(self) -> None:
        """Close what is under the cursor, or go to what holds it."""
        row = self._rows[self._cursor] if self._rows else None
        if row is None:
            return
        if row.path in self._open:
            self.toggle()
            return
        holders = (n for n, each in enumerate(self._rows) if each.path == row.path[:-1])
        self.move_by(next(holders, self._cursor) - self._cursor)

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        if not self._rows:
            return
        self.refresh_line(self._cursor)
        self._cursor = min(max(self._cursor + lines, 0), len(self._rows) - 1)
        self.refresh_line(self._cursor)
        self.scroll_to_region(Region(0, self._cursor, 1, 1), animate=False, immediate=True)

    def on_click(self, event: events.Click) -> None:
        """Open or close what was clicked."""
        self.move_by(event.y + self.scroll_offset.y - self._cursor)
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
        if place >= len(self._rows):
            return Strip.blank(width, self.rich_style)
        line = self._line(self._rows[place], width - 1)
        if not self.has_focus or place != self._cursor:
            return line_strip(Text.assemble(" ", line), width, self)
        sign = (self._glyphs.cursor, self._palette.accent)
        return line_strip(Text.assemble(sign, line), width, self, self._palette.cursor)

    def _line(self, row: StateRow, width: int) -> Text:
        sign = "+" if row.is_changed else " "
        fold = " "
        if row.is_container:
            fold = self._glyphs.open if row.path in self._open else self._glyphs.closed
        line = Text(no_wrap=True, end="")
        line.append(f"{sign} ", self._palette.add)
        line.append(f"{'  ' * row.depth}{fold} ", self._palette.dim)
        line.append(
            safe_line(row.key), self._palette.add if row.is_changed else self._palette.text
        )
        if row.value is not None or row.path[-1:] == (row.key,):
            line.append(f"  {preview(row.value)}", self._palette.dim)
        line.truncate(width, overflow="ellipsis")
        return line
