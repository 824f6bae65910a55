"""Following: how long what is written takes to be painted, and what of that is work.

A writer appends a line to a session that is open, at odd times, so that it falls into step with no
poll. Once the system's hints come through, and once looking alone must do.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

from bench.figures import Figure, percentile
from bench.sessions import BEGAN, entry_id, marker, write_pi_session
from bench.sessions import closing as end_word
from bench.typist import Typist

from tt_debugger.core.filters import Filter
from tt_debugger.core.folds import Folding
from tt_debugger.core.model import iso_time
from tt_debugger.core.outline import outline
from tt_debugger.core.scrub import scrub_index
from tt_debugger.debugger import Debugger

SIZES = (1_000, 10_000, 100_000)
ARMS = {"with hints": "tt_debugger", "polling alone": "bench.unhinted"}
APPENDS = 40
"""Lines in a round."""


class Writer:
    """Appends one message after the other to a session of so many."""

    def __init__(self, path: Path, count: int) -> None:
        self._file = write_pi_session(path, count).open("ab", 0)
        self._row = count

    def append(self) -> str:
        """Append a line; give a text that its row shows."""
        row, self._row = self._row, self._row + 1
        text = f"{marker(row)} is written\n{end_word(row)}"
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        own = {"id": entry_id(row), "parentId": entry_id(row - 1), "type": "message"}
        time = {"timestamp": iso_time(BEGAN + row)}
        self._file.write(json.dumps(own | time | {"message": message}).encode() + b"\n")
        return marker(row)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def following(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time lines from the write to the paint, then the work that each makes without a screen."""
    sizes, appends = (SIZES[:1], 5) if quick else (SIZES, rounds * APPENDS)
    with tempfile.TemporaryDirectory() as folder:
        for size in sizes:
            name = f"follow, {size:,} rows"
            for arm, module in ARMS.items():
                path = Path(folder) / f"{size} {arm}.jsonl"
                with closing(Writer(path, size)) as writer:
                    first, *times = _painted_after(writer, path, module, 1 + appends)
                # It waits for the state at the leaf, which opening leaves to be replayed.
                yield Figure(name, f"{arm} first line", first, "ms")
                yield from _figures(name, arm, times)
            path = Path(folder) / f"{size}.jsonl"
            with closing(Writer(path, size)) as writer:
                yield Figure(name, "work of an append", median(_worked(writer, path)), "ms")


def _painted_after(writer: Writer, path: Path, module: str, count: int) -> list[float]:
    chance = random.Random(count)  # noqa: S311 - only its spread matters
    times: list[float] = []
    with Typist([module, "open", str(path)], path.parent) as typist:
        typist.begin("ttdbg")
        # It says so once all of the session is read, and watched.
        typist.read_until(lambda output: b"live" in output)
        typist.rest(2)
        for _ in range(count):
            typist.output = b""
            began = perf_counter()
            wanted = writer.append().encode()
            typist.read_until(lambda output, wanted=wanted: wanted in output)
            times.append((perf_counter() - began) * 1000)
            sleep(chance.uniform(0.3, 0.9))
            typist.rest(0.05)
    return times


def _worked(writer: Writer, path: Path) -> Iterator[float]:
    """Give the milliseconds of what the loader does for each line."""
    with Debugger.open(str(path)) as debugger:
        debugger.describe()
        _lay_out(debugger)
        for _ in range(9):
            writer.append()
            began = perf_counter()
            debugger.follow()
            debugger.describe()
            _lay_out(debugger)
            yield (perf_counter() - began) * 1000


def _lay_out(debugger: Debugger) -> None:
    session = debugger.session
    _ = session.context_sizes, session.rows
    outline(session, Filter.DEFAULT, Folding())
    scrub_index(session)


def _figures(name: str, arm: str, times: Sequence[float]) -> Iterator[Figure]:
    has_hints = arm == "with hints"
    yield Figure(name, f"{arm} p50", percentile(times, 50), "ms", 60 if has_hints else None)
    yield Figure(name, f"{arm} p99", percentile(times, 99), "ms", None if has_hints else 500)
    yield Figure(name, f"{arm} lines", len(times), "lines")
