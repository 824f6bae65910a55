"""The history of a value, beside folding the session once: what is asked of the past, in one walk.

Both read the same file anew, each in its turn, and go along the path to the active leaf, whose
state is made once by folding; a ratio is taken within one round.
"""

from __future__ import annotations

import gc
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from time import process_time

from bench.figures import Figure, median_ratio
from bench.long_session import long_session

from tt_debugger.core.changes import LiveState
from tt_debugger.core.history import Watched
from tt_debugger.debugger import Debugger

CHECKPOINTS = 100_000
MOST = 2.0
"""Times that folding takes, which a history may take."""
WATCHED = (
    "/model",
    "/messages",
    "/messages/5/content",
    "usage.cost",
    "length(messages)",
    "messages[-1].role",
)


def watching(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time the history of each path, and folding the session in the same round."""
    path = long_session(CHECKPOINTS // 10 if quick else CHECKPOINTS)
    taken: dict[str, list[float]] = defaultdict(list)
    moments: dict[str, int] = {}
    rows = 0
    # What is read once stays in the system's cache.
    _timed(path, _fold)
    for _ in range(rounds):
        seconds, rows = _timed(path, _fold)
        taken["fold"].append(seconds)
        for text in WATCHED:
            watched = Watched.parse(text)
            seconds, moments[text] = _timed(
                path, lambda debugger, row, watched=watched: _history(debugger, row, watched)
            )
            taken[text].append(seconds)
    name = f"watch, {rows:,} checkpoints"
    yield Figure(name, "fold the session once", median(taken["fold"]) * 1000, "ms")
    for text in WATCHED:
        what = f"{text}: {moments[text]:,} moments"
        yield Figure(name, what, median(taken[text]) * 1000, "ms")
        ratio = median_ratio(taken[text], taken["fold"])
        yield Figure(name, f"{text} / fold", ratio, "x", MOST)


def _timed(path: Path, run: Callable[[Debugger, int], int]) -> tuple[float, int]:
    """Give the seconds of a walk over a session that was just opened, and what it counted.

    They are the processor's, since others on the machine would be counted too.
    """
    gc.collect()
    with Debugger.open(str(path)) as debugger:
        row = debugger.session.active
        assert row is not None
        began = process_time()
        count = run(debugger, row)
        return process_time() - began, count


def _fold(debugger: Debugger, row: int) -> int:
    """Fold the state of a row with all others on its path on the way; count them."""
    path = debugger.session.tree.path_to(row)
    live = LiveState({})
    for changes in debugger.changes_along(path):
        live.apply(changes)
    return len(path)


def _history(debugger: Debugger, row: int, watched: Watched) -> int:
    return sum(1 for _ in debugger.history(row, watched))
