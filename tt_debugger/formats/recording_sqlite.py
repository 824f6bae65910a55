"""Recordings in SQLite, as `tt_debugger.Recorder` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from tt_debugger.core.model import Session
from tt_debugger.formats.shared.recording.rows import (
    Key,
    RecordedRows,
    match_of,
    sessions_in,
    transcript_in,
)
from tt_debugger.formats.shared.transcript import Transcript
from tt_debugger.formats.shared.transcript_rows import TranscriptRows
from tt_debugger.storage.probe import DatabaseProbe
from tt_debugger.storage.sqlite import Database
from tt_debugger.storage.tables import Tables
from tt_debugger.store import Match, Probe


class RecordingSqlite(RecordedRows, TranscriptRows):
    """The recordings in a database; one of a tenant is named as `core.recording.naming` says."""

    format: ClassVar[str] = "recording_sqlite"
    about: ClassVar[str] = "recordings of agents of one's own (SQLite)"
    verified: ClassVar[str] = "its own recorder: the state that it goes on from"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._keys: dict[str, Key] = {}

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its tables."""
        return match_of(dict(probe.tables)) if isinstance(probe, DatabaseProbe) else None

    def names(self, database: Database) -> Sequence[str]:
        """Give the names of all sessions, the one that was written to last at the end."""
        self._keys = sessions_in(database)
        return list(self._keys)

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give the entries of a session."""
        return transcript_in(database, wanted, self._keys[wanted])

    def tables(self) -> Tables:
        """Give the database as it was looked at last."""
        return self._database

    def key(self, session: Session) -> Key:
        """Give the tenant of a session and its id."""
        return self._keys.get(session.id) or sessions_in(self._database)[session.id]


STORE = RecordingSqlite
