"""Crash states of the log in SQLite: whatever a disk has of it opens, and goes on.

What SQLite writes one behind the other counts as one write, which may be there up to some byte, or
from some byte on. The file that processes share as memory is left out: it is made anew.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import crash_states
import msgspec
import pytest
from crash_states import Named, Step, Synced, Traced, Write
from record import sqlite_runs
from record.sqlite_runs import (
    HEADER,
    MARK,
    NO_SYNC,
    RUNS,
    Run,
    Stage,
    Work,
    begun,
    opened,
    stage_of,
    start,
    step,
)
from saves import quick_folder

from tt_debugger.errors import TtdbgError

Asked = tuple[str, str | None]
"""The name of a run, and the bug of the log."""
Acked = tuple[Traced, tuple[Stage, ...]]
"""What was done, and what had been acknowledged after each number of steps."""


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
    return {name: acked(each) for name, each in zip(asked, found, strict=True)}


def acked(traced: Traced) -> Acked:
    """Take the marks out of what was done, and what is done to shared memory; join writes."""
    shared = {
        each.file
        for each in traced.steps
        if isinstance(each, Named) and each.gains and each.gains.endswith("-shm")
    }
    steps: list[Step] = []
    stages: list[Stage] = [None]
    for each in traced.steps:
        if isinstance(each, Named) and each.gains and each.gains.startswith(MARK):
            stages[-1] = int(each.gains.removeprefix(MARK))
            continue
        if (each.what if isinstance(each, Synced) else each.file) in shared:
            continue
        last = steps[-1] if steps else None
        if isinstance(each, Write) and isinstance(last, Write) and is_behind(last, each):
            assert last.data is not None
            assert each.data is not None
            steps[-1] = Write(last.file, last.offset, last.data + each.data)
            continue
        steps.append(each)
        stages.append(stages[-1])
    return msgspec.structs.replace(traced, steps=steps), tuple(stages)


def is_behind(last: Write, each: Write) -> bool:
    is_whole = last.data is not None and each.data is not None
    return is_whole and last.file == each.file and last.offset + len(last.data) == each.offset


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place / "at"


def flaws(folder: Path, run: Run, done: Acked) -> tuple[set[Stage], list[object]]:
    """Give the stages that were met, and the states that are not allowed."""
    traced, acknowledged = done
    met: set[Stage] = set()
    bad: list[object] = []
    told: dict[frozenset[tuple[str, bytes]], Stage | str] = {}
    for count, state in crash_states.crash_states(traced, holes=True):
        key = frozenset(state.items())
        if key not in told:
            told[key] = gone_on(folder, state)
        stage = told[key]
        if isinstance(stage, str):
            bad.append((count, stage))
            continue
        met.add(stage)
        if rank(stage) < rank(acknowledged[count]) or rank(stage) > run.last:
            bad.append((count, "lost", stage, acknowledged[count]))
    return met, bad


def rank(stage: Stage) -> int:
    return -2 if stage is None else stage


def gone_on(folder: Path, state: Mapping[str, bytes]) -> Stage | str:
    """Open the log as a crash has left it and go on; give where it stood, or what is wrong."""
    lay_out(folder, state)
    try:
        with closing(opened(str(folder))) as log:
            stage = stage_of(log)
            last = rank(stage)
            if stage is None:
                log.begin(HEADER)
            log.append([step(last + 1) if last >= 0 else start()])
        with closing(opened(str(folder))) as log:
            after = stage_of(log)
    except (TtdbgError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    return stage if after == max(last + 1, 0) else f"went on from {stage} to {after}"


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


@pytest.mark.parametrize("name", RUNS)
def test_a_crash_at_any_moment_leaves_what_was_acknowledged_and_goes_on(
    traces: dict[Asked, Acked], folder: Path, name: str
):
    met, bad = flaws(folder, RUNS[name], traces[name, None])

    assert bad == []
    assert RUNS[name].last in met
    assert met <= stages_of(RUNS[name])


def stages_of(run: Run) -> set[Stage]:
    """Give where a log may stand after a crash: between two appends there is nothing."""
    return {None, -1, 0} if not run.is_there else {2, 3, 5}


def test_a_log_that_is_not_synced_is_found_by_its_crash_states(
    traces: dict[Asked, Acked], folder: Path
):
    _, bad = flaws(folder, RUNS["append"], traces["append", NO_SYNC])

    assert bad != []
