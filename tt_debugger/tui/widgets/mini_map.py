"""The mini-map: where in a conversation the changes are, and which part of it is in view."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip

from tt_debugger.tui.widgets.lines import LinePane
from tt_debugger.views.compare import Block
from tt_debugger.views.compare_text import sign_style
from tt_debugger.views.palette import Glyphs, Palette


class MiniMap(LinePane):
    """A column as long as the conversation, which shows the signs of what differs."""

    DEFAULT_CSS = """
    MiniMap { width: 2; height: 1fr; overflow-y: hidden; scrollbar-size-vertical: 0; }
    """

    class Chosen(Message):
        """A place was clicked; the block that is there."""

        def __init__(self, block: int) -> None:
            super().__init__()
            self.block = block

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._blocks: Sequence[Block] = ()
        self._begins: list[int] = [0]
        self._view = (0, 0)
        self._cells: list[str] = []

    def update_from(self, blocks: Sequence[Block], view: tuple[int, int]) -> None:
        """Show where blocks differ, and those between two as in view."""
        if blocks is not self._blocks:
            self._blocks = blocks
            self._begins = list(accumulate((block.size for block in blocks), initial=0))
            self._cells = []
        elif view == self._view:
            return
        self._view = view
        self.refresh()

    def on_resize(self) -> None:
        """Draw anew in another height."""
        self._cells = []

    def block_at(self, y: int) -> int | None:
        """Give the block that a cell shows: the first that differs there, else the first."""
        if not self._blocks or y >= self.size.height:
            return None
        first, last = (self._block_of(each) for each in (y, y + 1))
        near = range(first, max(last, first + 1))
        return next((each for each in near if self._blocks[each].change is not None), first)

    def on_click(self, event: events.Click) -> None:
        """Tell what was clicked."""
        block = self.block_at(event.y)
        if block is not None:
            self.post_message(self.Chosen(block))

    def render_line(self, y: int) -> Strip:
        """Draw one cell: whether it is in view, then what differs there."""
        palette, glyphs = self._palette, self._glyphs
        if not self._blocks:
            return self.blank(self.size.width)
        if not self._cells:
            self._cells = self._signs()
        first, last = self._view
        is_seen = self._cells_of(first)[0] <= y <= self._cells_of(last)[-1]
        sign = self._cells[y] if y < len(self._cells) else " "
        line = Text()
        line.append(glyphs.cursor if is_seen else " ", palette.accent)
        line.append(glyphs.bar if sign == " " else sign, sign_style(sign, palette))
        return self.strip(line, self.size.width)

    @property
    def _total(self) -> int:
        return max(self._begins[-1], 1)

    def _cells_of(self, block: int) -> range:
        """Give the cells that a block covers, at least one."""
        height, total = self.size.height, self._total
        first = min(self._begins[block] * height // total, height - 1)
        last = (self._begins[block + 1] * height - 1) // total
        return range(first, max(last, first) + 1)

    def _block_of(self, y: int) -> int:
        place = -(-y * self._total // max(self.size.height, 1))
        return min(bisect_right(self._begins, place) - 1, len(self._blocks) - 1)

    def _signs(self) -> list[str]:
        """Give the sign of each cell: that of what differs there, `~` for several things."""
        signs = [" "] * self.size.height
        for number, block in enumerate(self._blocks):
            if block.change is None:
                continue
            for cell in self._cells_of(number):
                signs[cell] = block.sign if signs[cell] in {" ", block.sign} else "~"
        return signs
