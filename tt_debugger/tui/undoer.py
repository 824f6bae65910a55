"""The undoer: reads in threads which forks were made, and takes them back."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from urllib.parse import unquote

from textual.message import Message
from textual.screen import Screen

from tt_debugger.core.fork.made import Made
from tt_debugger.core.refs import parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UsageError, outside_errors
from tt_debugger.storage.operations import Operations


class OperationsRead(Message):
    """All forks that ttdbg made are known, the newest first.

    `damaged` lines of the operation log cannot be read.
    """

    def __init__(self, made: Sequence[Made], damaged: int) -> None:
        super().__init__()
        self.made = made
        self.damaged = damaged


class Undone(Message):
    """A fork was taken back; it is said what is not there any more."""

    def __init__(self, what_went: str) -> None:
        super().__init__()
        self.what_went = what_went


class UndoFailed(Message):
    """A fork was not taken back, or what was made cannot be read."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class Undoer:
    """Lists forks for a screen and takes them back."""

    def __init__(self, screen: Screen[Any]) -> None:
        self._screen = screen

    def read(self) -> None:
        """Begin to read which forks were made."""
        self._screen.run_worker(self._read, thread=True, group="operations", exclusive=True)

    def undo(self, made: Made) -> None:
        """Begin to take a fork back."""
        self._screen.run_worker(partial(self._undo, made), thread=True, group="undo")

    def _read(self) -> None:
        from tt_debugger.forking.made import made_of

        operations = Operations()
        try:
            made = [made_of(each) for each in operations.all()]
        except TtdbgError as error:
            self._screen.post_message(UndoFailed(error))
            return
        newest_first = sorted(made, key=lambda each: each.operation.time, reverse=True)
        self._screen.post_message(OperationsRead(newest_first, operations.damaged))

    def _undo(self, made: Made) -> None:
        from tt_debugger.forking import undo, what_went

        own = made.operation.id
        try:
            with outside_errors("operation log"):
                operation = next((each for each in Operations().all() if each.id == own), None)
                if operation is None:
                    raise UsageError(f"{own} is not known any more")
                undo(operation)
        except TtdbgError as error:
            self._screen.post_message(UndoFailed(error))
        else:
            self._screen.post_message(Undone(what_went(operation)))


def forks_of(debugger: Debugger) -> Mapping[str, Sequence[Made]]:
    """Give the forks made of a session that are still there, by the checkpoint they begin at."""
    operations = Operations().of_origin(debugger.location)
    if not operations:
        return {}
    # It is asked of each session that is opened, and few have any.
    from tt_debugger.forking.made import made_of

    found: defaultdict[str, list[Made]] = defaultdict(list)
    for operation in operations:
        try:
            origin = parse_fragment(operation.origin.rpartition("#")[2])
        except UsageError:
            continue
        session = origin.session and unquote(origin.session)
        if origin.points and session in {None, debugger.session.id}:
            made = made_of(operation)
            if made.state.is_there:
                found[unquote(origin.points[0].value)].append(made)
    return found
