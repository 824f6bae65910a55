"""Transcripts in databases: sessions that are rows of a SQLite file, of which there are several.

The database is copied once and read from the copy for as long as nothing writes to the original.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from time import time_ns
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.bad_texts import bad_texts_told
from tt_debugger.formats.shared.records import CODES, Record, records
from tt_debugger.formats.shared.transcript import (
    Look,
    LostFile,
    Transcript,
    TranscriptStore,
    no_session,
)
from tt_debugger.storage.settling import has_settled
from tt_debugger.storage.sqlite import Database, Seen, look_at, sides_of
from tt_debugger.storage.tables import Value
from tt_debugger.store import Progress

Row = Mapping[str, Value]


class TranscriptRows(TranscriptStore):
    """A store that is a SQLite database; a format tells which sessions there are, and reads one.

    A value that is damaged loses its own row; where a table cannot be read any further, what
    stands before it is shown.
    """

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._is_sure = False
        """Whether whatever was written since the copy was made shows in how the files look."""
        self._database = self._copied()
        self._broken: list[str] = []

    @abstractmethod
    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, newest last."""

    @abstractmethod
    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give what the rows of a session say."""

    def look(self) -> Look:
        """See how the database and its log look, and copy them anew where they have changed."""
        seen = look_at(self.location)
        is_due = not self._is_sure and _has_settled(time_ns(), seen)
        if seen != self._database.seen or is_due:
            old, self._database = self._database, self._copied()
            old.close()
        return Look((self._database.seen,), self._is_sure)

    def watched(self) -> Sequence[str]:
        """Give the database and the files beside it, to which is written first."""
        return (self.location, *map(str, sides_of(self.location)))

    def _copied(self) -> Database:
        begin = time_ns()
        database = Database(self.location)
        self._is_sure = _has_settled(begin, database.seen)
        return database

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of all sessions here, newest last."""
        self.look()
        return [SessionId(name) for name in self.names(self._database)]

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the rows of a session."""
        database = self._database
        names = self.names(database)
        if not names or (wanted is not None and wanted not in names):
            raise no_session(self.location, wanted)
        self._broken = []
        made = self.transcript(database, wanted or names[-1])
        told = [finding(Code.UNREADABLE, each) for each in (*database.damage, *self._broken)]
        told += bad_texts_told(database)
        return msgspec.structs.replace(made, findings=(*made.findings, *told))

    def rows(
        self,
        database: Database,
        table: str,
        columns: Sequence[str],
        *,
        order: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
    ) -> Iterator[Row]:
        """Go over rows by the names of their columns, as far as they can be read."""
        if table not in database.tables:
            return
        try:
            for values in database.rows(table, columns, order=order, where=where):
                yield dict(zip(columns, values, strict=True))
        except CannotReadError as error:
            self._broken.append(f"the rows of {table} end here: {error.message}")

    def close(self) -> None:
        """Remove the copy."""
        self._database.close()


class JsonRead(msgspec.Struct, frozen=True):
    """What a column holds as JSON; `why` says why that is nothing, `told` what was forgiven."""

    value: Any = None
    why: str = ""
    told: tuple[Finding, ...] = ()


def _has_settled(now: int, seen: Seen) -> bool:
    return has_settled(now, *seen.times)


def json_of(value: Value) -> JsonRead:
    """Read the JSON that a column holds as text or bytes; a column without a value holds none."""
    if value is None:
        return JsonRead()
    data = value.encode() if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return JsonRead(why="it is a number, not JSON")
    # Records are objects, and a column may hold a list.
    pieces = records(b'{"":' + data + b"}")
    first = pieces[0]
    if len(pieces) > 1 or not isinstance(first, Record) or set(first.value) != {""}:
        return JsonRead(why="it is no JSON")
    told = tuple(finding(CODES[each], str(each)) for each in first.forgiven)
    return JsonRead(first.value[""], "", told)


def lost_row(table: str, name: Value, value: Value, why: str) -> LostFile:
    """Give what becomes of a row whose JSON cannot be read."""
    size = len(value) if isinstance(value, (str, bytes)) else 0
    return LostFile(f"{table}/{name}", size, why)
