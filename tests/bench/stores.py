"""Stores whose checkpoints are rows or commits, beside what else reads them.

The history of a thread beside LangGraph's own, a page of a large table beside the same page by
counting, its tree beside a scan of its key columns, a repository beside `git log`. Every arm is a
process of its own; the arms take turns, and a ratio is taken within one round.

LangGraph is no dependency of ours. An environment of its own has it, of which the variable
LANGGRAPH_PYTHON names the Python:

    pip install langgraph langgraph-checkpoint-sqlite langgraph-checkpoint-postgres psycopg[binary]
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from bench.figures import Figure, median_ratio
from bench.made_stores import repository, table, thread
from bench.opening_stores import AGAIN, PAGE
from bench.programs import ENVIRONMENT

Taken = dict[str, list[float]]

STEPS, ROWS, COMMITS = 2000, 100_000, 100_000
ROW_BYTES = 5000
DEPTHS = {0.2: None, 0.5: 0.1, 0.9: 0.1, 0.99: 0.1}
"""Where pages are asked for, and the goal: near the beginning counting costs next to nothing."""
PYTHON = "LANGGRAPH_PYTHON"
"""The variable that names a Python which has langgraph; without it, it is the one that runs."""
HINT = "needs langgraph"


def stores(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure each kind of store."""
    share = 20 if quick else 1
    yield from histories(STEPS // share, rounds)
    yield from large_table(ROWS // share, rounds)
    yield from commits(COMMITS // share, rounds)


def histories(steps: int, rounds: int) -> Iterator[Figure]:
    """Time the history of a thread, tree and all states, in SQLite and in PostgreSQL."""
    path = thread(steps)
    yield from _history(f"thread of {steps:,} steps, SQLite", str(path), rounds)
    with ExitStack() as ends:
        name = f"thread of {steps:,} steps, PostgreSQL"
        try:
            address = _in_postgres(path, ends)
        except _NotMeasured as why:
            yield Figure(name, f"all states, to get_state_history ({why})", None, "x", 1 / 15)
            return
        yield from _history(name, address, rounds)


def _history(name: str, location: str, rounds: int) -> Iterator[Figure]:
    taken: Taken = defaultdict(list)
    try:
        for _ in range(rounds):
            theirs = _langgraph(location)
            ours = _told("history", location)
            for what in ("rows", "last", "next"):
                if ours[what] != theirs[what]:
                    message = f"{what}: {ours[what]!r}, but langgraph has {theirs[what]!r}"
                    raise AssertionError(message)
            taken["theirs"].append(theirs["seconds"])
            taken["their work"].append(theirs["work"])
            taken["ours"].append(ours["seconds"])
            taken["our work"].append(ours["work"])
            taken["tree"].append(ours["tree"])
    except _NotMeasured as why:
        yield Figure(name, f"all states, to get_state_history ({why})", None, "x", 1 / 15)
        return
    yield Figure(name, "get_state_history", median(taken["theirs"]) * 1000, "ms")
    yield Figure(name, "tree", median(taken["tree"]) * 1000, "ms")
    yield Figure(name, "tree and all states", median(taken["ours"]) * 1000, "ms")
    ratio = median_ratio(taken["ours"], taken["theirs"])
    yield Figure(name, "all states, to get_state_history", ratio, "x", 1 / 15)
    # Beside other work this is the one to read: it leaves out what a process waits for a core.
    ratio = median_ratio(taken["our work"], taken["their work"])
    yield Figure(name, "all states, to get_state_history, CPU time", ratio, "x")


def large_table(rows: int, rounds: int) -> Iterator[Figure]:
    """Time pages and the tree of a table, beside counting and a scan of its key columns."""
    path = table(rows, ROW_BYTES)
    name = f"table of {rows:,} checkpoints, {path.stat().st_size / 1e6:,.0f} MB"
    places = [str(min(int(rows * each), rows - AGAIN * PAGE)) for each in DEPTHS]
    taken: Taken = defaultdict(list)
    for _ in range(rounds):
        told = _told("pages", str(path), *places)
        for place, behind, counted in zip(places, told["behind"], told["counted"], strict=True):
            taken[f"behind {place}"].append(behind)
            taken[f"counted {place}"].append(counted)
        for arm in ("scan", "tree", "screen"):
            taken[arm].append(_told(arm, str(path))["seconds"])
    for place, goal in zip(places, DEPTHS.values(), strict=True):
        what = f"a page at {int(place):,}"
        yield Figure(name, what, median(taken[f"behind {place}"]) * 1000, "ms")
        ratio = median_ratio(taken[f"behind {place}"], taken[f"counted {place}"])
        yield Figure(name, f"{what}, to OFFSET", ratio, "x", goal)
    yield Figure(name, "newest rows", median(taken["screen"]) * 1000, "ms")
    yield Figure(name, "scan of the key columns", median(taken["scan"]) * 1000, "ms")
    yield Figure(name, "tree", median(taken["tree"]) * 1000, "ms")
    yield Figure(name, "tree, to the scan", median_ratio(taken["tree"], taken["scan"]), "x", 1.5)


def commits(count: int, rounds: int) -> Iterator[Figure]:
    """Time the first screen and the graph of a repository beside what git prints."""
    name = f"repository of {count:,} commits"
    if not shutil.which("git"):
        yield Figure(name, "first screen, to git log -n 100 (there is no git)", None, "x", 1.5)
        return
    location = str(repository(count))
    taken: Taken = defaultdict(list)
    for _ in range(rounds):
        told = _told("commits", location)
        taken["git first"] += told["theirs"]
        taken["first"] += told["ours"]
        taken["git all"].append(_told("git", location, "--all")["seconds"])
        taken["all"].append(_told("described", location)["seconds"])
    yield Figure(name, "git log -n 100", median(taken["git first"]) * 1000, "ms")
    yield Figure(name, "first screen", median(taken["first"]) * 1000, "ms")
    ratio = median_ratio(taken["first"], taken["git first"])
    yield Figure(name, "first screen, to git log -n 100", ratio, "x", 1.5)
    yield Figure(name, "git log --all", median(taken["git all"]) * 1000, "ms")
    yield Figure(name, "graph with subjects", median(taken["all"]) * 1000, "ms")
    ratio = median_ratio(taken["all"], taken["git all"])
    yield Figure(name, "graph with subjects, to git log --all", ratio, "x", 1.6)


class _NotMeasured(Exception):  # noqa: N818 - it is no error
    """Why something cannot be measured here."""


def _in_postgres(path: Path, ends: ExitStack) -> str:
    """Start a server, and let LangGraph itself copy the thread there; give the address."""
    from servers import postgres

    try:
        server = postgres.__wrapped__()
        running = next(server)
    except (pytest.fail.Exception, pytest.skip.Exception) as error:
        raise _NotMeasured(error.msg or "no server starts here") from error
    ends.callback(next, server, None)
    address = running.made()
    _langgraph(address, str(path))
    return address


def _langgraph(*arguments: str) -> dict[str, Any]:
    python = os.environ.get(PYTHON) or sys.executable
    return _run(python, "bench.langgraph_history", *arguments)


def _told(arm: str, *arguments: str) -> dict[str, Any]:
    return _run(sys.executable, "bench.opening_stores", arm, *arguments)


def _run(python: str, module: str, *arguments: str) -> dict[str, Any]:
    """Run a module with an index cache of its own; give what it told."""
    with tempfile.TemporaryDirectory() as cache:
        ran = subprocess.run(  # noqa: S603 - the command is our own
            [python, "-m", module, *arguments],
            env=os.environ | ENVIRONMENT | {"XDG_CACHE_HOME": cache},
            capture_output=True,
            text=True,
            check=False,
        )
    if "No module named 'langgraph" in ran.stderr:
        raise _NotMeasured(HINT)
    if ran.returncode:
        raise AssertionError(ran.stderr)
    return json.loads(ran.stdout)
