"""SQLite: rows that a fork adds to a database of others, or to a copy of it, and takes back.

A database itself is opened for writing for this alone, and nothing can be done to it then but to
add rows to named tables, or to delete these again, in one transaction. What a schema would have
run meanwhile is looked at first: a trigger, or a function that could reach beyond the row, is
never run. A copy is made elsewhere, gets its rows without its triggers being fired, and is
published whole.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tt_debugger.core.fork.writes import FileWritten, Insert, NewRows, RowsWritten, RowWritten
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.storage.database_files import copied
from tt_debugger.storage.publishing import PIECE, name_taken, publish, writing
from tt_debugger.storage.sqlite import quoted
from tt_debugger.storage.sqlite_effects import (
    COPY_INSTEAD,
    Only,
    deletion,
    insert_into,
    must_run_nothing,
    schema_of,
)
from tt_debugger.storage.sqlite_opening import (
    BESIDE,
    damaged,
    must_be_healthy,
    must_be_writable,
    opened_to_write,
    transaction,
)
from tt_debugger.storage.written_rows import (
    Claim,
    claims_in,
    claims_of,
    digest_of,
    has_changed,
    not_given_back,
    referred_to,
    rows_of,
    taken,
)

if TYPE_CHECKING:
    import sqlite3

_GENERATED = (2, 3)


def insert(new: NewRows) -> RowsWritten | FileWritten:
    """Add rows, all of them or none; give what there is then, in a copy the file that it is.

    Raises CannotWriteError, CannotReadError where no copy can be made, UsageError where there are
    such rows already, and UnsupportedError where rows may not be added.
    """
    if new.copy is not None:
        return _copied_with(new, new.copy)
    must_be_writable(new.location)
    with opened_to_write(new.location) as connection, transaction(connection):
        # It is taken back from any folder.
        return RowsWritten(os.path.abspath(new.location), _added(connection, new))  # noqa: PTH100 - it knows what `..` means


def delete(written: RowsWritten) -> None:
    """Delete rows that were added, all of them or none.

    Raises UsageError where they are not all there as they were, or others have joined them, and
    otherwise what `insert` raises.
    """
    location = written.location
    must_be_writable(location)
    claims = claims_in(written)
    tables = tuple(dict.fromkeys(claim.table for claim in claims))
    with opened_to_write(location) as connection:
        # Rows of others that refer to ours must not be left behind, nor go with them.
        connection.execute("PRAGMA foreign_keys=on")
        with transaction(connection):
            schema = schema_of(connection)
            for table in tables:
                if table not in schema:
                    raise has_changed(location, table)
            must_run_nothing(connection, location, tables)
            must_be_healthy(connection, location)
            connection.set_authorizer(Only(deletion))
            before = connection.total_changes
            for claim in reversed(claims):
                _take_away(connection, location, claim, claims[claim])
            # Counted with what their going has done to other rows.
            if connection.total_changes - before != len(written.rows):
                raise referred_to(location)


def _copied_with(new: NewRows, copy: str) -> FileWritten:
    """Publish a copy of a database that has the new rows."""
    # Slow to import, and most forks are of files.
    import tempfile

    path = os.path.abspath(copy)  # noqa: PTH100 - unlike Path it knows what `..` means
    for each in (path, *(path + side for side in BESIDE)):
        if os.path.lexists(each):
            raise name_taken(each)
    with writing(path), tempfile.TemporaryDirectory(prefix="ttdbg-") as folder:
        private = Path(folder, "copy")
        _, told = copied(new.location, private)
        if told:
            raise damaged(new.location, told[0])
        with opened_to_write(str(private), new.location) as connection:
            # What is in its log goes into the file itself, which is all that is published.
            connection.execute("PRAGMA journal_mode=delete").fetchone()
            with transaction(connection), _without_triggers(connection, new):
                _added(connection, new)
        parts = _Pieces(private)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        try:
            publish(path, parts)
        except FileExistsError as error:
            raise name_taken(path) from error
        return FileWritten(path, parts.size, digest.hexdigest())


class _Pieces(Sequence[bytes]):
    """A file that nobody else writes to, read piece by piece: it may be larger than memory."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.size = path.stat().st_size

    def __len__(self) -> int:
        return (self.size + PIECE - 1) // PIECE

    def __getitem__(self, place: int) -> bytes:  # type: ignore[override]  # nobody asks for a slice
        with self._path.open("rb") as file:
            file.seek(place * PIECE)
            return file.read(PIECE)

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))


def _added(connection: sqlite3.Connection, new: NewRows) -> tuple[RowWritten, ...]:
    """Insert rows in a transaction that has begun; give what is there of them then."""
    tables = tuple(dict.fromkeys(each.table for each in new.inserts))
    must_run_nothing(connection, new.location, tables)
    must_be_healthy(connection, new.location)
    connection.set_authorizer(Only(insert_into(tables)))
    for each in new.inserts:
        _must_have_columns(connection, new.location, each)
    claims = claims_of(new.inserts)
    for claim in claims:
        where, values = _condition(claim)
        known = f"SELECT 1 FROM {quoted(claim.table)} WHERE {where} LIMIT 1"  # noqa: S608 - quoted
        if connection.execute(known, values).fetchone() is not None:
            raise taken(new.location, claim)
    for each in new.inserts:
        names = ", ".join(map(quoted, each.values))
        marks = ", ".join("?" for _ in each.values)
        # A table may say that of two rows with one key the new one stays: not with these words.
        connection.execute(
            f"INSERT OR ABORT INTO main.{quoted(each.table)} ({names}) VALUES ({marks})",  # noqa: S608 - quoted
            tuple(each.values.values()),
        )
    rows: list[RowWritten] = []
    for claim, count in claims.items():
        digests = list(_digests(connection, claim))
        if len(digests) != count:
            raise not_given_back(new.location, claim.table, COPY_INSTEAD)
        rows += rows_of(claim, digests)
    return tuple(rows)


def _take_away(
    connection: sqlite3.Connection, location: str, claim: Claim, known: Counter[str]
) -> None:
    if Counter(_digests(connection, claim)) != known:
        raise has_changed(location, claim.table)
    where, values = _condition(claim)
    gone = connection.execute(f"DELETE FROM main.{quoted(claim.table)} WHERE {where}", values)  # noqa: S608 - quoted
    if gone.rowcount != known.total():
        raise has_changed(location, claim.table)


def _digests(connection: sqlite3.Connection, claim: Claim) -> Iterator[str]:
    """Give the digest of each row that has the claimed values."""
    names = [name for name, hidden in _columns(connection, claim.table) if not hidden]
    where, values = _condition(claim)
    listed = ", ".join(map(quoted, names))
    query = f"SELECT {listed} FROM main.{quoted(claim.table)} WHERE {where}"  # noqa: S608 - quoted
    for row in connection.execute(query, values):
        yield digest_of(zip(names, row, strict=True))


def _condition(claim: Claim) -> tuple[str, tuple[object, ...]]:
    words = " AND ".join(f"{quoted(name)} IS ?" for name, _ in claim.values)
    return words or "1", tuple(value for _, value in claim.values)


def _columns(connection: sqlite3.Connection, table: str) -> list[tuple[str, int]]:
    """Give the columns of a table, each with a number if it is not stored as it is given."""
    about = connection.execute(f"PRAGMA main.table_xinfo({quoted(table)})").fetchall()
    return [(column[1], column[6]) for column in about]


def _must_have_columns(connection: sqlite3.Connection, location: str, each: Insert) -> None:
    columns = _columns(connection, each.table)
    known = {name for name, hidden in columns if hidden not in _GENERATED}
    for name in each.values:
        if name not in known:
            raise UsageError(
                f"cannot write to {location}: the table {each.table} has no column {name} to"
                " write to",
                "has the database changed? open it again",
            )


@contextmanager
def _without_triggers(connection: sqlite3.Connection, new: NewRows) -> Generator[None]:
    """Take the triggers of some tables away meanwhile, and put them back word for word."""
    before = schema_of(connection)
    triggers = before.triggers_on(each.table for each in new.inserts)
    for name, _ in triggers:
        connection.execute(f"DROP TRIGGER main.{quoted(name)}")
    yield
    connection.set_authorizer(None)
    for _, statement in triggers:
        connection.execute(statement)
    if schema_of(connection).rows != before.rows:
        raise UnsupportedError(
            f"cannot copy {new.location}: its triggers are not written as SQLite writes them"
        )
