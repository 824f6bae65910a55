"""A branch: its last entry, the state there, and how an entry is added to it.

The state is written whole when what was changed since weighs more than it does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict

from tt_debugger.core.changes import State, fold
from tt_debugger.core.fork.minting import stamp
from tt_debugger.core.model import Usage
from tt_debugger.core.recording.entries import (
    Entry,
    Event,
    Failure,
    Migration,
    Snapshotted,
    changes_of,
)
from tt_debugger.core.recording.restoring import Restored
from tt_debugger.core.recording.weight import Weight
from tt_debugger.record.checking import must_be_readable
from tt_debugger.record.journal import Journal
from tt_debugger.record.origins import Origins
from tt_debugger.record.step import About
from tt_debugger.storage.uninterrupted import uninterrupted


class EntryHead(TypedDict):
    """What every entry has."""

    id: str
    parent: str | None
    time: str
    name: str
    tool: str | None
    event: Event | None
    failure: Failure | None
    usage: Usage | None


class Branch:
    """The end of one branch of a session, where it goes on."""

    def __init__(
        self,
        journal: Journal,
        version: int,
        clock: Callable[[], float],
        fresh: Callable[[int], bytes],
        there: Restored | None = None,
    ) -> None:
        self.leaf: str | None = None
        self.state: State = {}
        """The state now, as JSON has it; never changed, always another."""
        self.origins = Origins()
        self._journal = journal
        self._version = version
        self._clock = clock
        self._fresh = fresh
        self._weight = Weight()
        if there is not None:
            self.take_up(there)

    def take_up(self, there: Restored) -> None:
        """Go on from what stands in the log."""
        self.leaf, self.state = there.leaf, there.state
        for each in there.path:
            self._weight.take(each)
            self.origins.take(each)

    def head(self, about: About, failure: Failure | None = None) -> EntryHead:
        """Give what every entry has, of a step that ends now."""
        return {
            "id": self._fresh(8).hex(),
            "parent": self.leaf,
            "time": stamp(self._clock()),
            "name": about.name,
            "tool": about.tool,
            "event": about.event,
            "failure": failure,
            "usage": about.usage,
        }

    def put(self, entry: Entry) -> str:
        """Go on to an entry, and hand it to the journal; give its id.

        Raises UsageError for one that nobody could read again, and CannotWriteError.
        """
        must_be_readable(entry)
        # An entry that others go on from and that no log ever gets would break the branch.
        with uninterrupted():
            state = fold(self.state, changes_of(entry))
            self._journal.keep(entry)
            self.leaf, self.state = entry.id, state
            self._weight.take(entry)
            self.origins.take(entry)
        self._journal.write_if_due()
        if self._weight.is_due(self.state):
            self.put_whole(self.state, "size")
        return entry.id

    def end(self) -> None:
        """Record the state whole if that spares whoever goes on something."""
        if self._weight.is_worth_closing:
            self.put_whole(self.state, "close")

    def put_whole(self, state: State, why: str, migration: Migration | None = None) -> str:
        """Record a state whole, and with it all that is known of effects."""
        return self.put(
            Snapshotted(
                **self.head(About()),
                state=state,
                version=self._version,
                effects=tuple(self._journal.effects.values()),
                migration=migration,
                why=why,
            )
        )
