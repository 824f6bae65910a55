"""The dialog: what went wrong and what to do about it."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tt_debugger.core.text import safe_text
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.keys import DIALOG, bindings
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.palette import Glyphs, Palette


class ErrorScreen(ModalScreen[None]):
    """An expected error: its message and its hint."""

    CSS_PATH = "dialog.tcss"
    BINDINGS = bindings(DIALOG)

    def __init__(self, error: TtdbgError, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._error = error
        self._palette = palette
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay out the message in a box."""
        with Vertical(id="box") as box:
            box.border_title = f"{self._glyphs.bad} not done"
            yield Lines(id="said")
            yield BottomBar(DIALOG, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Say it."""
        self.query_one(Lines).update_from(self._lines())
        self.query_one(Lines).focus()

    def _lines(self) -> Iterator[Text]:
        for line in safe_text(self._error.message).split("\n"):
            yield Text(line, self._palette.text)
        if self._error.hint:
            yield Text()
            for line in safe_text(self._error.hint).split("\n"):
                yield Text(line, self._palette.dim)

    def on_bottom_bar_pressed(self) -> None:
        """Close it: that is the only key there is."""
        self.action_close()

    def action_close(self) -> None:
        """Go back."""
        self.dismiss()
