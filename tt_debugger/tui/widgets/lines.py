"""Lines: a pane that draws what it is given line by line, and takes lines only as they are seen.

A message can be megabytes long, so the lines come from an iterator that is drawn on while the
reader scrolls; what was not yet asked for costs nothing.
"""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

import re
from abc import abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, zip_longest
from typing import cast

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.geometry import Region, Size
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tt_debugger.core.search import Query
from tt_debugger.views.fact import Fact
from tt_debugger.views.palette import Glyphs, Palette

AHEAD = 16
"""Lines that are taken beyond the last one in view: what is not seen should not be waited for."""
FARTHEST = 5000
"""Lines that are looked through for a match: a longer message is searched by those who read it."""
ALL = 1 << 62
"""More lines than there are."""


_LEAD = re.compile(r"(?:\s+|[^\w\s\"'()\[\]{}<`]{1,3}\s+|\d+[.):]\s+)+")
"""Room, bars, bullets, signs and numbers in front of the words of a line."""
_BARS = "\N{BOX DRAWINGS LIGHT VERTICAL}|"


class LinePane(ScrollView, can_focus=False, inherit_bindings=False):
    """A pane that is drawn line by line over the style of its ground.

    Without border and padding it keeps the lines it has drawn, ready for the screen: Textual's
    own cache puts each of them through the steps that a widget of any style needs, at each key.
    """

    DEFAULT_CSS = """
    LinePane { scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """
    ALLOW_SELECT = False

    _ground: Style = Style.null()
    first_line = 0
    """The line that is drawn at the top, and the cells beside the scrollbar: known while lines
    are drawn."""
    room = 0

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._kept: dict[int, Strip] = {}

    def _set_dirty(self, *regions: Region) -> None:
        """Forget the lines that are to be drawn anew."""
        super()._set_dirty(*regions)
        if not regions:
            self._kept.clear()
        for region in regions:
            for y in region.line_range:
                self._kept.pop(y, None)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Draw anew; the scrollbar only where that can be seen, in eighths of a cell."""
        if round(old_value) != round(new_value):
            self.refresh(self.size.region)
        step = self.virtual_size.height / max(8 * self.size.height, 1)
        bar = self.vertical_scrollbar
        if self.show_vertical_scrollbar and abs(bar.position - new_value) >= step / 2:
            bar.position = new_value

    def render_lines(self, crop: Region) -> list[Strip]:
        """Give some lines as they go to the screen, past all filters."""
        ground = self.rich_style
        if ground != self._ground:
            self._ground = ground
            self._kept.clear()
        kept, width = self._kept, self.outer_size.width
        has_frame = any(self.styles.gutter)
        missing = () if has_frame else [y for y in crop.line_range if y not in kept]
        if has_frame or missing:
            self.first_line = self.scroll_offset.y
            self.room = self.scrollable_content_region.width
        if has_frame:
            return super().render_lines(crop)
        if missing:
            filters, background = self.get_line_filters(), self.background_colors[1]
            for y in missing:
                # Not by `apply_filter`: each strip brings half a dozen caches that nobody asks.
                segments = list(self.render_line(y).adjust_cell_length(width, ground))
                for each in filters:
                    segments = each.apply(segments, background)
                kept[y] = Strip(segments, width)
        strips = [kept[y] for y in crop.line_range]
        if crop.column_span != (0, width):
            strips = [strip.crop(*crop.column_span) for strip in strips]
        return strips

    def blank(self, width: int) -> Strip:
        """Give an empty line."""
        return _blank(width, self._ground)

    def strip(self, line: Text, width: int, style: str = "") -> Strip:
        """Give a line of text as a strip of this width; `style` lies below the line's own."""
        console = self.app.console
        base = self._ground + console.get_style(style) if style else self._ground
        # `render` leaves the line's own style out where no part of the line has another.
        own = base + console.get_style(line.style)
        if base.reverse:
            # Reversed, each colour of the text would be a patch of its own.
            segments = [Segment(line.plain, own)]
        else:
            segments = [
                Segment(text, own + of_text if of_text else own)
                for text, of_text, _ in line.render(console)
            ]
        length = line.cell_len
        if length > width:
            return Strip(segments, length).crop(0, width)
        return Strip([*segments, Segment(" " * (width - length), base)], width)


@lru_cache(64)
def _blank(width: int, style: Style) -> Strip:
    return Strip.blank(width, style)


class CursorPane(LinePane, can_focus=True, inherit_bindings=False):
    """A pane of lines of which one has the cursor. Who owns the lines says how it moves."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._cursor = 0
        self._has_moved = False

    @abstractmethod
    def move_to(self, place: int) -> None:
        """Put the cursor on a line, the nearest one where there are fewer."""

    @property
    def cursor_place(self) -> int:
        """The line of the cursor, counted from 0."""
        return self._cursor

    def move_by(self, lines: int) -> None:
        """Move the cursor by some lines."""
        self.move_to(self._cursor + lines)

    def to_start(self) -> None:
        """Move the cursor to the first line."""
        self.move_to(0)

    def on_focus(self) -> None:
        """Show the cursor as the one that keys move."""
        self.refresh_line(self._cursor)

    def on_blur(self) -> None:
        """Show the cursor as resting."""
        self.refresh_line(self._cursor)

    def cursor_strip(self, text: Text, width: int, palette: Palette, glyphs: Glyphs) -> Strip:
        """Give the line of the cursor: its sign tells whether the keys go here."""
        if self.has_focus:
            sign, style = glyphs.cursor, palette.cursor
        else:
            sign, style = glyphs.cursor_far, palette.cursor_far
        return self.strip(Text.assemble((sign, palette.accent), text), width, style)


class Lines(LinePane, can_focus=True, inherit_bindings=False):
    """A scrolling pane of text lines, wrapped to its width at words, or anywhere if `fold`.

    What a line goes on with stands under its words, beside its bars.
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._source: Iterator[Text] = iter(())
        self._given: list[Text] = []
        self._begins: list[int] = []
        """The first wrapped line of each given one."""
        self._wrapped: list[Text] = []
        self._top = 0
        """Where to scroll to once there is a width to wrap to."""

    def update_from(self, lines: Iterable[Text], top: int = 0) -> None:
        """Show other lines, scrolled to one of them as `scroll_offset` counts."""
        seen, seen_from = self._wrapped, self.scroll_offset.y
        self._source, self._given, self._begins, self._wrapped = iter(lines), [], [], []
        self._top = top
        self._reach(top)
        if self.text_width:
            self._scroll_to_top()
        if self.scroll_offset.y != seen_from:
            self.refresh()
            return
        # From one checkpoint to the next most lines are empty before and after.
        height = self.size.height
        before, after = (each[seen_from : seen_from + height] for each in (seen, self._wrapped))
        changed = [
            y
            for y, (old, new) in enumerate(zip_longest(before, after))
            if old is None or new is None or old != new or old.style != new.style
        ]
        if changed:
            # One region for all: asked for one by one, they cost more than the lines between.
            first, last = changed[0], changed[-1]
            self.refresh(Region(0, first, self.size.width, last - first + 1))

    def _scroll_to_top(self) -> None:
        # By force: the scrollbar may be one layout behind the lines.
        self.scroll_to(y=self._top, animate=False, force=True, immediate=True)

    def show_match(self, query: Query) -> bool:
        """Scroll to the first line in which a query stands; tell whether there is one."""
        place = 0
        while place < FARTHEST and (
            place < len(self._wrapped) or self._take_next(self.text_width)
        ):
            for line in self._wrapped[place:]:
                if next(query.spans(line.plain), None) is not None:
                    self._reach(place)
                    last_seen = self.scroll_offset.y + self.size.height - 1
                    if not self.scroll_offset.y <= place < last_seen:
                        self._top = max(place - self.size.height // 3, 0)
                        self._scroll_to_top()
                    return True
                place += 1
        return False

    def move_by(self, lines: int) -> None:
        """Scroll by some lines."""
        self._reach(self.scroll_offset.y + lines)
        self.scroll_relative(y=lines, animate=False)

    def to_start(self) -> None:
        """Scroll to the first line."""
        self.scroll_to(y=0, animate=False)

    def to_end(self) -> None:
        """Scroll to the last line, for which all lines are taken."""
        self._reach(ALL)
        self.scroll_to(y=len(self._wrapped), animate=False)

    @property
    def plain_lines(self) -> list[str]:
        """The lines taken so far, as text."""
        return [line.plain for line in self._wrapped]

    def on_resize(self) -> None:
        """Wrap anew what was given; the line at the top stays there."""
        if not self.text_width:
            return
        place = bisect_right(self._begins, self.scroll_offset.y) - 1
        given, self._given, self._begins, self._wrapped = self._given, [], [], []
        self._source = chain(given, self._source)
        self._reach(max(self.scroll_offset.y, self._top))
        if place >= 0:
            while place >= len(self._begins) and self._take_next(self.text_width):
                pass
            self._top = self._begins[min(place, len(self._begins) - 1)]
            self._reach(self._top)
        self._scroll_to_top()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Take more lines as the reader scrolls on."""
        super().watch_scroll_y(old_value, new_value)
        self._reach(round(new_value))

    def _reach(self, top: int) -> None:
        wanted, width = top + self.size.height + AHEAD, self.text_width
        if not width:
            # Not laid out yet: wrapped to nothing, a line of a million characters is a million.
            return
        while len(self._wrapped) < wanted and self._take_next(width):
            pass
        self._tell_size(Size(width, len(self._wrapped)))

    def _tell_size(self, size: Size) -> None:
        """Tell how far one can scroll; a new layout only where the scrollbar comes or goes."""
        if size == self.virtual_size:
            return
        if self.show_vertical_scrollbar != (size.height > self.container_size.height):
            self.virtual_size = size
        else:
            self.set_reactive(cast("Reactive[Size]", Lines.virtual_size), size)
            self._scroll_update(size)

    def _take_next(self, width: int) -> bool:
        """Take one more line, wrapped to a width; tell whether there was one."""
        line = next(self._source, None)
        if line is not None:
            self._take(line, width)
        return line is not None

    @property
    def text_width(self) -> int:
        """The cells of a line; one more stays empty before the scrollbar."""
        return max(self.scrollable_content_region.width - 1, 0)

    def _take(self, line: Text, width: int) -> None:
        self._given.append(line)
        self._begins.append(len(self._wrapped))
        if line.cell_len <= width:
            self._wrapped.append(line)
        elif line.overflow == "fold":
            pieces = chop_cells(line.plain, width)
            self._wrapped += [Text(piece, line.style) for piece in pieces]
        else:
            self._wrapped += wrapped(line, width, self.app.console)

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        place = y + self.first_line
        if place >= len(self._wrapped):
            return self.blank(self.room)
        return self.strip(self._wrapped[place], self.room)


def wrapped(line: Text, width: int, console: Console) -> Iterator[Text]:
    """Give a line in lines of a width, the words of all but the first under those of the first."""
    found = _LEAD.match(line.plain)
    end = line.hang if isinstance(line, Fact) else found.end() if found else 0
    lead = line[:end]
    if not end or end == len(line) or lead.cell_len > width // 2:
        yield from line.wrap(console, width)
        return
    room = lead.copy()
    # A mark of two cells would leave its second cell out.
    bars = "" if isinstance(line, Fact) else _BARS
    room.plain = "".join(each if each in bars else " " * cell_len(each) for each in lead.plain)
    for number, piece in enumerate(line[end:].wrap(console, width - lead.cell_len)):
        whole = room.copy() if number else lead.copy()
        yield whole.append_text(piece)
