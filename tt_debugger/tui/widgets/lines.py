"""Lines: a pane that draws what it is given line by line, and takes lines only as they are seen.

A message can be megabytes long, so the lines come from an iterator that is drawn on while the
reader scrolls; what was not yet asked for costs nothing.
"""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from rich.cells import chop_cells
from rich.text import Text
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

AHEAD = 60
"""Lines that are taken beyond the last one in view."""
ALL = 1 << 62
"""More lines than there are."""


class Lines(ScrollView, can_focus=True, inherit_bindings=False):
    """A scrolling pane of text lines, wrapped to its width at words, or anywhere if `fold`."""

    DEFAULT_CSS = """
    Lines { scrollbar-size-vertical: 1; scrollbar-gutter: stable; overflow-x: hidden; }
    """

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._source: Iterator[Text] = iter(())
        self._given: list[Text] = []
        self._wrapped: list[Text] = []

    def update_from(self, lines: Iterable[Text]) -> None:
        """Show other lines, from the top."""
        self._source, self._given, self._wrapped = iter(lines), [], []
        self.scroll_to(y=0, animate=False, immediate=True)
        self._reach(self.scroll_offset.y)
        self.refresh()

    def move_by(self, lines: int) -> None:
        """Scroll by some lines."""
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
        """Wrap anew what was given."""
        given, self._given, self._wrapped = self._given, [], []
        self._source = chain(given, self._source)
        self._reach(self.scroll_offset.y)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """Take more lines as the reader scrolls on."""
        super().watch_scroll_y(old_value, new_value)
        self._reach(round(new_value))

    def _reach(self, top: int) -> None:
        wanted, width = top + self.size.height + AHEAD, self._width
        if not width:
            # Not laid out yet: wrapped to nothing, a line of a million characters is a million.
            return
        while len(self._wrapped) < wanted:
            line = next(self._source, None)
            if line is None:
                break
            self._take(line, width)
        self.virtual_size = Size(width, len(self._wrapped))

    @property
    def _width(self) -> int:
        return self.scrollable_content_region.width

    def _take(self, line: Text, width: int) -> None:
        self._given.append(line)
        if line.cell_len <= width:
            self._wrapped.append(line)
        elif line.overflow == "fold":
            pieces = chop_cells(line.plain, width)
            self._wrapped += [Text(piece, line.style) for piece in pieces]
        else:
            self._wrapped += line.wrap(self.app.console, width)

    def render_line(self, y: int) -> Strip:
        """Draw one line."""
        place = y + self.scroll_offset.y
        width = self.size.width
        if place >= len(self._wrapped):
            return Strip.blank(width, self.rich_style)
        return line_strip(self._wrapped[place], width, self)


def line_strip(line: Text, width: int, widget: ScrollView, style: str = "") -> Strip:
    """Give a line of text as a strip of this width, on the widget's background."""
    console = widget.app.console
    base = widget.rich_style + console.get_style(style or "none")
    # `render` leaves the line's own style out where no part of the line has another.
    strip = Strip(line.render(console), line.cell_len).apply_style(console.get_style(line.style))
    return strip.adjust_cell_length(width).apply_style(base)
