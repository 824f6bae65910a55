"""Who wrote what, beside folding the session once: by a walk, and looked up as a screen does.

Both read the same file anew, each in its turn; a ratio is taken within one round. What is looked
up is what a screen shows: the state of the row is known by then, as it is there.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from time import perf_counter, process_time
from typing import Any

from bench.figures import Figure, median_ratio, percentile
from bench.long_session import long_session

from tt_debugger.core.blame import leaves
from tt_debugger.core.changes import LiveState
from tt_debugger.core.paths import Path as Place
from tt_debugger.debugger import Debugger

CHECKPOINTS = 100_000
ROWS = 300
"""Rows, drawn by chance, at which something is looked up."""
SCREEN = 40
"""Lines of a state that a screen shows."""
MOST_WALK = 1.0
MOST_SCREEN = 20.0
MOST_JUMP = 50.0


def blaming(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time both ways to know who wrote what, and a jump to the last change."""
    path = long_session(CHECKPOINTS // 10 if quick else CHECKPOINTS)
    arms: dict[str, Callable[[Debugger, int], Any]] = {
        "fold": _fold,
        "blame of every message": _blame_messages,
        "index of all rows": lambda debugger, _row: debugger.touches(),
    }
    taken: dict[str, list[float]] = defaultdict(list)
    # What is read once stays in the system's cache.
    _timed(path, _fold)
    for _ in range(rounds):
        for what, arm in arms.items():
            taken[what].append(_timed(path, arm))
    with Debugger.open(str(path)) as debugger:
        name = f"blame, {len(debugger.session):,} checkpoints"
        yield Figure(name, "fold the session once", median(taken["fold"]) * 1000, "ms")
        for what, most in (("blame of every message", MOST_WALK), ("index of all rows", None)):
            yield Figure(
                name, f"{what} / fold", median_ratio(taken[what], taken["fold"]), "x", most
            )
        screens, jumps = _looked_up(debugger)
    what = f"blame of {SCREEN} lines, state known"
    yield Figure(name, f"{what}: p50", percentile(screens, 50), "ms", MOST_SCREEN)
    yield Figure(name, f"{what}: p99", percentile(screens, 99), "ms")
    yield Figure(name, "last change of a line: p50", percentile(jumps, 50), "ms")
    yield Figure(name, "last change of a line: p99", percentile(jumps, 99), "ms", MOST_JUMP)


def _timed(path: Path, run: Callable[[Debugger, int], Any]) -> float:
    """Give the processor's seconds of something asked of a session that was just opened."""
    gc.collect()
    with Debugger.open(str(path)) as debugger:
        row = debugger.session.active
        assert row is not None
        began = process_time()
        run(debugger, row)
        return process_time() - began


def _fold(debugger: Debugger, row: int) -> None:
    live = LiveState({})
    for changes in debugger.changes_along(debugger.session.tree.path_to(row)):
        live.apply(changes)


def _blame_messages(debugger: Debugger, row: int) -> None:
    blame = debugger.state_blame(row)
    for index in range(len(blame.state["messages"])):
        blame.of(("messages", index))


def _looked_up(debugger: Debugger) -> tuple[list[float], list[float]]:
    """Give the milliseconds of each look at a screen, and of each jump."""
    chance = Random(1)  # noqa: S311 - the same rows each time are what is wanted
    screens: list[float] = []
    jumps: list[float] = []
    debugger.touches()
    for _ in range(ROWS):
        row = chance.randrange(len(debugger.session))
        paths = _screen_of(debugger.state(row), chance)
        began = perf_counter()
        debugger.blame(row, paths)
        screens.append((perf_counter() - began) * 1000)
        began = perf_counter()
        debugger.last_change(row, chance.choice(paths))
        jumps.append((perf_counter() - began) * 1000)
    return screens, jumps


def _screen_of(state: Any, chance: Random) -> list[Place]:
    """Give the leaves that a screen shows from one message on, chosen by chance."""
    messages = state["messages"]
    first = chance.randrange(max(len(messages), 1))
    found = (
        (("messages", at, *path))
        for at in range(first, len(messages))
        for path, _ in leaves(messages[at])
    )
    rest = (path for path, _ in leaves({key: state[key] for key in state if key != "messages"}))
    return [*islice(found, SCREEN), *rest][:SCREEN]
