"""What came of a fork: where it is, and the command with which its agent goes on."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

import enum

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tt_debugger.core.fork.plan import Forked
from tt_debugger.tui.copying import resuming
from tt_debugger.tui.keys import FORKED, bindings
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.fork import forked_lines
from tt_debugger.views.palette import Glyphs, Palette


class Next(enum.Enum):
    """What one wants to do with a fork."""

    OPEN = enum.auto()
    UNDO = enum.auto()


class ForkedScreen(ModalScreen[Next | None]):
    """Tells of a fork that was written; gives what to do next, None to go back."""

    CSS_PATH = "forked.tcss"
    BINDINGS = bindings(FORKED)

    def __init__(self, forked: Forked, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._forked = forked
        self._palette = palette
        self._glyphs = glyphs

    def compose(self) -> ComposeResult:
        """Lay out what is told in a box."""
        with Vertical(id="box") as box:
            box.border_title = f"{self._glyphs.good} the fork is written"
            yield Lines(id="told")
            yield BottomBar(FORKED, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Tell it."""
        told = self.query_one(Lines)
        told.update_from(forked_lines(self._forked, self._palette))
        told.focus()

    def on_bottom_bar_pressed(self, message: BottomBar.Pressed) -> None:
        """Do what the key that was clicked does."""
        self.call_later(self.run_action, message.action)

    def action_copy(self) -> None:
        """Copy the command."""
        copy = resuming(self._forked.resume_command)
        self.app.copy_to_clipboard(copy.text)
        self.query_one(BottomBar).say(copy.said)

    def action_open(self) -> None:
        """Open the fork."""
        self.dismiss(Next.OPEN)

    def action_undo(self) -> None:
        """Go where it can be undone."""
        self.dismiss(Next.UNDO)

    def action_close(self) -> None:
        """Go back to the original."""
        self.dismiss(None)
