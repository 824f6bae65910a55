"""Cursor key to painted inspector, through a pty: the Timeline beside the same view built stock.

A key is written to the terminal, and the clock runs until the bytes came back that show a word
which only the new row's message holds, below the line that the tree quotes. The arms take turns,
a batch of keys each, while the others' programs idle. Keys come one at a time, each after the
screen has been quiet for a while of varying length, so that no arm falls into step with a frame
rate.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from bench.figures import Figure, median_ratio, percentile
from bench.sessions import entry_id, marker, write_pi_session
from bench.typist import ROWS, Typist

CHECKPOINTS = 10_000
FIRST_ROW = 4_000
DOWN, UP = b"\x1b[B", b"\x1b[A"
BATCH = 25
"""Keys of one arm before the next has its turn: half of them stay in the window."""
MOST_ECHO = 5.0
"""Milliseconds of the floor's p99 beyond which the machine is too busy for the tail to count."""


class Arm:
    """A program, the row its cursor is on, and how a row is told by what is painted."""

    def __init__(self, typist: Typist, seen: Callable[[int], str]) -> None:
        self._typist = typist
        self._seen = seen
        self._row = FIRST_ROW
        typist.begin(seen(FIRST_ROW))
        # Unfolds everything, where there are folds: each key leads to the next row.
        typist.send(b"L")
        typist.rest(1)

    def time(self, key: bytes) -> tuple[float, int]:
        """Press a cursor key; give the milliseconds and the bytes it took."""
        self._row += 1 if key == DOWN else -1
        return self._typist.press(key, self._seen(self._row))


class Taken(list[tuple[float, int]]):
    """Milliseconds and bytes of one key after the other."""

    @property
    def times(self) -> list[float]:
        """The milliseconds."""
        return [took for took, _ in self]

    @property
    def bytes_per_key(self) -> float:
        """The bytes of a usual key."""
        return median(size for _, size in self)


def key_latency(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time cursor keys inside the window, then such that scroll, round by round."""
    rounds, batch = (1, 10) if quick else (rounds * 5, BATCH)
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        path = write_pi_session(Path(folder) / "session.jsonl", CHECKPOINTS)
        # Rich crops a long text of the JSON, so there the record's id is what tells it.
        programs = {
            "ttdbg": (["tt_debugger", "open", f"{path}#row={FIRST_ROW + 1}"], marker),
            "stock": (["bench.stock_timeline", str(path), str(FIRST_ROW)], entry_id),
            "echo": (["bench.echo", str(FIRST_ROW)], marker),
        }
        arms = {
            name: Arm(stack.enter_context(Typist(module, Path(folder))), seen)
            for name, (module, seen) in programs.items()
        }
        inside = _rounds(arms, rounds, ([DOWN] * 5 + [UP] * 5) * (batch // 10 + 1), batch)
        for arm in arms.values():
            # To the last line of the window, whatever its height: from there each key scrolls.
            for _ in range(ROWS):
                arm.time(DOWN)
        scrolling = _rounds(arms, rounds, [DOWN] * batch, batch)
    yield from _figures("in window", inside)
    yield from _figures("scrolling", scrolling)


def _rounds(
    arms: Mapping[str, Arm], rounds: int, keys: Sequence[bytes], batch: int
) -> dict[str, list[Taken]]:
    taken: dict[str, list[Taken]] = {name: [] for name in arms}
    for _ in range(rounds):
        for name, arm in arms.items():
            taken[name].append(Taken(arm.time(key) for key in keys[:batch]))
    return taken


def _figures(where: str, taken: dict[str, list[Taken]]) -> Iterator[Figure]:
    name = f"keys, {where}"
    ours, stock = taken["ttdbg"], taken["stock"]
    all_keys = {
        arm: Taken(each for batch in batches for each in batch) for arm, batches in taken.items()
    }
    for arm, keys in all_keys.items():
        for percent in (50, 95, 99):
            goal = 35 if (arm, percent) == ("ttdbg", 99) else None
            yield Figure(name, f"{arm} p{percent}", percentile(keys.times, percent), "ms", goal)
        yield Figure(name, f"{arm} bytes per key", keys.bytes_per_key, "B")
    medians = [[median(batch.times) for batch in batches] for batches in (ours, stock)]
    yield Figure(name, "p50 to stock, median of rounds", median_ratio(*medians), "x", 0.2)
    for percent in (95, 99):
        ratio = percentile(all_keys["ttdbg"].times, percent) / percentile(
            all_keys["stock"].times, percent
        )
        yield Figure(name, f"p{percent} to stock", ratio, "x")
    ratio = all_keys["ttdbg"].bytes_per_key / all_keys["stock"].bytes_per_key
    yield Figure(name, "bytes to stock", ratio, "x")
    yield Figure(name, "keys per arm", len(all_keys["ttdbg"]), "keys")
    floor = percentile(all_keys["echo"].times, 99)
    if floor > MOST_ECHO:
        yield Figure(name, "machine too busy: echo p99", floor, "ms", MOST_ECHO)
