"""Crash states of the log in SQLite: whatever a disk has of it opens, and goes on.

What SQLite writes one behind the other counts as one write, which may be there up to some byte, or
from some byte on. The file that processes share as memory is left out: it is made anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import crash_states
import msgspec
import pytest
from crash_states import Named, Step, Synced, Traced, Write
from record import sqlite_runs
from record.crash_runs import Files, Stage, Work, gone_on
from record.crashed import Acked, Asked, acked, flaws
from record.sqlite_runs import NO_SYNC, RUNS, Run, begun, opened
from saves import quick_folder


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Asked, Acked]:
    """Every run by the real log, and one by a log that syncs nothing: all of one program."""
    crash_states.require_strace()
    root = tmp_path_factory.mktemp("traced").resolve()
    asked: list[Asked] = [(name, None) for name in RUNS]
    asked.append(("append", NO_SYNC))
    work = [Work(str(root / str(at)), name, bug) for at, (name, bug) in enumerate(asked)]
    before: dict[str, dict[str, bytes]] = {}
    for each in work:
        Path(each.folder).mkdir()
        if RUNS[each.name].is_there:
            begun(each.folder)
        before[each.folder] = {
            file.name: file.read_bytes() for file in Path(each.folder).iterdir()
        }
    text = msgspec.json.encode(work).decode()
    found = crash_states.traced((sqlite_runs.__file__, text), before)
    return {name: acked(joined(each)) for name, each in zip(asked, found, strict=True)}


def joined(traced: Traced) -> Traced:
    """Leave out what is done to shared memory, and join writes one behind the other."""
    shared = {
        each.file
        for each in traced.steps
        if isinstance(each, Named) and each.gains and each.gains.endswith("-shm")
    }
    steps: list[Step] = []
    for each in traced.steps:
        if (each.what if isinstance(each, Synced) else each.file) in shared:
            continue
        last = steps[-1] if steps else None
        if isinstance(each, Write) and isinstance(last, Write) and is_behind(last, each):
            assert last.data is not None
            assert each.data is not None
            steps[-1] = Write(last.file, last.offset, last.data + each.data)
            continue
        steps.append(each)
    return msgspec.structs.replace(traced, steps=steps)


def is_behind(last: Write, each: Write) -> bool:
    is_whole = last.data is not None and each.data is not None
    return is_whole and last.file == each.file and last.offset + len(last.data) == each.offset


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place / "at"


def flaws_of(folder: Path, run: Run, done: Acked) -> tuple[set[Stage], list[object]]:
    """Give the stages that were met, and the states that are not allowed."""

    def gone_on_from(state: Files) -> Stage | str:
        lay_out(folder, state)
        return gone_on(lambda: opened(str(folder)))

    return flaws(done, {None, *range(-1, run.last + 1)}, gone_on_from)


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.mark.parametrize("name", RUNS)
def test_a_crash_at_any_moment_leaves_what_was_acknowledged_and_goes_on(
    traces: dict[Asked, Acked], folder: Path, name: str
):
    met, bad = flaws_of(folder, RUNS[name], traces[name, None])

    assert bad == []
    assert RUNS[name].last in met
    assert met <= stages_of(RUNS[name])


def stages_of(run: Run) -> set[Stage]:
    """Give where a log may stand after a crash: between two appends there is nothing."""
    return {None, -1, 0} if not run.is_there else {2, 3, 5}


def test_a_log_that_is_not_synced_is_found_by_its_crash_states(
    traces: dict[Asked, Acked], folder: Path
):
    _, bad = flaws_of(folder, RUNS["append"], traces["append", NO_SYNC])

    assert bad != []
