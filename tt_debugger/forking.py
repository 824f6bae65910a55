"""Forking: from a point and some edits to a new branch on the disk, and back again.

A plan becomes a draft, the draft is read back before anything is written where it belongs, then
its writes are made in order, all of them or none. Every fork is noted in the operation log, by
which it can be undone.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Forked, Plan
from tt_debugger.core.fork.writes import IndexLine, MoreLines, NewFile, NewRows, Write, Written
from tt_debugger.core.json import as_map
from tt_debugger.core.paths import dotted
from tt_debugger.core.refs import quoted
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UsageError
from tt_debugger.storage import servers
from tt_debugger.storage.operations import Operation, Operations
from tt_debugger.storage.writing import take_back, write

LARGEST_REHEARSED = 256 << 20
"""Bytes of a draft, with what it is added to, up to which it is read back before it is written."""
_TOLD_OTHERWISE = frozenset(("title", "cwd", "usage"))
"""Keys of a state that tell of the whole session, and are another's at a fork."""


class Standing(msgspec.Struct, frozen=True):
    """Where a fork would go on from: the row, the one asked for, and the state there."""

    row: int
    asked: int
    state: State


class Drafted(msgspec.Struct, frozen=True):
    """A plan with its draft; `is_rehearsed` says that the draft was read back and is right."""

    plan: Plan
    draft: Draft
    is_rehearsed: bool


class Wish(msgspec.Struct, frozen=True):
    """What else is asked of a fork: why it is made, where to, and whether in the original."""

    note: str | None = None
    target: str | None = None
    in_place: bool = False


def standing(debugger: Debugger, row: int) -> Standing:
    """Give where a fork at a row would go on from. Raises UnsupportedError, UsageError."""
    safe = debugger.safe_row(row)
    return Standing(safe, row, debugger.state(safe))


def drafted(
    debugger: Debugger, at: Standing, edits: Sequence[Change] = (), wish: Wish | None = None
) -> Drafted:
    """Draft a fork and read it back. Nothing is written where it belongs.

    Raises UsageError for edits that are wrong, UnsupportedError for what the format cannot hold.
    """
    wish = wish or Wish()
    plan = Plan(
        row=at.row,
        asked=at.asked,
        state=at.state,
        wanted=edited(at.state, edits),
        edits=tuple(edits),
        origin=debugger.ref(at.row),
        time=time.time(),
        fresh=os.urandom,
        note=wish.note,
        target=wish.target,
        in_place=wish.in_place,
    )
    draft = debugger.draft(plan)
    return Drafted(plan, draft, _rehearse(plan, draft))


def forked(drafted: Drafted) -> Forked:
    """Write a draft, whole or not at all, and note it. Raises CannotWriteError, UsageError."""
    plan, draft = drafted.plan, drafted.draft
    operations = Operations()
    operation = Operation(
        id=plan.fresh(4).hex(),
        time=plan.time,
        origin=plan.origin,
        location=draft.location,
        session=draft.session,
        point=draft.point,
        resume_command=draft.resume_command,
        note=plan.note,
    )
    operations.begin(operation)
    try:
        written = _write_all(draft.writes)
    except BaseException:
        operations.give_up(operation.id)
        raise
    operations.finish(operation.id, written)
    return Forked(
        draft.location,
        draft.session,
        ref_of(draft),
        draft.resume_command,
        operation.id,
    )


def undo(operation: Operation) -> None:
    """Take back all that an operation wrote, the last first.

    Raises UsageError where any of it has changed since; nothing is taken back then that can be
    told beforehand to have changed.
    """
    if operation.undone is not None:
        raise UsageError(f"{operation.id} was undone already")
    for each in reversed(operation.written):
        take_back(each)
    Operations().note_undone(operation.id, time.time())


def ref_of(draft: Draft) -> str:
    """Give the ref of the end of a fork, complete enough to be shown."""
    return f"{draft.location}#{quoted(draft.session)}:{quoted(draft.point)}"


def _write_all(writes: Sequence[Write]) -> tuple[Written, ...]:
    """Make all writes; where one fails, those before it are taken back."""
    written: list[Written] = []
    try:
        written += map(write, writes)
    except BaseException:
        for each in reversed(written):
            take_back(each)
        raise
    return tuple(written)


def _rehearse(plan: Plan, draft: Draft) -> bool:
    """Read a draft back from a place of its own; tell whether that could be done.

    Raises TtdbgError where it does not give the state that is wanted.
    """
    folder = Path(tempfile.mkdtemp(prefix="ttdbg-"))
    try:
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
            _compare(plan.wanted, debugger.state(row))
        return True
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compare(wanted: State, found: State) -> None:
    """Let pass only the state that was asked for."""
    before, after = as_map(wanted), as_map(found)
    other = [
        key
        for key in before
        if key not in _TOLD_OTHERWISE and before[key] != after.get(key, msgspec.UNSET)
    ]
    if other:
        raise TtdbgError(
            f"the fork would not replay to the state that is asked for: {dotted((other[0],))} "
            "would be otherwise, so nothing is written",
            "an edit elsewhere may do; please report this if it should have worked",
        )


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
        case NewRows(location=location) if not servers.is_server(location):
            return Path(location).stat().st_size
        case _:
            return 0
