"""Runs of the log in SQLite: what is done to it, and where it may stand after a crash.

Run as a program it makes those that are asked for: this is what is traced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from pathlib import Path
from unittest import mock

import msgspec

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Header, Snapshotted
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.record.backends import sqlite
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite import SqliteLog

HEADER = Header("main", "2026-01-01T00:00:00Z")
NAME = "run.db"
MARK = ".acknowledged-"
"""What the name of a file begins with that is made when something was acknowledged."""
NO_SYNC = "no sync"
"""The bug of a log that leaves it to the system when to write."""

Stage = int | None
"""The number of the last step; -1 where the log has no entry yet, None where there is no log."""


def start(number: int = 0) -> Snapshotted:
    """Give the whole state after so many steps, as a log begins with it."""
    return Snapshotted(f"e{number}", None, HEADER.created_at, state={"n": number})


def step(number: int) -> Changed:
    """Give a step that counts on."""
    changes = (Put(("n",), number), Put(("text",), f"{number}" * 40))
    return Changed(f"e{number}", f"e{number - 1}", HEADER.created_at, changes=changes)


def stage_of(log: SqliteLog) -> Stage:
    """Give where a log stands; its last entry and its state must agree."""
    if log.header is None:
        return None
    there = restored(log.newest_first())
    if there is None:
        return -1
    assert isinstance(there, Restored), there
    number = there.state["n"]
    assert there.leaf == f"e{number}"
    return number


def opened(folder: str) -> SqliteLog:
    """Open the log in a folder."""
    return SqliteLog.open(f"sqlite:///{folder}/{NAME}", Options())


def begun(folder: str) -> None:
    """Make a log with a start and two steps."""
    with closing(opened(folder)) as log:
        log.begin(HEADER)
        log.append([start(), step(1), step(2)])


class Acknowledged:
    """Says that the log stands where it does, in a way that a trace shows."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def __call__(self, stage: int) -> None:
        Path(f"{self._folder}/{MARK}{stage}").touch()


def _begun(folder: str, acknowledged: Acknowledged) -> None:
    with closing(opened(folder)) as log:
        log.begin(HEADER)
        acknowledged(-1)
        log.append([start()])
        acknowledged(0)


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


class Work(msgspec.Struct, frozen=True):
    """A run that is to be made in a folder."""

    folder: str
    name: str
    bug: str | None = None


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
