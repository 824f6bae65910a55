"""The lock of a recorder on a file: whoever holds it is the only one who records there."""

from __future__ import annotations

from tt_debugger.errors import CannotWriteError


def hold_alone(file: int, location: str) -> None:
    """Lock an open file until it is closed. Raises OSError, CannotWriteError."""
    try:
        import fcntl
    except ImportError:  # Windows, which has no such locks
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise CannotWriteError(
            f"another recorder writes to {location}",
            "close it first, or record to a file of its own",
        ) from error
