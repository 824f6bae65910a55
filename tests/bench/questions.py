"""What is asked of the past: conditions, the history of a value, who wrote it, where it is said.

Each kind of question is measured in a module of its own, which gives its figures; `ASKED` has
them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from bench.asking import asking
from bench.blaming import blaming
from bench.figures import Figure
from bench.grepping import grepping
from bench.watching import watching

ASKED: tuple[Callable[..., Iterator[Figure]], ...] = (asking, watching, blaming, grepping)


def questions(rounds: int, *, quick: bool) -> Iterator[Figure]:
    """Measure each kind of question."""
    for each in ASKED:
        yield from each(rounds, quick=quick)
