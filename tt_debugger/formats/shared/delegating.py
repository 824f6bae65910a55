"""Delegating: formats whose sessions are kept in several ways, each with a store of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol, Self

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.store import Cursor, HasWatched, Loaded, Match, Probe, Progress, unheard


class Reader(Protocol):
    """The store of one of the ways, which does the work."""

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, newest last."""
        ...

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read a session."""
        ...

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor."""
        ...

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules by which a session replays."""
        ...

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the records of some rows."""
        ...

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record."""
        ...

    def close(self) -> None:
        """Let go of what is open."""
        ...


class Delegating(ABC):
    """A store that opens whichever store reads its location, and leaves all else to it."""

    format: ClassVar[str]
    about: ClassVar[str]
    as_folder: ClassVar[type[object] | None] = None
    """The store that reads a folder which is one session, if one of them does."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.store = self.chosen(location)

    @classmethod
    @abstractmethod
    def chosen(cls, location: str) -> Reader:
        """Open the store that reads the location. Raises CannotReadError."""

    @classmethod
    @abstractmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether any of the stores reads the location."""

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location. Raises CannotReadError."""
        return cls(location)

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, newest last."""
        return self.store.sessions()

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read a session. Raises CannotReadError."""
        return self.store.load(session, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read on, or again where anything has changed."""
        return self.store.follow(since)

    def watched(self) -> Sequence[str]:
        """Give what the store says is written to, else the location alone."""
        store = self.store
        return store.watched() if isinstance(store, HasWatched) else (self.location,)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules by which a session replays."""
        return self.store.rules(session, uncompacted=uncompacted)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the records of some rows; a gap has the body None."""
        return self.store.bodies(session, rows)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record. Raises CannotReadError."""
        return self.store.raw(session, row)

    def close(self) -> None:
        """Let go of what is open."""
        self.store.close()
