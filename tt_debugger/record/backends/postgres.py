"""The log in a database of PostgreSQL, beside other sessions, other tenants and other tables.

An append is one transaction. Where its outcome is not known, as the connection was lost or no
standby has confirmed it, the next one looks at what is there before it adds anything, and commits
even where there is nothing to add: what is confirmed then is all that came before it, too.

The address may name several hosts: who writes goes to the one that takes writes. What is asked of
the log by the debugger may come from a standby, which may not have the last entries yet.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Self

import msgspec

from tt_debugger.core.recording.entries import (
    Entry,
    Header,
    decoded_header,
    encoded_header,
)
from tt_debugger.core.recording.naming import session_name
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import counted
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.postgres_primary import (
    Conflict,
    LostError,
    Primary,
    damaged,
)
from tt_debugger.record.backends.postgres_rows import TenantRows
from tt_debugger.record.backends.postgres_tables import are_there, guard, make
from tt_debugger.record.backends.thinning import (
    REFUSED,
    effects_known,
    must_hold_together,
    written_since,
)
from tt_debugger.record.backends.turns import SNAPSHOT, Turn, entry_of, turn_of
from tt_debugger.storage.postgres_tables import TENANT
from tt_debugger.storage.servers import admitted, is_server, with_options

if TYPE_CHECKING:
    from tt_debugger.storage.connections import Connection

PAGE = 32
"""Turns that are read at once; states are read one by one, as they are asked for."""
_TRIES = 3
"""How often rows are looked at that others may write meanwhile."""
_TO_BE_ESCAPED = re.compile(r"[\\\s]")


class PostgresLog:
    """The log of one session in a database."""

    def __init__(self, location: str, options: Options) -> None:
        if not is_server(location):
            raise UsageError(
                f"{location!r} is no address of a server",
                "write it as postgresql://user:password@host:port/database",
            )
        name = quoted(session_name(options.tenant, options.session))
        server = admitted(location)
        self.location = f"{_for_questions(server, options)}#{name}:"
        self.header: Header | None = None
        self._is_guarded = options.row_level_security
        self._primary = Primary(server, options.consistency, options.tenant)
        self._rows = TenantRows(self._primary.schema, options.tenant, options.session)
        self._lock = threading.RLock()
        self._last, self._last_id = 0, ""
        """The last turn that this writer knows of."""
        self._offered: dict[str, str] = {}
        """Entries by their ids of which it is not known whether they are there."""
        self._is_sure = True

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open a database, `postgresql://host1,host2/database`; the tables need not be there.

        Raises UsageError for what is no such address or asks for tenants of nobody to be kept
        apart, CannotReadError where no server takes writes there, and CannotWriteError where
        tables of other programs have our names or the consistency cannot be kept.
        """
        if options.row_level_security and not options.tenant:
            raise UsageError(
                "row level security keeps tenants apart, and there is none", "name the tenant"
            )
        log = cls(location, options)
        try:
            log._take_up()
        except BaseException:
            log.close()
            raise
        return log

    @property
    def durability(self) -> str:
        """What is promised of an entry whose append has returned, in a sentence."""
        return self._primary.durability

    def begin(self, header: Header) -> None:
        """Make the tables that are not there, and the header. Raises CannotWriteError."""
        if self.header is not None:
            raise CannotWriteError(
                f"cannot begin {self.location}: it was begun already", "append to it"
            )
        data = encoded_header(header).decode()
        with self._lock, self._writing() as connection:
            make(connection, self.location, self._primary.schema)
            if self._is_guarded:
                guard(connection, self.location, self._primary.schema)
            there = self._header_in(connection)
            # After a failure of which nobody knows how it ended the same may be there.
            if there not in (None, data):
                raise written_since(self.location)
            if there is None:
                connection.execute(*self._rows.begun(header, data))
        self.header = header

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries up to the last that is known here, a page at a time.

        No transaction stays open between them. Raises CannotReadError for one that is damaged.
        """
        before = self._last + 1
        while before > 1:
            with self._primary.reading() as connection:
                page = connection.execute(*self._rows.page(before, PAGE)).fetchall()
            if not page:
                return
            for before, name, kind, payload in page:  # noqa: B007 - the next page begins there
                yield self._entry(name, payload, is_snapshot=kind == SNAPSHOT)

    def append(self, entries: Sequence[Entry]) -> None:
        """Add entries in one transaction; those of them that are there already stay as they are.

        Raises CannotWriteError. Whether they are there is not known then: the same ones may be
        given again.
        """
        if not entries:
            return
        if self.header is None:
            raise CannotWriteError(f"cannot write to {self.location}: it was not begun", None)
        turns = [turn_of(each) for each in entries]
        with self._lock:
            was_sure, self._is_sure = self._is_sure, False
            self._offered |= {turn.checkpoint_id: turn.payload for turn in turns}
            if not (was_sure and self._is_added(turns)):
                self._settle(turns)
            self._offered, self._is_sure = {}, True

    def thin(self, kept: Mapping[str, Entry]) -> int:
        """Keep some entries alone, as `thinning.Thins` says."""
        with self._lock:
            known = effects_known(self.newest_first())
            with self._writing() as connection:
                self._locked(connection)
                rows = connection.execute(*self._rows.named()).fetchall()
                if (tuple(rows[-1]) if rows else (0, "")) != (self._last, self._last_id):
                    raise written_since(self.location)
                names = [name for _, name in rows]
                must_hold_together(names, kept, known)
                gone = [name for name in names if name not in kept]
                for statement in self._rows.taken_away(gone):
                    connection.execute(*statement)
                for entry in kept.values():
                    for statement in self._rows.replaced(turn_of(entry)):
                        connection.execute(*statement)
        return len(gone)

    def close(self) -> None:
        """Let go of the connection."""
        self._primary.close()

    def _take_up(self) -> None:
        """See whether the session is there, and what its last turn is."""
        with self._primary.reading() as connection:
            if not are_there(connection, self.location, self._primary.schema):
                return
            data = self._header_in(connection)
            self._last, self._last_id = self._last_in(connection)
        if self._is_guarded:
            with self._writing() as connection:
                guard(connection, self.location, self._primary.schema)
        if data is None:
            return
        try:
            self.header = decoded_header(data)
        except (msgspec.DecodeError, RecursionError) as error:
            raise damaged(self.location, f"its header is damaged: {error}") from error

    def _is_added(self, turns: Sequence[Turn]) -> bool:
        """Add turns behind the last one that is known; tell whether they surely are there."""
        try:
            self._primary.write(self._rows.added(self._last, self._last_id, turns))
        except (Conflict, LostError):
            return False
        self._last, self._last_id = self._last + len(turns), turns[-1].checkpoint_id
        return True

    def _settle(self, turns: Sequence[Turn]) -> None:
        """See what is there, and add what is not. Raises CannotWriteError."""
        for _ in range(_TRIES):
            try:
                with self._primary.writing() as connection:
                    self._locked(connection)
                    last, name = self._checked(connection)
                    ids = [turn.checkpoint_id for turn in turns]
                    there = {each for (each,) in connection.execute(*self._rows.among(ids))}
                    fresh = [turn for turn in turns if turn.checkpoint_id not in there]
                    for statement in self._rows.added(last, name, fresh):
                        connection.execute(*statement)
            except Conflict:
                # An older transaction of ours was still on its way.
                continue
            self._last = last + len(fresh)
            self._last_id = fresh[-1].checkpoint_id if fresh else name
            return
        raise written_since(self.location)

    def _locked(self, connection: Connection) -> None:
        """Let nobody else look at what is there to add to it. Raises CannotWriteError."""
        if connection.execute(*self._rows.header(locked=True)).fetchone() is None:
            raise CannotWriteError(
                f"cannot write to {self.location}: the session is no longer there",
                "was it deleted? record to a session of another name",
            )

    def _checked(self, connection: Connection) -> tuple[int, str]:
        """Give the last turn; raise CannotWriteError where it is not ours, or one of ours is gone.

        Those of ours may go where a standby took over that had not got them.
        """
        found = connection.execute(*self._rows.since(self._last)).fetchall()
        if self._last and (not found or found[0][:2] != (self._last, self._last_id)):
            number, _ = self._last_in(connection)
            if number >= self._last:
                raise written_since(self.location)
            gone = counted(self._last - number, "entry", "entries")
            raise CannotWriteError(
                f"cannot write to {self.location}: the server no longer has the last {gone} that"
                " it had acknowledged",
                f"has another server taken over? {REFUSED}",
            )
        for _, name, payload in found[1 if self._last else 0 :]:
            if self._offered.get(name) != payload:
                raise written_since(self.location)
        return (found[-1][0], found[-1][1]) if found else (0, "")

    def _entry(self, name: str, payload: str, *, is_snapshot: bool) -> Entry:
        state = None
        if is_snapshot:
            with self._primary.reading() as connection:
                row = connection.execute(*self._rows.state(name)).fetchone()
            state = None if row is None else row[0]
        try:
            return entry_of(payload, state)
        except (msgspec.DecodeError, TypeError, RecursionError) as error:
            raise damaged(self.location, f"the entry {name!r} is damaged: {error}") from error

    def _header_in(self, connection: Connection) -> str | None:
        row = connection.execute(*self._rows.header()).fetchone()
        return None if row is None else str(row[0])

    def _last_in(self, connection: Connection) -> tuple[int, str]:
        row = connection.execute(*self._rows.last()).fetchone()
        return (0, "") if row is None else (row[0], row[1])

    @contextmanager
    def _writing(self) -> Generator[Connection]:
        """Write in a transaction in which nobody else may have had a part."""
        try:
            with self._primary.writing() as connection:
                yield connection
        except Conflict:
            raise written_since(self.location) from None


def _for_questions(server: str, options: Options) -> str:
    """Give the address at which the debugger asks."""
    more: dict[str, str] = {}
    if options.reads_from_replicas:
        more["target_session_attrs"] = "prefer-standby"
    if options.row_level_security:
        tenant = _TO_BE_ESCAPED.sub(r"\\\g<0>", options.tenant)
        more["options"] = f"-c {TENANT}={tenant}"
    return with_options(server, **more) if more else server
