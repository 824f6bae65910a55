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
from unittest import mock

import msgspec
from planting import Bugs, planted_of, sync_only, write_in_place
from record.crash_runs import HEADER, Acknowledged, Work, begin, start, step

from tt_debugger.core.recording.entries import Entry, Header, encoded_header
from tt_debugger.core.recording.entries import encoded as as_json
from tt_debugger.errors import LogOverError
from tt_debugger.record.backends import jsonl, jsonl_end
from tt_debugger.record.backends.jsonl import JsonlLog
from tt_debugger.record.backends.options import Options
from tt_debugger.storage import publishing

NAME = "run.jsonl"


def lines(*entries: Entry) -> bytes:
    """Give the lines of some entries."""
    return b"".join(as_json(each) + b"\n" for each in entries)


WRITTEN = encoded_header(HEADER) + b"\n" + lines(start(), step(1), step(2))
"""A file with a start and two steps."""


def opened(folder: str) -> JsonlLog:
    """Open the log in a folder."""
    return JsonlLog.open(f"{folder}/{NAME}", Options())


def _begun(folder: str, acknowledged: Acknowledged) -> None:
    begin(opened(folder), acknowledged)


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
    with mock.patch.object(publishing, "_UNNAMED", unnamed), planted_of(BUGS, bug):
        RUNS[name].do(folder, Acknowledged(folder))


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


def _sync_again(file: int) -> None:
    try:
        os.fsync(file)
    except OSError:
        os.fsync(file)


def _publish_in_place(path: str, parts: Sequence[bytes]) -> None:
    write_in_place(path, b"".join(parts))


def _begin_in_steps(log: JsonlLog, header: Header, entries: Sequence[Entry]) -> None:
    _BEGIN(log, header, ())
    log.append(entries)


_BEGIN = JsonlLog.begin_with
BUGS: Bugs = {
    "no fsync": lambda: sync_only(stat.S_ISDIR),
    "no folder fsync": lambda: sync_only(stat.S_ISREG),
    "not at the end": lambda: mock.patch.object(jsonl, "_FLAGS", os.O_RDWR),
    "fsync again": lambda: mock.patch.object(jsonl, "sync", _sync_again),
    "torn end stays": lambda: mock.patch.object(jsonl, "whole_size", lambda _file, size: size),
    "holes stay": lambda: mock.patch.object(jsonl_end, "_before_hole", lambda _file, size: size),
    "header in place": lambda: mock.patch.object(jsonl, "publish", _publish_in_place),
    "successor in steps": lambda: mock.patch.object(JsonlLog, "begin_with", _begin_in_steps),
}


if __name__ == "__main__":
    for work in msgspec.json.decode(sys.argv[1], type=list[Work]):
        make(work.name, work.folder, work.bug)
