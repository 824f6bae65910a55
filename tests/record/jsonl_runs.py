"""Runs of the log of lines: what is done to it, and where it may stand after a crash.

They are made by the real log and by logs with a bug that was planted, which the tests of crashes
must all find. Run as a program it makes those that are asked for: this is what is traced.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Entry, Header, Snapshotted, encoded_header
from tt_debugger.core.recording.entries import encoded as as_json
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import LogOverError
from tt_debugger.record.backends import jsonl, jsonl_end
from tt_debugger.record.backends.jsonl import JsonlLog
from tt_debugger.record.backends.options import Options
from tt_debugger.storage import publishing

HEADER = Header("main", "2026-01-01T00:00:00Z")
NAME = "run.jsonl"
MARK = ".acknowledged-"
"""What the name of a file begins with that is made when something was acknowledged."""


def start(number: int = 0) -> Snapshotted:
    """Give the whole state after so many steps, as a log begins with it."""
    return Snapshotted(f"e{number}", None, HEADER.created_at, state={"n": number})


def step(number: int) -> Changed:
    """Give a step that counts on."""
    changes = (Put(("n",), number), Put(("text",), f"{number}" * 40))
    return Changed(f"e{number}", f"e{number - 1}", HEADER.created_at, changes=changes)


def lines(*entries: Entry) -> bytes:
    """Give the lines of some entries."""
    return b"".join(as_json(each) + b"\n" for each in entries)


WRITTEN = encoded_header(HEADER) + b"\n" + lines(start(), step(1), step(2))
"""A file with a start and two steps."""

Stage = int | None
"""The number of the last step; -1 where the log has no entry yet, None where there is no log."""


def stage_of(log: JsonlLog) -> Stage:
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


def opened(folder: str) -> JsonlLog:
    """Open the log in a folder."""
    return JsonlLog.open(f"{folder}/{NAME}", Options())


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


def _went_on(count: int) -> Callable[[str, Acknowledged], None]:
    def run(folder: str, acknowledged: Acknowledged) -> None:
        with closing(opened(folder)) as log:
            acknowledged(2)
            log.append([step(number) for number in range(3, 3 + count)])
            acknowledged(2 + count)
            log.append([step(3 + count)])
            acknowledged(3 + count)

    return run


def _moved(folder: str, acknowledged: Acknowledged) -> None:
    with closing(opened(folder)) as log:
        acknowledged(2)
        with failing_sync():
            over = _failed(log, step(3))
        if not over:
            acknowledged(3)
            return
        assert log.header is not None
        with closing(log.successor(log.header, "e2", [start(2), step(3)])) as new:
            acknowledged(3)
            new.append([step(4)])
            acknowledged(4)


def _failed(log: JsonlLog, entry: Entry) -> bool:
    try:
        log.append([entry])
    except LogOverError:
        return True
    return False


class Run(msgspec.Struct, frozen=True):
    """What is done to a log, and the files that are there before."""

    do: Callable[[str, Acknowledged], None]
    before: Mapping[str, bytes]
    last: int
    """The stage at the end."""


RUNS = {
    "begin": Run(_begun, {}, 0),
    "begin, named while it is filled": Run(_begun, {}, 0),
    "one entry": Run(_went_on(1), {NAME: WRITTEN}, 4),
    "several entries": Run(_went_on(3), {NAME: WRITTEN}, 6),
    "behind a torn line": Run(_went_on(1), {NAME: WRITTEN + lines(step(3))[:-9]}, 4),
    "behind a line without its end": Run(_went_on(1), {NAME: WRITTEN + lines(step(3))[:-1]}, 4),
    "behind zeros": Run(_went_on(2), {NAME: WRITTEN + bytes(500)}, 5),
    "behind a hole": Run(
        _went_on(2), {NAME: WRITTEN + bytes(50) + lines(step(3), step(4))[50:]}, 5
    ),
    "in a new file": Run(_moved, {NAME: WRITTEN}, 4),
}


def make(name: str, folder: str, bug: str | None = None) -> None:
    """Make a run, by a log that has a bug."""
    unnamed = 0 if "named" in name else publishing._UNNAMED
    with mock.patch.object(publishing, "_UNNAMED", unnamed), planted(bug):
        RUNS[name].do(folder, Acknowledged(folder))


class Work(msgspec.Struct, frozen=True):
    """A run that is to be made in a folder."""

    folder: str
    name: str
    bug: str | None = None


@contextmanager
def failing_sync() -> Generator[None]:
    """Let the next sync fail, and those after it do nothing and say that all is well.

    So does a system that takes pages for written once it has told that they are not.
    """
    failed: list[int] = []

    def fsync(file: int) -> None:
        failed.append(file)
        if len(failed) == 1:
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with mock.patch.object(os, "fsync", fsync):
        yield


def _sync_only(is_wanted: Callable[[int], bool]) -> Any:
    real = os.fsync

    def fsync(file: int) -> None:
        if is_wanted(os.fstat(file).st_mode):
            real(file)

    return mock.patch.object(os, "fsync", fsync)


def _sync_again(file: int) -> None:
    try:
        os.fsync(file)
    except OSError:
        os.fsync(file)


def _publish_in_place(path: str, parts: Sequence[bytes]) -> None:
    with Path(path).open("wb") as file:
        file.write(b"".join(parts))
        file.flush()
        os.fsync(file.fileno())
    with publishing.opened_folder(path) as folder:
        publishing.sync_folder(folder)


def _begin_in_steps(log: JsonlLog, header: Header, entries: Sequence[Entry]) -> None:
    _BEGIN(log, header, ())
    log.append(entries)


_BEGIN = JsonlLog.begin_with
BUGS: Mapping[str, Callable[[], Any]] = {
    "no fsync": lambda: _sync_only(stat.S_ISDIR),
    "no folder fsync": lambda: _sync_only(stat.S_ISREG),
    "not at the end": lambda: mock.patch.object(jsonl, "_FLAGS", os.O_RDWR),
    "fsync again": lambda: mock.patch.object(jsonl, "sync", _sync_again),
    "torn end stays": lambda: mock.patch.object(jsonl, "whole_size", lambda _file, size: size),
    "holes stay": lambda: mock.patch.object(jsonl_end, "_before_hole", lambda _file, size: size),
    "header in place": lambda: mock.patch.object(jsonl, "publish", _publish_in_place),
    "successor in steps": lambda: mock.patch.object(JsonlLog, "begin_with", _begin_in_steps),
}


@contextmanager
def planted(bug: str | None) -> Generator[None]:
    """Let the log have a bug meanwhile."""
    if bug is None:
        yield
        return
    with BUGS[bug]():
        yield


if __name__ == "__main__":
    for work in msgspec.json.decode(sys.argv[1], type=list[Work]):
        make(work.name, work.folder, work.bug)
