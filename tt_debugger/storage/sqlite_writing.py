"""SQLite: rows that a fork adds to a database of others, or to a copy of it, and takes back.

A database itself is opened for writing here alone, and nothing can be done to it then but to add
rows to named tables, or to delete these again, in one transaction. What a schema would have run
meanwhile is looked at first: a trigger, or a function that could reach beyond the row, is never
run. A copy is made elsewhere, gets its rows without its triggers being fired, and is published
whole.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tt_debugger.core.fork.writes import FileWritten, Insert, NewRows, RowsWritten, RowWritten
from tt_debugger.errors import CannotWriteError, TtdbgError, UnsupportedError, UsageError
from tt_debugger.storage.database_files import SUPER_JOURNAL, copied
from tt_debugger.storage.publishing import PIECE, publish, writing
from tt_debugger.storage.sqlite import LARGE, quoted
from tt_debugger.storage.sqlite_effects import (
    COPY_INSTEAD,
    Only,
    deletion,
    insert_into,
    must_run_nothing,
    schema_of,
)
from tt_debugger.storage.written_rows import (
    Claim,
    claims_in,
    claims_of,
    digest_of,
    has_changed,
    rows_of,
    taken,
)

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 5.0
"""Seconds that are waited for others who write to the database."""

_JOURNAL = "-journal"
_BESIDE = ("-wal", "-shm", _JOURNAL)
_LATER = f"close what writes to it, or try again in a moment; {COPY_INSTEAD}"
_STRANGE = ("unknown function", "no such function", "collation sequence", "unsafe use", "module")
_GENERATED = (2, 3)
_SIGNS: Mapping[int, tuple[str, str | None]] = {
    3: ("it may not be written to", COPY_INSTEAD),
    5: ("it is busy: another program writes to it", _LATER),
    6: ("it is busy: another program writes to it", _LATER),
    8: ("it may not be written to", COPY_INSTEAD),
    10: ("its disk fails", None),
    11: ("it is damaged", "`sqlite3 FILE .recover` may save what is in it"),
    13: ("there is no room for more", "make some room on its disk"),
    14: ("it, or its folder, may not be written to", COPY_INSTEAD),
    18: ("a value is too long", None),
    26: ("it is no SQLite database, or an encrypted one", None),
}
"""What SQLite's codes mean to who writes."""


def insert(new: NewRows) -> RowsWritten | FileWritten:
    """Add rows, all of them or none; give what there is then, in a copy the file that it is.

    Raises CannotWriteError, CannotReadError where no copy can be made, UsageError where there are
    such rows already, and UnsupportedError where rows may not be added.
    """
    if new.copy is not None:
        return _copied_with(new, new.copy)
    _must_be_writable(new.location)
    with _opened(new.location) as connection, _transaction(connection):
        # It is taken back from any folder.
        return RowsWritten(os.path.abspath(new.location), _added(connection, new))  # noqa: PTH100 - it knows what `..` means


def delete(written: RowsWritten) -> None:
    """Delete rows that were added, all of them or none.

    Raises UsageError where they are not all there as they were, or others have joined them, and
    otherwise what `insert` raises.
    """
    location = written.location
    _must_be_writable(location)
    claims = claims_in(written)
    tables = tuple(dict.fromkeys(claim.table for claim in claims))
    with _opened(location) as connection:
        # Rows of others that refer to ours must not be left behind, nor go with them.
        connection.execute("PRAGMA foreign_keys=on")
        with _transaction(connection):
            schema = schema_of(connection)
            for table in tables:
                if table not in schema:
                    raise has_changed(location, table)
            must_run_nothing(connection, location, tables)
            _must_be_healthy(connection, location)
            connection.set_authorizer(Only(deletion))
            before = connection.total_changes
            for claim in reversed(claims):
                _take_away(connection, location, claim, claims[claim])
            # Counted with what their going has done to other rows.
            if connection.total_changes - before != len(written.rows):
                raise _referred_to(location)


def _copied_with(new: NewRows, copy: str) -> FileWritten:
    """Publish a copy of a database that has the new rows."""
    # Slow to import, and most forks are of files.
    import tempfile

    path = os.path.abspath(copy)  # noqa: PTH100 - unlike Path it knows what `..` means
    for each in (path, *(path + side for side in _BESIDE)):
        if os.path.lexists(each):
            raise UsageError(
                f"{each} is there already",
                "nothing is ever written over what is there: choose another name",
            )
    with writing(path), tempfile.TemporaryDirectory(prefix="ttdbg-") as folder:
        private = Path(folder, "copy")
        _, told = copied(new.location, private)
        if told:
            raise _damaged(new.location, told[0])
        with _opened(str(private), new.location) as connection:
            # What is in its log goes into the file itself, which is all that is published.
            connection.execute("PRAGMA journal_mode=delete").fetchone()
            with _transaction(connection), _without_triggers(connection, new):
                _added(connection, new)
        parts = _Pieces(private)
        digest = hashlib.sha256()
        for part in parts:
            digest.update(part)
        try:
            publish(path, parts)
        except FileExistsError as error:
            raise UsageError(f"{path} is there already", "choose another name") from error
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
    _must_be_healthy(connection, new.location)
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
            raise CannotWriteError(
                f"cannot add rows to {new.location}: the table {claim.table} does not give them"
                " back as they were written",
                COPY_INSTEAD,
            )
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


# The file, and how it is opened.


def _must_be_writable(location: str) -> None:
    """Let pass only files to which SQLite can write without writing to others.

    Raises CannotWriteError.
    """
    try:
        status = Path(location).lstat()
        beside = [each for side in _BESIDE if (each := Path(location + side)).is_symlink()]
        spans_others = _ends_with(Path(location + _JOURNAL), SUPER_JOURNAL)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise _refused(location, why or str(error), COPY_INSTEAD) from error
    if stat.S_ISLNK(status.st_mode):
        raise _refused(location, "it is a link", "give the path of the file itself")
    if not stat.S_ISREG(status.st_mode):
        raise _refused(location, "it is no file", COPY_INSTEAD)
    if status.st_nlink > 1:
        why = "it has several names, and SQLite keeps what it writes first beside one of them"
        raise _refused(location, why, COPY_INSTEAD)
    if beside:
        raise _refused(location, f"{beside[0]} is a link", COPY_INSTEAD)
    if spans_others:
        why = f"its {_JOURNAL} spans several databases"
        raise _refused(location, why, "open it with the program that wrote it first")


def _ends_with(path: Path, end: bytes) -> bool:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - len(end)))
            return file.read() == end
    except FileNotFoundError:
        return False


def _must_be_healthy(connection: sqlite3.Connection, location: str) -> None:
    """Let pass only a database without damage, as far as one looks for it when one reads it."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    # To check a large one takes long, and others would have to wait.
    if pages * size >= LARGE:
        return
    found = connection.execute("PRAGMA quick_check(1)").fetchall()
    if found != [("ok",)]:
        raise _damaged(location, str(found[0][0]))


@contextmanager
def _opened(path: str, location: str | None = None) -> Generator[sqlite3.Connection]:
    """Open a database for writing, for long enough to change it once.

    Nothing in it is believed, and what is written is on the disk when it is told to be there.
    """
    import sqlite3

    with _in_words(location or path):
        uri = f"{Path(path).resolve().as_uri()}?mode=rw"
        connection = sqlite3.connect(uri, timeout=PATIENCE, uri=True, isolation_level=None)
        try:
            connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
            connection.text_factory = _text
            _distrust(connection)
            for pragma in (
                "trusted_schema=off",
                "cell_size_check=on",
                "mmap_size=0",
                "temp_store=memory",
                "synchronous=extra",
                "fullfsync=on",
                "checkpoint_fullfsync=on",
            ):
                connection.execute(f"PRAGMA {pragma}")
            yield connection
        finally:
            connection.close()


def _distrust(connection: sqlite3.Connection) -> None:
    """Keep a schema, and its triggers, from being used; not every Python can."""
    import sqlite3

    configure: Callable[[int, bool], None] | None = getattr(connection, "setconfig", None)
    if configure is None:
        return
    for name, is_on in (("DEFENSIVE", True), ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False)):
        configure(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), is_on)


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Keep all that is done meanwhile, or nothing of it."""
    import sqlite3

    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        # What is left undone here SQLite undoes itself when it closes.
        with suppress(sqlite3.Error):
            connection.rollback()
        raise


def _text(data: bytes) -> str:
    return data.decode(errors="surrogateescape")


@contextmanager
def _in_words(location: str) -> Generator[None]:
    """Turn what SQLite raises into our own errors."""
    import sqlite3

    try:
        yield
    except sqlite3.IntegrityError as error:
        if "FOREIGN KEY" in str(error):
            raise _referred_to(location) from error
        raise UnsupportedError(
            f"cannot add rows to {location}: it does not take such a row: {error}",
            "its tables may be of another version than those that are known",
        ) from error
    except sqlite3.Error as error:
        raise _said(location, error) from error
    except (UnicodeError, OverflowError) as error:
        raise UnsupportedError(
            f"cannot write to {location}: a value is nothing that SQLite can keep: {error}"
        ) from error


def _said(location: str, error: sqlite3.Error) -> TtdbgError:
    words = str(error)
    code = getattr(error, "sqlite_errorcode", 1) & 0xFF
    if code in _SIGNS:
        return _refused(location, *_SIGNS[code])
    if any(sign in words for sign in _STRANGE):
        return UnsupportedError(
            f"cannot write to {location}: a table takes what only its own program has: {words}",
            "rows can be added by that program alone",
        )
    return _refused(location, words, COPY_INSTEAD)


def _refused(location: str, why: str, hint: str | None) -> CannotWriteError:
    return CannotWriteError(f"cannot write to {location}: {why}", hint)


def _damaged(location: str, damage: str) -> CannotWriteError:
    hint = "`sqlite3 FILE .recover` may save what is in it"
    return _refused(location, f"it is damaged: {damage}", hint)


def _referred_to(location: str) -> UsageError:
    return UsageError(
        f"cannot write to {location}: rows of its tables refer to each other, and would not match",
        "nothing was written; have rows come since that refer to what was added?",
    )
