"""The undoer: reads in threads which forks were made, and takes them back."""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from textual.message import Message
from textual.screen import Screen

from tt_debugger.core.fork.writes import FileWritten, LinesWritten, Written
from tt_debugger.core.refs import parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UsageError, outside_errors
from tt_debugger.storage.operations import Operation, Operations
from tt_debugger.views.fork import Made

DONE = "done"
"""The state of a fork that can be undone, as far as it is known."""


class OperationsRead(Message):
    """All forks that ttdbg made are known, the newest first."""

    def __init__(self, made: Sequence[Made]) -> None:
        super().__init__()
        self.made = made


class Undone(Message):
    """A fork was taken back."""

    def __init__(self, made: Made) -> None:
        super().__init__()
        self.made = made


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
        try:
            made = [made_of(each) for each in Operations().all()]
        except TtdbgError as error:
            self._screen.post_message(UndoFailed(error))
            return
        newest_first = sorted(made, key=lambda each: each.time, reverse=True)
        self._screen.post_message(OperationsRead(newest_first))

    def _undo(self, made: Made) -> None:
        # Which forks were made is asked of each session that is opened; few are undone.
        from tt_debugger.forking import undo

        try:
            with outside_errors("operation log"):
                operation = next((each for each in Operations().all() if each.id == made.id), None)
                if operation is None:
                    raise UsageError(f"{made.id} is not known any more")
                undo(operation)
        except TtdbgError as error:
            self._screen.post_message(UndoFailed(error))
        else:
            self._screen.post_message(Undone(made))


def forks_of(debugger: Debugger) -> Mapping[str, Sequence[Made]]:
    """Give the forks made of a session that are still there, by the checkpoint they begin at."""
    found: defaultdict[str, list[Made]] = defaultdict(list)
    for operation in Operations().of_origin(debugger.location):
        made = made_of(operation)
        try:
            origin = parse_fragment(made.origin.rpartition("#")[2])
        except UsageError:
            continue
        session = origin.session and unquote(origin.session)
        if made.state not in GONE and origin.points and session in {None, debugger.session.id}:
            found[unquote(origin.points[0].value)].append(made)
    return found


GONE = frozenset(("undone", "gone", "unfinished"))
"""States of a fork that cannot be opened."""


def made_of(operation: Operation) -> Made:
    """Give a fork as it is told, with what has become of it."""
    return Made(
        operation.id,
        operation.time,
        operation.origin,
        operation.location,
        operation.session,
        operation.point,
        operation.resume_command,
        operation.note,
        _state(operation),
    )


def _state(operation: Operation) -> str:
    if operation.undone is not None:
        return "undone"
    if not operation.is_finished:
        return "unfinished"
    changes = (_change(each) for each in operation.written)
    return next((change for change in changes if change), DONE)


def _change(written: Written) -> str:
    """Say what has become of something written, as its size tells; empty for nothing."""
    match written:
        case FileWritten(path=path, size=size):
            end = size
        case LinesWritten(path=path, offset=offset, size=size):
            end = offset + size
        case _:
            return ""
    try:
        return "" if Path(path).stat().st_size == end else "changed since"
    except OSError:
        return "gone"
