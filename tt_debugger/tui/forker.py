"""The forker: drafts forks in threads as one types, writes them, and posts what came of it.

An answer carries the number of its question, so that the screen drops one it no longer wants.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from functools import partial
from pathlib import Path
from threading import Event, Lock
from typing import Any

import msgspec
from textual.message import Message
from textual.screen import Screen

from tt_debugger.core.fork.plan import Forked
from tt_debugger.core.model import Role, Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UnsupportedError, UsageError, outside_errors
from tt_debugger.forking import Drafted, Standing, Wish, composed, drafted, forked, standing
from tt_debugger.forking.put import messages_at
from tt_debugger.tui.edit_texts import Ground, Way, edits_of, ground_of

PAUSE = 0.25
"""Seconds after the last key before what was typed is drafted."""
LARGEST_READ_BACK = 4 << 20
"""Bytes of a session up to which each draft is read back while one types."""


class Wanted(msgspec.Struct, frozen=True):
    """A fork as it is asked for: the number of the question, the text typed, and wishes.

    `agent` is the format of another agent that is to go on, None for the session's own.
    """

    number: int
    ground: Ground
    way: Way
    text: str
    wish: Wish
    agent: str | None = None


class Grounded(Message):
    """It is known what a fork of the checkpoint can be made of."""

    def __init__(self, ground: Ground) -> None:
        super().__init__()
        self.ground = ground


class GroundFailed(Message):
    """The checkpoint cannot be forked."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class DraftMade(Message):
    """A fork is drafted, and was read back if that could be done; or that `is_for_later`."""

    def __init__(self, number: int, drafted: Drafted, *, is_for_later: bool) -> None:
        super().__init__()
        self.number = number
        self.drafted = drafted
        self.is_for_later = is_for_later


class DraftFailed(Message):
    """A fork cannot be made like this."""

    def __init__(self, number: int, error: TtdbgError) -> None:
        super().__init__()
        self.number = number
        self.error = error


class ForkWritten(Message):
    """A fork is written."""

    def __init__(self, forked: Forked) -> None:
        super().__init__()
        self.forked = forked


class ForkFailed(Message):
    """A fork was not written; nothing of it is left."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class Forker:
    """Forks what stands in an open session."""

    def __init__(self, screen: Screen[Any], debugger: Debugger) -> None:
        self._screen = screen
        self._debugger = debugger
        self._taking = Lock()
        self._next: Wanted | None = None
        self._due = 0.0
        self._is_drafting = False
        self._is_left = Event()

    @property
    def session(self) -> Session:
        """The session that is forked."""
        return self._debugger.session

    @property
    def location(self) -> str:
        """Where it is."""
        return self._debugger.location

    def stand(self, row: int) -> None:
        """Begin to look what a fork at a row can be made of."""
        self._begin("ground", self._stand, row)

    def draft(self, wanted: Wanted) -> None:
        """Draft a fork once nobody has typed for a while; what was asked before is dropped.

        One at a time: what is being drafted cannot be stopped, and may take a while.
        """
        with self._taking:
            self._next, self._due = wanted, time.monotonic() + PAUSE
            is_first, self._is_drafting = not self._is_drafting, True
        if is_first:
            self._begin("draft", self._draft)

    def write(self, drafted: Drafted) -> None:
        """Begin to write a draft."""
        self._begin("write", self._write, drafted)

    def stop(self) -> None:
        """Begin nothing more: the screen is being left."""
        self._is_left.set()

    def _begin(self, group: str, work: Callable[..., None], *arguments: object) -> None:
        self._screen.run_worker(partial(work, *arguments), thread=True, group=group)

    def _stand(self, row: int) -> None:
        debugger = self._debugger
        try:
            with self._outside():
                at = standing(debugger, row)
                before = self._before(row)
                messages = messages_at(debugger, at)
                ground = ground_of(at, before, messages, can_say=self._can_say(at))
        except TtdbgError as error:
            self._screen.post_message(GroundFailed(error))
        else:
            self._screen.post_message(Grounded(ground))

    def _before(self, row: int) -> Standing | None:
        """Give where a message goes on from that takes the place of the user's own at a row."""
        session = self._debugger.session
        parent = session.parents[row]
        if session.heads[row].role is Role.USER and parent != NO_ROW:
            with suppress(UsageError, UnsupportedError):
                at = standing(self._debugger, parent)
                # Below the message it would be said after it.
                return at if at.row in session.tree.ancestors(parent) else None
        return None

    def _can_say(self, at: Standing) -> bool:
        try:
            _ = self._debugger.message(at.state, "", 0)
        except (UnsupportedError, UsageError):
            return False
        return True

    def _draft(self) -> None:
        while not self._is_left.is_set():
            with self._taking:
                wanted, wait = self._next, self._due - time.monotonic()
                if wanted is None:
                    self._is_drafting = False
                    return
                if wait <= 0:
                    self._next = None
            if wait > 0:
                time.sleep(wait)
                continue
            answer = self._answer(wanted)
            if not self._is_left.is_set():
                self._screen.post_message(answer)

    def _answer(self, wanted: Wanted) -> DraftMade | DraftFailed:
        debugger = self._debugger
        try:
            with self._outside():
                at, edits = edits_of(
                    wanted.ground, wanted.way, wanted.text, debugger.message, time.time()
                )
                rehearses = self._size() <= LARGEST_READ_BACK
                wish = wanted.wish
                if wanted.agent is None:
                    made = drafted(debugger, at, edits, wish, rehearses=rehearses)
                else:
                    self._require_whole(at)
                    made = composed(debugger, at, wanted.agent, edits, wish, rehearses=rehearses)
                return DraftMade(wanted.number, made, is_for_later=not rehearses)
        except TtdbgError as error:
            return DraftFailed(wanted.number, error)

    def _size(self) -> int:
        """Give the bytes of the session, as far as it is a file."""
        try:
            return Path(self.location).stat().st_size
        except OSError:
            return 0

    def _require_whole(self, at: Standing) -> None:
        """Let pass only where no call lacks its result: another agent could not go on there."""
        whole = standing(self._debugger, at.asked, for_another_agent=True)
        if whole.row != at.row:
            raise UsageError(
                "a tool call has no result here, and another agent needs it",
                f"fork from row {whole.row + 1}",
            )

    def _write(self, drafted: Drafted) -> None:
        try:
            with self._outside():
                done = forked(drafted)
        except TtdbgError as error:
            self._screen.post_message(ForkFailed(error))
        else:
            self._screen.post_message(ForkWritten(done))

    def _outside(self) -> AbstractContextManager[None]:
        return outside_errors(self._debugger.session.format or "blank")
