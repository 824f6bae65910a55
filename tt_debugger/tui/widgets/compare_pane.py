"""The pane of a comparison: one list of rows, so that both sides always scroll together.

Only the blocks that are seen are made into rows. Where one is is told by block and row in it, not
by counting rows, so it costs the same in ten messages and in a hundred thousand.
"""

from __future__ import annotations

from typing import Any

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip

from tt_debugger.core.diff.comparing import EqualRun
from tt_debugger.core.text import safe_line
from tt_debugger.tui.widgets.lines import CursorPane
from tt_debugger.views.compare import Block, ComparisonView
from tt_debugger.views.compare_layout import Layout, Row
from tt_debugger.views.palette import Glyphs, Palette

KEPT = 2000
"""Blocks whose rows are kept."""
WHEEL = 3
"""Rows that a turn of the wheel moves the view by."""

Position = tuple[int, int]
"""A block, and a row in it."""


class ComparePane(CursorPane):
    """The blocks of a comparison. Its cursor is on one row."""

    DEFAULT_CSS = """
    ComparePane { overflow-y: hidden; scrollbar-size-vertical: 0; }
    """

    class Moved(Message):
        """The cursor or the view is somewhere else, or the blocks are others."""

    class Chosen(Message):
        """A message was chosen that has nothing folded on the row under the cursor."""

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._palette = palette
        self._glyphs = glyphs
        self._view: ComparisonView | None = None
        self._said = ""
        self._is_side_by_side = False
        self._opened: set[int] = set()
        """The old places at which the equal stretches begin that are open."""
        self._unfolded: set[tuple[int | None, int | None] | int] = set()
        """The messages that are shown in full, by their places, and settings by their number."""
        self._blocks: list[Block] = []
        self._rows: dict[int, list[Row]] = {}
        self._rows_width = 0
        """The width that the rows are made for."""
        self._top: Position = (0, 0)
        self._at: Position = (0, 0)
        self._drawn: Position = (0, 0)
        """What was at the top when all was drawn last."""
        self._seen: list[Position] = []

    def update_from(
        self, view: ComparisonView | None, said: str = "", *, keeps_place: bool = False
    ) -> None:
        """Show a comparison, or say something in its place."""
        before = self.block
        self._view, self._said = view, said
        if not keeps_place:
            self._opened, self._unfolded = set(), set()
            self._top = self._at = (0, 0)
        self._lay_out()
        if view is not None and not keeps_place:
            self.to_change(1)
        elif before is not None and self.block != before:
            self._go_near(before)

    def lay_out(self, *, is_side_by_side: bool) -> None:
        """Show both sides beside each other, or one below the other."""
        if is_side_by_side != self._is_side_by_side:
            self._is_side_by_side = is_side_by_side
            self._forget_rows()

    @property
    def blocks(self) -> list[Block]:
        """All blocks, whether they are seen or not."""
        return self._blocks

    @property
    def block(self) -> Block | None:
        """The block under the cursor."""
        return self._blocks[self._at[0]] if self._at[0] < len(self._blocks) else None

    @property
    def row_text(self) -> str:
        """The row under the cursor as text."""
        row = self._row(self._at) if self._blocks else None
        return "" if row is None else row.text.plain

    @property
    def blocks_in_view(self) -> tuple[int, int]:
        """The first and the last block that are seen."""
        return (self._seen[0][0], self._seen[-1][0]) if self._seen else (0, 0)

    # Moving

    def move_to(self, place: int) -> None:
        """Put the cursor on a row, counted from the first one."""
        self._go(self._walk((0, 0), place))

    def move_by(self, lines: int) -> None:
        """Move the cursor by some rows."""
        self._go(self._walk(self._at, lines))

    def to_start(self) -> None:
        """Move the cursor to the first row."""
        self._go((0, 0))

    def to_end(self) -> None:
        """Move the cursor to the last row."""
        self._go(self._last)

    def to_change(self, step: int) -> bool:
        """Move the cursor to the next or previous change; tell whether there is one."""
        block, row = self._at
        if step < 0 and row and self._blocks and self._blocks[block].change is not None:
            block += 1
        place = block + step
        while 0 <= place < len(self._blocks):
            if self._blocks[place].change is not None:
                self.to_block(place)
                return True
            place += step
        return False

    @property
    def block_number(self) -> int:
        """The number of the block under the cursor."""
        return self._at[0]

    def to_block(self, place: int) -> None:
        """Move the cursor to a block, and all of the block into view if it fits."""
        first, last = (place, 0), (place, len(self._rows_of(place)) - 1)
        if self._seen and not (first in self._seen and last in self._seen):
            self._top = self._walk(first, -(self._height // 4))
        self._go(first)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the view down."""
        self._scroll(WHEEL, event)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the view up."""
        self._scroll(-WHEEL, event)

    def _scroll(self, lines: int, event: events.MouseEvent) -> None:
        event.stop()
        event.prevent_default()
        if not self._blocks:
            return
        self._top = self._walk(self._top, lines)
        self._see()
        self._at = min(max(self._at, self._seen[0]), self._seen[-1])
        self._go(self._at)

    # Opening

    def open(self) -> None:
        """Open or close what is under the cursor; tell of a message that has nothing folded."""
        block = self.block
        if block is None:
            return
        row = self._row(self._at)
        if isinstance(block.what, EqualRun):
            self._toggle(block.what)
        elif row is not None and row.opens:
            self.unfold(is_open=True)
        else:
            self.post_message(self.Chosen())

    def unfold(self, *, is_open: bool) -> bool:
        """Show the block under the cursor in full, or folded; tell whether that is another."""
        block = self.block
        if block is None:
            return False
        if isinstance(block.what, EqualRun):
            if is_open != block.is_open:
                self._toggle(block.what)
            return is_open != block.is_open
        name = _name(block)
        if is_open == (name in self._unfolded):
            return False
        (self._unfolded.add if is_open else self._unfolded.discard)(name)
        self._rows.pop(self._at[0], None)
        self._go((self._at[0], min(self._at[1], len(self._rows_of(self._at[0])) - 1)))
        self.refresh()
        return True

    def _toggle(self, run: EqualRun) -> None:
        self._opened ^= {run.old_begin}
        self._lay_out()
        self._go((self._at[0], 0))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to what was clicked, and open it if it stands for more."""
        if event.y >= len(self._seen):
            return
        was_here = self._at == self._seen[event.y]
        self._go(self._seen[event.y])
        row, block = self._row(self._at), self.block
        is_fold = block is not None and isinstance(block.what, EqualRun)
        if is_fold or (row is not None and row.opens) or was_here:
            self.open()

    # Drawing

    def on_resize(self) -> None:
        """Wrap anew, unless only the height is another."""
        if self._rows_width == self.size.width:
            self._go(self._at)
        else:
            self._forget_rows()

    def render_line(self, y: int) -> Strip:
        """Draw one row."""
        width = self.size.width
        if y >= len(self._seen):
            if not y and self._said:
                return self.strip(Text(f" {safe_line(self._said)}", self._palette.dim), width)
            return self.blank(width)
        row = self._row(self._seen[y])
        text = Text() if row is None else row.text
        if self._seen[y] == self._at:
            return self.cursor_strip(text, width, self._palette, self._glyphs)
        return self.strip(Text.assemble(" ", text), width)

    @property
    def _height(self) -> int:
        return max(self.size.height, 1)

    @property
    def _last(self) -> Position:
        last = len(self._blocks) - 1
        return (last, len(self._rows_of(last)) - 1) if self._blocks else (0, 0)

    def _lay_out(self) -> None:
        view = self._view
        self._blocks = [] if view is None else view.blocks(self._opened)
        self._forget_rows()

    def _forget_rows(self) -> None:
        self._rows.clear()
        self._rows_width = self.size.width
        if self._blocks:
            self._top, self._at = map(self._nearest, (self._top, self._at))
        self._go(self._at)
        self.refresh()

    def _nearest(self, position: Position) -> Position:
        block = min(position[0], len(self._blocks) - 1)
        return block, min(position[1], len(self._rows_of(block)) - 1)

    def _go_near(self, block: Block) -> None:
        """Move the cursor to the block that is another one, or has the place of it."""
        places = block.places
        for number, each in enumerate(self._blocks):
            if _name(each) == _name(block) or (
                places != (None, None) and (each.places == places or _holds(each, places))
            ):
                self.to_block(number)
                return

    def _go(self, to: Position) -> None:
        """Put the cursor somewhere, and move the view no more than it must."""
        before = self._cursor
        self._at = to
        if not self.size or not self._blocks:
            self._seen = []
            return
        top = min(self._top, to)
        # Not by counting all rows between: they may be many.
        self._top = max(top, self._walk(to, 1 - self._height))
        self._see()
        if len(self._seen) < self._height:
            self._top = self._walk(self._last, 1 - self._height)
            self._see()
        self._cursor = self._seen.index(to)
        if self._top != self._drawn:
            self._drawn = self._top
            self.refresh()
        else:
            self.refresh_line(before)
            self.refresh_line(self._cursor)
        self.post_message(self.Moved())

    def _see(self) -> None:
        """Find out which rows are in view."""
        self._seen = [self._top]
        while len(self._seen) < self._height:
            following = self._walk(self._seen[-1], 1)
            if following == self._seen[-1]:
                break
            self._seen.append(following)
        if len(self._rows) > KEPT:
            self._rows = {block: self._rows_of(block) for block, _ in self._seen}

    def _walk(self, begin: Position, lines: int) -> Position:
        """Give the position so many rows further on, or the last one there is that way."""
        if not self._blocks:
            return 0, 0
        block, row = begin[0], begin[1] + lines
        while row < 0 and block > 0:
            block -= 1
            row += len(self._rows_of(block))
        while (size := len(self._rows_of(block))) <= row:
            if block == len(self._blocks) - 1:
                return block, size - 1
            block, row = block + 1, row - size
        return block, max(row, 0)

    def _row(self, position: Position) -> Row | None:
        rows = self._rows_of(position[0])
        return rows[position[1]] if position[1] < len(rows) else None

    def _rows_of(self, place: int) -> list[Row]:
        rows = self._rows.get(place)
        if rows is None:
            rows = self._rows[place] = self._made(self._blocks[place])
        return rows

    def _made(self, block: Block) -> list[Row]:
        view = self._view
        if view is None or not self.size:
            return [Row(Text())]
        width = max(self.size.width - 1, 1)
        layout = Layout(width, view.digits, self._palette, self._glyphs)
        lines = view.lines(block, is_open=_name(block) in self._unfolded)
        laid_out = layout.side_by_side if self._is_side_by_side else layout.unified
        return list(laid_out(lines)) or [Row(Text())]


def _name(block: Block) -> Any:
    """Give what a block is known by as long as one compares the same."""
    return block.change if block.places == (None, None) else block.places


def _holds(block: Block, places: tuple[int | None, int | None]) -> bool:
    """Tell whether a message on one of two places is in an equal stretch."""
    run = block.what
    if not isinstance(run, EqualRun):
        return False
    begins = (run.old_begin, run.new_begin)
    return any(
        place is not None and begin <= place < begin + run.count
        for begin, place in zip(begins, places, strict=True)
    )
