"""The list of sessions: a header that sorts, and one row a session, drawn by line."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.listing import Entry, Key, Sort
from tt_debugger.tui.widgets.lines import CursorPane
from tt_debugger.views.listing import ListingView


class ListHeader(Widget):
    """The heads of the columns."""

    DEFAULT_CSS = "ListHeader { height: 1; }"

    class SortChosen(Message):
        """The head of a column was clicked."""

        def __init__(self, sort: Sort) -> None:
            super().__init__()
            self.sort = sort

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._view: ListingView | None = None

    def update_from(self, view: ListingView) -> None:
        """Show the heads for another order."""
        self._view = view
        self.refresh()

    @property
    def _room(self) -> int:
        # A cell for the cursor at the left, one for the scrollbar at the right.
        return max(self.size.width - 2, 0)

    def render(self) -> Text:
        """Draw the heads above their columns."""
        return Text() if self._view is None else Text.assemble(" ", self._view.header(self._room))

    def on_click(self, event: events.Click) -> None:
        """Tell which head was clicked."""
        sort = None if self._view is None else self._view.sort_at(event.x - 1, self._room)
        if sort is not None:
            self.post_message(self.SortChosen(sort))


class SessionList(CursorPane, can_focus=True, inherit_bindings=False):
    """Sessions with a cursor, which stays on its session while others come and go.

    Whoever owns the list sets `on_cursor`, which is called at once with the session under the
    cursor, None where there is none.
    """

    class Chosen(Message):
        """A session was clicked twice."""

        def __init__(self, entry: Entry) -> None:
            super().__init__()
            self.entry = entry

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.on_cursor: Callable[[Entry | None], None] = _nobody
        self._entries: Sequence[Entry] = ()
        self._view: ListingView | None = None
        self._marked: Key | None = None

    def update_from(
        self, entries: Sequence[Entry], view: ListingView, *, to_start: bool = False
    ) -> None:
        """Show other sessions; the cursor stays on its own if it is there and has moved."""
        before = self.cursor_entry
        offset = self._cursor - self.scroll_offset.y
        self._entries, self._view = entries, view
        if to_start or not self._has_moved or before is None:
            self._has_moved = self._has_moved and not to_start
            self._cursor = 0
        else:
            self._cursor = self._place_of(before.key)
        self.virtual_size = Size(self.size.width, len(entries))
        if self._cursor >= 0:
            # What was under the reader's eyes stays at its height.
            self.scroll_to(y=max(self._cursor - offset, 0), animate=False, immediate=True)
        self._scroll_to_cursor()
        self.refresh()
        if self.cursor_entry != before or to_start:
            self.on_cursor(self.cursor_entry)

    def _place_of(self, key: Key) -> int:
        """Give the place of a session; of one that is gone, the nearest to where it was."""
        last = max(len(self._entries) - 1, 0)
        return next(
            (place for place, each in enumerate(self._entries) if each.key == key),
            min(self._cursor, last),
        )

    def mark(self, entry: Entry) -> None:
        """Mark the session that was opened last."""
        self._marked = entry.key
        self.refresh()

    def is_marked(self, entry: Entry) -> bool:
        """Tell whether a session is the one that was opened last."""
        return entry.key == self._marked

    @property
    def cursor_entry(self) -> Entry | None:
        """The session under the cursor, None where nothing is listed."""
        return self._entries[self._cursor] if self._entries else None

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_to(len(self._entries) - 1)

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there are fewer."""
        if not self._entries:
            return
        self._has_moved = True
        place = min(max(place, 0), len(self._entries) - 1)
        if place == self._cursor:
            return
        self.refresh_line(self._cursor)
        self._cursor = place
        self.refresh_line(place)
        self._scroll_to_cursor()
        self.on_cursor(self._entries[place])

    def _scroll_to_cursor(self) -> None:
        self.scroll_to_region(
            Region(0, self._cursor, 1, 1), animate=False, force=True, immediate=True
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.virtual_size = Size(self.size.width, len(self._entries))
        self._scroll_to_cursor()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse was clicked; a second click opens."""
        place = event.y + self.scroll_offset.y
        if place >= len(self._entries):
            return
        self.move_to(place)
        if event.chain == 2:  # noqa: PLR2004 - a double click
            self.post_message(self.Chosen(self._entries[place]))

    def render_line(self, y: int) -> Strip:
        """Draw the session on one line."""
        place = y + self.first_line
        width = self.room
        view = self._view
        if view is None or place >= len(self._entries):
            return self.blank(width)
        entry = self._entries[place]
        text = view.text(entry, max(width - 1, 0), is_marked=self.is_marked(entry))
        if place != self._cursor:
            return self.strip(Text.assemble(" ", text), width)
        return self.cursor_strip(text, width, view.palette, view.glyphs)


def _nobody(_entry: Entry | None) -> None:
    """Stand in until somebody owns the list."""
