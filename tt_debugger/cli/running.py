"""Runs the command that a person gave, as their shell would, with a state on its stdin.

What it prints is narration: it goes to stderr, so that stdout holds nothing but the answer. It is
ended when we are, and with it all that it started.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

from tt_debugger.storage.uninterrupted import uninterrupted

STDERR = 2
KILL = getattr(signal, "SIGKILL", signal.SIGTERM)
PATIENCE = 1.0
"""Seconds in which a command that is asked to end may do so."""


def exit_code(command: str, state: bytes, told: Mapping[str, str]) -> int:
    """Run a command and give its exit code; `told` is added to its environment.

    As shells do, 128 and the number of a signal for one that was ended by it.
    """
    code = _run(command, state, told)
    return code if code >= 0 else 128 - code


def _run(command: str, state: bytes, told: Mapping[str, str]) -> int:
    # A terminal sends its Ctrl-C to all that run in front; what stands alone is ended by us, and
    # may not ask the terminal anything.
    is_alone = os.name == "posix" and not (sys.stdin and sys.stdin.isatty())
    child: subprocess.Popen[bytes] | None = None
    try:
        # Else one might come before it is known what to end.
        with uninterrupted(signal.SIGTERM):
            child = subprocess.Popen(  # noqa: S602 - the user's own text, from the command line
                command,
                shell=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL if sys.__stderr__ is None else STDERR,
                env={**os.environ, **told},
                process_group=0 if is_alone else None,
            )
        child.communicate(state)
    except BaseException:
        if child is not None:
            _end(child, with_its_own=is_alone)
        raise
    return child.returncode


def _end(child: subprocess.Popen[bytes], *, with_its_own: bool) -> None:
    """Ask a command and all that it started to end, and make it where that takes too long."""
    for number in (signal.SIGTERM, KILL):
        with suppress(ProcessLookupError):
            if with_its_own:
                os.killpg(child.pid, number)
            else:
                child.send_signal(number)
        with suppress(subprocess.TimeoutExpired):
            child.wait(PATIENCE)
    # What it has not read is of no use any more.
    with suppress(OSError), child:
        pass
