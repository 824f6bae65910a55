"""Our widgets beside stock ones that hold as much, or ten times less: told until painted."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median

from bench.figures import Figure, median_ratio
from bench.programs import seconds_in

ROWS, STOCK_ROWS = 1_000_000, 100_000
MESSAGES = 10_000


def tree_ready(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time a tree of a million rows against the stock one with a hundred thousand."""
    count, stock_count = (ROWS // 10, STOCK_ROWS // 10) if quick else (ROWS, STOCK_ROWS)
    arms = {
        f"CheckpointTree of {count:,}": ("our-known-tree", count),
        "the same, session just read": ("our-tree", count),
    }
    stock = (f"Tree of {stock_count:,}", "stock-tree", stock_count)
    yield from _beside("tree", arms, stock, 0.05, rounds)


def state_opened(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Time a state of ten thousand messages against `Tree.add_json` of the same."""
    count = MESSAGES // 10 if quick else MESSAGES
    arms = {f"StateTree of {count:,} messages": ("our-state", count)}
    stock = ("Tree.add_json of the same", "stock-state", count)
    yield from _beside("state", arms, stock, 0.01, rounds)


def _beside(
    benchmark: str,
    ours: dict[str, tuple[str, int]],
    stock: tuple[str, str, int],
    goal: float,
    rounds: int,
) -> Iterator[Figure]:
    arms = ours | {stock[0]: stock[1:]}
    taken: dict[str, list[float]] = {arm: [] for arm in arms}
    for _ in range(rounds):
        for arm, (widget, count) in arms.items():
            taken[arm].append(seconds_in("bench.first_paint", widget, str(count)) * 1000)
    for arm, times in taken.items():
        yield Figure(benchmark, f"{arm}, painted", median(times), "ms")
    for arm in ours:
        ratio = median_ratio(taken[arm], taken[stock[0]])
        yield Figure(benchmark, f"{arm}, to stock", ratio, "x", goal)
