"""Runs of the log in SQLite: what is done to it, and where it may stand after a crash.

Run as a program it makes those that are asked for: this is what is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from unittest import mock

import msgspec
from record.crash_runs import HEADER, Acknowledged, Work, begin, start, step

from tt_debugger.record.backends import sqlite
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite import SqliteLog

NAME = "run.db"
NO_SYNC = "no sync"
"""The bug of a log that leaves it to the system when to write."""


def opened(folder: str) -> SqliteLog:
    """Open the log in a folder."""
    return SqliteLog.open(f"sqlite:///{folder}/{NAME}", Options())


def begun(folder: str) -> None:
    """Make a log with a start and two steps."""
    with closing(opened(folder)) as log:
        log.begin(HEADER)
        log.append([start(), step(1), step(2)])


def _begun(folder: str, acknowledged: Acknowledged) -> None:
    begin(opened(folder), acknowledged)


def _went_on(folder: str, acknowledged: Acknowledged) -> None:
    with closing(opened(folder)) as log:
        acknowledged(2)
        log.append([step(3)])
        acknowledged(3)
        log.append([step(4), step(5)])
        acknowledged(5)


def _thinned(folder: str, acknowledged: Acknowledged) -> None:
    with closing(opened(folder)) as log:
        acknowledged(2)
        log.thin({"e2": msgspec.structs.replace(start(2), state={"n": 2, "text": "2" * 40})})
        log.append([step(3)])
        acknowledged(3)


class Run(msgspec.Struct, frozen=True):
    """What is done to a log, whether it is there before, and the stage at the end."""

    do: Callable[[str, Acknowledged], None]
    is_there: bool
    last: int


RUNS = {
    "begin": Run(_begun, is_there=False, last=0),
    "append": Run(_went_on, is_there=True, last=5),
    "thin": Run(_thinned, is_there=True, last=3),
}


@contextmanager
def planted(bug: str | None) -> Generator[None]:
    """Let the log have a bug meanwhile."""
    connected = sqlite.connected

    def careless(path: str) -> object:
        connection = connected(path)
        connection.execute("PRAGMA synchronous=off")
        return connection

    with mock.patch.object(sqlite, "connected", careless if bug == NO_SYNC else connected):
        yield


if __name__ == "__main__":
    for work in msgspec.json.decode(sys.argv[1], type=list[Work]):
        with planted(work.bug):
            RUNS[work.name].do(work.folder, Acknowledged(work.folder))
