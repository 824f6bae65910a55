"""The blamer: looks up in a thread who wrote what is seen of a state, and posts what it found.

The first question of a session takes a walk over it. Meanwhile only the newest question of each
kind waits: whoever scrolls on does not want the lines that were seen before any more.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# Textual leaves the type parameters of `Screen` and `Worker` open.
from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from threading import Lock
from typing import Any

import msgspec
from textual.message import Message
from textual.screen import Screen

from tt_debugger.core.blame import Blamed
from tt_debugger.core.first_said import FirstSaid, Sought
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.sparing import sparingly


class Asked(msgspec.Struct, frozen=True):
    """That it is wanted who wrote places of the state at a row; `kind` tells what for.

    A question of a kind takes the place of one that still waits.
    """

    session: Session
    row: int
    paths: tuple[Path, ...]
    kind: str


GO, ORIGIN = "go", "origin"
"""What somebody waits for: the writer to go to, and where a text comes from."""
SEEN, SEEN_BESIDE = "seen", "seen beside"
"""What is only drawn: the lines in view in the first inspector, and in the second one."""
_FIRST = (GO, ORIGIN, SEEN, SEEN_BESIDE)


class Blames(Message):
    """Who wrote some places of a state."""

    def __init__(self, asked: Asked, found: Sequence[Blamed]) -> None:
        super().__init__()
        self.asked = asked
        self.found = found

    @property
    def writers(self) -> Mapping[Path, int]:
        """The row that wrote each place."""
        return {each.path: each.row for each in self.found}


class OriginFound(Message):
    """Where the texts of a place were first said."""

    def __init__(self, asked: Asked, told: Sequence[tuple[Sought, FirstSaid | None]]) -> None:
        super().__init__()
        self.asked = asked
        self.told = told


class BlameFailed(Message):
    """It cannot be told who wrote a place."""

    def __init__(self, asked: Asked, error: TtdbgError) -> None:
        super().__init__()
        self.asked = asked
        self.error = error


class Blamer:
    """Answers one question after the other, for a screen."""

    def __init__(self, screen: Screen[Any], debugger: Debugger) -> None:
        self._screen = screen
        self._debugger = debugger
        self._lock = Lock()
        self._waiting: dict[str, Asked] = {}
        self._is_at_work = False

    def ask(self, asked: Asked) -> None:
        """Look something up, in place of what of its kind was not looked up yet."""
        with self._lock:
            self._waiting[asked.kind] = asked
            begins, self._is_at_work = not self._is_at_work, True
        if begins:
            self._screen.run_worker(sparingly(self._work), thread=True, group="blame")

    def _work(self) -> None:
        while (asked := self._taken()) is not None:
            if asked.session is not self._debugger.session:
                continue
            try:
                self._screen.post_message(self._answer(asked))
            except TtdbgError as error:
                if asked.session is self._debugger.session:
                    self._screen.post_message(BlameFailed(asked, error))

    def _taken(self) -> Asked | None:
        with self._lock:
            kind = min(self._waiting, default=None, key=_FIRST.index)
            self._is_at_work = kind is not None
            return None if kind is None else self._waiting.pop(kind)

    def _answer(self, asked: Asked) -> Message:
        if asked.kind != ORIGIN:
            return Blames(asked, self._debugger.blame(asked.row, asked.paths))
        told = [each for path in asked.paths for each in self._first_said(asked.row, path)]
        return OriginFound(asked, told)

    def _first_said(self, row: int, path: Path) -> Iterable[tuple[Sought, FirstSaid | None]]:
        try:
            return self._debugger.first_said(row, path)
        except KeyError:
            # The session has become another one meanwhile.
            return ()
