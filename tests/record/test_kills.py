"""Kills: an agent that is killed at any moment loses no step that it was told is recorded.

An agent is killed and started again until its work is done. At most the step that it was in is
taken once more, and no effect happens twice; whether one happened is asked of the world where the
recorder says that it cannot know.

`TTDBG_KILLS` says how often agents are killed on each backend; by hand 10,000 are good.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from record import killed_agent
from record.killed_agent import EXPLICIT, Asked
from repositories import Made
from saves import quick_folder
from servers import Postgres, Redis

KILLS = int(os.environ.get("TTDBG_KILLS", "0"))
IN_CI = 400
SECONDS_OF_GIT = 10.0
"""How long agents that record to git are killed: each of its entries is three files or more."""
FEWEST = 2 * EXPLICIT
"""Kills among which there are some of each kind, however slow a machine is."""
REDIS = 9
"""The number of a database that nothing else uses."""

Place = Callable[[pytest.FixtureRequest, Path], tuple[str, bool]]
"""Gives a location with `NUMBER` for that of a session, and whether sessions are named there."""


def _in_folder(name: str) -> Place:
    return lambda _request, folder: (f"{folder}/{name}", False)


def _postgres(request: pytest.FixtureRequest, _folder: Path) -> tuple[str, bool]:
    server: Postgres = request.getfixturevalue("postgres")
    return server.made(), True


def _redis(request: pytest.FixtureRequest, _folder: Path) -> tuple[str, bool]:
    server: Redis = request.getfixturevalue("redis_server")
    with server.client(REDIS) as client:
        client.flushdb()
    return server.address(REDIS), True


def _git(request: pytest.FixtureRequest, _folder: Path) -> tuple[str, bool]:
    folder: Path = request.getfixturevalue("tmp_path_factory").mktemp("killed")
    return f"git:{Made(folder / 'repository').folder}#refs/agents/runNUMBER", False


PLACES: dict[str, Place] = {
    "jsonl": _in_folder("run-NUMBER.jsonl"),
    "snapshot": _in_folder("state-NUMBER.json"),
    "sqlite": lambda _request, folder: (f"sqlite:///{folder}/run.db", True),
    "postgres": _postgres,
    "redis": _redis,
    "git": _git,
}


@pytest.fixture(scope="module", params=PLACES)
def seen(request: pytest.FixtureRequest) -> dict[str, Any]:
    with quick_folder() as folder:
        location, has_sessions = PLACES[request.param](request, folder)
        is_slow = request.param == "git"
        asked = Asked(
            location,
            str(folder),
            KILLS or IN_CI,
            seed=8,
            seconds=SECONDS_OF_GIT if is_slow and KILLS <= IN_CI else None,
            fewest=FEWEST,
            has_sessions=has_sessions,
        )
        ran = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, killed_agent.__file__, msgspec.json.encode(asked).decode()],
            check=True,
            capture_output=True,
            timeout=240 + KILLS,
        )
    told = json.loads(ran.stdout)
    assert told["kills"] >= (min(FEWEST, asked.kills) if is_slow else asked.kills)
    return told | {"backend": request.param}


def test_an_agent_that_is_killed_loses_nothing_and_has_no_effect_twice(seen: dict[str, Any]):
    assert seen["flaws"] == []


def test_agents_were_killed_before_and_after_their_effects_and_asked_the_world(
    seen: dict[str, Any],
):
    asked = ("killed before", "killed after", "killed at random", "unknown done", "unknown not")

    assert [each for each in asked if not seen.get(each)] == []


def test_only_a_server_still_does_what_a_dead_agent_asked_of_it(seen: dict[str, Any]):
    assert "refused" not in seen or seen["backend"] in ("postgres", "redis")


def test_all_agents_have_done_their_work_in_the_end(seen: dict[str, Any]):
    assert seen["finished"] == seen["sessions"]
