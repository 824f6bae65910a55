"""Runs of the log of whole states: what is done to it, and where it may stand after a crash.

They are made by the real log and by logs with a bug that was planted, which the tests of crashes
must all find. Run as a program it makes those that are asked for: this is what is traced.
"""

from __future__ import annotations

import stat
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
from planting import Bugs, planted_of, sync_only, write_in_place
from record.crash_runs import HEADER, Acknowledged, Files, Stage, Work, begin, start, step

from tt_debugger.core.recording.entries import Header
from tt_debugger.record.backends import snapshot
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.snapshot import SnapshotLog
from tt_debugger.storage import publishing

NAME = "state.json"
HISTORY = f"{NAME}.history"


def opened(folder: str) -> SnapshotLog:
    """Open the log in a folder."""
    return SnapshotLog.open(f"{folder}/{NAME}", Options())


def _begun(folder: str, acknowledged: Acknowledged) -> None:
    begin(opened(folder), acknowledged)


def _went_on(count: int) -> Callable[[str, Acknowledged], None]:
    def run(folder: str, acknowledged: Acknowledged) -> None:
        with closing(opened(folder)) as log:
            acknowledged(2)
            log.append([step(number) for number in range(3, 3 + count)])
            acknowledged(2 + count)

    return run


def written(steps: int) -> tuple[Files, Files]:
    """Give the files of a log with a start and some steps: beside its history, and in it."""
    with tempfile.TemporaryDirectory() as folder:
        with closing(opened(folder)) as log:
            log.begin(HEADER)
            for number in range(steps + 1):
                log.append([step(number) if number else start()])
        return files_of(Path(folder)), files_of(Path(folder, HISTORY))


def files_of(folder: Path) -> dict[str, bytes]:
    """Give the files in a folder, the lock left out."""
    found = (each for each in folder.iterdir() if each.is_file() and each.name != ".lock")
    return {each.name: each.read_bytes() for each in found}


def _behind(newest: int) -> tuple[Files, Files]:
    return written(newest)[0], written(2)[1]


def _unfinished() -> tuple[Files, Files]:
    """Give a log to which two entries were to be added at once, of which one came to be."""
    outer, history = written(2)
    with tempfile.TemporaryDirectory() as folder:
        with closing(opened(folder)) as log:
            log.begin(HEADER)
            log.append([start()])
            log.append([step(1)])
            log.append([step(2)])
            log.append([step(3), step(4)])
        left = Path(folder, HISTORY, "000004-e3.json").read_bytes()
    return outer, {**history, "000004-e3.json": left}


class Run(msgspec.Struct, frozen=True):
    """What is done to a log, what is there before, and the stages at which it may stand."""

    do: Callable[[str, Acknowledged], None]
    before: Callable[[], tuple[Files, Files]]
    stages: tuple[Stage, ...]


RUNS = {
    "begin": Run(_begun, lambda: ({}, {}), (None, -1, 0)),
    "begin, named while it is filled": Run(_begun, lambda: ({}, {}), (None, -1, 0)),
    "one entry": Run(_went_on(1), lambda: written(2), (2, 3)),
    "one entry, named while it is filled": Run(_went_on(1), lambda: written(2), (2, 3)),
    "two entries at once": Run(_went_on(2), lambda: written(2), (2, 4)),
    "behind a file that is old": Run(_went_on(1), lambda: _behind(1), (2, 3)),
    "behind what a crash left": Run(_went_on(1), _unfinished, (2, 3)),
}


def lay_out(folder: Path, outer: Files, history: Files) -> None:
    """Make a folder with a file and its history."""
    (folder / HISTORY).mkdir(parents=True)
    for place, files in ((folder, outer), (folder / HISTORY, history)):
        for name, data in files.items():
            (place / name).write_bytes(data)


def make(name: str, folder: str, bug: str | None = None) -> None:
    """Make a run, by a log that has a bug."""
    unnamed = 0 if "named" in name else publishing._UNNAMED
    with mock.patch.object(publishing, "_UNNAMED", unnamed), planted_of(BUGS, bug):
        RUNS[name].do(folder, Acknowledged(folder, f"{folder}/{HISTORY}"))


def _write_in_place(path: str | Path, parts: Iterable[bytes], **_: bool) -> None:
    write_in_place(path, b"".join(parts))


def _state_first(log: SnapshotLog, entries: Sequence[Any], header: Header) -> None:
    """Publish as the real log does, but for the state that outsiders read, which comes first."""

    def publish(path: str, parts: Sequence[bytes]) -> None:
        snapshot.replace(log._path, parts, is_durable=True)
        publishing.publish(path, parts)

    with mock.patch.object(snapshot, "publish", publish):
        _WRITE(log, entries, header)


_WRITE = SnapshotLog._write
BUGS: Bugs = {
    "no fsync": lambda: sync_only(stat.S_ISDIR),
    "no folder fsync": lambda: sync_only(stat.S_ISREG),
    "history in place": lambda: mock.patch.object(snapshot, "publish", _write_in_place),
    "state in place": lambda: mock.patch.object(snapshot, "replace", _write_in_place),
    "one by one": lambda: mock.patch.object(SnapshotLog, "_is_unfinished", return_value=False),
    "state first": lambda: mock.patch.object(SnapshotLog, "_write", _state_first),
}


if __name__ == "__main__":
    for work in msgspec.json.decode(sys.argv[1], type=list[Work]):
        make(work.name, work.folder, work.bug)
