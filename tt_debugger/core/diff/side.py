"""One side of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.model import Session


class Side(msgspec.Struct, frozen=True):
    """One side of a comparison: a row of a session, the state at it, and what its path says.

    `name` is a ref to it; `messages_along` gives the messages that each of some rows put into the
    state, where each row is the parent of the next.
    """

    name: str
    session: Session
    row: int
    state: State
    messages_along: Callable[[Sequence[int]], Iterable[Sequence[Any]]]
