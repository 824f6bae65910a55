"""One side of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session


class Side(msgspec.Struct, frozen=True):
    """One side of a comparison: a row of a session, the state at it, and what its path says.

    `name` is a ref to it; `changes_along` gives what each of some rows did to the state, where
    each row is the parent of the next; `state_at` the state at another row of its path.
    """

    name: str
    session: Session
    row: int
    state: State
    changes_along: Callable[[Sequence[int]], Iterable[Sequence[Change]]]
    state_at: Callable[[int], State]
