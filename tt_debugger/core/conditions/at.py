"""Where a condition is asked: a checkpoint, with what it did and what it led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session


class At(msgspec.Struct, frozen=True):
    """A checkpoint that a condition is asked of.

    `state` may be live, and anything where the condition needs none, as `changes` may be empty
    then; `body` gives the record when it is asked for.
    """

    session: Session
    row: int
    changes: Sequence[Change]
    state: State
    body: Callable[[], Any]
