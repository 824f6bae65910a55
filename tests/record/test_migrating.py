from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import states

from tt_debugger.core.recording.entries import Migration
from tt_debugger.errors import NewerStateError, UsageError
from tt_debugger.record.migrating import migrated
from tt_debugger.record.recorder import Recorder
from tt_debugger.record.testing import runs_forward


def with_cost(state: dict[str, Any]) -> dict[str, Any]:
    state["cost"] = 0.0
    return state


def with_plan(state: dict[str, Any]) -> dict[str, Any]:
    return {**{key: each for key, each in state.items() if key != "goal"}, "plan": [state["goal"]]}


MIGRATIONS = {1: with_cost, 2: with_plan}


def test_a_state_goes_from_version_to_version_and_gets_what_is_new():
    old = {"goal": "ship", "messages": []}
    new, migration = migrated(old, 1, 3, MIGRATIONS, {"refs": [], "messages": ["none"]})
    assert new == {"messages": [], "cost": 0.0, "plan": ["ship"], "refs": []}
    assert migration == Migration(
        1,
        3,
        steps=("with_cost", "with_plan"),
        added=("cost", "plan", "refs"),
        removed=("goal",),
    )
    assert old == {"goal": "ship", "messages": []}


def test_a_state_begins_at_its_own_version():
    new, migration = migrated({"goal": "ship"}, 2, 3, {**MIGRATIONS, 3: with_cost}, None)
    assert new == {"plan": ["ship"]}
    assert migration == Migration(2, 3, ("with_plan",), added=("plan",), removed=("goal",))


def test_the_defaults_are_not_shared():
    defaults = {"refs": []}
    new, _ = migrated({}, 1, 2, MIGRATIONS, defaults)
    new["refs"].append(1)
    assert defaults == {"refs": []}


def test_a_gap_is_refused_before_anything_is_done():
    done: list[Any] = []
    migrations = {1: lambda state: done.append(state) or state, 3: with_plan}
    with pytest.raises(UsageError) as caught:
        migrated({}, 1, 4, migrations, None)
    assert caught.value.message == (
        "no migration leads from version 2 to 3; the state has version 1"
    )
    assert caught.value.hint == "give migrations={2: function}"
    assert done == []


def test_a_newer_state_is_told_from_a_wrong_one():
    with pytest.raises(NewerStateError) as caught:
        migrated({}, 3, 2, MIGRATIONS, None)
    assert caught.value.message == "the state has version 3, and this code knows version 2"


def not_there(state: dict[str, Any]) -> dict[str, Any]:
    del state["kept"]
    return {"plan": state["goal"]}


def forgetful(state: dict[str, Any]) -> None:
    state["plan"] = []


def unwritable(state: dict[str, Any]) -> dict[str, Any]:
    return {"plan": [len(state), object()]}


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (not_there, "the migration not_there from version 1 failed: KeyError: 'goal'"),
        (forgetful, "the migration forgetful from version 1 gave no state but None"),
        (
            unwritable,
            (
                "the migration unwritable from version 1 gave no JSON:"
                " plan[1] is of type object, which cannot be recorded"
            ),
        ),
    ],
)
def test_a_function_that_fails_is_named_and_leaves_the_state_as_it_was(step, message):
    state = {"kept": [1]}
    with pytest.raises(UsageError) as caught:
        migrated(state, 1, 2, {1: step}, None)
    assert caught.value.message == message
    assert state == {"kept": [1]}


@given(states, states)
def test_a_migrated_state_needs_no_migration(state, defaults):
    before = deepcopy(state)
    new, migration = migrated(state, 1, 2, MIGRATIONS, defaults)
    assert migration is not None
    assert migrated(new, 2, 2, MIGRATIONS, defaults) == (new, None)
    assert state == before


@given(st.integers(1, 6), st.integers(1, 6))
def test_each_function_on_the_way_is_asked_once_and_in_order(version, wanted):
    def noting(number: int):
        return lambda state: {**state, "way": [*state["way"], number]}

    if version > wanted:
        version, wanted = wanted, version
    migrations = {number: noting(number) for number in range(1, 7)}
    new, _ = migrated({"way": []}, version, wanted, migrations, None)
    assert new == {"way": list(range(version, wanted))}


@dataclass
class State:
    plan: list[str]
    cost: float = 0.0
    refs: list[str] = field(default_factory=list)


@pytest.fixture
def recordings(tmp_path: Path) -> Path:
    """Give a folder with a recording of each version, and of each kind of file."""
    folder = tmp_path / "recordings"
    folder.mkdir()
    (folder / "about.txt").write_text("no recording")
    record(folder / "one.jsonl", {"goal": "ship"}, version=1)
    record(folder / "two.jsonl", {"goal": "sail", "cost": 2.5}, version=2)
    record(f"sqlite:///{folder}/two.db", {"goal": "row", "cost": 1.0}, version=2, session="a")
    record(f"sqlite:///{folder}/two.db", {"plan": ["swim"]}, version=3, session="b", tenant="c")
    return folder


def record(location: str | Path, state: dict[str, Any], **settings: Any) -> None:
    with Recorder.open(str(location), state=state, **settings) as recorder:
        recorder.record({"refs": ["x"]}, "look")


def content(folder: Path) -> dict[str, bytes]:
    # What SQLite keeps beside a database comes and goes as it is read.
    kept = (each for each in folder.iterdir() if not each.name.endswith(("-shm", "-wal")))
    return {each.name: each.read_bytes() for each in kept}


def test_every_old_recording_is_run_forward_and_stays_as_it_is(recordings):
    before = content(recordings)
    found = list(runs_forward(recordings, version=3, migrations=MIGRATIONS, model=State))
    assert sorted(found, key=lambda each: (each[0], each[1])) == [
        ("one.jsonl", 1, State(["ship"], 0.0, ["x"])),
        ("two.db", 2, State(["row"], 1.0, ["x"])),
        ("two.db", 3, State(["swim"], 0.0, ["x"])),
        ("two.jsonl", 2, State(["sail"], 2.5, ["x"])),
    ]
    assert content(recordings) == before


def test_of_a_database_one_session_can_be_named(recordings):
    (recordings / "one.jsonl").unlink()
    (recordings / "two.jsonl").unlink()
    found = runs_forward(recordings, version=3, migrations=MIGRATIONS, session="a")
    assert list(found) == [("two.db", 2, {"cost": 1.0, "refs": ["x"], "plan": ["row"]})]


def test_a_recording_that_does_not_get_there_is_named(recordings):
    with pytest.raises(AssertionError) as caught:
        list(runs_forward(recordings, version=3, migrations={2: with_plan}))
    assert str(caught.value) == (
        "one.jsonl: no migration leads from version 1 to 2; the state has version 1"
        " (give migrations={1: function})"
    )


def test_a_recording_whose_state_does_not_fit_its_type_is_named(recordings):
    with pytest.raises(AssertionError) as caught:
        list(runs_forward(recordings, version=3, migrations={**MIGRATIONS, 2: dict}, model=State))
    assert str(caught.value) == (
        "one.jsonl: the recorded state does not fit State: Object missing required field `plan`"
        " (raise the version and give a migration that makes it fit)"
    )


def test_a_recording_that_is_newer_is_named(recordings):
    with pytest.raises(AssertionError, match=r"\Atwo\.(db|jsonl): .*version 2"):
        list(runs_forward(recordings, version=1))


def test_a_file_that_is_no_recording_is_named(recordings):
    (recordings / "a.jsonl").write_text('{"role":"user"}\n')
    with pytest.raises(AssertionError, match=r"\Aa\.jsonl: "):
        list(runs_forward(recordings, version=3, migrations=MIGRATIONS))


def test_a_folder_without_recordings_is_no_passed_test(tmp_path):
    with pytest.raises(AssertionError, match="there is no recording in "):
        list(runs_forward(tmp_path))
