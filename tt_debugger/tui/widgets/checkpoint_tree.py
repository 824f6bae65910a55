"""The tree: a line a checkpoint or fold, drawn over a flat index of what is visible."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.cache import LRUCache
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.model import Session
from tt_debugger.core.outline import Fold, Outline
from tt_debugger.tui.widgets.lines import CursorPane
from tt_debugger.views.row import RowView

KEPT_LINES = 512
"""Drawn lines that are remembered: scrolling draws only those that are new in view."""


class CheckpointTree(CursorPane, can_focus=True, inherit_bindings=False):
    """The lines of an outline with a cursor.

    Whoever owns the tree sets `on_cursor`, which is called at once when the cursor has moved:
    a message instead would reach the inspector two frames later, which is what people see as slow.
    """

    class FoldClicked(Message):
        """The line of a fold was clicked."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.on_cursor: Callable[[], None] = _nobody
        self._session: Session | None = None
        self._outline: Outline | None = None
        self._view: RowView | None = None
        self._drawn: LRUCache[tuple[int, int, str], Strip] = LRUCache(KEPT_LINES)

    def update_from(
        self, session: Session, outline: Outline, view: RowView, cursor_row: int
    ) -> None:
        """Show other lines, with the cursor on a row, or on what stands for it.

        The cursor keeps its height on the screen.
        """
        height = self._cursor - round(self.scroll_y)
        self._take(session, outline, view, cursor_row)
        if self._has_moved:
            self.scroll_to(y=self._cursor - height, animate=False, force=True, immediate=True)
        self._scroll_to_cursor()
        self._redraw()

    def grow(self, session: Session, outline: Outline, view: RowView, cursor_row: int) -> None:
        """Show what the session has become; what is seen stays where it is.

        Only a cursor that goes elsewhere is followed, if it was in view.
        """
        top, was_seen = round(self.scroll_y), self._is_seen(self._cursor)
        height = self._cursor - top
        seen_row = None
        if self._outline is not None and 0 <= top < len(self._outline):
            seen_row = self._outline.row_at(top)
        self._take(session, outline, view, cursor_row)
        if was_seen:
            top = self._cursor - height
        elif seen_row is not None and seen_row < len(outline.places):
            top = max(outline.places[seen_row], 0)
        self.scroll_to(y=max(top, 0), animate=False, force=True, immediate=True)
        if was_seen:
            # Not into the middle, even if nobody has moved it yet.
            self._has_moved = True
            self._scroll_to_cursor()
        self._redraw()

    def _take(self, session: Session, outline: Outline, view: RowView, cursor_row: int) -> None:
        self._session, self._outline, self._view = session, outline, view
        self._drawn.clear()
        self._cursor = max(outline.places[cursor_row], 0) if len(outline) else 0
        self.virtual_size = Size(self.size.width, len(outline))

    def _redraw(self) -> None:
        self.refresh()
        # A scrollbar that appears only now does not know how far was scrolled before.
        self.call_after_refresh(self._place_scrollbar)

    def draw_with(self, view: RowView) -> None:
        """Draw the lines in another way."""
        self._view = view
        self._drawn.clear()
        self.refresh()

    def _place_scrollbar(self) -> None:
        self.vertical_scrollbar.position = self.scroll_offset.y

    @property
    def cursor_row(self) -> int | None:
        """The row under the cursor, or one that a fold there stands for; None for no line."""
        if self._outline is None or not len(self._outline):
            return None
        return self._outline.row_at(self._cursor)

    @property
    def cursor_fold(self) -> Fold | None:
        """The fold under the cursor, None on a row."""
        if self._outline is None or not len(self._outline):
            return None
        return self._outline.fold_at(self._cursor)

    @property
    def fold_below(self) -> Fold | None:
        """The fold that stands behind the row under the cursor, None where there is none."""
        outline, place = self._outline, self._cursor + 1
        if outline is None or place >= len(outline):
            return None
        fold = outline.fold_at(place)
        return fold if fold is not None and fold.head == self.cursor_row else None

    @property
    def cursor_rows(self) -> Sequence[int]:
        """The rows that the line under the cursor stands for."""
        return () if self._outline is None else self._outline.rows_at(self._cursor)

    def move_to_row(self, row: int) -> None:
        """Put the cursor on a row, or on what stands for it."""
        if self._outline is not None:
            self.move_to(self._outline.places[row])

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        if self._outline is not None:
            self.move_to(len(self._outline) - 1)

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there are fewer."""
        if self._outline is None or not len(self._outline):
            return
        place = min(max(place, 0), len(self._outline) - 1)
        if place == self._cursor:
            return
        is_leap = abs(place - self._cursor) > 1 and not self._is_seen(place)
        self._has_moved = True
        self.refresh_line(self._cursor)
        self._cursor = place
        self.refresh_line(place)
        self._scroll_to_cursor(is_centred=is_leap)
        self.on_cursor()

    def _is_seen(self, place: int) -> bool:
        return 0 <= place - self.scroll_offset.y < self.size.height

    def _scroll_to_cursor(self, *, is_centred: bool = False) -> None:
        """Bring the cursor into view; until it has moved, and after a leap, into the middle."""
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1),
            animate=False,
            center=is_centred or not self._has_moved,
            force=True,
            immediate=True,
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self._drawn.clear()
        if self._outline is not None:
            self.virtual_size = Size(self.size.width, len(self._outline))
            self._scroll_to_cursor()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse was clicked; a fold there is asked to open."""
        place = event.y + self.scroll_offset.y
        if self._outline is not None and place < len(self._outline):
            self.move_to(place)
            if self._outline.fold_at(place) is not None:
                self.post_message(self.FoldClicked())

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        place = y + self.first_line
        width = self.room
        outline, view = self._outline, self._view
        if outline is None or view is None or place >= len(outline):
            return self.blank(width)
        if place == self._cursor:
            return self.cursor_strip(self._text(place, width), width, view.palette, view.glyphs)
        key = (place, width, self.app.theme)
        strip = self._drawn.get(key)
        if strip is None:
            strip = self.strip(Text.assemble(" ", self._text(place, width)), width)
            self._drawn[key] = strip
        return strip

    def _text(self, place: int, width: int) -> Text:
        session, outline, view = self._session, self._outline, self._view
        if session is None or outline is None or view is None:
            return Text()
        fold = outline.fold_at(place)
        if fold is not None:
            return view.fold_text(session, fold, outline.lanes[place], width - 2)
        return view.text(session, outline.lines[place], outline.lanes[place], width - 2)


class ColumnNames(Widget):
    """One line that names the columns of the tree below it."""

    DEFAULT_CSS = "ColumnNames { height: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self._view: RowView | None = None

    def update_from(self, view: RowView) -> None:
        """Name the columns as the tree draws them."""
        self._view = view
        self.refresh()

    def render(self) -> Text:
        """Draw the names where the columns stand: behind the cursor, before the scrollbar."""
        if self._view is None:
            return Text()
        return Text.assemble(" ", self._view.names_text(self.size.width - 3))


def _nobody() -> None:
    """Stand in until somebody owns the tree."""
