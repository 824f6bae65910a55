"""The log in a SQLite database, beside other sessions and the tables of other programs.

An append is one transaction, synced before it returns. The database is in WAL mode: who reads
never waits for the writer, nor the writer for them, and a crash at any moment leaves all of a
transaction or nothing of it. Nothing is made before a log is begun.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Self

import msgspec

from tt_debugger.core.recording.entries import Entry, Header, decoded_header, encoded_header
from tt_debugger.core.recording.naming import session_name
from tt_debugger.core.refs import quoted
from tt_debugger.errors import CannotReadError, CannotWriteError, TtdbgError
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite_database import (
    DISK_FAILS,
    code_of,
    connected,
    has_our_tables,
    in_words,
    keep_log_apart,
    make_file,
    make_tables,
    must_be_on_disk,
    path_in,
)
from tt_debugger.record.backends.thinning import (
    effects_known,
    must_hold_together,
    written_since,
)
from tt_debugger.record.backends.turns import SNAPSHOT, Turn, entry_of, turn_of
from tt_debugger.storage.sqlite_opening import transaction

PAGE = 32
"""Turns that are read at once; states are read one by one, as they are asked for."""


class SqliteLog:
    """The log of one session in a database.

    Its location is the file with the session behind it, `run.db#main:`; that of a tenant is named
    as `core.recording.naming` says.
    """

    durability = (
        "an entry is synced to the disk, in one transaction with those appended with it, before"
        " its step counts as written (SQLite in WAL mode, synchronous=EXTRA)"
    )

    def __init__(self, path: str, options: Options) -> None:
        self.location = f"{path}#{quoted(session_name(options.tenant, options.session))}:"
        self.header: Header | None = None
        self._path = path
        self._key = (options.tenant, options.session)
        self._last = 0
        """The number of the last turn that this writer knows of."""
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._is_closed = False
        self._has_doubts = False
        """Whether the disk failed, so that what the log file says need not be on it."""

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open a database: a path, `sqlite:///run.db` or `sqlite:////folder/run.db`.

        It need not be there yet. Raises UsageError for a location that names no file,
        CannotReadError for a file that is no database, and CannotWriteError where tables of other
        programs have our names.
        """
        log = cls(path_in(location), options)
        if Path(log._path).exists():
            try:
                with log._reading() as connection:
                    log._take_up(connection)
            except BaseException:
                log.close()
                raise
        return log

    def begin(self, header: Header) -> None:
        """Make what is not there yet: the file, for its owner alone, the tables, the header.

        Raises CannotWriteError.
        """
        if self.header is not None:
            raise CannotWriteError(
                f"cannot begin {self.location}: it was begun already", "append to it"
            )
        make_file(self._path)
        data = encoded_header(header).decode()
        with self._writing() as connection:
            has_our_tables(connection, self._path)
            keep_log_apart(connection)
            with transaction(connection):
                make_tables(connection)
                there = self._header_in(connection)
                if there is None:
                    connection.execute(
                        "INSERT OR ABORT INTO agent_sessions VALUES (?, ?, ?, ?, ?)",
                        (*self._key, data, header.schema_version, header.created_at),
                    )
            # Our own may be there: what failed before may have been done after all.
            if there not in {None, data}:
                raise written_since(self.location)
            self.header = header

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries from the last that is known here on, read a page at a time.

        No statement is open while one is looked at. Raises CannotReadError for one that is
        damaged.
        """
        before = self._last + 1
        while before > 1:
            with self._reading() as connection:
                page = connection.execute(
                    "SELECT turn_number, checkpoint_id, kind, payload FROM agent_turns"
                    " WHERE tenant = ? AND session_id = ? AND turn_number < ?"
                    " ORDER BY turn_number DESC LIMIT ?",
                    (*self._key, before, PAGE),
                ).fetchall()
            for _, name, kind, payload in page:
                state = self._state(name) if kind == SNAPSHOT else None
                try:
                    yield entry_of(payload, state)
                except (msgspec.DecodeError, TypeError, RecursionError) as error:
                    raise self._damaged(f"the entry {name!r}", error) from error
            before = page[-1][0] if page else 0

    def append(self, entries: Sequence[Entry]) -> None:
        """Add entries in one transaction; those of them that are there already stay as they are.

        Raises CannotWriteError; nothing of them is there then, unless the disk failed: then the
        next append sees what is.
        """
        if self.header is None:
            raise CannotWriteError(
                f"cannot write to {self.location}: it was not begun", "begin it first"
            )
        turns = [turn_of(each) for each in entries]
        with self._writing() as connection:
            try:
                with transaction(connection):
                    last = self._added(connection, turns, self._last)
            except sqlite3.IntegrityError:
                # Somebody wrote: another, or we ourselves without having been told so.
                with transaction(connection):
                    last = self._added_to_own(connection, turns)
            self._last = last

    def thin(self, kept: Mapping[str, Entry]) -> int:
        """Keep some entries alone, as `Thins` says; the room is used for what is written next."""
        last = self._last
        known = effects_known(self.newest_first())
        with self._writing() as connection, transaction(connection):
            rows = connection.execute(
                "SELECT checkpoint_id FROM agent_turns"
                " WHERE tenant = ? AND session_id = ? ORDER BY turn_number",
                self._key,
            ).fetchall()
            if self._last_in(connection) != last:
                raise written_since(self.location)
            names: list[str] = [name for (name,) in rows]
            must_hold_together(names, kept, known)
            gone = [(*self._key, name) for name in names if name not in kept]
            connection.executemany(
                "DELETE FROM agent_turns"
                " WHERE tenant = ? AND session_id = ? AND checkpoint_id = ?",
                gone,
            )
            connection.executemany(
                "DELETE FROM checkpoints WHERE tenant = ? AND thread_id = ? AND checkpoint_id = ?",
                gone,
            )
            for entry in kept.values():
                self._replace(connection, turn_of(entry))
        return len(gone)

    def close(self) -> None:
        """Let go of the database."""
        with self._lock:
            self._is_closed = True
            self._disconnect()

    def _take_up(self, connection: sqlite3.Connection) -> None:
        """See whether the session is there, and what its last turn is."""
        data = self._header_in(connection) if has_our_tables(connection, self._path) else None
        if data is None:
            return
        try:
            self.header = decoded_header(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise self._damaged("its header", error) from error
        keep_log_apart(connection)
        self._last = self._last_in(connection)

    def _header_in(self, connection: sqlite3.Connection) -> str | None:
        row = connection.execute(
            "SELECT header FROM agent_sessions WHERE tenant = ? AND session_id = ?", self._key
        ).fetchone()
        return None if row is None else str(row[0])

    def _last_in(self, connection: sqlite3.Connection) -> int:
        (number,) = connection.execute(
            "SELECT coalesce(max(turn_number), 0) FROM agent_turns"
            " WHERE tenant = ? AND session_id = ?",
            self._key,
        ).fetchone()
        return number

    def _state(self, name: str) -> str | None:
        with self._reading() as connection:
            row = connection.execute(
                "SELECT state_json FROM checkpoints"
                " WHERE tenant = ? AND thread_id = ? AND checkpoint_id = ?",
                (*self._key, name),
            ).fetchone()
        return None if row is None else row[0]

    def _added(self, connection: sqlite3.Connection, turns: Sequence[Turn], last: int) -> int:
        """Insert turns behind the last one; give the number of the last one then."""
        for number, turn in enumerate(turns, last + 1):
            connection.execute(
                "INSERT OR ABORT INTO agent_turns (tenant, session_id, turn_number,"
                " checkpoint_id, parent_id, kind, tool_name, input_hash, output_hash, payload,"
                " written_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (*self._key, number, turn.checkpoint_id, *_values(turn)),
            )
            if turn.state is not None:
                connection.execute(
                    "INSERT OR ABORT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    self._state_values(turn),
                )
        return last + len(turns)

    def _added_to_own(self, connection: sqlite3.Connection, turns: Sequence[Turn]) -> int:
        """Insert those turns that are not there yet.

        Raises CannotWriteError where the turns since are others than the first of these.
        """
        since = connection.execute(
            "SELECT checkpoint_id, payload FROM agent_turns"
            " WHERE tenant = ? AND session_id = ? AND turn_number > ? ORDER BY turn_number",
            (*self._key, self._last),
        ).fetchall()
        new = [each for each in turns if not self._has_known(connection, each.checkpoint_id)]
        count = len(since)
        if [(each.checkpoint_id, each.payload) for each in new[:count]] != since:
            raise written_since(self.location)
        return self._added(connection, new[count:], self._last + count)

    def _has_known(self, connection: sqlite3.Connection, name: str) -> bool:
        """Tell whether an entry is among those that this writer knows to be there."""
        found = connection.execute(
            "SELECT 1 FROM agent_turns WHERE tenant = ? AND session_id = ?"
            " AND checkpoint_id = ? AND turn_number <= ?",
            (*self._key, name, self._last),
        ).fetchone()
        return found is not None

    def _replace(self, connection: sqlite3.Connection, turn: Turn) -> None:
        """Let a turn be as it is given, where it is not so already; its state too."""
        connection.execute(
            "UPDATE agent_turns SET parent_id = ?, kind = ?, tool_name = ?, input_hash = ?,"
            " output_hash = ?, payload = ?, written_at = ?"
            " WHERE tenant = ? AND session_id = ? AND checkpoint_id = ? AND payload <> ?",
            (*_values(turn), *self._key, turn.checkpoint_id, turn.payload),
        )
        if turn.state is None:
            connection.execute(
                "DELETE FROM checkpoints WHERE tenant = ? AND thread_id = ? AND checkpoint_id = ?",
                (*self._key, turn.checkpoint_id),
            )
        else:
            connection.execute(
                "INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (tenant, thread_id, checkpoint_id) DO UPDATE"
                " SET parent_id = excluded.parent_id, state_json = excluded.state_json,"
                " schema_version = excluded.schema_version, updated_at = excluded.updated_at"
                " WHERE state_json <> excluded.state_json"
                " OR parent_id IS NOT excluded.parent_id"
                " OR schema_version <> excluded.schema_version",
                self._state_values(turn),
            )

    def _state_values(self, turn: Turn) -> tuple[str | int | None, ...]:
        """Give the values of the row of a state."""
        return (
            *(*self._key, turn.checkpoint_id, turn.parent_id, turn.state, turn.version),
            *(turn.written_at, turn.written_at),
        )

    def _reading(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._lent(CannotReadError, "read")

    @contextmanager
    def _writing(self) -> Generator[sqlite3.Connection]:
        with self._lent(CannotWriteError, "write to") as connection:
            if self._has_doubts:
                must_be_on_disk(connection, self.location)
                self._has_doubts = False
            yield connection

    @contextmanager
    def _lent(
        self, refused: Callable[[str, str | None], TtdbgError], what: str
    ) -> Generator[sqlite3.Connection]:
        """Lend the connection to one thread; where it fails, the next one gets a new one."""
        with self._lock:
            if self._is_closed:
                raise refused(f"cannot {what} {self.location}: it was closed", "open it again")
            try:
                self._connection = self._connection or connected(self._path)
                yield self._connection
            except (sqlite3.Error, UnicodeError, OverflowError) as error:
                self._has_doubts = self._has_doubts or code_of(error) == DISK_FAILS
                self._disconnect()
                why, hint = in_words(error)
                raise refused(f"cannot {what} {self.location}: {why}", hint) from error

    def _disconnect(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            # What it says now changes nothing: all that matters was committed before.
            with suppress(sqlite3.Error):
                connection.close()

    def _damaged(self, what: str, error: Exception) -> CannotReadError:
        return CannotReadError(
            f"cannot read {self.location}: {what} is damaged: {error}",
            f"`ttdbg doctor {self._path}` shows what can be read",
        )


def _values(turn: Turn) -> tuple[str | None, ...]:
    """Give the values of a turn that thinning may change, in the order of their columns."""
    return (
        *(turn.parent_id, turn.kind, turn.tool_name, turn.input_hash, turn.output_hash),
        *(turn.payload, turn.written_at),
    )
