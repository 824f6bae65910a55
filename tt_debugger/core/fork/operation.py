"""An operation: a fork that was made, as it is kept so that it can be undone."""

from __future__ import annotations

import msgspec

from tt_debugger.core.fork.writes import Written


class Operation(msgspec.Struct, frozen=True):
    """One fork: what it was made of, what it is, and what was written for it.

    `time` and `undone` are in seconds since 1970. `is_finished` is false where ttdbg was stopped
    before it knew that all was written. Of one that was undone in part, `written` is the rest.
    """

    id: str
    time: float
    origin: str
    location: str
    session: str
    point: str
    resume_command: str
    note: str | None = None
    written: tuple[Written, ...] = ()
    is_finished: bool = False
    undone: float | None = None

    @property
    def can_be_undone(self) -> bool:
        """Whether all of it was written, and some of it is not taken back."""
        return self.is_finished and self.undone is None
