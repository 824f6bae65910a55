"""The Statistics screen: what branches, tools and models took, how it grew, and loops."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text
from textual.app import ComposeResult
from textual.screen import Screen

from tt_debugger.core.model import Session
from tt_debugger.tui.keys import STATS, bindings
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.tallier import Reading, Tallied, Tallier, TallyFailed
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.stat_lines import StatLines
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.stats import StatLine

BESIDE = 2
"""Cells of a line that the cursor and the scrollbar have."""


class StatsScreen(KeyedScreen[int | None]):
    """Shows the statistics of a session; gives the row to go to when it is left for one."""

    CSS_PATH = "stats.tcss"
    KEYS = STATS
    BINDINGS = bindings(STATS, types=False)
    BLANK = True

    def __init__(
        self,
        session: Session,
        tallier: Callable[[Screen[Any], Palette, Glyphs], Tallier],
        palette: Palette,
        glyphs: Glyphs,
    ) -> None:
        super().__init__(palette, glyphs)
        self._tallier = tallier(self, palette, glyphs)
        self._about = session.format or "", session.title or session.id
        self._width = 0
        """The width for which lines are wanted."""
        self._is_whole = False

    def compose(self) -> ComposeResult:
        """Lay out the lines between the bars."""
        yield TopBar(self._palette)
        yield StatLines(self._palette, self._glyphs)
        yield BottomBar(STATS, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Say that it is being read."""
        self.lines.focus()
        self.lines.update_from([StatLine(Text("reading", self._palette.dim))])
        self._tell("reading")

    def on_resize(self) -> None:
        """Ask for lines of another width."""
        width = max(self.size.width - BESIDE, 1)
        if width != self._width:
            self._width, self._is_whole = width, False
            self._tallier.tell(width)

    def on_unmount(self) -> None:
        """Read no further."""
        self.stop()

    def stop(self) -> None:
        """Begin nothing more."""
        self._tallier.stop()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return self._is_whole

    @property
    def lines(self) -> StatLines:
        """The lines."""
        return self.query_one(StatLines)

    def _tell(self, place: str) -> None:
        self.query_one(TopBar).update_from(self._about, f"{place} ")

    def on_tallied(self, message: Tallied) -> None:
        """Show the lines, unless another width is wanted by now."""
        if message.width != self._width:
            return
        self.lines.update_from(message.lines)
        self._is_whole = message.is_whole
        if message.is_whole:
            self._tell("statistics")

    def on_reading(self, message: Reading) -> None:
        """Tell how much is read."""
        if not self._is_whole:
            self._tell(f"reading {message.percent} %")

    def on_tally_failed(self, message: TallyFailed) -> None:
        """Say why there is nothing to be shown, and go back."""
        self._is_whole = True
        error = ErrorScreen(message.error, self._palette, self._glyphs)
        self.dismiss(None)
        self.app.push_screen(error)

    def on_stat_lines_taken(self) -> None:
        """Go where the line that was clicked leads."""
        self.action_open()

    # Keys

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self.lines.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Move by the height of the screen."""
        self.lines.move_by(pages * max(self.lines.size.height - 1, 1))

    def action_first(self) -> None:
        """Go to the first line."""
        self.lines.to_start()

    def action_last(self) -> None:
        """Go to the last line."""
        self.lines.to_end()

    def action_open(self) -> None:
        """Go to the leaf of the branch under the cursor, or where a tool or a loop leads."""
        chosen = self.lines.chosen
        if chosen is None or chosen.row is None:
            self.query_one(BottomBar).say("only branches, tools and loops lead to a row")
        else:
            self.dismiss(chosen.row)

    def action_quit(self) -> None:
        """Go back to the session."""
        self.dismiss(None)
