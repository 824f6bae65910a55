"""The contract after a crash: a recorder is killed before each call of the system that it makes.

There is always a last valid checkpoint. No more is lost than was known to be unsaved, and the step
that was being taken. No effect happens twice. A migration, and a handoff, is there or not.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from record import killed_calls
from record.killed_calls import BUGS, WORK
from saves import quick_folder

from tt_debugger.core.recording.entries import Changed
from tt_debugger.record import branch
from tt_debugger.record.recorder import Recorder

Seen = dict[str, dict[str, Any]]


def ran(*more: str) -> Seen:
    paths = os.pathsep.join((str(Path(killed_calls.__file__).parents[1]), *sys.path))
    with quick_folder() as folder:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, killed_calls.__file__, str(folder), *more],
            env=os.environ | {"PYTHONPATH": paths},
            check=True,
            capture_output=True,
            timeout=240,
        )
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def seen() -> Seen:
    return ran()


@pytest.fixture(scope="module")
def seen_with_bugs() -> Seen:
    return ran("bugs")


@pytest.mark.parametrize("work", WORK)
def test_whichever_call_a_recorder_is_killed_at_the_contract_holds(seen: Seen, work: str):
    assert seen[work]["flaws"] == []
    assert seen[work]["kills"] > 12


@pytest.mark.parametrize("work", BUGS)
def test_a_recorder_with_a_bug_is_found_by_such_kills(seen_with_bugs: Seen, work: str):
    assert seen_with_bugs[work]["flaws"] != []


def test_an_interrupt_while_an_entry_is_made_leaves_a_branch_that_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = str(tmp_path / "run.jsonl")
    fold = branch.fold

    def interrupted(*arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return fold(*arguments)

    with Recorder.open(path, state={"n": 0}) as recorder:
        with monkeypatch.context() as patch:
            patch.setattr(branch, "fold", interrupted)
            entry = Changed("e1", recorder.leaf, "2026-01-01T00:00:00Z")
            with pytest.raises(KeyboardInterrupt):
                recorder._branch.put(entry)
        recorder.record({"n": 2})
    with Recorder.open(path) as recorder:
        assert recorder.state == {"n": 2}
        assert len(recorder.history()) == 3
