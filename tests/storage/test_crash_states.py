"""Crash states: after a loss of power at any moment a save is there whole or not at all."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import crash_states
import msgspec
import pytest
import saves
from crash_states import Traced
from saves import BUGS, SAVES, Save, Work

FOUND_BY_STATES = {
    "no fsync": "new file",
    "no folder fsync": "new file, named while it is filled",
    "in place": "line of an index",
    "wrong order": "file and index",
    "another file system": "new file",
}
"""Bugs that show on the disk, each with a save that shows it."""


Asked = tuple[str, str]
"""The name of a save, and the bug of its writer, `NONE` or `TAKEN_BACK`."""
NONE, TAKEN_BACK = "no bug", "taken back"


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> dict[Asked, Traced]:
    """Every save by the real writer, taken back, and by writers with a bug: all of one run."""
    crash_states.require_strace()
    root = tmp_path_factory.mktemp("traced").resolve()
    asked = [(name, how) for name in SAVES for how in (NONE, TAKEN_BACK)]
    asked += [(name, bug) for bug, name in FOUND_BY_STATES.items()]
    work: list[Work] = []
    for number, (name, how) in enumerate(asked):
        folder = root / str(number)
        saves.prepare(SAVES[name], folder)
        made = saves.make(SAVES[name], str(folder)) if how == TAKEN_BACK else None
        work.append(Work(str(folder), name, how if how in BUGS else None, made))
    before = {each.folder: saves.state_of(Path(each.folder)) for each in work}
    text = msgspec.json.encode(work).decode()
    found = dict(zip(asked, crash_states.traced((saves.__file__, text), before), strict=True))
    for each, (name, how) in zip(work, asked, strict=True):
        # What is traced does what it shall, but for the crashes that it does not meet.
        assert SAVES[name].stage(saves.state_of(Path(each.folder))) == end_of(SAVES[name], how)
    return found


def end_of(save: Save, how: str) -> int:
    return 0 if how == TAKEN_BACK else len(save.stages) - 1


def flaws(traces: dict[Asked, Traced], name: str, how: str) -> tuple[int, list[object]]:
    """Give how many states there are, and those that are not allowed."""
    save, traced = SAVES[name], traces[name, how]
    bad: list[object] = []
    count = 0
    for steps, state in crash_states.crash_states(traced):
        seen = {name: data for name, data in state.items() if name != saves.LOCK}
        stage = save.stage(seen)
        count += 1
        if stage is None:
            bad.append((steps, seen))
        elif steps == len(traced.steps) and stage != end_of(save, how):
            bad.append(("lost after it was said to be there", seen))
    return count, bad


@pytest.mark.parametrize("how", [NONE, TAKEN_BACK])
@pytest.mark.parametrize("name", SAVES)
def test_a_crash_at_any_moment_leaves_all_or_nothing_and_what_was_said_to_be_done_is(
    traces: dict[Asked, Traced], name: str, how: str
):
    count, bad = flaws(traces, name, how)

    assert bad == []
    assert count > 2


@pytest.mark.parametrize(("bug", "name"), FOUND_BY_STATES.items())
def test_a_writer_with_a_bug_is_found_by_its_crash_states(
    traces: dict[Asked, Traced], bug: str, name: str
):
    assert flaws(traces, name, bug)[1] != []


def test_a_new_file_has_no_name_before_it_is_whole(
    traces: dict[Asked, Traced],
):
    traced = traces["new file", NONE]
    kinds = Counter(type(step).__name__ for step in traced.steps)

    assert [step.gains for step in traced.steps if isinstance(step, crash_states.Named)] == [
        "new.jsonl"
    ]
    assert kinds["Synced"] == 2


def test_all_bugs_are_looked_for():
    assert {*FOUND_BY_STATES, "rename over"} == {*BUGS}
