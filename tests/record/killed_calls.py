"""Recorders whose process is killed before the n-th call of the system, for every n.

Run as a program of its own, as only a process without threads may fork. It prints what it saw of
each piece of work: how often it was killed, and what was not as it has to be then.
"""

from __future__ import annotations

import errno
import itertools
import json
import os
import shutil
import sys
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
from failing import KILL, failing

from tt_debugger.core.recording.effects import Status
from tt_debugger.core.recording.entries import Entry, HandedOff, Snapshotted
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.record.backends.jsonl import JsonlLog
from tt_debugger.record.backends.options import Options
from tt_debugger.record.branch import Branch
from tt_debugger.record.policies import (
    EveryStep,
    Hybrid,
    OnEvents,
    Periodic,
    Policy,
    Thresholds,
)
from tt_debugger.record.recorder import Recorder
from tt_debugger.record.step import Step

Say = Callable[[str], None]
STEPS = 8
START = {"n": 0, "messages": []}
OLD = {"n": 2, "note": "old", "messages": []}
NEW = {"count": 2, "note": "old", "messages": [], "tags": ["new"]}


class Work(msgspec.Struct, frozen=True):
    """What is prepared, what is done then, and what must hold of the folder and of what was said.

    `must_hold` gives what does not.
    """

    do: Callable[[Path, Say], None]
    must_hold: Callable[[Path, list[str]], str | None]
    prepare: Callable[[Path], None] = lambda _folder: None


def path_in(folder: Path) -> str:
    return str(folder / "run.jsonl")


def opened(folder: Path, when: Policy | None = None) -> Recorder:
    ticks = itertools.count(1_767_225_600)
    return Recorder.open(
        path_in(folder), state=START, when=when or EveryStep(), clock=lambda: float(next(ticks))
    )


def entries_in(folder: Path) -> list[Entry]:
    """Give the entries of the log, oldest first."""
    log = JsonlLog.open(path_in(folder), Options())
    try:
        return list(log.newest_first())[::-1]
    finally:
        log.close()


# Steps, whenever they are written


def _takes_steps(when: Policy) -> Callable[[Path, Say], None]:
    def do(folder: Path, say: Say) -> None:
        recorder = opened(folder, when)
        say("0 0")
        for number in range(1, STEPS + 1):
            say(f"{number} {number - 1 - len(recorder.unsaved)}")
            name = "plan" if number == STEPS // 2 else "step"
            recorder.record({"n": number}, name, event="plan" if name == "plan" else None)
            say(f"{number} {number - len(recorder.unsaved)}")

    return do


def _steps_hold(folder: Path, said: list[str]) -> str | None:
    """Of what was begun all is there that was not said to be unsaved."""
    begun, saved = map(int, said[-1].split()) if said else (0, 0)
    with opened(folder) as recorder:
        there = recorder.state["n"]
        last = list(recorder.history())[-1]
        if last.id != recorder.leaf:
            return f"{recorder.leaf} is gone on from, {last.id} is shown"
    return None if saved <= there <= begun else f"{saved} were saved, {there} are there"


# Effects


def _has_effects(folder: Path, say: Say) -> None:
    world = folder / "world"
    with opened(folder) as recorder:
        while (number := recorder.state["n"] + 1) <= 2:
            key = f"effect-{number}"
            known = recorder.effects.get(key)
            if known is not None and known.status is Status.UNKNOWN:
                say("unknown")
            with recorder.step(effect_key=key, was_done=lambda: key in _world(world)) as step:  # noqa: B023 - called at once
                step.perform(_act, world, key)
                step.update(n=number)


def _world(world: Path) -> list[str]:
    return world.read_text().split() if world.exists() else []


def _act(world: Path, key: str) -> None:
    file = os.open(world, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.write(file, f"{key}\n".encode())
    os.close(file)


def _effects_hold(folder: Path, _said: list[str]) -> str | None:
    _has_effects(folder, lambda _line: None)
    happened = _world(folder / "world")
    return None if happened == ["effect-1", "effect-2"] else f"the world is {happened}"


# Going on in a new file


def _moves(folder: Path, say: Say) -> None:
    recorder = opened(folder)
    for number in range(1, STEPS + 1):
        with failing_sync() if number == STEPS // 2 else nullcontext():
            recorder.record({"n": number})
        say(f"{number} {number}")


@contextmanager
def failing_sync() -> Generator[None]:
    """Let the next sync fail."""
    real = os.fsync
    failed: list[int] = []

    def fsync(file: int) -> None:
        if failed:
            real(file)
        else:
            failed.append(file)
            raise OSError(errno.EIO, os.strerror(errno.EIO))

    with mock.patch.object(os, "fsync", fsync):
        yield


def _moved_hold(folder: Path, said: list[str]) -> str | None:
    acknowledged = int(said[-1].split()[0]) if said else 0
    with opened(folder) as recorder:
        there = recorder.state["n"]
        recorder.record({"n": there + 1})
    with opened(folder) as recorder:
        if recorder.state["n"] != there + 1:
            return f"went on from {there} to {recorder.state['n']}"
    is_fine = acknowledged <= there <= acknowledged + 1
    return None if is_fine else f"{acknowledged} was acknowledged, {there} is there"


# Migration


def _counted(state: dict[str, Any]) -> dict[str, Any]:
    return {"count": state["n"], **{key: each for key, each in state.items() if key != "n"}}


def _tagged(state: dict[str, Any]) -> dict[str, Any]:
    return {**state, "tags": ["new"]}


def _old(folder: Path) -> None:
    with Recorder.open(path_in(folder), state={**OLD, "n": 1}) as recorder:
        recorder.record({"n": 2})


def _migrates(folder: Path, _say: Say) -> None:
    Recorder.open(path_in(folder), version=3, migrations={1: _counted, 2: _tagged})


def _is_old_or_new(folder: Path, _said: list[str]) -> str | None:
    before = entries_in(folder)
    there = restored(before[::-1])
    assert isinstance(there, Restored)
    if (there.version, there.state) not in ((1, OLD), (3, NEW)):
        return f"mixed: {there}"
    with Recorder.open(path_in(folder), version=3, migrations={1: _counted, 2: _tagged}) as new:
        if new.state != NEW:
            return f"the state is {new.state}"
    after = entries_in(folder)
    migrations = [each for each in after if isinstance(each, Snapshotted) and each.migration]
    is_kept = after[: len(before)] == before
    return None if is_kept and len(migrations) == 1 else f"{before} became {after}"


# Handoff


def _handed_off(folder: Path) -> None:
    with opened(folder) as recorder:
        recorder.handoff(folder / "next.md", next_step="the first")
        recorder.record({"n": 1})


def _hands_off(folder: Path, say: Say) -> None:
    recorder = opened(folder)
    recorder.handoff(folder / "next.md", next_step="the second")
    say("handed off")


def _handoff_holds(folder: Path, said: list[str]) -> str | None:
    """The file is never newer than the log, and after resuming it is as new."""
    path = folder / "next.md"
    logged = [each for each in entries_in(folder) if isinstance(each, HandedOff)]
    if path.read_text() not in [each.text for each in logged]:
        return "the file says what the log does not"
    if said and path.read_text() != logged[-1].text:
        return "lost after it was said to be there"
    given = Recorder.resume(path)
    given.recorder.close()
    is_stale = len(logged) == 1
    told = (given.next_step, given.state["n"], bool(given.stale))
    wanted = ("the first" if is_stale else "the second", 1, is_stale)
    if told != wanted:
        return f"{told} is given, {wanted} is right"
    return None if path.read_text() == logged[-1].text else "the file stays older than the log"


POLICIES: Mapping[str, Policy] = {
    "every step": EveryStep(),
    "periodic": Periodic(20),
    "on events": OnEvents(("save",)),
    "hybrid": Hybrid(4, 30),
    "thresholds": Thresholds(tokens=1_000),
}
WORK: Mapping[str, Work] = {
    **{name: Work(_takes_steps(when), _steps_hold) for name, when in POLICIES.items()},
    "effects": Work(_has_effects, _effects_hold),
    "new file": Work(_moves, _moved_hold),
    "migration": Work(_migrates, _is_old_or_new, _old),
    "handoff": Work(_hands_off, _handoff_holds, _handed_off),
}


def killed(work: Work, folder: Path, at: int | None) -> tuple[bool, list[str]]:
    """Do a piece of work in a process that is killed before a call; tell what it has said."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    work.prepare(folder)
    readable, writable = os.pipe()
    child = os.fork()
    if child == 0:
        real = os.write

        def say(line: str) -> None:
            real(writable, f"{line}\n".encode())

        try:
            with failing(at, KILL):
                work.do(folder, say)
        except BaseException as error:  # noqa: BLE001 - it is told, and the process ends
            say(f"{type(error).__name__}: {error}")
        # As if it were killed now: what is not written yet is not.
        os._exit(0)
    os.close(writable)
    _, status = os.waitpid(child, 0)
    with os.fdopen(readable) as said:
        lines = said.read().splitlines()
    return os.WIFSIGNALED(status), lines


def _begins_unrecorded(step: Step, _given: str | None) -> bool:
    return not step.is_done


def _puts_no_handoff(branch: Branch, entry: Entry) -> str:
    return entry.id if isinstance(entry, HandedOff) else _PUT(branch, entry)


def _migrates_in_place(branch: Branch, state: Any, why: str, migration: Any = None) -> str:
    if migration is not None:
        _PUT_WHOLE(branch, {**state, "n": state["count"]}, why, migration)
    return _PUT_WHOLE(branch, state, why)


_PUT, _PUT_WHOLE = Branch.put, Branch.put_whole
BUGS: Mapping[str, tuple[object, str, object]] = {
    "effects": (Step, "_begin", _begins_unrecorded),
    "handoff": (Branch, "put", _puts_no_handoff),
    "migration": (Branch, "put_whole", _migrates_in_place),
}
"""What a recorder does wrong, by the work that shows it."""


def main(root: Path, *, has_bugs: bool) -> None:
    seen: dict[str, Any] = {}
    for name, work in WORK.items():
        if not has_bugs:
            seen[name] = _seen(work, root)
        elif name in BUGS:
            with mock.patch.object(*BUGS[name]):
                seen[name] = _seen(work, root)
    print(json.dumps(seen))  # noqa: T201 - the answer


def _seen(work: Work, root: Path) -> dict[str, Any]:
    """Kill a piece of work before each of its calls."""
    flaws: list[object] = []
    for at in itertools.count():
        is_killed, said = killed(work, root / "at", at)
        try:
            flaw = work.must_hold(root / "at", said)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told
            flaw = f"{type(error).__name__}: {error}"
        if flaw:
            flaws.append([at, said, flaw])
        if not is_killed:
            return {"kills": at, "flaws": flaws}
    raise AssertionError


if __name__ == "__main__":
    main(Path(sys.argv[1]), has_bugs="bugs" in sys.argv[2:])
