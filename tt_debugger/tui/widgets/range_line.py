"""The range line: below the graph, which part of a path a bisect has still to look at."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.scrub import Column, ScrubIndex, columns_of
from tt_debugger.tui.widgets.scrubber import MARGIN, UNIT, left_of
from tt_debugger.views.judged import SIGNS, STYLES, Judged
from tt_debugger.views.palette import Palette

NAME = "bisect"
"""It has the width of the unit that stands above it."""


class RangeLine(Widget):
    """One line with the columns of the graph; words say which sign is what, where they fit."""

    DEFAULT_CSS = "RangeLine { height: 1; }"
    ALLOW_SELECT = False

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._index: ScrubIndex | None = None
        self._judged: Judged | None = None
        self._is_watching = False

    def update_from(
        self, index: ScrubIndex | None, judged: Judged | None, *, is_watching: bool = False
    ) -> None:
        """Show what is known of the rows of a session; None for nothing.

        Where something is watched, the graph has room at its left for a name.
        """
        is_same = index is self._index and judged is self._judged
        if not is_same or is_watching != self._is_watching:
            self._index, self._judged, self._is_watching = index, judged, is_watching
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        line = self.text(self.size.width)
        return Strip(line.render(self.app.console), line.cell_len).apply_style(self.rich_style)

    def text(self, width: int) -> Text:
        """Give the line in so many cells."""
        line = Text(no_wrap=True, end="")
        index, judged = self._index, self._judged
        if index is not None and judged is not None:
            left = left_of(index, width, is_watching=self._is_watching)
            name = f"{NAME:>{MARGIN + len(UNIT)}} " if left > MARGIN else " " * MARGIN
            line.append(name, self.palette.accent)
            columns = columns_of(index, max(width - left - MARGIN, 0))
            for text, style in _runs(judged, columns):
                line.append(text, getattr(self.palette, style) if style else "")
        line.truncate(width, pad=True)
        return line


def _runs(judged: Judged, columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    """Give the runs of columns of which one thing is known, each with its style."""
    stands = (judged.stand(each.first, each.last) for each in columns)
    runs = [(stand, len([*run])) for stand, run in groupby(stands)]
    # Another branch may stand between two runs of one kind; the word stands in the longer one.
    longest = {stand: size for size, stand in sorted((size, stand or 0) for stand, size in runs)}
    for stand, size in runs:
        if stand is None:
            yield " " * size, ""
            continue
        word = f" {judged.word(stand)} " if size == longest.get(stand) else ""
        if word:
            del longest[stand]
        yield _filled(SIGNS[stand], word, size), STYLES[stand]


def _filled(sign: str, word: str, size: int) -> str:
    """Give so many signs with a word in the middle, where there is room for both."""
    return f"{word:{sign}^{size}}" if word and len(word) + 2 <= size else sign * size
