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
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Draft, Forked, Plan
from tt_debugger.core.fork.talk import Talk, said_alike, talk_of
from tt_debugger.core.fork.writes import (
    BranchWritten,
    FileWritten,
    IndexLine,
    MoreLines,
    NewBranch,
    NewFile,
    NewRows,
    Write,
    Written,
)
from tt_debugger.core.json import as_map
from tt_debugger.core.paths import dotted
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import safe_line
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UnsupportedError, UsageError
from tt_debugger.formats import known_formats
from tt_debugger.storage import servers
from tt_debugger.storage.holders import Holder, holders, running
from tt_debugger.storage.operations import Operation, Operations
from tt_debugger.storage.uninterrupted import uninterrupted
from tt_debugger.storage.writing import must_be_unchanged, take_back, write
from tt_debugger.store import Composes, HasPlaces

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


def standing(debugger: Debugger, row: int, *, for_another_agent: bool = False) -> Standing:
    """Give where a fork at a row would go on from. Raises UnsupportedError, UsageError."""
    safe = debugger.safe_row(row, for_another_agent=for_another_agent)
    return Standing(safe, row, debugger.state(safe))


def drafted(
    debugger: Debugger, at: Standing, edits: Sequence[Change] = (), wish: Wish | None = None
) -> Drafted:
    """Draft a fork and read it back. Nothing is written where it belongs.

    Raises UsageError for edits that are wrong, UnsupportedError for what the format cannot hold.
    """
    plan = _plan(debugger, at, edits, wish or Wish())
    draft = debugger.draft(plan)
    if plan.in_place:
        _refuse_where_live(debugger, draft)
    own = {*_TOLD_OTHERWISE, *draft.own}
    return Drafted(plan, draft, _rehearse(draft, lambda found: _compare(plan.wanted, found, own)))


def _plan(debugger: Debugger, at: Standing, edits: Sequence[Change], wish: Wish) -> Plan:
    return Plan(
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


def composed(
    debugger: Debugger,
    at: Standing,
    target_format: str,
    edits: Sequence[Change] = (),
    wish: Wish | None = None,
) -> Drafted:
    """Draft a fork in the format of another agent, and read it back.

    Raises UnsupportedError where there is nothing that the other agent could go on from.
    """
    plan = _plan(debugger, at, edits, wish or Wish())
    if plan.in_place:
        raise UsageError("a session of another agent cannot be a branch in this one")
    chosen = _composing(target_format)
    talk = chosen.fitted(talk_of(plan.wanted))
    if not talk.turns:
        raise UnsupportedError(
            "there are no messages at this checkpoint that another agent could go on from"
        )
    draft = chosen.composed(talk, plan, _home_of(chosen))
    return Drafted(plan, draft, _rehearse(draft, lambda found: _compare_talks(talk, found)))


def composing() -> tuple[str, ...]:
    """Give the names of the formats in which a session of any agent can be written."""
    return tuple(each.format for each in known_formats() if issubclass(each, Composes))


def _composing(name: str) -> type[Composes]:
    """Give the format of which a text is the name, or the beginning of it."""
    named = [
        each
        for each in known_formats()
        if each.format.startswith(name) and issubclass(each, Composes)
    ]
    if not name or len(named) != 1:
        raise UsageError(
            f"a session of another agent cannot be written as {name!r}",
            f"it can be written as {', '.join(composing())}",
        )
    return named[0]


def _home_of(chosen: type[Composes]) -> Path:
    """Give the first place where an agent keeps its sessions."""
    places: Sequence[Path] = ()
    if issubclass(chosen, HasPlaces):
        places = chosen.places(os.environ, Path.home())
    return places[0] if places else Path.cwd()


def _compare_talks(talk: Talk, found: State) -> None:
    if not said_alike(talk, talk_of(found)):
        raise TtdbgError(
            "the other agent would not be told what was said here, so nothing is written",
            "please report this with the output of `ttdbg fork --dry-run`",
        )


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
    with uninterrupted():
        operations.begin(operation)
        try:
            written = _write_all(draft.writes)
        except BaseException:
            operations.give_up(operation.id)
            raise
        try:
            operations.finish(operation.id, written)
        except BaseException:
            _take_back_all(written)
            operations.give_up(operation.id)
            raise
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
    if not operation.is_finished:
        raise UsageError(
            f"{operation.id} was never finished: ttdbg was stopped while it wrote",
            f"look at {operation.location} yourself",
        )
    for each in operation.written:
        must_be_unchanged(each)
    with uninterrupted():
        for each in reversed(operation.written):
            take_back(each)
        Operations().note_undone(operation.id, time.time())


def what_went(operation: Operation) -> str:
    """Say what is not there any more once an operation was undone."""
    match operation.written[:1]:
        case (FileWritten(path=path),):
            return f"{path} is not there any more"
        case (BranchWritten(branch=branch, repository=repository),):
            return f"{repository} has no branch {branch} any more"
        case _:
            return f"{operation.location} has nothing of {operation.session} any more"


def ref_of(draft: Draft) -> str:
    """Give the ref of the end of a fork, complete enough to be shown."""
    return f"{draft.location}#{quoted(draft.session)}:{quoted(draft.point)}"


def _refuse_where_live(debugger: Debugger, draft: Draft) -> None:
    """Let nothing be added to a session that a process has open, or may go on with."""
    path, cwd = debugger.location, debugger.session.cwd
    found = set(holders(path)) if Path(path).is_file() else set[Holder]()
    if draft.agent and cwd is not None:
        found |= set(running((draft.agent,), cwd))
    if found:
        named = ", ".join(f"{safe_line(each.program)} ({each.pid})" for each in sorted(found))
        raise UsageError(
            f"the session may be open in {named}, which would not see what is added to it",
            "end it first, or leave out --in-place: a new session disturbs nobody",
        )


def _write_all(writes: Sequence[Write]) -> tuple[Written, ...]:
    """Make all writes; where one fails, those before it are taken back."""
    written: list[Written] = []
    try:
        written += map(write, writes)
    except BaseException:
        _take_back_all(written)
        raise
    return tuple(written)


def _take_back_all(written: Sequence[Written]) -> None:
    """Take back what was just written; what cannot be taken back stays, and the error counts."""
    for each in reversed(written):
        with suppress(TtdbgError):
            take_back(each)


def _rehearse(draft: Draft, compare: Callable[[State], None]) -> bool:
    """Read a draft back from a place of its own; tell whether that could be done.

    Raises TtdbgError where it does not give the state that is wanted.
    """
    if isinstance(draft.writes[0], NewBranch):
        # Its commit was made already, where nothing leads to it, and replayed by its format.
        return True
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
            compare(debugger.state(row))
        return True
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _compare(wanted: State, found: State, own: set[str]) -> None:
    """Let pass only the state that was asked for; a fork has some keys of its own."""
    before, after = as_map(wanted), as_map(found)
    other = [
        key
        for key in {**before, **after}
        if key not in own and before.get(key, msgspec.UNSET) != after.get(key, msgspec.UNSET)
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
