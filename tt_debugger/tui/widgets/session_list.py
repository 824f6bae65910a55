"""The list of sessions: a header that sorts, and one row a session, drawn by line."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence

from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.families import Project, Relative
from tt_debugger.core.listed import Listed, Spot
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

    Headings may stand between them, where the cursor does not go, and places in a session below
    it. Whoever owns the list sets `on_cursor`, which is called at once with the session under the
    cursor, None where there is none.
    """

    class Chosen(Message):
        """A session was clicked twice."""

        def __init__(self, line: Relative | Spot) -> None:
            super().__init__()
            self.line = line

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.on_cursor: Callable[[Entry | None], None] = _nobody
        self._lines: Sequence[Listed] = ()
        self._places: Sequence[int] = ()
        """The lines that the cursor can stand on."""
        self._view: ListingView | None = None
        self._marked: Key | None = None

    def update_from(
        self, lines: Sequence[Listed], view: ListingView, *, to_start: bool = False
    ) -> None:
        """Show other sessions; the cursor stays on its own if it is there and has moved."""
        before, entry_before = self.cursor_line, self.cursor_entry
        offset = self._cursor - self.scroll_offset.y
        rank = self.cursor_rank
        self._lines, self._view = lines, view
        self._places = [n for n, each in enumerate(lines) if not isinstance(each, Project)]
        if to_start or not self._has_moved or before is None:
            self._has_moved = self._has_moved and not to_start
            self._cursor = self._places[0] if self._places else 0
        else:
            self._cursor = self._place_of(before, rank)
        self.virtual_size = Size(self.size.width, len(lines))
        if self._cursor >= 0:
            # What was under the reader's eyes stays at its height.
            self.scroll_to(y=max(self._cursor - offset, 0), animate=False, immediate=True)
        self._scroll_to_cursor()
        self.refresh()
        if self.cursor_entry != entry_before or to_start:
            self.on_cursor(self.cursor_entry)

    def _place_of(self, line: Relative | Spot, rank: int) -> int:
        """Give the line of a session; of one that is gone, the nearest to where it was."""
        if not self._places:
            return 0
        of_session: int | None = None
        for place in self._places:
            each = self._lines[place]
            if isinstance(each, Project) or each.entry.key != line.entry.key:
                continue
            if _point(each) == _point(line):
                return place
            of_session = place if of_session is None else of_session
        nearest = self._places[min(rank, len(self._places) - 1)]
        return nearest if of_session is None else of_session

    def mark(self, entry: Entry) -> None:
        """Mark the session that was opened last."""
        self._marked = entry.key
        self.refresh()

    def is_marked(self, entry: Entry) -> bool:
        """Tell whether a session is the one that was opened last."""
        return entry.key == self._marked

    @property
    def cursor_line(self) -> Relative | Spot | None:
        """The session or the place in it under the cursor, None where nothing is listed."""
        if not self._places:
            return None
        line = self._lines[self._cursor]
        return None if isinstance(line, Project) else line

    @property
    def cursor_entry(self) -> Entry | None:
        """The session under the cursor, None where nothing is listed."""
        line = self.cursor_line
        return None if line is None else line.entry

    @property
    def cursor_rank(self) -> int:
        """How many lines that the cursor can stand on come before its own."""
        return bisect_left(self._places, self._cursor)

    @property
    def entry_rank(self) -> int:
        """How many sessions come before that under the cursor."""
        before = self._lines[: self._cursor + 1]
        return sum(isinstance(each, Relative) for each in before) - 1

    @property
    def entries(self) -> list[Entry]:
        """The sessions, in the order in which they are shown."""
        return [each.entry for each in self._lines if isinstance(each, Relative)]

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines that it can stand on."""
        if self._places:
            rank = min(max(self.cursor_rank + lines, 0), len(self._places) - 1)
            self.move_to(self._places[rank])

    def to_end(self) -> None:
        """Move the cursor to the last line."""
        self.move_to(len(self._lines) - 1)

    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one below where it cannot stand on that."""
        if not self._places:
            return
        self._has_moved = True
        rank = min(bisect_left(self._places, place), len(self._places) - 1)
        place = self._places[rank]
        if place == self._cursor:
            return
        entry_before = self.cursor_entry
        self.refresh_line(self._cursor)
        self._cursor = place
        self.refresh_line(place)
        self._scroll_to_cursor()
        if self.cursor_entry != entry_before:
            self.on_cursor(self.cursor_entry)

    def _scroll_to_cursor(self) -> None:
        # The heading above comes along.
        begin = self._cursor
        while begin and isinstance(self._lines[begin - 1], Project):
            begin -= 1
        self.scroll_to_region(
            Region(0, begin, 1, self._cursor - begin + 1),
            animate=False,
            force=True,
            immediate=True,
        )

    def on_resize(self) -> None:
        """Keep the cursor in view."""
        self.virtual_size = Size(self.size.width, len(self._lines))
        self._scroll_to_cursor()

    def on_click(self, event: events.Click) -> None:
        """Put the cursor where the mouse was clicked; a second click opens."""
        place = event.y + self.scroll_offset.y
        if place >= len(self._lines):
            return
        self.move_to(place)
        line = self._lines[place]
        if event.chain == 2 and not isinstance(line, Project):  # noqa: PLR2004 - a double click
            self.post_message(self.Chosen(line))

    def render_line(self, y: int) -> Strip:
        """Draw the session on one line."""
        place = y + self.first_line
        width = self.room
        view = self._view
        if view is None or place >= len(self._lines):
            return self.blank(width)
        text = self._text(self._lines[place], view, max(width - 1, 0))
        if place != self._cursor or not self._places:
            return self.strip(Text.assemble(" ", text), width)
        return self.cursor_strip(text, width, view.palette, view.glyphs)

    def _text(self, line: Listed, view: ListingView, width: int) -> Text:
        match line:
            case Project():
                return view.heading(line, width)
            case Spot():
                return view.spot(line, width)
            case Relative():
                is_marked = self.is_marked(line.entry)
                return view.text(line.entry, width, is_marked=is_marked, trail=line.trail)


def _point(line: Relative | Spot) -> str:
    return line.point if isinstance(line, Spot) else ""


def _nobody(_entry: Entry | None) -> None:
    """Stand in until somebody owns the list."""
