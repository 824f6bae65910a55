"""Failing calls: every call of the system that a piece of work makes, made to fail one by one."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any
from unittest import mock

CALLS = (
    "open",
    "read",
    "write",
    "lseek",
    "fsync",
    "ftruncate",
    "fchmod",
    "fstat",
    "stat",
    "lstat",
    "link",
    "replace",
    "unlink",
    "close",
)
INTERRUPT = "an interrupt by the user"
ERRORS: dict[str, BaseException] = {
    "no space left": OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
    "an error of the disk": OSError(errno.EIO, os.strerror(errno.EIO)),
    "no permission": OSError(errno.EACCES, os.strerror(errno.EACCES)),
    "a signal": OSError(errno.EINTR, os.strerror(errno.EINTR)),
    INTERRUPT: KeyboardInterrupt(),
}
SHORT = "a short write"
KILL = "a kill"
"""The process ends where the call would have been made, as if it were killed at that moment."""


class Count:
    """How many calls were made, and the name of the one that failed."""

    def __init__(self) -> None:
        self.calls = 0
        self.failed: str | None = None


@contextmanager
def failing(at: int | None, how: str = SHORT, *, for_good: bool = False) -> Generator[Count]:
    """Let the n-th call of all fail, or none; for good: those of the same name after it, too."""
    count = Count()

    def wrapped(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            number = count.calls
            count.calls += 1
            if number != at and not (for_good and name == count.failed):
                return real(*arguments, **named)
            count.failed = name
            if how == KILL:
                os.kill(os.getpid(), signal.SIGKILL)
            if how == SHORT:
                if name != "write":
                    return real(*arguments, **named)
                return real(arguments[0], arguments[1][: len(arguments[1]) // 2 or 1])
            if name == "close":
                # A file is closed, whatever closing says.
                real(*arguments)
            raise ERRORS[how]

        return call

    real = {name: getattr(os, name) for name in CALLS}
    with mock.patch.multiple(os, **{name: wrapped(name, each) for name, each in real.items()}):
        yield count
