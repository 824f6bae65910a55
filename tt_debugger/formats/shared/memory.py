"""Sessions in memory: the reference that every other store is measured against.

A record is a dict with `id`, `parent`, `kind` and `changes`; the changes are given outright, so
that replay has nothing of its own to get wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Head, Heads, Kind, Session, SessionId
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import Links, link
from tt_debugger.errors import CannotReadError
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard


class MemoryRecord(msgspec.Struct, frozen=True):
    """One checkpoint in memory: its id, its parent's, and what it changes."""

    id: str
    parent: str | None
    changes: tuple[Change, ...] = ()
    head: Head = Head(Kind.SNAPSHOT)


class MemoryRules:
    """The record's own changes, from the empty state on."""

    def start(self, session: Session) -> tuple[State, None]:
        """Give the empty state."""
        return {}, None

    def step(
        self,
        session: Session,
        row: int,
        body: Body,
        memo: Any,
        bodies: Bodies,
    ) -> Step:
        """Give the changes of the record."""
        record: MemoryRecord = body
        return Step(record.changes, memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: nothing is mended."""
        return Resumed(replay.state(row))


class MemoryStore:
    """Sessions that are lists of records; the lists may grow while they are followed."""

    format: ClassVar[str] = "memory"
    about: ClassVar[str] = "sessions in memory"
    verified: ClassVar[str] = "made in memory"

    def __init__(self, sessions: Mapping[str, list[MemoryRecord]]) -> None:
        self.location = "memory"
        self._sessions = sessions

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Claim nothing: no location leads into memory."""
        return None

    @classmethod
    def open(cls, location: str) -> Self:
        """Refuse: a memory store is made, not opened."""
        raise CannotReadError(f"cannot open {location}: it is not in memory")

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of the sessions in the order they were given."""
        return tuple(map(SessionId, self._sessions))

    def rules(self, session: Session, *, uncompacted: bool = False) -> MemoryRules:
        """Give the one set of rules there is."""
        return MemoryRules()

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read all records of a session."""
        records = tuple(self._sessions[session])
        heads = Heads()
        for record in records:
            heads.append(record.head)
        links = Links()
        for record in records:
            links.append(record.id, record.parent, record.id)
        linked = link(links)
        loaded = Session(
            session,
            self.format,
            heads,
            linked.ids,
            linked.parents,
            active=len(records) - 1 if records else None,
            findings=linked.findings,
            own=records,
        )
        progress(len(records), len(records))
        return Loaded(loaded, Cursor(loaded))

    def follow(self, since: Cursor) -> Loaded:
        """Read the session again: in memory that costs nothing."""
        session: Session = since.position
        if len(session) == len(self._sessions[session.id]):
            return Loaded(session, since)
        return self.load(session.id)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the records themselves."""
        return [session.own[row] for row in rows]

    def raw(self, session: Session, row: int) -> bytes:
        """Give the record as JSON."""
        return msgspec.json.encode(session.own[row])

    def close(self) -> None:
        """Do nothing: there is nothing to let go of."""
