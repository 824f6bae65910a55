"""Runs of the log of whole states: what is done to it, and where it may stand after a crash.

They are made by the real log and by logs with a bug that was planted, which the tests of crashes
must all find. Run as a program it makes those that are asked for: this is what is traced.
"""

from __future__ import annotations

import os
import stat
import sys
import tempfile
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Header, Snapshotted
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.record.backends import snapshot
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.snapshot import SnapshotLog
from tt_debugger.storage import publishing

HEADER = Header("main", "2026-01-01T00:00:00Z")
NAME = "state.json"
HISTORY = f"{NAME}.history"
MARK = ".acknowledged-"
"""What the name of a file begins with that is made when something was acknowledged."""

Files = Mapping[str, bytes]
"""The files of a folder by their names."""
Stage = int | None
"""The number of the last step; -1 where the log has no entry yet, None where there is no log."""


def start() -> Snapshotted:
    """Give the entry that a log begins with."""
    return Snapshotted("e0", None, HEADER.created_at, state={"n": 0})


def step(number: int) -> Changed:
    """Give a step that counts on."""
    changes = (Put(("n",), number),)
    return Changed(f"e{number}", f"e{number - 1}", HEADER.created_at, changes=changes)


def opened(folder: str) -> SnapshotLog:
    """Open the log in a folder."""
    return SnapshotLog.open(f"{folder}/{NAME}", Options())


def stage_of(log: SnapshotLog) -> Stage:
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


class Acknowledged:
    """Says in both folders that the log stands where it does, in a way that a trace shows."""

    def __init__(self, folder: str) -> None:
        self._folders = folder, f"{folder}/{HISTORY}"

    def __call__(self, stage: int) -> None:
        for folder in self._folders:
            Path(f"{folder}/{MARK}{stage}").touch()


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
    with mock.patch.object(publishing, "_UNNAMED", unnamed), planted(bug):
        RUNS[name].do(folder, Acknowledged(folder))


class Work(msgspec.Struct, frozen=True):
    """A run that is to be made in a folder."""

    folder: str
    name: str
    bug: str | None = None


def _sync_only(is_wanted: Callable[[int], bool]) -> Any:
    real = os.fsync

    def fsync(file: int) -> None:
        if is_wanted(os.fstat(file).st_mode):
            real(file)

    return mock.patch.object(os, "fsync", fsync)


def _write_in_place(path: str | Path, parts: Iterable[bytes], **_: bool) -> None:
    with Path(path).open("wb") as file:
        file.write(b"".join(parts))
        file.flush()
        os.fsync(file.fileno())
    with publishing.opened_folder(str(path)) as folder:
        publishing.sync_folder(folder)


def _state_first(log: SnapshotLog, entries: Sequence[Any], header: Header) -> None:
    """Publish as the real log does, but for the state that outsiders read, which comes first."""

    def publish(path: str, parts: Sequence[bytes]) -> None:
        snapshot.replace(log._path, parts, is_durable=True)
        publishing.publish(path, parts)

    with mock.patch.object(snapshot, "publish", publish):
        _WRITE(log, entries, header)


_WRITE = SnapshotLog._write
BUGS: Mapping[str, Callable[[], Any]] = {
    "no fsync": lambda: _sync_only(stat.S_ISDIR),
    "no folder fsync": lambda: _sync_only(stat.S_ISREG),
    "history in place": lambda: mock.patch.object(snapshot, "publish", _write_in_place),
    "state in place": lambda: mock.patch.object(snapshot, "replace", _write_in_place),
    "one by one": lambda: mock.patch.object(SnapshotLog, "_is_unfinished", return_value=False),
    "state first": lambda: mock.patch.object(SnapshotLog, "_write", _state_first),
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
