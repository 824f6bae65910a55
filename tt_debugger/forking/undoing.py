"""Undoing: what an operation wrote is taken back, as long as it is what it was."""

from __future__ import annotations

import time

from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.writes import BranchWritten, FileWritten, LinesWritten
from tt_debugger.core.refs import quoted
from tt_debugger.errors import TtdbgError, UsageError
from tt_debugger.storage.operations import Operations
from tt_debugger.storage.uninterrupted import uninterrupted
from tt_debugger.storage.writing import must_be_unchanged, take_back


def undo(operation: Operation) -> None:
    """Take back all that an operation wrote, the last first.

    Raises UsageError where any of it has changed since; nothing is taken back then that can be
    told beforehand to have changed. What was taken back before something failed is noted, and the
    rest can be taken back later.
    """
    if operation.undone is not None:
        raise UsageError(f"{operation.id} was undone already")
    if not operation.is_finished:
        raise UsageError(
            f"{operation.id} was never finished: ttdbg was stopped while it wrote",
            f"look at {operation.location} yourself",
        )
    for each in operation.written:
        must_be_unchanged(each)
    with uninterrupted():
        _take_back_all(operation)
        Operations().note_undone(operation.id, time.time())


def what_went(operation: Operation) -> str:
    """Say what is not there any more once an operation was undone."""
    match operation.written[:1]:
        case (FileWritten(path=path),):
            return f"{path} is not there any more"
        case (BranchWritten(branch=branch, repository=repository),):
            return f"{repository} has no branch {branch} any more"
        case (LinesWritten(path=path),):
            return f"the branch is gone from {path}"
        case _ if f"#{quoted(operation.session)}:" in operation.origin:
            return f"{operation.point} is gone from {operation.session} in {operation.location}"
        case _:
            return f"{operation.location} has nothing of {operation.session} any more"


def _take_back_all(operation: Operation) -> None:
    left = operation.written
    while left:
        try:
            take_back(left[-1])
        except TtdbgError as error:
            if len(left) == len(operation.written):
                raise
            what = f"a part of {operation.id} was taken back, but not all: {error.message}"
            raise type(error)(what, error.hint) from error
        left = left[:-1]
        if left:
            Operations().note_left(operation.id, left)
