"""What has become of the forks that were made, as far as it is seen without reading them."""

from __future__ import annotations

from pathlib import Path

from tt_debugger.core.fork.made import Made, MadeState
from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.writes import (
    BranchWritten,
    FileWritten,
    LinesWritten,
    RowsWritten,
    Written,
)
from tt_debugger.errors import TtdbgError
from tt_debugger.storage import servers


def made_of(operation: Operation) -> Made:
    """Give a fork with what has become of it."""
    return Made(operation, state_of(operation))


def state_of(operation: Operation) -> MadeState:
    """Say what has become of a fork: of files their size tells, of a branch where it leads to.

    Rows are not looked at, and no server is asked; undoing looks at all that was written.
    """
    if operation.undone is not None:
        return MadeState.UNDONE
    if not operation.is_finished:
        return MadeState.UNFINISHED
    states = map(_state_of_part, operation.written)
    return next((state for state in states if state is not MadeState.DONE), MadeState.DONE)


def _state_of_part(written: Written) -> MadeState:
    match written:
        case FileWritten(path=path, size=size):
            return _state_of_file(path, size)
        case LinesWritten(path=path, offset=offset, size=size):
            return _state_of_file(path, offset + size)
        case RowsWritten(location=location) if not servers.is_server(location):
            return MadeState.DONE if Path(location).exists() else MadeState.GONE
        case BranchWritten():
            return _state_of_branch(written)
        case _:
            return MadeState.DONE


def _state_of_file(path: str, size: int) -> MadeState:
    try:
        is_same = Path(path).stat().st_size == size
    except OSError:
        return MadeState.GONE
    return MadeState.DONE if is_same else MadeState.CHANGED


def _state_of_branch(written: BranchWritten) -> MadeState:
    # Few forks are branches.
    from tt_debugger.storage.git_refs import ref_of
    from tt_debugger.storage.repository import refs_of, repository_at

    try:
        ref = ref_of(written.branch)
        repository = repository_at(written.repository)
        refs = None if repository is None else refs_of(repository, with_logs=False)
    except TtdbgError:
        return MadeState.GONE
    commit = None if refs is None else refs.names.get(ref)
    if commit is None:
        return MadeState.GONE
    return MadeState.DONE if commit == written.commit else MadeState.CHANGED
