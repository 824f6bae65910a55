"""Writing a draft where it belongs: all of it or nothing, and noted so that it can be undone."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.plan import Forked
from tt_debugger.core.fork.writes import Write, Written
from tt_debugger.errors import TtdbgError
from tt_debugger.forking.drafting import Drafted, ref_of, rehearsed
from tt_debugger.storage.operations import Operations
from tt_debugger.storage.uninterrupted import uninterrupted
from tt_debugger.storage.writing import take_back, write


def forked(drafted: Drafted) -> Forked:
    """Write a draft, whole or not at all, and note it; what was not read back is, if it can be.

    Raises CannotWriteError, UsageError, and what `rehearsed` raises.
    """
    drafted = rehearsed(drafted)
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
        draft.notes,
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
