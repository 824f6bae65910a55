"""stdin as a location: what a pipe gives, kept in a file, so that it can be read by offset.

The file has no name and nobody else may read it; the system removes it when ttdbg ends, however
it ends.
"""

from __future__ import annotations

import os
import sys
import threading
from functools import cache
from typing import TextIO

from tt_debugger.errors import CannotReadError, UsageError

STDIN = "-"
"""The location that means stdin. A file of that name is ./- ."""
CHUNK = 1 << 20
TERMINAL = "/dev/tty"
AWAKE = 0.5
"""Seconds between two looks whether somebody wants it to end."""

_one_reader = threading.Lock()


def opened_stdin() -> int:
    """Give a descriptor, for the caller to close, of all that came through stdin.

    The first call reads stdin to its end. Raises UsageError where nothing is piped in, and
    CannotReadError where what comes cannot be read or kept.
    """
    # Two readers would each get a part of it.
    with _one_reader:
        return os.dup(_kept(sys.stdin))


@cache
def _kept(stream: TextIO | None) -> int:
    # Only who pipes something in pays for the import.
    import tempfile

    source = _source(stream)
    try:
        with tempfile.TemporaryFile(prefix="ttdbg-") as file:
            while chunk := _chunk(source):
                file.write(chunk)
            file.flush()
            return os.dup(file.fileno())
    except OSError as error:
        raise _cannot_keep(error) from error


def _source(stream: TextIO | None) -> int:
    try:
        source = -1 if stream is None else stream.fileno()
    except (OSError, ValueError):
        source = -1
    if source < 0 or os.isatty(source):
        raise UsageError(
            "nothing is piped in",
            f"pipe a session into it: cat FILE | ttdbg log {STDIN} (a file named - is ./-)",
        )
    return source


def _chunk(source: int) -> bytes:
    while True:
        try:
            _wait_for(source)
            return os.read(source, CHUNK)
        except BlockingIOError:
            # Whoever writes may have set the pipe, which is shared, to not wait.
            continue
        except OSError as error:
            raise CannotReadError(f"cannot read {STDIN}: {error.strerror}") from error


def _wait_for(source: int) -> None:
    """Wait until there is something to read, and let an interrupt be heard while there is not.

    A signal that comes just before a read that waits is heard only when that read has ended.
    """
    if os.name == "nt":
        return
    import select

    while not select.select([source], [], [], AWAKE)[0]:
        continue


def _cannot_keep(error: OSError) -> CannotReadError:
    return CannotReadError(
        f"cannot keep what comes through stdin: {error.strerror or error}",
        "it is kept in a temporary file while ttdbg runs; TMPDIR names another folder for that",
    )


def keys_from_terminal() -> None:
    """Let stdin be the terminal again after the pipe was read. Raises UsageError without one."""
    try:
        terminal = os.open(TERMINAL, os.O_RDWR)
    except OSError as error:
        raise UsageError(
            "`ttdbg open` needs a terminal", "for a pipe, use `ttdbg log` or `ttdbg show`"
        ) from error
    os.dup2(terminal, sys.stdin.fileno())
    os.close(terminal)
