"""Crash states of the log of lines: whatever a disk has of it opens, and goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import crash_states
import msgspec
import pytest
from crash_states import Named, Step, Traced
from record import jsonl_runs
from record.jsonl_runs import BUGS, MARK, RUNS, Run, Stage, Work, opened, planted, stage_of
from saves import quick_folder

from tt_debugger.errors import TtdbgError

FOUND_BY_STATES = {
    "no fsync": "one entry",
    "no folder fsync": "begin",
    "not at the end": "one entry",
    "fsync again": "in a new file",
    "torn end stays": "one entry",
    "holes stay": "several entries",
    "header in place": "begin",
    "successor in steps": "in a new file",
}
"""Bugs, each with a run whose crash states show it."""

Asked = tuple[str, str | None]
"""The name of a run, and the bug of the log."""
Acked = tuple[Traced, tuple[Stage, ...]]
"""What was done, and what had been acknowledged after each number of steps."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Asked, Acked]:
    """Every run by the real log, and by logs with a bug: all of one program."""
    crash_states.require_strace()
    root = tmp_path_factory.mktemp("traced").resolve()
    asked: list[Asked] = [(name, None) for name in RUNS]
    asked += [(name, bug) for bug, name in FOUND_BY_STATES.items()]
    work = [Work(str(root / str(at)), name, bug) for at, (name, bug) in enumerate(asked)]
    before = {each.folder: RUNS[each.name].before for each in work}
    for folder, files in before.items():
        lay_out(Path(folder), files)
    text = msgspec.json.encode(work).decode()
    found = crash_states.traced((jsonl_runs.__file__, text), before)
    return {name: acked(each) for name, each in zip(asked, found, strict=True)}


def lay_out(folder: Path, files: Mapping[str, bytes]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)


def acked(traced: Traced) -> Acked:
    """Take the marks out of what was done."""
    steps: list[Step] = []
    stages: list[Stage] = [None]
    for each in traced.steps:
        if isinstance(each, Named) and each.gains and each.gains.startswith(MARK):
            stages[-1] = int(each.gains.removeprefix(MARK))
            continue
        steps.append(each)
        stages.append(stages[-1])
    return msgspec.structs.replace(traced, steps=steps), tuple(stages)


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
            bad.append((count, stage, state))
            continue
        met.add(stage)
        if rank(stage) < rank(acknowledged[count]) or rank(stage) > run.last:
            bad.append((count, "lost", stage, acknowledged[count], state))
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
                log.begin(jsonl_runs.HEADER)
            log.append([jsonl_runs.step(last + 1) if last >= 0 else jsonl_runs.start()])
        with closing(opened(str(folder))) as log:
            after = stage_of(log)
            entries = [each.id for each in log.newest_first()]
    except (TtdbgError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    if after != max(last + 1, 0):
        return f"went on from {stage} to {after}"
    if len(entries) != len({*entries}):
        return f"there twice: {entries}"
    return stage


@pytest.mark.parametrize("name", RUNS)
def test_a_crash_at_any_moment_leaves_what_was_acknowledged_and_goes_on(
    traces: dict[Asked, Acked], folder: Path, name: str
):
    met, bad = flaws(folder, RUNS[name], traces[name, None])

    assert bad == []
    first = {None: -1}.get(min(met, key=rank), 2)
    assert {*range(first, RUNS[name].last + 1)} <= met


@pytest.mark.parametrize(("bug", "name"), FOUND_BY_STATES.items())
def test_a_log_with_a_bug_is_found_by_its_crash_states(
    traces: dict[Asked, Acked], folder: Path, bug: str, name: str
):
    with planted(bug):
        assert flaws(folder, RUNS[name], traces[name, bug])[1] != []


def test_all_bugs_are_looked_for():
    assert FOUND_BY_STATES.keys() == BUGS.keys()


def test_a_log_that_goes_on_in_a_new_file_never_syncs_the_old_one_again(
    traces: dict[Asked, Acked],
):
    traced, _ = traces["in a new file", None]
    old = [
        type(each).__name__
        for each in traced.steps
        if 0 in (getattr(each, "file", None), getattr(each, "what", None))
    ]

    assert old == ["Write", "Write"]  # what failed to be synced, and that it was taken back
