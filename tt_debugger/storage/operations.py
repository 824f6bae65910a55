"""The operation log: everything that ttdbg wrote for others to use, so that it can be undone.

One file of JSON lines in the user's state folder. A line is added before anything is written and
another one when it is there, so what a crash left behind is named too.
"""

from __future__ import annotations

import msgspec

from tt_debugger.core.fork.writes import Written


class Operation(msgspec.Struct, frozen=True):
    """One fork: what it was made of, what it is, and what was written for it.

    `time` and `undone` are in seconds since 1970. `is_finished` is false where ttdbg was stopped
    before it knew that all was written.
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
