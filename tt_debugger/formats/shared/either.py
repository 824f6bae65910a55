"""Either: formats whose sessions are kept in several ways, each read by a store of its own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar, Protocol, Self

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard


class Inner(Protocol):
    """A store that does the work."""

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


class Either(ABC):
    """A store that opens whichever store reads its location, and leaves all else to it."""

    format: ClassVar[str]
    about: ClassVar[str]

    def __init__(self, location: str) -> None:
        self.location = location
        self.of = self.chosen(location)

    @classmethod
    @abstractmethod
    def chosen(cls, location: str) -> Inner:
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
        return self.of.sessions()

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read a session. Raises CannotReadError."""
        return self.of.load(session, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read on, or again where anything has changed."""
        return self.of.follow(since)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return self.of.rules(session, uncompacted=uncompacted)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the records of some rows; a gap has the body None."""
        return self.of.bodies(session, rows)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record. Raises CannotReadError."""
        return self.of.raw(session, row)

    def close(self) -> None:
        """Let go of what is open."""
        self.of.close()
