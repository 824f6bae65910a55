"""A writer that appends steps to a log for as long as its input is open, and tells what it sees.

Run as a program of its own, with the address and the consistency. An append that failed is given
again, until it is acknowledged or its input ends. It prints a line for each: `sent ID`,
`acknowledged ID`, `failed MESSAGE`.
"""

from __future__ import annotations

import sys
import threading

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Entry, Header, Snapshotted
from tt_debugger.errors import TtdbgError
from tt_debugger.record.backends.options import Consistency, Options
from tt_debugger.record.backends.postgres import PostgresLog

TIME = "2026-01-01T00:00:00Z"


def entry(number: int) -> Entry:
    """Give the step of a number, on top of the one before."""
    if not number:
        return Snapshotted("e0", None, TIME, state={"messages": []}, why="start")
    return Changed(f"e{number}", f"e{number - 1}", TIME, changes=(Put(("n",), number),))


def main(address: str, consistency: str) -> None:
    is_over = threading.Event()

    def wait_for_end() -> None:
        sys.stdin.read()
        is_over.set()

    threading.Thread(target=wait_for_end, daemon=True).start()
    log = PostgresLog.open(address, Options(consistency=Consistency(consistency)))
    log.begin(Header("main", TIME))
    number = 0
    while not is_over.is_set():
        _tell("sent", f"e{number}")
        try:
            log.append([entry(number)])
        except TtdbgError as error:
            _tell("failed", error.message)
            # A server that is away refuses at once.
            is_over.wait(0.05)
        else:
            _tell("acknowledged", f"e{number}")
            number += 1
    log.close()


def _tell(what: str, about: str) -> None:
    sys.stdout.write(f"{what} {about}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
