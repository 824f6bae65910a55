"""The margin of lines that are about checkpoints: which one it is, before what is told of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Self

import msgspec
from rich.cells import cell_len, set_cell_size
from rich.text import Text

from tt_debugger.core.model import Session
from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import NAME_WIDTH, RowView, clock_text
from tt_debugger.views.values import cut, cut_left

LONGEST_NAME = 12
"""Cells of a name on a terminal: of a longer one its two ends are told, beside the number."""
_TIME_FROM = 64
"""Columns from which there is room for the time."""


class Margin(msgspec.Struct, frozen=True):
    """What a checkpoint is called, its number, its time, and who it is, in columns.

    `name` gives what a row is called, as a safe line that fits.
    """

    session: Session
    name: Callable[[int], str]
    view: RowView
    name_width: int
    has_time: bool

    @classmethod
    def of(
        cls,
        session: Session,
        name: Callable[[int], str],
        rows: Iterable[int],
        palette: Palette,
        glyphs: Glyphs,
        width: int | None,
    ) -> Self:
        """Give the margin of lines of so many columns in which some rows fit.

        Without a width names are whole, so that they can be given to another command.
        """
        rows, time = list(rows), session.heads.time

        def shown(row: int) -> str:
            whole = safe_line(name(row))
            return whole if width is None else _ends(whole, glyphs)

        return cls(
            session,
            shown,
            RowView(palette, glyphs, len(str(len(session)))),
            max((cell_len(shown(row)) for row in rows), default=0),
            (width is None or width >= _TIME_FROM) and any(time(row) is not None for row in rows),
        )

    @property
    def width(self) -> int:
        """Where begins what is told."""
        time = len("00:00:00 ") if self.has_time else 0
        return self.name_width + 1 + self.view.number_width + 1 + time + 2 + NAME_WIDTH + 1

    def text(self, row: int) -> Text:
        """Give the margin of a line, at least as wide as it is."""
        head, view = self.session.heads[row], self.view
        palette, name = view.palette, self.name(row)
        line = Text(no_wrap=True).append(name, palette.label)
        line.append(" " * (self.name_width - cell_len(name) + 1))
        line.append(f"{row + 1:>{view.number_width}} ", palette.dim)
        if self.has_time:
            time = "" if head.time is None else clock_text(head.time)
            line.append(f"{time:<8} ", palette.dim)
        line.append(f"{view.glyph(head)} ", view.glyph_style(head))
        line.append(cut(safe_line(head.name), NAME_WIDTH, view.glyphs), view.name_style(head))
        return line.append(" " * max(self.width - line.cell_len, 1))


def _ends(name: str, glyphs: Glyphs) -> str:
    """Give a name, of a long one how it begins and ends."""
    if cell_len(name) <= LONGEST_NAME:
        return name
    begin = LONGEST_NAME // 2 - 1
    return set_cell_size(name, begin) + cut_left(name, LONGEST_NAME - begin, glyphs)
