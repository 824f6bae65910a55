"""Kills at random moments: nothing is lost, half written or left beside it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from typing import Any

import kills
import pytest
from saves import quick_folder

KILLS = {"memory": 400, "disk": 60}
"""Kills where a save takes as long as its program, and where it mostly waits for the disk."""


@pytest.fixture(scope="module", params=KILLS)
def seen(request: pytest.FixtureRequest) -> dict[str, Any]:
    place = quick_folder() if request.param == "memory" else tempfile.TemporaryDirectory()
    with place as folder:
        ran = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, kills.__file__, f"{folder}/saves", str(KILLS[request.param]), "8"],
            check=True,
            capture_output=True,
            timeout=240,
        )
    return json.loads(ran.stdout) | {"asked": KILLS[request.param]}


def test_a_process_that_is_killed_leaves_all_or_nothing_of_what_it_wrote(seen: dict[str, Any]):
    assert seen["flaws"] == []


def test_enough_processes_were_killed_in_the_middle_of_writing(seen: dict[str, Any]):
    assert seen["kills"] >= seen["asked"]
    assert seen["amid"] >= seen["asked"] // 3
    assert seen["finished"] >= seen["asked"]
