"""The scrubber: the size of the context over all checkpoints, and below it what happened where."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable
from itertools import groupby
from operator import itemgetter

import msgspec
from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.model import Session
from tt_debugger.core.scrub import (
    Column,
    MarkKind,
    ScrubIndex,
    column_of,
    columns_of,
    mark_beside,
    mark_of,
)
from tt_debugger.core.text import counted, safe_line
from tt_debugger.core.tracks import Drawn, Track, drawn_columns
from tt_debugger.views.area import area_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import count_text

SCALE_FROM_WIDTH = 60
"""Columns that the widget needs before it says how high the graph is."""
WATCHED_FROM_HEIGHT = 3
"""Lines from which there is one for what is watched."""
MARGIN = 1
UNIT = "tokens"
NOTE_WIDTH = 64
"""Cells that a note may take; more would hide the marks it stands among."""
NOTE_WITH_CONTEXT = 48
"""Cells from which a note also tells the size of the context."""

Cell = tuple[str, tuple[str, ...]]
"""A sign and the styles that lie on it, the upper ones last."""

_SIGNS = {
    MarkKind.ERROR: ("bad", "bad"),
    MarkKind.COMPACTION: ("compaction", "change"),
    MarkKind.INTERRUPT: ("interrupt", "accent"),
    MarkKind.LABEL: ("label", "label"),
    MarkKind.FORK: ("fork", "lane"),
    MarkKind.USER: ("turn", "dim"),
}
"""The glyph and the style of each mark."""


class _Picture(msgspec.Struct, frozen=True):
    """What was drawn for one size, without cursor and note."""

    size: Size
    left: int
    """The cell of the first column."""
    columns: tuple[Column, ...]
    lines: tuple[list[Cell], ...]
    marks: int = 0
    """The line that has the marks."""


class WatchedLine(msgspec.Struct, frozen=True, eq=False):
    """A watched value over the branch of a leaf, to be drawn below the marks."""

    name: Callable[[int], str]
    """What it is called, in so many cells."""
    track: Track | None
    """None while its changes are looked for."""
    watch: object = None
    """What is watched, to tell it from another."""


class Scrubber(Widget, can_focus=True, inherit_bindings=False):
    """A small graph over the whole session, in which one sees and chooses where one is.

    A click leaves the focus where it is: keys go on in the tree, at the row that was chosen.
    """

    DEFAULT_CSS = "Scrubber { height: 3; }"
    ALLOW_SELECT = False
    FOCUS_ON_CLICK = False

    class Chosen(Message):
        """A row was chosen; of several that wait only the newest counts."""

        def __init__(self, row: int) -> None:
            super().__init__()
            self.row = row

        def can_replace(self, message: Message) -> bool:
            """Take the place of an older choice."""
            return isinstance(message, Scrubber.Chosen)

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._index: ScrubIndex | None = None
        self._cursor_row = 0
        self._picture: _Picture | None = None
        self._watched: WatchedLine | None = None
        self._hovered: int | None = None
        self._dragged: int | None = None

    def update_from(self, index: ScrubIndex, cursor_row: int) -> None:
        """Show another session, or the same one grown, with the cursor on one of its rows."""
        self._index, self._cursor_row = index, cursor_row
        self._picture = None
        self.refresh()

    def draw_watched(self, watched: WatchedLine | None) -> None:
        """Draw a watched value too, in a line of its own; None for none."""
        if watched is not self._watched:
            self._watched = watched
            self._picture = None
            self.refresh()

    @property
    def watched(self) -> WatchedLine | None:
        """The watched value that is drawn."""
        return self._watched

    @property
    def index(self) -> ScrubIndex | None:
        """What it is drawn from."""
        return self._index

    @property
    def cursor_row(self) -> int:
        """The row that is marked as where one is."""
        return self._cursor_row

    @cursor_row.setter
    def cursor_row(self, row: int) -> None:
        if row == self._cursor_row:
            return
        before = self._cursor_cell
        self._cursor_row = row
        after = self._cursor_cell
        if self.has_focus:
            self.refresh()
        elif before != after:
            self.refresh(*(Region(x, 0, 1, self.size.height) for x in (before, after)))

    def to_mark(self, step: int) -> None:
        """Choose the next mark behind the cursor, or with a negative step the one before it."""
        mark = None if self._index is None else mark_beside(self._index, self._cursor_row, step)
        if mark is not None:
            self.post_message(self.Chosen(mark.row))

    @property
    def note(self) -> str:
        """What is said of the column under the mouse, or with the focus of the cursor's row."""
        note = self._note()
        return "" if note is None else note[1].plain.strip()

    def on_focus(self) -> None:
        """Say what is under the cursor."""
        self.refresh()

    def on_blur(self) -> None:
        """Say it no longer."""
        self.refresh()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Choose what was clicked, and follow the mouse from here on."""
        place = self._place_at(event.x)
        if event.button == 1 and place is not None:
            self.capture_mouse()
            self._dragged = place
            self.post_message(self.Chosen(self._row_clicked(place)))

    def on_mouse_move(self, event: events.MouseMove) -> None:
        """Choose on while the button is down, from beside the graph too; else say what is here."""
        columns = self._drawn.columns
        if self._dragged is not None and columns:
            place = min(max(event.x - self._drawn.left, 0), len(columns) - 1)
            if place != self._dragged:
                self._dragged = place
                self.post_message(self.Chosen(_row_dragged_to(columns, place)))
        self._hover(self._place_at(event.x) if self._dragged is None else None)

    def on_mouse_up(self) -> None:
        """Let go of the mouse."""
        self._dragged = None
        self.release_mouse()

    def on_leave(self) -> None:
        """Say no longer what was under the mouse."""
        self._hover(None)

    def _hover(self, place: int | None) -> None:
        if place != self._hovered:
            self._hovered = place
            self.refresh(Region(0, self._drawn.marks, self.size.width, 1))

    def _place_at(self, x: int) -> int | None:
        place = x - self._drawn.left
        return place if 0 <= place < len(self._drawn.columns) else None

    def _row_clicked(self, place: int) -> int:
        """Give the row of the mark that one aims at; a user's turn is everywhere and no aim."""
        columns = self._drawn.columns
        mark = columns[place].mark
        if mark is not None and mark.kind is not MarkKind.USER:
            return mark.row
        return _row_dragged_to(columns, place)

    @property
    def _cursor_cell(self) -> int:
        picture = self._drawn
        if self._index is None or not picture.columns:
            return 0
        return picture.left + column_of(self._cursor_row, len(self._index), len(picture.columns))

    def render_line(self, y: int) -> Strip:
        """Draw one line; over the marks stands the note."""
        picture, width = self._drawn, self.size.width
        if y >= len(picture.lines):
            return Strip.blank(width, self.rich_style)
        is_marks = y == picture.marks
        cells = picture.lines[y]
        if picture.columns:
            cells = cells.copy()
            x = self._cursor_cell
            cells[x] = self._under_cursor(cells[x], is_marks=is_marks)
            if is_marks and self.has_focus:
                scale = cells[: picture.left]
                cells[: picture.left] = [(sign, (self.palette.accent,)) for sign, _ in scale]
        strip = self._strip(cells)
        note = self._note() if is_marks else None
        if note is None:
            return strip
        begin, text = note
        shown = Strip(text.render(self.app.console), text.cell_len)
        shown = shown.apply_style(self.rich_style)
        return Strip.join([strip.crop(0, begin), shown, strip.crop(begin + text.cell_len, width)])

    def _under_cursor(self, cell: Cell, *, is_marks: bool) -> Cell:
        """Give a cell of the cursor's column; a full block would hide a background."""
        sign, styles = cell
        if not is_marks:
            return sign, (self.palette.text, self.palette.cursor)
        if sign in {" ", self.glyphs.turn}:
            styles = (self.palette.strong,)
        return self.glyphs.marker, (*styles, self.palette.cursor)

    def _strip(self, cells: list[Cell]) -> Strip:
        console, base = self.app.console, self.rich_style
        # Names are resolved anew for each paint, as a change of theme wants, but each only once.
        known: dict[tuple[str, ...], Style] = {}
        segments: list[Segment] = []
        for names, run in groupby(cells, key=itemgetter(1)):
            if names not in known:
                styles = (console.get_style(name or "none") for name in names)
                known[names] = Style.combine([base, *styles])
            segments.append(Segment("".join([sign for sign, _ in run]), known[names]))
        return Strip(segments, len(cells))

    @property
    def _drawn(self) -> _Picture:
        if self._picture is None or self._picture.size != self.size:
            self._picture = self._drawing(self.size)
        return self._picture

    def _drawing(self, size: Size) -> _Picture:
        index, width, height = self._index, size.width, size.height
        if index is None or not height:
            return _Picture(size, 0, (), ())
        left = left_of(index, width, is_watching=self._watched is not None)
        has_scale = left > MARGIN
        columns = columns_of(index, max(width - left - MARGIN, 0))
        # In few lines the marks come first, then the graph.
        watched = self._watched if height >= WATCHED_FROM_HEIGHT else None
        above = height - 1 if watched is None else height - 2
        lines = [self._graph_line(columns, index.largest, y, above) for y in range(above)]
        if lines and not index.largest:
            lines[-1] = self._cells("no token counts recorded" if columns else "no checkpoints")
        lines.append([self._mark_cell(column) for column in columns])
        scale = [""] * (above + 1)
        if has_scale and index.largest:
            scale = _scale(index.largest, above + 1)
        marks = len(lines) - 1
        if watched is not None:
            lines.append(self._watched_line(watched, index.session, columns))
            scale.append(watched.name(left - 2) if has_scale else "")
        drawn = (
            [*self._cells(f"{word:>{left - 1}} "), *line, *self._cells(" " * width)][:width]
            for word, line in zip(scale, lines, strict=True)
        )
        return _Picture(size, left, columns, tuple(drawn), marks)

    def _cells(self, text: str) -> list[Cell]:
        return [(sign, (self.palette.dim,)) for sign in text]

    def _graph_line(
        self, columns: tuple[Column, ...], largest: int, y: int, height: int
    ) -> list[Cell]:
        """Give one line of the area, `y` lines below its top."""
        sizes = [column.size for column in columns]
        signs = area_line(sizes, largest, y, height, self.glyphs)
        active, aside = (self.palette.graph,), (self.palette.graph_aside,)
        return [
            (sign, active if column.is_active else aside)
            for sign, column in zip(signs, columns, strict=True)
        ]

    def _watched_line(
        self, watched: WatchedLine, session: Session, columns: tuple[Column, ...]
    ) -> list[Cell]:
        """Give the line of a watched value: numbers as a graph, else its changes as signs."""
        if watched.track is None:
            return self._cells(f"looking for its changes {self.glyphs.ellipsis}")
        drawn = drawn_columns(watched.track, session, columns)
        return [self._watched_cell(each) for each in drawn]

    def _watched_cell(self, drawn: Drawn | None) -> Cell:
        glyphs, palette = self.glyphs, self.palette
        if drawn is None:
            return " ", ("",)
        if drawn.level is not None:
            sign = glyphs.levels[round(drawn.level * (len(glyphs.levels) - 1))]
            return sign, (palette.label,)
        if drawn.changes:
            return glyphs.stop, (palette.change,)
        return (glyphs.line, (palette.dim,)) if drawn.is_there else (" ", ("",))

    def _mark_cell(self, column: Column) -> Cell:
        if column.mark is None:
            return " ", ("",)
        sign, style = _SIGNS[column.mark.kind]
        return getattr(self.glyphs, sign), (getattr(self.palette, style),)

    def _note(self) -> tuple[int, Text] | None:
        """Give a text on what the mouse or the cursor is at, and the cell where it begins.

        It stands beside its column, at the right if there is room, so that the mark stays in view.
        """
        picture = self._drawn
        if self._index is None or not picture.columns:
            return None
        # A resize may have taken away the column that the mouse was at.
        if self._hovered is not None and self._hovered < len(picture.columns):
            x, row = picture.left + self._hovered, self._row_clicked(self._hovered)
        elif self.has_focus:
            x, row = self._cursor_cell, self._cursor_row
        else:
            return None
        room_before, room_after = x - picture.left, picture.size.width - x - 1
        room = min(max(room_before, room_after), NOTE_WIDTH)
        text = self._said_of(self._index, row, room)
        return (x + 1 if text.cell_len <= room_after else x - text.cell_len), text

    def _said_of(self, index: ScrubIndex, row: int, room: int) -> Text:
        """Give a row in at most so many cells: its number, its mark, what it is, its context."""
        palette, session = self.palette, index.session
        head, mark, size = session.heads[row], mark_of(index, row), session.context_sizes[row]
        begin = Text.assemble(" ", (f"row {row + 1}", palette.strong), (" · ", palette.dim))
        body = Text()
        # Who speaks is said in words anyway.
        if mark is not None and mark.kind is not MarkKind.USER:
            sign, style = _SIGNS[mark.kind]
            begin.append(f"{getattr(self.glyphs, sign)} ", getattr(palette, style))
            if mark.kind is MarkKind.LABEL:
                body.append(f"{safe_line(session.labels[row])} · ", palette.label)
            elif mark.kind is MarkKind.FORK:
                branches = counted(session.tree.child_count(row), "branch", "branches")
                body.append(f"{branches} · ", palette.lane)
        parts = (safe_line(each) for each in (head.name or str(head.kind), head.summary) if each)
        body.append(": ".join(parts), palette.text)
        context = f" · {count_text(size)} {UNIT} " if size and room >= NOTE_WITH_CONTEXT else " "
        end = Text(context, palette.dim)
        self._fit(body, room - begin.cell_len - end.cell_len)
        line = Text.assemble(begin, body, end, no_wrap=True, end="")
        self._fit(line, room)
        return line

    def _fit(self, text: Text, room: int) -> None:
        """Cut a text to so many cells, with an ellipsis where there is room for one."""
        ellipsis = self.glyphs.ellipsis
        if text.cell_len > room:
            text.truncate(max(room - cell_len(ellipsis), 0))
            text.append(ellipsis[: max(room, 0)])


def left_of(index: ScrubIndex, width: int, *, is_watching: bool) -> int:
    """Give the cell of the first column: there is a scale where it has something to say."""
    has_words = index.largest > 0 or is_watching
    return MARGIN + len(UNIT) + 1 if has_words and width >= SCALE_FROM_WIDTH else MARGIN


def _row_dragged_to(columns: tuple[Column, ...], place: int) -> int:
    """Give the first row of a column, and at the end of the graph the very last."""
    return columns[place].last if place == len(columns) - 1 else columns[place].first


def _scale(largest: int, height: int) -> list[str]:
    """Give the words at the left of each line: the largest context on top, the unit below."""
    words = [""] * height
    if height > 2:  # noqa: PLR2004 - with one graph line, top and bottom are the same
        words[-2] = "0"
    if height > 1:
        words[0] = count_text(largest)
    words[-1] = UNIT
    return words
