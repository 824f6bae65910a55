"""Crash states of the log of lines: whatever a disk has of it opens, and goes on."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

import crash_states
import msgspec
import pytest
from planting import planted_of
from record import jsonl_runs
from record.crash_runs import Files, Stage, Work, gone_on, rank
from record.crashed import Acked, Asked, acked, flaws
from record.jsonl_runs import BUGS, RUNS, Run, opened
from saves import quick_folder

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


@pytest.mark.parametrize("name", RUNS)
def test_a_crash_at_any_moment_leaves_what_was_acknowledged_and_goes_on(
    traces: dict[Asked, Acked], folder: Path, name: str
):
    met, bad = flaws_of(folder, RUNS[name], traces[name, None])

    assert bad == []
    first = {None: -1}.get(min(met, key=rank), 2)
    assert {*range(first, RUNS[name].last + 1)} <= met


@pytest.mark.parametrize(("bug", "name"), FOUND_BY_STATES.items())
def test_a_log_with_a_bug_is_found_by_its_crash_states(
    traces: dict[Asked, Acked], folder: Path, bug: str, name: str
):
    with planted_of(BUGS, bug):
        assert flaws_of(folder, RUNS[name], traces[name, bug])[1] != []


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
