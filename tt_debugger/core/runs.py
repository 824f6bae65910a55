"""Runs: rows of which each is the parent of the next. A walk over a whole tree goes by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from tt_debugger.core.changes import Change
from tt_debugger.core.model import Session

ChangesAlong = Callable[[Sequence[int]], Iterable[tuple[Change, ...]]]
"""Gives the changes of the rows of a run."""


def runs(session: Session, rows: Sequence[int]) -> Iterator[Sequence[int]]:
    """Part rows of a session into runs, in the order that they have."""
    parents, begin = session.parents, 0
    for place, (before, row) in enumerate(pairwise(rows), 1):
        if parents[row] != before:
            yield rows[begin:place]
            begin = place
    if begin < len(rows):
        yield rows[begin:]
