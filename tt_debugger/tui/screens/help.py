"""Help: every key of a screen, out of the one key table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tt_debugger.tui.keys import HELP, Key, bindings
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.legend import legend_lines
from tt_debugger.views.palette import Glyphs, Palette

_KEYS_WIDTH = 16


class HelpScreen(ModalScreen[None]):
    """All keys, by what they are for."""

    CSS_PATH = "help.tcss"
    BINDINGS = bindings(HELP)

    def __init__(self, keys: Sequence[Key], palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._keys = keys
        self._palette = palette
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay out the keys in a box."""
        with Vertical(id="box"):
            yield Lines(id="keys")
            yield BottomBar(HELP, self._palette)

    def on_mount(self) -> None:
        """Fill the box."""
        self.query_one(Lines).update_from(self._lines())
        self.query_one(Lines).focus()

    def _lines(self) -> Iterator[Text]:
        group = ""
        for key in self._keys:
            if key.group != group:
                if group:
                    yield Text()
                group = key.group
                yield Text(group, self._palette.accent)
            yield Text.assemble(
                (f"  {key.shown:<{_KEYS_WIDTH}}", self._palette.label), (key.title, "")
            )
        yield Text()
        yield Text("Signs", self._palette.accent)
        yield from legend_lines(self._palette, self._glyphs)
        yield Text()
        yield Text("To select text with the mouse, hold Shift.", self._palette.dim)

    def action_scroll(self, lines: int) -> None:
        """Scroll the keys."""
        self.query_one(Lines).scroll_relative(y=lines, animate=False)

    def action_close(self) -> None:
        """Go back."""
        self.dismiss()
