"""Forks that were made before, each with what has become of it."""

from __future__ import annotations

import enum

import msgspec

from tt_debugger.core.fork.operation import Operation


class MadeState(enum.StrEnum):
    """What has become of a fork."""

    DONE = "done"
    UNDONE = "undone"
    UNFINISHED = "unfinished"
    GONE = "gone"
    CHANGED = "changed since"

    @property
    def is_there(self) -> bool:
        """Whether there is a fork that can be opened."""
        return self in {MadeState.DONE, MadeState.CHANGED}


class Made(msgspec.Struct, frozen=True):
    """A fork that was made before, and what has become of it."""

    operation: Operation
    state: MadeState
