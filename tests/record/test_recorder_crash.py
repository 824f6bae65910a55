"""The contract after a crash: a recorder is killed before each call of the system that it makes.

There is always a last valid checkpoint. No more is lost than was known to be unsaved, and the step
that was being taken. No effect happens twice. A migration, and a handoff, is there or not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from record import killed_calls
from record.killed_calls import BUGS, WORK
from saves import quick_folder

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
