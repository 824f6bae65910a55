"""Appending lines to a file that others write to as well, and taking them away again.

The lines go to the end in one write. Where anything fails the file is cut to what it was, but only
if nobody else has written behind: what another program says is never cut off.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress

from tt_debugger.errors import CannotWriteError
from tt_debugger.storage.locking import hold
from tt_debugger.storage.publishing import opened, read, sync, write_all


@contextmanager
def locked(lock: str | None) -> Generator[None]:
    """Hold a lock file as the agents do that have one; it is made, and stays, as theirs does.

    Raises OSError, and CannotWriteError where another program does not let go of it.
    """
    if lock is None:
        yield
        return
    with opened(lock, os.O_RDWR | os.O_CREAT) as file:
        hold(file, lock)
        yield


def append(file: int, size: int, data: bytes, name: str) -> None:
    """Add bytes to a file of a size that is open for appending, and sync it.

    Raises OSError, and CannotWriteError where another program writes at the same moment.
    """
    try:
        write_all(file, data)
        _refuse_mixture(file, size, data, name)
        sync(file)
    except BaseException:
        with suppress(OSError):
            _cut_back(file, size, data)
        raise


def last_line_is_open(file: int, size: int) -> bool:
    """Tell whether the last line of a file of a size has no end yet. Raises OSError."""
    return size > 0 and read(file, size - 1, 1) != b"\n"


def _refuse_mixture(file: int, size: int, data: bytes, name: str) -> None:
    if read(file, size, len(data) + 1) != data:
        raise CannotWriteError(
            f"another program wrote to {name} at the same moment",
            f"look at what stands behind byte {size:,}: there may be lines of both",
        )


def _cut_back(file: int, size: int, data: bytes) -> None:
    if data.startswith(read(file, size, len(data) + 1)):
        os.ftruncate(file, size)
        sync(file)
