"""The recorder, used in ways it is not meant to be, and opened on what nobody wrote with it."""

from __future__ import annotations

import asyncio
import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tt_debugger.core.recording.entries import EffectNoted
from tt_debugger.errors import (
    CannotReadError,
    CannotWriteError,
    EffectUnknownError,
    UsageError,
)
from tt_debugger.record import OnEvents, Periodic, Recorder, Status, Step

HEADER = (
    '{"type":"recording","session_id":"s","created_at":"2026-03-01T09:00:00.000Z",'
    '"schema_version":1}\n'
)
START = (
    '{"type":"snapshot","id":"a1","parent":null,"time":"2026-03-01T09:00:00.000Z",'
    '"state":{"messages":[],"plan":[]},"version":1}\n'
)
LAZY = OnEvents(("never",))
"""Hardly ever writes by itself."""


@pytest.fixture
def recorder(tmp_path: Path) -> Iterator[Recorder]:
    with Recorder.open(str(tmp_path / "run.jsonl"), state={"plan": []}) as recorder:
        yield recorder


def refused(asked: Callable[[], Any]) -> tuple[str, str | None]:
    with pytest.raises(UsageError) as caught:
        asked()
    return caught.value.message, caught.value.hint


# Effects


def test_an_effect_that_a_step_inside_has_done_is_not_done_again_outside(
    recorder: Recorder,
) -> None:
    calls: list[str] = []
    with recorder.step("outer", effect_key="k") as outer:
        with recorder.step("inner", effect_key="k") as inner:
            inner.perform(lambda: calls.append("inner"))
        outer.perform(lambda: calls.append("outer"))
        outer.update(plan=["on"])

    assert (calls, recorder.state) == (["inner"], {"plan": ["on"]})
    assert recorder.effects["k"].status is Status.DONE


def test_an_effect_that_another_branch_amidst_has_begun_is_not_done_again(
    recorder: Recorder,
) -> None:
    calls: list[str] = []
    branch = recorder.fork("@")
    with recorder.step("here", effect_key="k") as here, branch.step("there", effect_key="k") as it:
        it.perform(lambda: calls.append("there"))
        with pytest.raises(EffectUnknownError):
            here.perform(lambda: calls.append("here"))

    assert calls == ["there"]


def test_of_two_threads_that_take_one_effect_at_once_one_has_it(recorder: Recorder) -> None:
    calls: list[str] = []
    refusals: list[str] = []
    both = threading.Barrier(2)

    def take() -> None:
        try:
            with recorder.step("send", effect_key="k") as step:
                both.wait(30)
                step.perform(lambda: calls.append("sent"))
        except EffectUnknownError as error:
            refusals.append(type(error).__name__)

    threads = [threading.Thread(target=take) for _ in range(2)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    # Who came second met it begun, or done already.
    assert calls == ["sent"]
    assert len(refusals) <= 1
    assert recorder.effects["k"].status is Status.DONE


def test_an_effect_tried_again_is_unknown_until_it_is_done(recorder: Recorder) -> None:
    def dies() -> None:
        raise OSError("the line is cut")

    with pytest.raises(OSError, match="cut"), recorder.step("send", effect_key="k") as step:
        step.perform(dies)
    with recorder.step("send", effect_key="k", retry_unknown=True):
        assert recorder.effects["k"].status is Status.UNKNOWN

    assert recorder.effects["k"].status is Status.UNKNOWN


async def awaited() -> str:
    return "sent"


def generated() -> Iterator[str]:
    yield "sent"


def test_a_function_that_is_to_be_awaited_is_not_taken_for_done(recorder: Recorder) -> None:
    with pytest.raises(UsageError) as caught, recorder.step("send", effect_key="k") as step:
        step.perform(awaited)

    assert caught.value.message == "what awaited gives is to be awaited"
    assert caught.value.hint == "write `await step.perform_async(...)`"
    assert recorder.effects["k"].status is Status.NOT_DONE


def test_what_turns_out_to_be_awaitable_is_not_taken_for_done(recorder: Recorder) -> None:
    made: list[Any] = []

    def gives_it() -> Any:
        made.append(awaited())
        return made[-1]

    with pytest.raises(UsageError), recorder.step("send", effect_key="k") as step:
        step.perform(gives_it)
    made[-1].close()

    assert recorder.effects["k"].status is Status.UNKNOWN


def test_a_generator_is_not_taken_for_done(recorder: Recorder) -> None:
    async def take(step: Step) -> None:
        await step.perform_async(generated)  # pyright: ignore[reportArgumentType] - that is the mistake

    with pytest.raises(UsageError), recorder.step("send", effect_key="k") as step:
        step.perform(generated)
    with pytest.raises(UsageError), recorder.step("send", effect_key="k") as step:
        asyncio.run(take(step))

    assert recorder.effects["k"].status is Status.NOT_DONE


def test_an_effect_is_known_as_done_though_what_its_step_changes_cannot_be_merged(
    tmp_path: Path,
) -> None:
    def fails(_old: Any, _new: Any) -> Any:
        raise KeyError("x")

    path = str(tmp_path / "run.jsonl")

    def take(recorder: Recorder) -> None:
        with recorder.step("send", effect_key="k") as step:
            step.perform(lambda: 5)
            step.update(n=2)

    with Recorder.open(path, state={"n": 1}, reducers={"n": fails}) as recorder:
        refused(lambda: take(recorder))

    with Recorder.open(path) as recorder:
        effect = recorder.effects["k"]
        last = next(recorder.entries_from_end())
        assert (effect.status, effect.result, recorder.state) == (Status.DONE, 5, {"n": 1})
        assert last.failure is not None
        assert last.failure.message.startswith("n: the reducer fails failed")


# Steps


def test_a_step_that_was_not_entered_has_no_effect_and_saves_nothing(recorder: Recorder) -> None:
    step = recorder.step("send", effect_key="k")
    wanted = "the step has not begun", "use it in a block: with recorder.step(...) as step"

    assert refused(lambda: step.perform(lambda: 1)) == wanted
    assert refused(lambda: step.save({"plan": [1]})) == wanted
    assert recorder.effects == {}


def test_a_step_is_not_taken_twice(recorder: Recorder) -> None:
    step = recorder.step("note")
    with step:
        step.message("once")

    with pytest.raises(UsageError), step:
        pass

    assert recorder.state == {"plan": [], "messages": ["once"]}


ASKED: tuple[Callable[[Any], Any], ...] = (
    lambda it: it.record({"plan": [1]}, name=5),
    lambda it: it.record({"plan": [1]}, tool=5),
    lambda it: it.record({"plan": [1]}, event="boom"),
    lambda it: it.record({"plan": [1]}, usage={"input": 3}),
    lambda it: it.record({"plan": [1]}, name="\ud800"),
    lambda it: it.label(3),
    lambda it: it.step("x", effect_key=5).__enter__(),
    lambda it: it.fork("@", note=3),
)


@pytest.mark.parametrize("asked", ASKED)
def test_what_nobody_could_read_again_is_refused_and_not_lost_in_the_log(
    asked: Callable[[Recorder], Any], recorder: Recorder
) -> None:
    refused(lambda: asked(recorder))

    assert (recorder.state, recorder.unsaved) == ({"plan": []}, ())
    recorder.record({"plan": [2]})
    assert recorder.inspect("@") == {"plan": [2]}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"title": 5}, "this recording cannot be recorded: Expected `str | null`, got `int` - at"),
        ({"version": "2"}, "this snapshot cannot be recorded: Expected `int`, got `str` - at"),
        ({"sesion": "x"}, "there is no setting 'sesion'"),
        ({"when": Periodic}, "when=<class 'tt_debugger.record.policies.Periodic'> is no policy"),
    ],
)
def test_settings_that_are_none_are_refused(
    settings: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = str(tmp_path / "run.jsonl")

    told, _ = refused(lambda: Recorder.open(path, state={}, **settings))

    assert told.startswith(message)


def test_a_branch_is_summed_up_where_there_are_no_messages_yet(recorder: Recorder) -> None:
    recorder.summarise_branch("@", "It was too late.")

    assert recorder.state == {"plan": [], "messages": ["It was too late."]}


@pytest.mark.parametrize("messages", [None, "text", {"a": 1}])
def test_what_is_no_list_of_messages_cannot_be_compacted(messages: Any, tmp_path: Path) -> None:
    path = str(tmp_path / "run.jsonl")
    with Recorder.open(path, state={"messages": messages}) as recorder:
        refused(lambda: recorder.compact("all"))


# The end


def test_a_recorder_that_nobody_closed_is_written_and_closed_when_it_is_given_up(
    tmp_path: Path,
) -> None:
    path = str(tmp_path / "run.jsonl")
    for policy in (LAZY, Periodic(10_000)):
        recorder = Recorder.open(path, when=policy)
        recorder.record({"n": str(policy)})
        del recorder
        gc.collect()

        with Recorder.open(path) as there:
            assert there.state == {"n": str(policy)}


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no processes are copied here")
def test_a_copy_of_the_process_writes_nothing_and_does_no_harm(tmp_path: Path) -> None:
    path = str(tmp_path / "run.jsonl")
    recorder = Recorder.open(path, when=LAZY)
    recorder.record({"n": 1})

    copy = os.fork()
    if not copy:
        told = 1
        try:
            recorder.flush()
        except CannotWriteError:
            recorder.close()
            told = 0
        finally:
            os._exit(told)
    _, status = os.waitpid(copy, 0)
    recorder.record({"m": 2})
    recorder.close()

    assert os.waitstatus_to_exitcode(status) == 0
    with Recorder.open(path) as there:
        assert there.state == {"n": 1, "m": 2}


def test_a_handoff_of_a_database_leads_back_to_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    named: dict[str, Any] = {"session": "a/b", "tenant": "acme"}
    with Recorder.open("sqlite:///run.db", state={"todo": ["x"]}, **named) as recorder:
        recorder.handoff("HANDOFF.md", next_step="x")
    moved = tmp_path / "moved"
    moved.mkdir()
    for each in ("run.db", "HANDOFF.md"):
        (tmp_path / each).rename(moved / each)

    there = Recorder.resume("moved/HANDOFF.md")
    with there.recorder:
        assert (there.state, there.next_step, there.stale) == ({"todo": ["x"]}, "x", ())


# What nobody should have written


def change(*changes: str) -> str:
    return (
        '{"type":"change","id":"z","parent":"a1","time":"t","changes":[' + ",".join(changes) + "]}"
    )


@pytest.mark.parametrize(
    "line",
    [
        change('{"op":"put","path":["x","y"],"value":1}'),
        change('{"op":"put","path":[],"value":1}'),
        change('{"op":"put","path":["plan","k"],"value":1}'),
        change('{"op":"put","path":["plan",99999999999999999999],"value":1}'),
        change('{"op":"drop","path":["plan",7]}'),
        change('{"op":"drop","path":[]}'),
        change('{"op":"append","path":[],"value":1}'),
        change('{"op":"append","path":["none"],"value":1}'),
        change('{"op":"splice","path":[],"index":0,"count":1,"values":[]}'),
        change('{"op":"snapshot","value":[1]}'),
    ],
)
def test_changes_of_what_is_not_there_are_told_and_not_believed(line: str, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(HEADER + START + line + "\n")

    with pytest.raises(CannotReadError) as caught:
        Recorder.open(str(path))

    assert caught.value.message.startswith(f"no state can be made of {path}: the ")
    assert caught.value.hint == f"see `ttdbg doctor {path}`"
    assert path.read_text() == HEADER + START + line + "\n"


@pytest.mark.parametrize(
    "line",
    [
        START.replace('"version":1', '"version":"1"'),
        START + START.replace('"a1"', '"a2"').replace("snapshot", "of_tomorrow"),
        START.replace('"version"', '"effects":[{"key":"k","status":"so","entry":"a"}],"version"'),
    ],
)
def test_a_log_whose_last_line_is_unknown_is_neither_gone_on_with_nor_begun_anew(
    line: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    path.write_text(HEADER + line)

    with pytest.raises(CannotReadError) as caught:
        Recorder.open(str(path), state={"new": True})

    assert caught.value.message.startswith(
        f"the last line of {path} is no entry that this version knows: "
    )
    assert path.read_text() == HEADER + line


def test_effects_are_noted_in_their_order_whatever_is_tried(recorder: Recorder) -> None:
    with recorder.step("send", effect_key="k") as step:
        step.perform(lambda: 1)
    with recorder.step("send", effect_key="k") as step:
        assert step.perform(lambda: 2) == 1

    noted = [each.phase for each in recorder.entries_from_end() if isinstance(each, EffectNoted)]
    assert noted == ["done", "begun", "intended"]
