"""Who wrote what on the Timeline: the gutter of the state, and the way to a writer."""

from __future__ import annotations

from collections.abc import Sequence

from tt_debugger.core.blame import Blamed
from tt_debugger.core.first_said import FirstSaid, Sought
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path
from tt_debugger.core.text import counted
from tt_debugger.tui.blamer import (
    GO,
    ORIGIN,
    SEEN,
    SEEN_BESIDE,
    Asked,
    BlameFailed,
    Blamer,
    Blames,
    OriginFound,
)
from tt_debugger.tui.loader import Opened, Regrown
from tt_debugger.tui.screens.watched import WatchedScreen
from tt_debugger.tui.widgets.inspector import Inspector
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.blame import origin_words, why_words

MOST_UNASKED = 20_000
"""Rows of the longest session that is walked for the gutter before anybody asks for it."""


class BlamedScreen(WatchedScreen):
    """The panes with a gutter in the state: the row that last wrote each line."""

    _blamer: Blamer | None = None
    _has_gutter: bool | None = None
    """Whether the gutter is wanted; None while nobody said so."""

    def on_opened(self, message: Opened) -> None:
        """Take up who tells of the session."""
        self._blamer = self.loader.blamer()

    def _grow(self, message: Regrown) -> None:
        for inspector in self.inspectors:
            inspector.state_tree.forget_writers()
        super()._grow(message)

    # The gutter

    @property
    def _draws_gutter(self) -> bool:
        if self._has_gutter is None:
            return self._session is not None and len(self._session) <= MOST_UNASKED
        return self._has_gutter

    def on_state_tree_viewed(self, message: StateTree.Viewed) -> None:
        """Ask who wrote the lines that are seen now."""
        for inspector in self.inspectors:
            if inspector.state_tree is message.tree:
                self._ask_for_gutter(inspector)

    def _ask_for_gutter(self, inspector: Inspector) -> None:
        shown, paths = inspector.shown, inspector.state_tree.unwritten
        if isinstance(shown, Inspection) and paths and self._draws_gutter:
            kind = SEEN if inspector is self.inspector else SEEN_BESIDE
            self._ask(shown.session, shown.row, paths, kind)

    def _ask(self, session: Session, row: int, paths: tuple[Path, ...], kind: str) -> None:
        if self._blamer is not None:
            self._blamer.ask(Asked(session, row, paths, kind))

    def on_blames(self, message: Blames) -> None:
        """Draw who wrote the lines, or go there if that was asked for."""
        asked = message.asked
        if asked.kind == GO:
            self._go_to_writer(asked, message.found)
            return
        for inspector in self.inspectors:
            shown = inspector.shown
            if not (isinstance(shown, Inspection) and self._draws_gutter):
                continue
            if (shown.row, shown.session) == (asked.row, asked.session):
                width = len(str(len(asked.session)))
                inspector.state_tree.tell_writers(message.writers, asked.row, width)

    def on_blame_failed(self, message: BlameFailed) -> None:
        """Say why it is not known who wrote something, where somebody waits for that."""
        if message.asked.kind in (GO, ORIGIN):
            self.say(message.error.message, is_error=True)

    def action_gutter(self) -> None:
        """Draw who wrote each line of the state, or no longer."""
        self._has_gutter = not self._draws_gutter
        if self._has_gutter:
            self.say("the state tells which row last wrote each line; i: no longer")
        else:
            self.say("the state does not tell any more who wrote it; i: again")
        for inspector in self.inspectors:
            inspector.state_tree.forget_writers()
            self._ask_for_gutter(inspector)

    # The way to a writer

    def action_blame(self) -> None:
        """Go to the checkpoint that last wrote the value under the cursor."""
        self._ask_of_cursor(GO)

    def action_origin(self) -> None:
        """Go to the checkpoint that first said the text under the cursor."""
        if self._ask_of_cursor(ORIGIN):
            self.say("looking for where this was first said", stays=True)

    def _ask_of_cursor(self, kind: str) -> bool:
        inspector = self.inspector_in_use
        shown, path = inspector.shown, inspector.state_tree.cursor_path
        if inspector.tab != "state" or path is None or not isinstance(shown, Inspection):
            self.say("first choose a value of the state: 3, then Tab")
            return False
        self._ask(shown.session, shown.row, (path,), kind)
        return True

    def _go_to_writer(self, asked: Asked, found: Sequence[Blamed]) -> None:
        session = self._session
        if session is None or session is not asked.session or asked.row != self._row or not found:
            return
        blamed = found[0]
        words = why_words(blamed, session, lambda row: f"row {row + 1}")
        row = blamed.row
        if row == asked.row and blamed.said is not None:
            # It is here that it was put anew, so one goes on to whoever said it.
            row = blamed.said
        if row == asked.row:
            self.say("; ".join(filter(None, ("it was written here", words))))
        else:
            note = self.go_to(row)
            said = f"row {row + 1} wrote it last" if row == blamed.row else "said first here"
            self.say("; ".join(filter(None, (said, words, note))))

    def on_origin_found(self, message: OriginFound) -> None:
        """Go to where the longest text of those that were asked for was first said."""
        asked = message.asked
        if self._session is not asked.session or asked.row != self._row:
            return
        told = [(sought, said) for sought, said in message.told if said is not None]
        if told:
            sought, said = max(told, key=lambda each: (each[1].is_whole, len(each[1].text)))
            note = self.go_to(said.row)
            match = f"{origin_words(sought, said)} (a match, no proof)"
            words = f"row {said.row + 1} said it first: {match}"
            self.say("; ".join(filter(None, (words, note))))
        else:
            self.say(_nowhere(message.told))


def _nowhere(told: Sequence[tuple[Sought, FirstSaid | None]]) -> str:
    if not told:
        return "there is no text here"
    telling = [sought for sought, _ in told if sought.is_telling]
    if len(told) == 1 or not telling:
        return origin_words(told[0][0], None)
    return f"none of {counted(len(telling), 'text')} was said before on this branch"
