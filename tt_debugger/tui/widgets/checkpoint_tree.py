"""The tree: one row a checkpoint, drawn by line over a flat index of the visible rows."""

from __future__ import annotations

from collections.abc import Callable

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tt_debugger.core.model import Session
from tt_debugger.core.outline import Outline
from tt_debugger.tui.widgets.lines import line_strip
from tt_debugger.views.row import RowView


class CheckpointTree(ScrollView, can_focus=True, inherit_bindings=False):
    """The rows of a session with a cursor.

    Whoever owns the tree sets `on_cursor`, which is called at once with the row under the cursor:
    a message instead would reach the inspector two frames later, which is what people see as slow.
    """

    DEFAULT_CSS = """
    CheckpointTree { scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.on_cursor: Callable[[int], None] = _nobody
        self._session: Session | None = None
        self._outline: Outline | None = None
        self._view: RowView | None = None
        self._cursor = 0
        self._has_moved = False

    def update_from(
        self, session: Session, outline: Outline, view: RowView, cursor_row: int
    ) -> None:
        """Show other rows, with the cursor on one of them."""
        self._session, self._outline, self._view = session, outline, view
        self._cursor = max(outline.places[cursor_row], 0) if outline.rows else 0
        self._has_moved = False
        self.virtual_size = Size(self.size.width, len(outline.rows))
        self._scroll_to_cursor()
        self.refresh()
        # A scrollbar that appears only now does not know how far was scrolled before.
        self.call_after_refresh(self._place_scrollbar)

    def _place_scrollbar(self) -> None:
        self.vertical_scrollbar.position = self.scroll_offset.y

    @property
    def cursor_row(self) -> int | None:
        """The row under the cursor, None where nothing is shown."""
        if self._outline is None or not self._outline.rows:
            return None
        return self._outline.rows[self._cursor]

    @property
    def cursor_place(self) -> int:
        """The line of the cursor, counted from 0."""
        return self._cursor

    def move_to_row(self, row: int) -> None:
        """Put the cursor on a row."""
        if self._outline is not None:
            self.move_to(self._outline.places[row])

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.move_to(self._cursor + lines)

    def to_start(self) -> None:
        """Move the cursor to the first line."""
        self.move_to(0)

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        if self._outline is not None:
            self.move_to(len(self._outline.rows) - 1)

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there are fewer."""
        if self._outline is None or not self._outline.rows:
            return
        place = min(max(place, 0), len(self._outline.rows) - 1)
        if place == self._cursor:
            return
        self._has_moved = True
        self.refresh_line(self._cursor)
        self._cursor = place
        self.refresh_line(place)
        self._scroll_to_cursor()
        self.on_cursor(self._outline.rows[place])

    def _scroll_to_cursor(self) -> None:
        """Bring the cursor into view; until it has moved, into the middle."""
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1),
            animate=False,
            center=not self._has_moved,
            force=True,
            immediate=True,
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        if self._outline is not None:
            self.virtual_size = Size(self.size.width, len(self._outline.rows))
            self._scroll_to_cursor()

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self.refresh_line(self._cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self.refresh_line(self._cursor)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse was clicked."""
        place = event.y + self.scroll_offset.y
        if self._outline is not None and place < len(self._outline.rows):
            self.move_to(place)

    def render_line(self, y: int) -> Strip:
        """Draw the row on one line."""
        place = y + self.scroll_offset.y
        width = self.scrollable_content_region.width
        session, outline, view = self._session, self._outline, self._view
        if session is None or outline is None or view is None or place >= len(outline.rows):
            return Strip.blank(width, self.rich_style)
        text = view.text(session, outline.rows[place], outline.lanes[place], width - 2)
        if place != self._cursor:
            return line_strip(Text.assemble(" ", text), width, self)
        palette, glyphs = view.palette, view.glyphs
        if self.has_focus:
            sign, style = glyphs.cursor, palette.cursor
        else:
            sign, style = glyphs.cursor_far, palette.cursor_far
        return line_strip(Text.assemble((sign, palette.accent), text), width, self, style)


def _nobody(_row: int) -> None:
    """Stand in until somebody owns the tree."""
