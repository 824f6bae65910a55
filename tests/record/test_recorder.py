"""The recorder: what an agent says, what is recorded of it, and how it goes on."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import pytest

from tt_debugger.core.recording.entries import (
    Changed,
    Compacted,
    EffectNoted,
    Failure,
    Recovered,
    Said,
    Snapshotted,
)
from tt_debugger.errors import (
    CannotReadError,
    CannotWriteError,
    EffectUnknownError,
    ReadOnlyError,
    UnknownRefError,
    UnsupportedError,
    UsageError,
)
from tt_debugger.record import (
    AsyncRecorder,
    Hybrid,
    Periodic,
    Recorder,
    Retention,
    Status,
    Step,
    Thresholds,
    Usage,
    append,
    total,
)

LAZY = Thresholds(tokens=10**9)
"""Hardly ever writes by itself."""


class Clock:
    """A clock that stands still until it is told to go on."""

    def __init__(self) -> None:
        self.now = 1_790_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "run.jsonl")


def kinds(recorder: Recorder) -> list[str]:
    return [type(each).__name__ for each in recorder.entries_from_end()][::-1]


def fail(step: Step, perform: Callable[[], Any] | None = None, **fields: Any) -> None:
    """Take a step that fails once it has done its effect and said what it changes."""
    with step:
        if perform is not None:
            step.perform(perform)
        step.update(fields)
        raise ValueError("no such table")


# Steps and states


def test_a_step_merges_what_it_was_given_when_it_ends(path: str):
    with Recorder.open(path, state={"plan": [], "messages": []}) as recorder:
        with recorder.step("plan") as step:
            step.update(plan=["look"], messages=[{"role": "user", "content": "hi"}])
            assert recorder.state == {"plan": [], "messages": []}
        assert recorder.state == {
            "plan": ["look"],
            "messages": [{"role": "user", "content": "hi"}],
        }


def test_a_session_goes_on_where_it_ended_and_does_not_look_at_the_state_given(path: str):
    with Recorder.open(path, state={"n": 1}) as recorder:
        recorder.record({"n": 2})
        session, leaf = recorder.session, recorder.leaf

    with Recorder.open(path, state={"n": 100}) as recorder:
        assert (recorder.state, recorder.session, recorder.leaf) == ({"n": 2}, session, leaf)


def test_the_state_given_out_is_a_copy(path: str):
    with Recorder.open(path, state={"plan": ["a"]}) as recorder:
        recorder.state["plan"].append("b")
        assert recorder.state == {"plan": ["a"]}


def test_what_was_given_may_be_changed_afterwards_without_changing_what_was_recorded(path: str):
    message = {"role": "user", "content": "hi"}
    with Recorder.open(path, state={}) as recorder:
        recorder.message(message)
        message["content"] = "bye"
        assert recorder.state == {"messages": [{"role": "user", "content": "hi"}]}


def test_a_saved_state_is_recorded_as_far_as_it_differs(path: str):
    with Recorder.open(path, state={"a": 1, "b": [1, 2], "c": 3}) as recorder:
        state = recorder.state
        state["b"].append(3)
        del state["c"]
        recorder.save(state, "mine")

        assert recorder.state == {"a": 1, "b": [1, 2, 3]}
        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Changed)
        assert [(type(each).__name__, each.path) for each in entry.changes] == [
            ("Append", ("b",)),
            ("Drop", ("c",)),
        ]


def test_a_saved_state_leaves_alone_what_another_step_changed_meanwhile(path: str):
    with Recorder.open(path, state={"a": 1, "b": 1}) as recorder:
        with recorder.step() as step:
            state = recorder.state
            recorder.record({"a": 2})
            state["b"] = 2
            step.save(state)
        assert recorder.state == {"a": 2, "b": 2}


def test_a_step_that_raises_changes_nothing_and_is_recorded_as_an_error(path: str):
    with Recorder.open(path, state={"n": 1}) as recorder:
        with pytest.raises(ValueError, match="no such table"):
            fail(recorder.step("ask"), n=2)

        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Changed)
        assert (entry.name, entry.event, entry.changes) == ("ask", "error", ())
        assert entry.failure == Failure("ValueError", "no such table")
        assert recorder.state == {"n": 1}


def test_who_interrupts_a_step_is_recorded_as_that(path: str):
    with Recorder.open(path, state={}) as recorder:
        with pytest.raises(KeyboardInterrupt), recorder.step("ask"):
            raise KeyboardInterrupt
        assert next(recorder.entries_from_end()).event == "interrupt"


@pytest.mark.parametrize("value", [float("nan"), "\ud800", {1, object()}])
def test_what_json_has_no_form_for_is_refused_and_nothing_is_recorded(path: str, value: Any):
    with Recorder.open(path, state={"n": 1}) as recorder:
        with pytest.raises(UsageError):
            recorder.record({"n": value})
        assert recorder.state == {"n": 1}


@dataclass
class Shop:
    messages: Annotated[list[dict[str, str]], append] = field(default_factory=list)
    spent: Annotated[float, total] = 0.0
    plan: list[str] = field(default_factory=list)


def test_a_state_of_the_users_own_type_comes_back_as_that(path: str):
    with Recorder.open(path, state=Shop()) as recorder:
        recorder.record({"spent": 0.25, "plan": ["ask"]})
        recorder.record({"spent": 0.5, "messages": [{"id": "m1"}]})
        recorder.message({"id": "m1"})

    with Recorder.open(path, model=Shop) as recorder:
        assert recorder.state == Shop([{"id": "m1"}], 0.75, ["ask"])


def test_what_a_type_does_not_know_stays_in_the_state(path: str):
    with Recorder.open(path, state={"plan": ["ask"], "of_others": 1}) as recorder:
        recorder.record({"plan": ["go"]})
    with Recorder.open(path, model=Shop) as recorder:
        recorder.save(Shop(spent=1.0))
        assert recorder.recorded_state == {
            "plan": [],
            "of_others": 1,
            "messages": [],
            "spent": 1.0,
        }


def test_reducers_given_go_before_those_of_the_fields(path: str):
    with Recorder.open(path, state={"n": 2}, reducers={"n": lambda old, new: old * new}) as one:
        one.record({"n": 21})
        assert one.state == {"n": 42}


def test_steps_of_many_threads_are_all_recorded(path: str):
    with Recorder.open(path, state={"messages": []}) as recorder:
        threads = [
            threading.Thread(
                target=lambda name=name: [
                    recorder.message({"id": f"{name}-{n}"}) for n in range(8)
                ]
            )
            for name in range(8)
        ]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    with Recorder.open(path) as recorder:
        wanted = {f"{name}-{n}" for name in range(8) for n in range(8)}
        assert {each["id"] for each in recorder.state["messages"]} == wanted
        said = [each for each in recorder.entries_from_end() if isinstance(each, Said)]
        assert len(said) == 64
        assert len(recorder.history()) >= 65


# Messages, compactions, labels


def test_a_message_is_an_entry_of_its_own_and_none_is_added_twice(path: str):
    with Recorder.open(path, state={}) as recorder:
        recorder.message({"id": "m1", "content": "a"}, usage=Usage(input=3, output=4))
        recorder.message({"id": "m1", "content": "a"})

        assert recorder.state == {"messages": [{"id": "m1", "content": "a"}]}
        assert kinds(recorder) == ["Snapshotted", "Changed", "Changed"]


def test_plain_messages_are_written_as_such(path: str):
    with Recorder.open(path, state={"messages": []}) as recorder:
        recorder.message({"role": "user"})
        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Said)
        assert entry.message == {"role": "user"}


def test_a_compaction_names_the_entries_that_it_replaces(path: str):
    with Recorder.open(path, state={"messages": [{"n": 0}]}) as recorder:
        first = recorder.leaf
        brought = [recorder.message({"n": n}) for n in (1, 2, 3)]
        recorder.compact({"summary": "0 to 2"}, keep_last=1)

        assert recorder.state == {"messages": [{"summary": "0 to 2"}, {"n": 3}]}
        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Compacted)
        assert entry.replaces == (first, *brought[:2])


def test_who_goes_on_after_a_compaction_still_knows_where_messages_came_from(path: str):
    with Recorder.open(path, state={"messages": []}) as recorder:
        one = recorder.message({"n": 1})
        summary = recorder.compact({"summary": "1"})
        two = recorder.message({"n": 2})
        assert one
    with Recorder.open(path) as recorder:
        recorder.compact({"summary": "1 and 2"})
        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Compacted)
        assert entry.replaces == (summary, two)


def test_there_must_be_messages_to_compact(path: str):
    with (
        Recorder.open(path, state={"messages": [1, 2]}) as recorder,
        pytest.raises(UsageError, match="nothing to compact"),
    ):
        recorder.compact({}, keep_last=2)


def test_a_label_is_a_name_by_which_a_checkpoint_is_found(path: str):
    with Recorder.open(path, state={"n": 0}) as recorder:
        recorder.record({"n": 1})
        recorder.label("good")
        recorder.record({"n": 2})

        assert recorder.inspect("label=good") == {"n": 1}
        recorder.label("first", "root")
        assert recorder.inspect("label=first") == {"n": 0}


# Questions


def test_the_past_is_what_the_debugger_shows(path: str):
    clock = Clock()
    with Recorder.open(path, state={"n": 0}, clock=clock) as recorder:
        for n in (1, 2, 3):
            clock.now += 60
            recorder.record({"n": n}, name=f"step {n}")

        assert [each.head.name for each in recorder.history()][1:] == [
            "step 1",
            "step 2",
            "step 3",
        ]
        assert recorder.inspect("@~1") == {"n": 2}
        then = datetime.fromtimestamp(clock.now - 90, UTC)
        assert recorder.inspect(then) == {"n": 1}
        compared = recorder.diff("@~2", "@")
        assert [(each.path, each.old, each.new) for each in compared.comparison.edits()] == [
            (("n",), 1, 3)
        ]
        replayed = [each.row for each, _ in recorder.replay("row=2", "@")]
        assert len(replayed) == 3
        with pytest.raises(UnknownRefError):
            recorder.inspect("label=none")


def test_what_is_not_written_yet_is_asked_about_too(path: str):
    with Recorder.open(path, state={"n": 0}, when=LAZY) as recorder:
        recorder.record({"n": 1})
        assert len(recorder.unsaved) == 1
        assert recorder.inspect("@") == {"n": 1}
        assert recorder.unsaved == ()


def test_a_recorder_in_memory_answers_like_any_other():
    with Recorder.open("memory:", state={"n": 0}) as recorder:
        recorder.record({"n": 1})
        recorder.record({"n": 2})
        assert recorder.inspect("@~1") == {"n": 1}
        recorder.record({"n": 3})
        assert recorder.inspect("@") == {"n": 3}
        place = Path(recorder.location)
    assert not place.exists()


# Forks


def test_a_fork_is_an_entry_and_both_branches_go_on(path: str):
    with Recorder.open(path, state={"n": 0, "big": "x" * 10_000}) as recorder:
        one = recorder.record({"n": 1})
        recorder.record({"n": 2})
        size = Path(path).stat().st_size
        fork = recorder.fork(one, note="what if")
        assert Path(path).stat().st_size - size < 300
        fork.record({"n": 10})
        recorder.record({"n": 3})

        assert (fork.state["n"], recorder.state["n"]) == (10, 3)
        assert recorder.inspect(fork.leaf)["n"] == 10
    with Recorder.open(path) as recorder:
        assert recorder.state["n"] == 3


def test_effects_belong_to_the_session_whatever_branch_one_goes_on_from(path: str):
    done: list[int] = []
    with Recorder.open(path, state={}) as recorder:
        with recorder.step(effect_key="k") as step:
            step.perform(done.append, 1)
        fork = recorder.fork("root")
        with fork.step(effect_key="k") as step:
            step.perform(done.append, 2)
        assert done == [1]


# Effects


def begin_and_die(recorder: Recorder, key: str = "k") -> None:
    """Leave an effect as a process does that was killed amid it."""
    step = recorder.step("send", tool="mail", effect_key=key)
    step.__enter__()
    step.begin()


def test_an_effect_is_performed_once_and_gives_the_same_again(path: str):
    calls: list[int] = []

    def send(number: int) -> dict[str, int]:
        calls.append(number)
        return {"sent": number}

    for _ in range(2):
        with Recorder.open(path, state={"sent": 0}) as recorder:
            with recorder.step("send", effect_key="k") as step:
                assert step.perform(send, 7) == {"sent": 7}
                step.update(sent=1)
            assert recorder.effects["k"].status is Status.DONE
    assert calls == [7]


def test_the_changes_of_a_step_are_recorded_with_its_effect_being_done(path: str):
    with Recorder.open(path, state={"n": 0}) as recorder:
        with recorder.step("send", effect_key="k") as step:
            step.perform(int)
            step.update(n=1)
        phases = [
            (each.phase, bool(each.changes))
            for each in recorder.entries_from_end()
            if isinstance(each, EffectNoted)
        ]
        assert phases[::-1] == [("intended", False), ("begun", False), ("done", True)]


def test_what_was_begun_and_not_done_is_unknown_and_never_done_again_unasked(path: str):
    with Recorder.open(path, state={}) as recorder:
        begin_and_die(recorder)
    with Recorder.open(path) as recorder:
        assert recorder.effects["k"].status is Status.UNKNOWN
        with pytest.raises(EffectUnknownError), recorder.step(effect_key="k"):
            pytest.fail("the step began")


@pytest.mark.parametrize("happened", [True, False])
def test_the_world_is_asked_what_is_not_known(path: str, happened: bool):  # noqa: FBT001
    calls: list[int] = []
    with Recorder.open(path, state={}) as recorder:
        begin_and_die(recorder)
        with recorder.step(effect_key="k", was_done=lambda: happened) as step:
            step.perform(calls.append, 1)
    assert calls == ([] if happened else [1])
    with Recorder.open(path) as recorder:
        assert recorder.effects["k"].status is Status.DONE


def test_who_takes_the_same_key_once_may_be_asked_again(path: str):
    calls: list[int] = []
    with Recorder.open(path, state={}) as recorder:
        begin_and_die(recorder)
        with recorder.step(effect_key="k", retry_unknown=True) as step:
            step.perform(calls.append, 1)
    assert calls == [1]


def test_who_has_looked_says_what_happened(path: str):
    with Recorder.open(path, state={}) as recorder:
        begin_and_die(recorder, "a")
        begin_and_die(recorder, "b")
        assert recorder.settle("a", done=True, result=5).status is Status.DONE
        assert recorder.settle("b", done=False).status is Status.NOT_DONE
        with pytest.raises(UsageError, match="no effect 'c'"):
            recorder.settle("c", done=True)
    with Recorder.open(path) as recorder:
        assert {key: each.status for key, each in recorder.effects.items()} == {
            "a": Status.DONE,
            "b": Status.NOT_DONE,
        }
        assert recorder.effects["a"].result == 5


def test_a_function_that_raises_leaves_its_effect_unknown(path: str):
    def send() -> None:
        raise TimeoutError

    with Recorder.open(path, state={}) as recorder:
        with pytest.raises(TimeoutError), recorder.step(effect_key="k") as step:
            step.perform(send)
        assert recorder.effects["k"].status is Status.UNKNOWN
        with recorder.step(effect_key="j") as step:
            with pytest.raises(TimeoutError):
                step.perform(send)
            with pytest.raises(EffectUnknownError):
                step.perform(send)


def test_a_step_that_fails_after_its_effect_still_says_that_it_happened(path: str):
    with Recorder.open(path, state={"n": 0}) as recorder:
        step = recorder.step(effect_key="k")
        with pytest.raises(ValueError, match="no such table"):
            fail(step, perform=lambda: 5, n=1)
    with Recorder.open(path) as recorder:
        assert recorder.effects["k"].status is Status.DONE
        assert recorder.effects["k"].result == 5
        assert recorder.state == {"n": 0}


def test_a_result_that_json_has_no_form_for_does_not_hide_that_the_effect_happened(path: str):
    with Recorder.open(path, state={}) as recorder:
        with recorder.step(effect_key="k") as step:
            step.perform(object)
        assert recorder.effects["k"].status is Status.DONE
        assert recorder.effects["k"].result == {"$opaque": "builtins.object"}


def test_a_step_without_a_key_has_no_effect_to_perform(path: str):
    with (
        Recorder.open(path, state={}) as recorder,
        pytest.raises(UsageError, match="no effect"),
        recorder.step() as step,
    ):
        step.perform(int)


# When to write


def test_a_periodic_recorder_knows_what_is_not_written(path: str):
    clock = Clock()
    with Recorder.open(path, state={"n": 0}, when=Periodic(3600), clock=clock) as recorder:
        recorder.record({"n": 1})
        recorder.record({"n": 2})
        assert [each.changes[0].value for each in recorder.unsaved] == [1, 2]  # type: ignore[union-attr]
        clock.now += 3601
        recorder.record({"n": 3})
        assert recorder.unsaved == ()


def test_what_waits_is_written_in_time_though_no_step_comes(path: str):
    recorder = Recorder.open(path, state={"n": 0}, when=Hybrid(0.01, 0.02))
    recorder.record({"n": 1})
    recorder.record({"n": 2})
    done = threading.Event()
    for _ in range(1000):
        if not recorder.unsaved:
            break
        done.wait(0.02)
    assert recorder.unsaved == ()
    recorder.close()


@pytest.mark.parametrize("event", ["error", "interrupt", "plan", "effect"])
def test_a_critical_event_is_written_at_once_with_all_that_waits(path: str, event: Any):
    with Recorder.open(path, state={}, when=Thresholds(tokens=10**9)) as recorder:
        recorder.record({"n": 1})
        assert len(recorder.unsaved) == 1
        recorder.record({"n": 2}, event=event)
        assert recorder.unsaved == ()


def test_a_threshold_writes_when_enough_was_used(path: str):
    with Recorder.open(path, state={}, when=Thresholds(tokens=100)) as recorder:
        recorder.record({"n": 1}, usage=Usage(input=60))
        assert len(recorder.unsaved) == 1
        recorder.record({"n": 2}, usage=Usage(input=60))
        assert recorder.unsaved == ()


def test_a_clean_close_writes_all(path: str):
    with Recorder.open(path, state={}, when=LAZY) as recorder:
        recorder.record({"n": 1})
    with Recorder.open(path) as recorder:
        assert recorder.state == {"n": 1}


# Whole states


def test_a_state_that_is_changed_again_and_again_is_written_whole_now_and_then(path: str):
    with Recorder.open(path, state={"page": ""}) as recorder:
        for n in range(40):
            recorder.record({"page": f"{n}" * 20_000})
        whys = [each.why for each in recorder.entries_from_end() if isinstance(each, Snapshotted)]
        assert whys.count("size") >= 2
        state = recorder.state
    with Recorder.open(path) as recorder:
        assert recorder.state == state


def test_a_state_that_only_grows_is_written_whole_once(path: str):
    with Recorder.open(path, state={"messages": []}) as recorder:
        for n in range(60):
            recorder.message({"n": n, "content": "x" * 20_000})
        assert sum(isinstance(each, Snapshotted) for each in recorder.entries_from_end()) == 1


# Locks, damage


def test_only_one_recorder_writes_to_a_file(path: str):
    with (
        Recorder.open(path, state={}),
        pytest.raises(CannotWriteError, match="another recorder"),
    ):
        Recorder.open(path)


def test_what_a_crash_left_unfinished_is_cut_off_and_told(path: str):
    with Recorder.open(path, state={"n": 1}) as recorder:
        recorder.record({"n": 2})
    with Path(path).open("ab") as file:
        file.write(b'{"type":"change","id":"x"')
    with Recorder.open(path) as recorder:
        assert recorder.state == {"n": 2}
        entry = next(recorder.entries_from_end())
        assert isinstance(entry, Recovered)
        assert entry.dropped == 25


def test_a_file_of_something_else_is_not_written_to(path: str):
    Path(path).write_text('{"role": "user"}\n')
    with pytest.raises(CannotReadError, match="no recording"):
        Recorder.open(path, state={})
    assert Path(path).read_text() == '{"role": "user"}\n'


@pytest.mark.parametrize("location", ["run.txt", "mysql://u:secret@host/db", ""])
def test_a_location_of_no_known_kind_is_refused_without_its_password(location: str):
    with pytest.raises(UsageError) as caught:
        Recorder.open(location)
    assert "secret" not in caught.value.message


# Migrations


def to_2(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "cost": 0.0}


def to_3(state: dict[str, Any]) -> dict[str, Any]:
    state["refs"] = state.pop("memory")
    return state


def test_an_old_state_is_brought_to_the_version_of_the_code_once_and_told(path: str):
    with Recorder.open(path, state={"memory": [1]}) as recorder:
        old = recorder.leaf
    for _ in range(2):
        with Recorder.open(path, version=3, migrations={1: to_2, 2: to_3}) as recorder:
            assert recorder.state == {"refs": [1], "cost": 0.0}
            assert recorder.inspect(old) == {"memory": [1]}
            told = [
                each.migration
                for each in recorder.entries_from_end()
                if isinstance(each, Snapshotted) and each.migration
            ]
            assert [(each.before, each.after, each.steps) for each in told] == [
                (1, 3, ("to_2", "to_3"))
            ]


def test_a_fork_from_before_a_migration_is_brought_forward_too(path: str):
    with Recorder.open(path, state={"memory": [1]}) as recorder:
        old = recorder.leaf
    with Recorder.open(path, version=3, migrations={1: to_2, 2: to_3}) as recorder:
        assert recorder.fork(old).state == {"refs": [1], "cost": 0.0}


def test_a_state_newer_than_the_code_can_be_looked_at_only(path: str):
    with Recorder.open(path, state={"n": 1}, version=2) as recorder:
        recorder.record({"n": 2})
    data = Path(path).read_bytes()
    with Recorder.open(path, version=1) as recorder:
        assert "version 2" in (recorder.read_only or "")
        assert recorder.inspect("@") == {"n": 2}
        with pytest.raises(ReadOnlyError, match="version 2"):
            recorder.record({"n": 3})
    assert Path(path).read_bytes() == data


# Handoffs


def test_a_handoff_is_taken_up_with_state_next_step_and_open_effects(path: str, tmp_path: Path):
    note = tmp_path / "HANDOFF.md"
    with Recorder.open(path, state={"todo": ["b"]}, title="the shop") as recorder:
        begin_and_die(recorder)
        recorder.handoff(note, next_step="do b", blockers=["no key"], decisions=["use tea"])

    there = Recorder.resume(note)
    assert (there.next_step, there.blockers, there.decisions, there.stale) == (
        "do b",
        ("no key",),
        ("use tea",),
        (),
    )
    assert there.state == {"todo": ["b"]}
    assert [each.key for each in there.open_effects] == ["k"]
    there.recorder.close()


def test_a_handoff_says_what_is_stale_in_it(path: str, tmp_path: Path):
    note = tmp_path / "HANDOFF.md"
    with Recorder.open(path, state={"n": 1}) as recorder:
        recorder.handoff(note, next_step="go on")
        recorder.record({"n": 2})
    note.write_text(note.read_text() + "\nby hand\n")

    there = Recorder.resume(note)
    there.recorder.close()
    assert there.state == {"n": 2}
    assert there.stale == (
        "its text was edited after it was written",
        "1 entry recorded since it was written",
    )


def test_a_handoff_whose_writer_was_cut_off_before_its_file_is_written_anew(
    path: str, tmp_path: Path
):
    note = tmp_path / "HANDOFF.md"
    with Recorder.open(path, state={"n": 1}) as recorder:
        recorder.handoff(note, next_step="first")
        before = note.read_text()
        recorder.handoff(note, next_step="second")
    after = note.read_text()
    note.write_text(before)

    there = Recorder.resume(note)
    there.recorder.close()
    assert (there.next_step, there.stale, note.read_text()) == ("second", (), after)


def test_a_handoff_of_another_log_is_told_of(path: str, tmp_path: Path):
    note = tmp_path / "HANDOFF.md"
    with Recorder.open(path, state={"n": 1}) as recorder:
        name = recorder.handoff(note, next_step="go on")
    Path(path).unlink()
    with Recorder.open(path, state={"n": 1}):
        pass
    there = Recorder.resume(note)
    there.recorder.close()
    assert there.stale == (f"the log has no checkpoint {name}",)


# Retention


def test_a_file_that_only_grows_cannot_forget(path: str):
    with (
        Recorder.open(path, state={}) as recorder,
        pytest.raises(UnsupportedError, match="only grows"),
    ):
        recorder.prune(Retention(last=1))


def test_retention_keeps_the_last_the_labelled_fork_points_and_one_an_hour(tmp_path: Path):
    clock = Clock()
    with Recorder.open(f"sqlite:///{tmp_path}/run.db", state={"n": 0}, clock=clock) as recorder:
        ids = [recorder.leaf]
        for n in range(1, 40):
            clock.now += 600
            with recorder.step(f"s{n}", effect_key=f"k{n}" if n == 5 else None) as step:
                if n == 5:
                    step.perform(int)
                step.update(n=n)
            ids.append(recorder.leaf)
        recorder.label("good", ids[7])
        fork = recorder.fork(ids[12])
        fork.record({"n": -1})
        recorder.record({"n": 40})
        states = {each: recorder.inspect(each) for each in ids}
        effects = dict(recorder.effects)

        gone = recorder.prune(Retention(last=5, hourly=True))

        left = [each.id for each in recorder.history()]
        assert gone > 20
        assert {ids[7], ids[12], fork.leaf, recorder.leaf} <= set(left)
        assert {each: recorder.inspect(each) for each in left if each in states} == {
            each: states[each] for each in left if each in states
        }
        assert recorder.state == {"n": 40}
        recorder.record({"n": 41})
        fork.record({"n": -2})
        assert (recorder.inspect("label=good"), recorder.effects) == ({"n": 7}, effects)


# Awaiting


def test_a_program_that_awaits_records_the_same(path: str):
    async def agent() -> list[Any]:
        async def send() -> str:
            await asyncio.sleep(0)
            return "sent"

        async with await AsyncRecorder.open(path, state={"n": 0, "messages": []}) as recorder:
            await recorder.message({"role": "user"})
            async with recorder.step("send", effect_key="k") as step:
                await step.perform_async(send)
                step.update(n=1)
            await recorder.record({"n": 2})
            fork = await recorder.fork("@~1")
            await fork.record({"n": 3})
            return [
                recorder.state,
                fork.state,
                await recorder.inspect("@"),
                recorder.effects["k"].result,
            ]

    message = {"role": "user"}
    assert asyncio.run(agent()) == [
        {"n": 2, "messages": [message]},
        {"n": 3, "messages": [message]},
        {"n": 3, "messages": [message]},
        "sent",
    ]


def test_who_is_cancelled_amid_a_step_has_it_recorded_as_interrupted(path: str):
    async def agent(begun: asyncio.Event) -> None:
        async with (
            await AsyncRecorder.open(path, state={}) as recorder,
            recorder.step("wait"),
        ):
            begun.set()
            await asyncio.Event().wait()

    async def cancelled() -> None:
        begun = asyncio.Event()
        task = asyncio.create_task(agent(begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    with Recorder.open(path) as recorder:
        entry = next(recorder.entries_from_end())
        assert (entry.name, entry.event) == ("wait", "interrupt")
