"""Crash states of the log of whole states: whatever a disk has of it opens, and goes on."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import crash_states
import msgspec
import pytest
from failing import CALLS
from planting import planted_of
from record import snapshot_runs
from record.crash_runs import Files, Stage, Work, gone_on, rank
from record.crashed import Acked, Asked, acked, flaws
from record.snapshot_runs import BUGS, HISTORY, NAME, RUNS, lay_out, opened
from saves import quick_folder

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


@pytest.fixture(name="folder")
def _folder() -> Iterator[Path]:
    with quick_folder() as place:
        yield place / "at"


def flaws_of_history(folder: Path, name: str, done: Acked) -> tuple[set[Stage], list[object]]:
    """Give the stages that were met, and the states of the history that are not allowed."""

    def gone_on_from(history: Files) -> Stage | str:
        shutil.rmtree(folder, ignore_errors=True)
        lay_out(folder, {}, history)
        stage = gone_on(lambda: opened(str(folder)))
        if isinstance(stage, str):
            return stage
        newest = max((folder / HISTORY).glob("*-*.json"))
        is_mended = newest.read_bytes() == (folder / NAME).read_bytes()
        return stage if is_mended else "it was not mended"

    return flaws(done, RUNS[name].stages, gone_on_from)


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
    with planted_of(BUGS, bug):
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
    with planted_of(BUGS, bug):
        assert states_without_history(folder, name, monkeypatch)[1] != []


def test_all_bugs_are_looked_for():
    assert BUGS.keys() == {*FOUND_IN_HISTORY, *FOUND_IN_STATE, *FOUND_BETWEEN}
