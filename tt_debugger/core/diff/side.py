"""One side of a comparison."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.model import Session


class Side(msgspec.Struct, frozen=True):
    """One side of a comparison: a row of a session, the state at it, and what its path says.

    `name` is a ref to it; `messages_at` looks up the messages that a row put into the state.
    """

    name: str
    session: Session
    row: int
    state: State
    messages_at: Callable[[int], Sequence[Any]]
