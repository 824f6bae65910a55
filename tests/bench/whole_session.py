"""What asks for the whole session of 100,000 rows: another filter, and the first hit of a search.

Each is taken by itself and in the app, through a pty, from the key until its answer is painted.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.figures import Figure
from bench.sessions import closing, marker, session_in_memory, write_pi_session
from bench.typist import Typist

from tt_debugger.core.filters import Filter
from tt_debugger.core.outline import outline

CHECKPOINTS = 100_000
MOST_FILTER = 150.0
MOST_SEARCH = 300.0
NEAR = 1500
"""Rows from the cursor to a near hit: beyond what is read ahead."""


def filter_switch(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time each filter's outline, and the key for the next filter until its rows are painted."""
    count = CHECKPOINTS // 10 if quick else CHECKPOINTS
    filters = list(Filter)
    by_itself: dict[Filter, list[float]] = {each: [] for each in filters}
    first: list[float] = []
    for _ in range(rounds):
        session = session_in_memory(count)
        began = perf_counter()
        outline(session)
        first.append((perf_counter() - began) * 1000)
        for each, taken in by_itself.items():
            began = perf_counter()
            outline(session, each)
            taken.append((perf_counter() - began) * 1000)
    name = f"filter, {count:,} rows"
    yield Figure(name, "first outline, session just read", median(first), "ms")
    every = [each for taken in by_itself.values() for each in taken]
    yield Figure(name, "outline, median of all filters", median(every), "ms", MOST_FILTER)
    slowest = max(by_itself, key=lambda each: median(by_itself[each]))
    yield Figure(
        name, f"outline, slowest ({slowest})", median(by_itself[slowest]), "ms", MOST_FILTER
    )
    with tempfile.TemporaryDirectory() as folder:
        path = write_pi_session(Path(folder) / "session.jsonl", count, settings=40)
        painted: list[float] = []
        with Typist(["tt_debugger", "open", f"{path}#row={count // 2}"], Path(folder)) as typist:
            typist.begin(marker(count // 2 - 1))
            # The app begins at the first filter; once around shows each as it is switched to.
            for each in (filters[1:] + filters[:1]) * rounds:
                shown = "all shown" if each is Filter.ALL else f"{each} shows"
                painted.append(typist.press(b"V", shown)[0])
                typist.rest(0.5)
    yield Figure(name, "key to painted, median", median(painted), "ms", MOST_FILTER)
    yield Figure(name, "key to painted, slowest", max(painted), "ms", MOST_FILTER)


def first_hit(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time Enter in the search prompt until the row of the hit is in the inspector.

    The text that is searched for stands in one body alone and in no summary.
    """
    count = CHECKPOINTS // 10 if quick else CHECKPOINTS
    with tempfile.TemporaryDirectory() as folder:
        path = write_pi_session(Path(folder) / "session.jsonl", count)
        size = path.stat().st_size
        near = [(each + 1) * NEAR for each in range(rounds)]
        far = [count - 1 - each for each in range(rounds)]
        near_times = [_hit(path, Path(folder), row) for row in near]
        far_times = [_hit(path, Path(folder), row) for row in far]
    name = f"search, {count:,} rows, {size / 1e6:.0f} MB"
    yield Figure(name, f"Enter to hit shown, {NEAR:,} rows on", near_times[0], "ms", MOST_SEARCH)
    yield Figure(name, "the same, further on each round, median", median(near_times), "ms")
    yield Figure(name, "the hit in the last record, median", median(far_times), "ms", MOST_SEARCH)


def _hit(path: Path, cache: Path, row: int) -> float:
    """Open the session at its start anew, so that no body but the first is loaded, and search."""
    with Typist(["tt_debugger", "open", f"{path}#row=1"], cache) as typist:
        typist.begin(marker(0))
        typist.press(b"/", "search:")
        typist.send(marker(row).encode())
        typist.rest(0.3)
        # The bottom line repeats what was searched for; only the inspector has what follows later.
        return typist.press(b"\r", closing(row))[0]
