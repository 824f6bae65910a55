"""Transcripts: sessions that are one document, a folder of small files, text or rows.

A format gives a sequence of pieces (entries, what is no entry, what is lost), and this makes the
session of them: ids, parents, gaps, asides, findings, extent, bodies and rules. All of it is read
anew where anything has changed, so the answer of `follow` is that of `load`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import msgspec

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.transcript_entries import (
    Beside,
    Entries,
    Entry,
    LostFile,
    Piece,
    Told,
    Transcript,
    message_entry,
    other_entry,
    with_entries,
)
from tt_debugger.formats.shared.transcript_reading import TranscriptReading
from tt_debugger.formats.shared.transcript_rules import TranscriptRules, told_by_entry
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

# What a format needs beside the store; it takes all of it from here.
__all__ = (
    "Beside",
    "Entries",
    "Entry",
    "Look",
    "LostFile",
    "Piece",
    "Told",
    "Transcript",
    "TranscriptRules",
    "TranscriptStore",
    "message_entry",
    "no_session",
    "other_entry",
    "with_entries",
)


class Look(msgspec.Struct, frozen=True):
    """How a store looked; `has_settled` where any change since must show in another look."""

    stamps: tuple[Any, ...]
    has_settled: bool = True


class _Read(msgspec.Struct, frozen=True):
    """A transcript, how it was asked for, and how the store looked."""

    look: Look
    wanted: SessionId | None
    transcript: Transcript


class _Position(msgspec.Struct, frozen=True):
    """A cursor of a transcript: what was read, and how it looked."""

    look: Look
    transcript: Transcript
    session: Session


class TranscriptStore(ABC):
    """A store whose sessions are read whole; a format says how it looks and how it is read."""

    format: ClassVar[str]
    about: ClassVar[str]
    _last: _Read | None = None
    """What was read last: to name a session and then to load it is to read it once."""

    def __init__(self, location: str) -> None:
        self.location = location

    @classmethod
    @abstractmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether the location is of this format."""

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location. Raises CannotReadError."""
        return cls(location)

    @abstractmethod
    def look(self) -> Look:
        """Say how the store looks now. Raises CannotReadError."""

    @abstractmethod
    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read a session, the newest where none is named. Raises CannotReadError."""

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, newest last."""
        _, transcript = self._look_and_read(None, unheard)
        return (SessionId(transcript.id),)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each entry does what it was read to do."""
        own: Entries = session.own
        return TranscriptRules(own.start, told_by_entry, uncompacted=uncompacted)

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read a session."""
        look, transcript = self._look_and_read(session, progress)
        progress(transcript.size or 0, transcript.size or 0)
        made = TranscriptReading(self.location, self.format, transcript).made()
        return Loaded(made, Cursor(_Position(look, transcript, made)))

    def _look_and_read(
        self, wanted: SessionId | None, progress: Progress
    ) -> tuple[Look, Transcript]:
        """Look at the store, and read it unless that is what was read last."""
        look, last = self.look(), self._last
        is_same = last and last.look.stamps == look.stamps and last.look.has_settled
        if last and is_same and wanted in {last.wanted, last.transcript.id}:
            return look, last.transcript
        transcript = self.read(wanted, progress)
        self._last = _Read(look, wanted, transcript)
        return look, transcript

    def follow(self, since: Cursor) -> Loaded:
        """Read again where anything looks otherwise; what cannot be read now is as it was."""
        position: _Position = since.position
        try:
            look = self.look()
            if look.stamps == position.look.stamps and position.look.has_settled:
                return Loaded(position.session, since)
            transcript = self._read_again(position.session.id)
        except CannotReadError:
            return Loaded(position.session, since)
        if transcript == position.transcript:
            again = msgspec.structs.replace(position, look=look)
            return Loaded(position.session, Cursor(again))
        made = TranscriptReading(self.location, self.format, transcript).made()
        kept = _kept(position.session, made)
        return Loaded(made, Cursor(_Position(look, transcript, made)), kept)

    def _read_again(self, session: SessionId) -> Transcript:
        """Read a session; where nothing is left of it, the newest one is what there is now."""
        try:
            transcript = self.read(session, unheard)
        except CannotReadError:
            return self.read(None, unheard)
        is_left = any(isinstance(each, Entry) for each in transcript.pieces)
        return transcript if is_left else self.read(None, unheard)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the records of some rows; a gap has the body None."""
        own: Entries = session.own
        entries = (own.entries[row] for row in rows)
        return [each.body if isinstance(each, Entry) else None for each in entries]

    def raw(self, session: Session, row: int) -> bytes:
        """Give what a row was read to, as JSON, unless its bytes stand in one place."""
        return msgspec.json.encode(*self.bodies(session, (row,)))

    def close(self) -> None:  # noqa: B027 - most keep nothing open
        """Do nothing: what is open only while it is read needs no closing."""


def no_session(location: str, name: str | None) -> CannotReadError:
    """Give the error that says that a location has no session of a name, or none at all."""
    return CannotReadError(
        f"cannot read {location}: there is no session {name or ''}".rstrip(),
        "`ttdbg ls` lists what is in it",
    )


def _kept(before: Session, now: Session) -> int:
    """Give how many rows of a session, from the first on, are in another as they were."""
    ours: Entries = before.own
    theirs: Entries = now.own
    if ours.start != theirs.start:
        return 0
    count = 0
    for one, other in zip(ours.entries, theirs.entries, strict=False):
        if (
            one != other
            or before.ids[count] != now.ids[count]
            or before.parents[count] != now.parents[count]
        ):
            break
        count += 1
    return count
