"""Writing what a fork adds, and taking it back: each kind of write by what stores it.

A write makes all that it says or nothing, and is on the disk or with the server when it returns.
To take something back is refused where it is not what was written any more.
"""

from __future__ import annotations

from tt_debugger.core.fork.writes import (
    BranchWritten,
    FileWritten,
    IndexLine,
    IndexWritten,
    KeysWritten,
    LinesWritten,
    MoreLines,
    NewBranch,
    NewFile,
    NewKeys,
    NewRows,
    RowsWritten,
    Write,
    Written,
)
from tt_debugger.storage import servers

# Each way is imported when it is first gone: drivers are slow, and may not be there.


def write(each: Write) -> Written:
    """Write, whole or not at all; give what there is now.

    Raises CannotWriteError, UsageError for a place that is taken or has changed, and
    UnsupportedError where rows may not be added.
    """
    match each:
        case NewFile() | MoreLines() | IndexLine():
            from tt_debugger.storage.file_writing import write_file

            return write_file(each)
        case NewRows(location=location) if servers.is_server(location):
            from tt_debugger.storage.postgres_writing import insert

            return insert(each)
        case NewRows():
            from tt_debugger.storage.sqlite_writing import insert

            return insert(each)
        case NewKeys():
            from tt_debugger.storage.redis_writing import put

            return put(each)
        case NewBranch():
            from tt_debugger.storage.git_writing import make_branch

            return make_branch(each)


def take_back(written: Written) -> None:
    """Take back what was written. Raises UsageError where it has changed since, or is gone."""
    match written:
        case FileWritten() | LinesWritten() | IndexWritten():
            from tt_debugger.storage.file_writing import take_back_file

            take_back_file(written)
        case RowsWritten(location=location) if servers.is_server(location):
            from tt_debugger.storage.postgres_writing import delete

            delete(written)
        case RowsWritten():
            from tt_debugger.storage.sqlite_writing import delete

            delete(written)
        case KeysWritten():
            from tt_debugger.storage.redis_writing import remove

            remove(written)
        case BranchWritten():
            from tt_debugger.storage.git_writing import remove_branch

            remove_branch(written)


def must_be_unchanged(written: Written) -> None:
    """Raise the UsageError that taking back would raise now, where that can be told beforehand."""
    match written:
        case FileWritten() | LinesWritten() | IndexWritten():
            from tt_debugger.storage.file_writing import must_be_unchanged

            must_be_unchanged(written)
        case BranchWritten():
            from tt_debugger.storage.git_writing import must_be_unchanged

            must_be_unchanged(written)
        case RowsWritten() | KeysWritten():
            # They are all that their fork wrote, and are looked at in the one transaction that
            # takes them back.
            pass
