"""Where a condition is asked: a checkpoint, with what it did and what it led to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session
from tt_debugger.core.search import Query


def _may_say_all(_: Query) -> bool:
    return True


class At(msgspec.Struct, frozen=True):
    """A checkpoint that a condition is asked of.

    `state` may be live, and anything where the condition needs none, as `changes` may be empty
    then; `body` gives the record when it is asked for, and `may_say` tells whether a text may be
    in it, for less than that takes: only a no is certain.
    """

    session: Session
    row: int
    changes: Sequence[Change]
    state: State
    body: Callable[[], Any]
    may_say: Callable[[Query], bool] = _may_say_all
