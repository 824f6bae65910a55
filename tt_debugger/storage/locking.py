"""Locking files as other programs do that respect it: one writer at a time."""

from __future__ import annotations

import time

from tt_debugger.errors import CannotWriteError

PATIENCE = 5.0
"""Seconds in which who holds a lock must let go of it."""
_PAUSE = 0.02


def hold(file: int, name: str) -> None:
    """Lock an open file until it is closed. Raises OSError, CannotWriteError."""
    try:
        import fcntl
    except ImportError:  # Windows, where no agent that we write for locks
        return
    latest = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() > latest:
                raise CannotWriteError(
                    f"another program is writing: it holds {name}",
                    "try again when it is done",
                ) from error
            time.sleep(_PAUSE)
        else:
            return
