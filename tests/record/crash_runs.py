"""What the runs of all logs have in common that are cut off by a crash: entries, stages, marks.

A run says where its log stands by touching a file whose name begins with `MARK`: a trace shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path

import msgspec

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.entries import Changed, Header, Snapshotted
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import TtdbgError
from tt_debugger.store import Records

HEADER = Header("main", "2026-01-01T00:00:00Z")
MARK = ".acknowledged-"
"""What the name of a file begins with that is made when something was acknowledged."""

Stage = int | None
"""The number of the last step; -1 where the log has no entry yet, None where there is no log."""


def start(number: int = 0) -> Snapshotted:
    """Give the whole state after so many steps, as a log begins with it."""
    return Snapshotted(f"e{number}", None, HEADER.created_at, state={"n": number})


def step(number: int) -> Changed:
    """Give a step that counts on."""
    changes = (Put(("n",), number), Put(("text",), f"{number}" * 40))
    return Changed(f"e{number}", f"e{number - 1}", HEADER.created_at, changes=changes)


def stage_of(log: Records) -> Stage:
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


def rank(stage: Stage) -> int:
    return -2 if stage is None else stage


class Acknowledged:
    """Says in some folders that the log stands where it does, in a way that a trace shows."""

    def __init__(self, *folders: str) -> None:
        self._folders = folders

    def __call__(self, stage: int) -> None:
        for folder in self._folders:
            Path(f"{folder}/{MARK}{stage}").touch()


def begin(log: Records, acknowledged: Acknowledged) -> None:
    """Begin a log, and close it."""
    with closing(log):
        log.begin(HEADER)
        acknowledged(-1)
        log.append([start()])
        acknowledged(0)


class Work(msgspec.Struct, frozen=True):
    """A run that is to be made in a folder, by the real log or by one with a bug."""

    folder: str
    name: str
    bug: str | None = None


def gone_on(opened: Callable[[], Records]) -> Stage | str:
    """Open the log as a crash has left it and go on; give where it stood, or what is wrong."""
    try:
        with closing(opened()) as log:
            stage = stage_of(log)
            last = rank(stage)
            if stage is None:
                log.begin(HEADER)
            log.append([step(last + 1) if last >= 0 else start()])
        with closing(opened()) as log:
            after = stage_of(log)
            entries = [each.id for each in log.newest_first()]
    except (TtdbgError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    if after != max(last + 1, 0):
        return f"went on from {stage} to {after}"
    if len(entries) != len({*entries}):
        return f"there twice: {entries}"
    return stage


Files = Mapping[str, bytes]
"""The files of a folder by their names."""
