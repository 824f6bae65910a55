"""The gutter of a state: beside each line the number of the row that last wrote it."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.text import Text

from tt_debugger.core.paths import Path
from tt_debugger.views.palette import Palette
from tt_debugger.views.state import StateRow

NARROWEST = 44
"""Columns of a state beside which there is room for a gutter."""
HERE = "*"
"""What marks a line that the row which is shown wrote itself."""


class Gutter(msgspec.Struct, frozen=True):
    """The rows that wrote what is seen, as far as that is known.

    It takes no room until something is known, and keeps its room from then on.
    """

    palette: Palette
    writers: Mapping[Path, int] = msgspec.field(default_factory=dict[Path, int])
    here: int = 0
    """The row whose state it is."""
    width: int = 0
    """Digits of a number, 0 as long as nothing is known."""

    def told(self, writers: Mapping[Path, int], here: int, width: int) -> Gutter:
        """Give the gutter with more that is known."""
        known = {**self.writers, **writers} if here == self.here else writers
        return Gutter(self.palette, known, here, width)

    def cleared(self) -> Gutter:
        """Give the gutter of another state, of which nothing is known yet."""
        return Gutter(self.palette, {}, self.here, self.width)

    def cells(self, room: int) -> int:
        """Give the columns that it takes of so many."""
        return self.width + 2 if self.width and room >= NARROWEST else 0

    def text(self, row: StateRow, room: int) -> Text:
        """Give what stands beside a line; beside the lines of an open text nothing does."""
        cells = self.cells(room)
        writer = self.writers.get(row.path)
        if not cells or writer is None or row.line is not None:
            return Text(" " * cells, end="")
        is_here = writer == self.here
        number = f"{writer + 1:>{self.width}}{HERE if is_here else ' '} "
        return Text(number, self.palette.accent if is_here else self.palette.dim, end="")
