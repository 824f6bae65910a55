"""Commits: what PostgreSQL is told to wait for, and what that promises.

It tells of a commit before the standbys have it where somebody cut the waiting short: it warns,
and has committed on its own disk. Sources: the manual, "Synchronous Replication" and
"Asynchronous Commit"; `SyncRepWaitForLSN` in syncrep.c.
"""

from __future__ import annotations

import msgspec

from tt_debugger.core.text import summary_line
from tt_debugger.errors import CannotWriteError
from tt_debugger.record.backends.options import Consistency

STANDBYS = b"SELECT pg_catalog.current_setting('synchronous_standby_names')"
"""Asks for the standbys that the server waits for."""
_WAITS = "on"
_SETTINGS = {
    None: _WAITS,
    Consistency.QUORUM: _WAITS,
    Consistency.SYNC: "local",
    Consistency.ASYNC: "off",
}


class Commits(msgspec.Struct, frozen=True):
    """How commits are made at a server: the standbys that it names, and whether it syncs."""

    consistency: Consistency | None
    standbys: str = ""
    has_fsync: bool = True

    @property
    def setting(self) -> str:
        """What `synchronous_commit` has to be."""
        return _SETTINGS[self.consistency]

    @property
    def wait_for_standbys(self) -> bool:
        """Whether a commit is told only when standbys have it, however long that takes."""
        return self.setting == _WAITS and bool(self.standbys.strip())

    @property
    def durability(self) -> str:
        """What is promised of a commit, in a sentence."""
        told = self._promise()
        return told if self.has_fsync else f"{told}; the server has fsync off, and may lose it all"

    def _promise(self) -> str:
        setting = f"synchronous_commit={self.setting}"
        if self.consistency is Consistency.ASYNC:
            return (
                "the server has an entry in its memory before its step counts as written"
                f" ({setting}): its crash may lose the last ones, and a failover those that the"
                " standby has not got"
            )
        if self.wait_for_standbys:
            names = summary_line(self.standbys, 60)
            return (
                "an entry is on the disks of the primary and of the standbys that it waits for"
                f" ({setting}, synchronous_standby_names={names}) before its step counts as"
                " written"
            )
        return (
            "an entry is on the disk of the primary before its step counts as written"
            f" ({setting}); a failover may lose those that the standby has not got"
        )


def must_count(commits: Commits, location: str, *, has_warned: bool = False) -> None:
    """Let pass only a server, or a commit of it, that keeps the promise. Raises CannotWriteError.

    While standbys are waited for, any warning is taken for that of a wait which was cut short.
    """
    if has_warned and commits.wait_for_standbys:
        raise CannotWriteError(
            f"no standby of {location} has confirmed what was written: it is on the primary"
            " alone, and does not count yet",
            "is a standby connected? write it again: what is there is not added twice",
        )
    if commits.consistency is Consistency.QUORUM and not commits.wait_for_standbys:
        raise CannotWriteError(
            f"{location} waits for no standby, so that there is no quorum",
            "have synchronous_standby_names set at the server, as ANY 1 (one, other); or record"
            " with the consistency sync",
        )
