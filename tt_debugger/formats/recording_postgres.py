"""Recordings in PostgreSQL, as `tt_debugger.Recorder` writes them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import ClassVar

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.recording.naming import session_name, tenant_and_session
from tt_debugger.formats.shared.recording.rows import (
    SESSIONS,
    STATES,
    TURNS,
    Key,
    RecordedRows,
    match_of,
    transcript_in,
)
from tt_debugger.formats.shared.tables.history import text_of
from tt_debugger.formats.shared.transcript import Look, Transcript, no_session
from tt_debugger.storage.postgres import ROW_VERSION, PostgresDatabase
from tt_debugger.storage.probe import PostgresProbe
from tt_debugger.storage.servers import must_be_server
from tt_debugger.storage.tables import Tables, Value
from tt_debugger.store import Match, Probe, Progress

NEWEST = 200
"""Sessions that are named."""
TURNS_LOOKED_AT = 20_000
"""Turns, those that were stored last, by which the newest sessions are found."""
SESSIONS_LOOKED_AT = 10_000
"""Sessions that one is looked for among by the beginning of its name."""
A_FEW = 20
_KEY = ("tenant", "session_id")


class RecordingPostgres(RecordedRows):
    """The recordings in a database; one of a tenant is named as `core.recording.naming` says.

    A server does not tell whether there is news: it is asked whether anybody wrote to it since,
    and only then which version each row of a session has.
    """

    format: ClassVar[str] = "recording_postgres"
    about: ClassVar[str] = "recordings of agents of one's own (PostgreSQL)"
    verified: ClassVar[str] = "its own recorder: the state that it goes on from"

    def __init__(self, location: str) -> None:
        must_be_server(location)
        self._database = PostgresDatabase(location)
        super().__init__(self._database.location)
        self._read: dict[Key, tuple[str, bytes]] = {}
        """The sessions that were read: what the server said then, and their versions."""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its tables."""
        return match_of(dict(probe.tables)) if isinstance(probe, PostgresProbe) else None

    def look(self) -> Look:
        """See which versions the rows have of the sessions that were read so far."""
        moment = self._database.moment()
        for key, (seen, _) in self._read.items():
            if seen != moment:
                self._read[key] = moment, self._version(key)
        return Look(tuple((key, version) for key, (_, version) in self._read.items()))

    def watched(self) -> Sequence[str]:
        """Give no path: it is asked again."""
        return ()

    def sessions(self) -> Sequence[SessionId]:
        """Give the names of the sessions that were written to last, the newest at the end."""
        latest: dict[Key, int] = {}
        columns = (*_KEY, "turn_id")
        for tenant, session, turn in self._newest(TURNS, columns, TURNS_LOOKED_AT):
            if isinstance(turn, int):
                key = tenant, session
                latest[key] = max(turn, latest.get(key, turn))
        begun = [(tenant, session) for tenant, session in self._newest(SESSIONS, _KEY, NEWEST)]
        others = [key for key in reversed(begun) if key not in latest]
        keys = [*others, *sorted(latest, key=lambda key: latest[key])]
        return [_name(key) for key in keys[-NEWEST:]]

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the names that are or begin with a text, a few of them."""
        key = _key(beginning)
        exact = [SessionId(beginning)] if key is not None and self._is_there(key) else []
        rows = self._database.rows(SESSIONS, _KEY, order=_KEY, most=SESSIONS_LOOKED_AT)
        names = (_name((tenant, session)) for tenant, session in rows)
        begun = [each for each in names if each.startswith(beginning)]
        return list(dict.fromkeys((*exact, *begun)))[:A_FEW]

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the entries of a session."""
        wanted = wanted or next(reversed(self.sessions()), None)
        key = None if wanted is None else _key(wanted)
        if wanted is None or key is None or not self._is_there(key):
            raise no_session(self.location, wanted)
        self._read.setdefault(key, ("", b""))
        return transcript_in(self._database, wanted, key)

    def tables(self) -> Tables:
        """Give the database."""
        return self._database

    def key(self, session: Session) -> Key:
        """Give the tenant of a session and its id."""
        key = _key(session.id)
        if key is None:
            raise no_session(self.location, session.id)
        return key

    def close(self) -> None:
        """Let go of the connections."""
        self._database.close()

    def _newest(
        self, table: str, columns: Sequence[str], most: int
    ) -> Iterator[tuple[Value, ...]]:
        is_there = table in self._database.tables
        return self._database.newest(table, columns, most) if is_there else iter(())

    def _is_there(self, key: Key) -> bool:
        where: dict[str, Value] = {"tenant": key[0], "session_id": key[1]}
        return any(
            next(self._database.rows(table, _KEY, where=where, most=1), None) is not None
            for table in (SESSIONS, TURNS)
        )

    def _version(self, key: Key) -> bytes:
        """Give a digest that is another one as soon as a row of a session is."""
        digest = hashlib.sha256()
        for table, session, column in (
            (SESSIONS, "session_id", "session_id"),
            (TURNS, "session_id", "turn_number"),
            (STATES, "thread_id", "checkpoint_id"),
        ):
            if table in self._database.tables:
                where: dict[str, Value] = {"tenant": key[0], session: key[1]}
                columns = (column, ROW_VERSION)
                for row in self._database.rows(table, columns, order=(column,), where=where):
                    digest.update(repr(row).encode())
        return digest.digest()


def _name(key: Key) -> SessionId:
    return SessionId(session_name(*map(text_of, key)))


def _key(name: str) -> Key | None:
    """Give the tenant and the session of a name; None for what names none."""
    try:
        return tenant_and_session(name)
    except UnicodeError:
        return None


STORE = RecordingPostgres
