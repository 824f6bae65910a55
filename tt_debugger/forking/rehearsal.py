"""Rehearsal: a draft is written to a place of its own first, and read back from there."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import IndexLine, MoreLines, NewFile, NewRows, Write
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotWriteError, TtdbgError
from tt_debugger.storage import servers
from tt_debugger.storage.stdin import STDIN
from tt_debugger.storage.writing import write

LARGEST_REHEARSED = 256 << 20
"""Bytes of a draft, with what it is added to, up to which it is read back before it is written."""


def rehearse(draft: Draft, compare: Callable[[State], None]) -> bool:
    """Read a draft back from a place of its own; tell whether that could be done.

    `compare` is given the state at its end, and raises where that is not what is wanted. Raises
    TtdbgError where the draft would not end where it says, CannotWriteError where there is no
    place for it.
    """
    if draft.is_read_back:
        return True
    with _own_folder() as folder:
        moved = _moved_into(folder, draft.writes)
        if moved is None:
            return False
        location, writes = moved
        for each in writes:
            write(each)
        with Debugger.open(location, draft.session) as debugger:
            row = debugger.session.row_of(draft.point)
            if row is None or row != debugger.session.active:
                raise TtdbgError(
                    "the fork would not end where it should, so nothing is written",
                    "please report this with the output of `ttdbg fork --dry-run`",
                )
            compare(debugger.state(row))
        return True


@contextmanager
def _own_folder() -> Generator[Path]:
    """Give a folder that does not stay; what the system refuses meanwhile is told as such."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="ttdbg-"))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    except OSError as error:
        raise CannotWriteError(
            f"cannot read the fork back before it is written: {error.strerror or error}",
            "that needs room in the folder for temporary files; TMPDIR names another one",
        ) from error


def _moved_into(folder: Path, writes: Sequence[Write]) -> tuple[str, tuple[Write, ...]] | None:
    """Give the first of some writes as it would be made in a folder; None where it cannot be."""
    first = writes[0]
    if _size_of(first) > LARGEST_REHEARSED:
        return None
    match first:
        case NewFile(path=path):
            target = str(folder / Path(path).name)
            return target, (msgspec.structs.replace(first, path=target),)
        case MoreLines(path=path):
            target = str(shutil.copyfile(path, folder / Path(path).name))
            return target, (msgspec.structs.replace(first, path=target, lock=None),)
        case NewRows(location=location) if not servers.is_server(location):
            target = str(folder / Path(location).name)
            return target, (msgspec.structs.replace(first, copy=target),)
        case _:
            return None


def _size_of(each: Write) -> int:
    match each:
        case NewFile(records=records):
            return sum(len(record.data) for record in records)
        case MoreLines(size=size):
            return size
        case IndexLine(record=record):
            return len(record.data)
        case NewRows(location=location) if location != STDIN and not servers.is_server(location):
            return Path(location).stat().st_size
        case _:
            return 0
