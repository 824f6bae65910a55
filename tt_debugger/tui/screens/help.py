"""Help: every key of a screen, out of the one key table, and what the signs mean."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, zip_longest

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tt_debugger.tui.keys import HELP, Key, bindings
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.legend import legend_lines
from tt_debugger.views.palette import Glyphs, Palette

_KEYS_WIDTH = 17
_COLUMN = 74
"""Cells of one column; two of them stand side by side where there is room."""


class HelpScreen(ModalScreen[None]):
    """All keys, by what they are for."""

    CSS_PATH = "help.tcss"
    BINDINGS = bindings(HELP)

    def __init__(
        self, keys: Sequence[Key], palette: Palette, glyphs: Glyphs, off: Collection[str] = ()
    ) -> None:
        super().__init__()
        self._keys = keys
        self._off = off
        """The actions that cannot be done here."""
        self._palette = palette
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay out the keys in a box."""
        with Vertical(id="box") as box:
            box.border_title = "keys and signs"
            yield Lines(id="keys")
            yield BottomBar(HELP, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Fill the box."""
        self._lines.focus()

    def on_resize(self) -> None:
        """Put the parts in two columns of about the same height, or one below the other."""
        parts = [list(self._note_lines()), *self._key_parts(), list(self._sign_lines())]
        if self.size.width < 2 * _COLUMN + 6:
            self._lines.update_from(_joined(parts))
            return
        splits = [(_joined(parts[:n]), _joined(parts[n:])) for n in range(len(parts) + 1)]
        self._lines.update_from(self._beside(*min(splits, key=lambda two: max(map(len, two)))))

    @property
    def _lines(self) -> Lines:
        return self.query_one("#keys", Lines)

    def _beside(self, left: list[Text], right: list[Text]) -> Iterator[Text]:
        """Give the lines in two columns."""
        for one, other in zip_longest(left, right, fillvalue=Text()):
            line = Text.assemble(one)
            line.truncate(_COLUMN, pad=True)
            yield Text.assemble(line, other)

    def _key_parts(self) -> Iterator[list[Text]]:
        """Give the keys of each group below its name."""
        for group, keys in groupby(self._keys, lambda key: key.group):
            yield [
                Text(group, self._palette.accent),
                *map(self._key_line, keys),
            ]

    def _key_line(self, key: Key) -> Text:
        is_off, palette = key.action in self._off, self._palette
        return Text.assemble(
            (f"  {key.shown:<{_KEYS_WIDTH}}", palette.dim if is_off else palette.label),
            (key.told(is_off=is_off), palette.dim if is_off else palette.text),
        )

    def _note_lines(self) -> Iterator[Text]:
        yield Text("Good to know", self._palette.accent)
        for line in (
            "One row is one checkpoint; its number is what row= in a ref means.",
            "The active path stands in the leftmost lane. Branches that were left",
            "fold to a line; l or a click opens it. Times are in UTC.",
            "To select text with the mouse, hold Shift.",
        ):
            yield Text(f"  {line}", self._palette.text)

    def _sign_lines(self) -> Iterator[Text]:
        yield Text("Signs", self._palette.accent)
        yield from legend_lines(self._palette, self._glyphs)

    def on_bottom_bar_pressed(self) -> None:
        """Close it: that is the only key in the bar."""
        self.action_close()

    def action_scroll(self, lines: int) -> None:
        """Scroll the keys."""
        self._lines.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Scroll by the height of the box."""
        self._lines.move_by(pages * max(self._lines.size.height - 1, 1))

    def action_close(self) -> None:
        """Go back."""
        self.dismiss()


def _joined(parts: Sequence[list[Text]]) -> list[Text]:
    """Give parts one below the other, an empty line between them."""
    lines = [line for part in parts for line in (Text(), *part)]
    return lines[1:]
