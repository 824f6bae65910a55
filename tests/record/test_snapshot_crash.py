"""Crash states of the log of whole states: whatever a disk has of it opens, and goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import crash_states
import msgspec
import pytest
from crash_states import Named, Step, Traced
from failing import CALLS
from record import snapshot_runs
from record.snapshot_runs import (
    BUGS,
    HISTORY,
    MARK,
    NAME,
    RUNS,
    Files,
    Stage,
    Work,
    lay_out,
    opened,
    planted,
    stage_of,
)
from saves import quick_folder

from tt_debugger.errors import TtdbgError

FOUND_IN_HISTORY = {
    "no fsync": "one entry",
    "no folder fsync": "one entry, named while it is filled",
    "history in place": "one entry",
    "one by one": "two entries at once",
}
"""Bugs, each with a run whose crash states in the history show it."""
FOUND_IN_STATE = {"no fsync": "one entry", "state in place": "one entry"}
"""The same of the file that outsiders read."""
FOUND_BETWEEN = {"state first": "one entry"}
"""The same of how the two stand to each other."""

Asked = tuple[str, str | None]
"""The name of a run, and the bug of the log."""
Acked = tuple[Traced, tuple[Stage, ...]]
"""What was done in a folder, and what had been acknowledged after each number of steps."""


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Asked, tuple[Acked, Acked]]:
    """Every run by the real log, and by logs with a bug: beside the history, and in it."""
    crash_states.require_strace()
    root = tmp_path_factory.mktemp("traced").resolve()
    asked: list[Asked] = [(name, None) for name in RUNS]
    found = (*FOUND_IN_HISTORY.items(), *FOUND_IN_STATE.items())
    asked += dict.fromkeys((name, bug) for bug, name in found)
    work = [Work(str(root / str(at)), name, bug) for at, (name, bug) in enumerate(asked)]
    before: dict[str, Files] = {}
    for each in work:
        files = RUNS[each.name].before()
        lay_out(Path(each.folder), *files)
        before |= dict(zip((each.folder, f"{each.folder}/{HISTORY}"), files, strict=True))
    text = msgspec.json.encode(work).decode()
    traced = crash_states.traced((snapshot_runs.__file__, text), before)
    pairs = zip(traced[::2], traced[1::2], strict=True)
    return {name: (acked(one), acked(two)) for name, (one, two) in zip(asked, pairs, strict=True)}


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


def rank(stage: Stage) -> int:
    return -2 if stage is None else stage


def flaws_of_history(folder: Path, name: str, done: Acked) -> tuple[set[Stage], list[object]]:
    """Give the stages that were met, and the states of the history that are not allowed."""
    traced, acknowledged = done
    met: set[Stage] = set()
    bad: list[object] = []
    told: dict[frozenset[tuple[str, bytes]], Stage | str] = {}
    for count, state in crash_states.crash_states(traced, holes=True):
        key = frozenset(state.items())
        if key not in told:
            told[key] = gone_on(folder, state)
        stage = told[key]
        if isinstance(stage, str) or stage not in RUNS[name].stages:
            bad.append((count, stage, state))
            continue
        met.add(stage)
        if rank(stage) < rank(acknowledged[count]):
            bad.append((count, "lost", stage, acknowledged[count], state))
    return met, bad


def gone_on(folder: Path, history: Mapping[str, bytes]) -> Stage | str:
    """Open the log as a crash has left it and go on; give where it stood, or what is wrong."""
    shutil.rmtree(folder, ignore_errors=True)
    lay_out(folder, {}, history)
    try:
        with closing(opened(str(folder))) as log:
            stage = stage_of(log)
            last = rank(stage)
            if stage is None:
                log.begin(snapshot_runs.HEADER)
            log.append([snapshot_runs.step(last + 1) if last >= 0 else snapshot_runs.start()])
        with closing(opened(str(folder))) as log:
            after = stage_of(log)
            entries = [each.id for each in log.newest_first()]
    except (TtdbgError, AssertionError) as error:
        return f"{type(error).__name__}: {error}"
    if after != max(last + 1, 0) or len(entries) != len({*entries}):
        return f"went on from {stage} to {after}: {entries}"
    newest = max((folder / HISTORY).glob("*-*.json"))
    return stage if newest.read_bytes() == (folder / NAME).read_bytes() else "it was not mended"


def flaws_of_state(name: str, done: Acked) -> tuple[set[bytes | None], list[object]]:
    """Give what the file held that outsiders read, and where it was no document of the run."""
    traced, acknowledged = done
    documents = {number: snapshot_runs.written(number)[0][NAME] for number in range(5)}
    met: set[bytes | None] = set()
    bad: list[object] = []
    for count, state in crash_states.crash_states(traced, holes=True):
        held = state.get(NAME)
        met.add(held)
        if held is None:
            if NAME in traced.before or rank(acknowledged[count]) >= 0:
                bad.append((count, "there is none", state))
        elif not is_newer(held, traced.before.get(NAME), documents, RUNS[name].stages):
            bad.append((count, held))
    return met, bad


def is_newer(
    held: bytes, before: bytes | None, documents: Mapping[int, bytes], stages: tuple[Stage, ...]
) -> bool:
    """Tell whether a file holds what it did before, or a document of one of the stages."""
    allowed = {number for number in stages if number is not None and number >= 0}
    return held == before or any(held == documents[number] for number in allowed)


@pytest.mark.parametrize("name", RUNS)
def test_a_crash_at_any_moment_leaves_what_was_acknowledged_and_goes_on(
    traces: dict[Asked, tuple[Acked, Acked]], folder: Path, name: str
):
    _, history = traces[name, None]
    met, bad = flaws_of_history(folder, name, history)

    assert bad == []
    assert met == {*RUNS[name].stages}


@pytest.mark.parametrize("name", RUNS)
def test_after_a_crash_at_any_moment_the_state_that_is_read_is_an_old_or_a_new_one(
    traces: dict[Asked, tuple[Acked, Acked]], name: str
):
    outer, _ = traces[name, None]
    met, bad = flaws_of_state(name, outer)

    assert bad == []
    assert len(met) >= 2


@pytest.mark.parametrize(("bug", "name"), FOUND_IN_HISTORY.items())
def test_a_log_with_a_bug_is_found_by_the_crash_states_of_its_history(
    traces: dict[Asked, tuple[Acked, Acked]], folder: Path, bug: str, name: str
):
    with planted(bug):
        assert flaws_of_history(folder, name, traces[name, bug][1])[1] != []


@pytest.mark.parametrize(("bug", "name"), FOUND_IN_STATE.items())
def test_a_log_with_a_bug_is_found_by_the_crash_states_of_the_file(
    traces: dict[Asked, tuple[Acked, Acked]], bug: str, name: str
):
    assert flaws_of_state(name, traces[name, bug][0])[1] != []


def states_without_history(
    folder: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> tuple[int, list[object]]:
    """Look before each call of the system what an outsider reads; give what no history has."""
    looks: list[None] = []
    bad: list[object] = []
    real = {each: getattr(os, each) for each in CALLS}

    def looking(call: str) -> Callable[..., Any]:
        def look(*arguments: Any, **named: Any) -> Any:
            with monkeypatch.context() as patch:
                for each, function in real.items():
                    patch.setattr(os, each, function)
                held = folder / NAME
                looks.append(None)
                known = {each.read_bytes() for each in (folder / HISTORY).glob("*-*.json")}
                if held.exists() and held.read_bytes() not in known:
                    bad.append((call, held.read_bytes()))
            return real[call](*arguments, **named)

        return look

    lay_out(folder, *RUNS[name].before())
    with monkeypatch.context() as patch:
        for each in CALLS:
            patch.setattr(os, each, looking(each))
        RUNS[name].do(str(folder), lambda _: None)  # type: ignore[arg-type]
    return len(looks), bad


@pytest.mark.parametrize("name", RUNS)
def test_no_state_is_read_that_is_not_in_the_history(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
):
    looks, bad = states_without_history(folder, name, monkeypatch)

    assert bad == []
    assert looks > 8


@pytest.mark.parametrize(("bug", "name"), FOUND_BETWEEN.items())
def test_a_log_that_shows_a_state_before_it_is_in_the_history_is_found(
    folder: Path, monkeypatch: pytest.MonkeyPatch, bug: str, name: str
):
    with planted(bug):
        assert states_without_history(folder, name, monkeypatch)[1] != []


def test_all_bugs_are_looked_for():
    assert BUGS.keys() == {*FOUND_IN_HISTORY, *FOUND_IN_STATE, *FOUND_BETWEEN}
