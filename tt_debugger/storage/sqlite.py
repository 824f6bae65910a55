"""SQLite: databases that others wrote, and may still be writing, read without trusting them.

SQLite locks, recovers and makes files beside what it opens, so it reads a private copy of the
database and of its write-ahead log or journal. Only a large one is read in its place: at rest as a
file that never changes, and live in short transactions that write nothing. It may do nothing but
select from real tables: no view, trigger, function or other statement of the schema is run. What
is damaged is said in words, and what can be read is read.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.database_files import (
    MAGIC,
    Seen,
    Stands,
    copied,
    is_at_rest,
    is_live,
    look_at,
    refused,
    sides_of,
)
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.stdin import STDIN
from tt_debugger.storage.tables import Table, Value

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "MAGIC",
    "Database",
    "Seen",
    "is_database",
    "look_at",
    "quoted",
    "sides_of",
    "tables_of",
]

LARGE = 64 << 20
"""Bytes from which on a database is not copied, and not checked, where it can be read without."""
PATIENCE = 2.0
"""Seconds that SQLite may work until the next rows, and as long as it takes to read the file."""

_packed = msgspec.msgpack.encode
_IsLate = Callable[[], bool]
_Text = Callable[[bytes], str]

_BATCH = 256
_BATCH_BYTES = 8 << 20
"""Bytes after which no more rows are taken at once, where values are long."""
_MOST_GROWTH = 2
"""How often a database may give the bytes that it has: text in UTF-16 becomes longer."""
_SHORT = 1 << 18
"""Bytes of a value up to which it is not asked how many come at once."""
_MOST_DAMAGE = 5
_SLOWEST = 200 << 20
"""Bytes a second that are read at least, where many must be before the first row is known."""
_OPERATIONS = 2_000
"""Steps of SQLite's machine between two looks at the clock."""
_ROW_IDS = ("rowid", "_rowid_", "oid")
"""What the number of a row is called, unless a column has that name."""


def is_database(location: str) -> bool:
    """Tell whether a location is a SQLite database. Raises CannotReadError where nothing is."""
    try:
        if Path(location).is_dir():
            return False
    except (OSError, ValueError) as error:
        raise refused(location, str(error), "give the path of a file") from error
    file = RegularFile(location)
    try:
        return file.read(0, len(MAGIC)) == MAGIC
    finally:
        file.close()


class Database:
    """A database of others, open for reading.

    `tables` are its real ones by name, `seen` is how it looked when it was opened, and `damage`
    what is wrong with it, in words. Raises CannotReadError where it is no database, or none that
    can be read.
    """

    def __init__(self, location: str, *, patience: float = PATIENCE) -> None:
        self.location = location
        self.damage: tuple[str, ...] = ()
        self.bad_texts = 0
        """Texts so far that are no UTF-8; what is none of it was replaced."""
        self._patience = patience
        self._lock = threading.Lock()
        self._size = 0
        self._has_long = False
        """Whether a value was so long that rows are now taken one by one."""
        self._begin_step()
        self._remove: Callable[[], object] = _nothing
        self._stands: Callable[[], bool] = _always
        try:
            self.seen = self._open()
        except BaseException:
            self.close()
            raise

    def _open(self) -> Seen:
        """Open it in its place where that is right, else a copy; give how it looked."""
        seen = look_at(self.location)
        if seen.size >= LARGE and (is_at_rest(seen) or is_live(self.location)):
            self._stands = Stands(self.location, seen)
            if self._open_in_place(seen):
                return seen
        # Slow to import, and most locations are no databases.
        import shutil
        import tempfile

        folder = Path(tempfile.mkdtemp(prefix="ttdbg-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        seen, told = copied(self.location, folder / "copy")
        self._stands = _always
        self._size = sum(each.stat().st_size for each in folder.iterdir())
        with _in_words(self.location):
            uri = f"{(folder / 'copy').as_uri()}?mode=rw"
            self._connection = _opened(uri, self._is_late, self._text)
            self.tables: Mapping[str, Table] = self._prepared()
            self._connection.text_factory = str
        self.damage = (*told, *self.damage)
        return seen

    def _open_in_place(self, seen: Seen) -> bool:
        """Open the database itself; False where it does not hold still, or cannot be read so."""
        import sqlite3

        self._size = seen.size
        # Neither locks what nobody writes to, nor marks in the index of a log that it is read.
        way = "immutable=1" if seen.is_whole else "readonly_shm=1"
        uri = f"{Path(self.location).resolve().as_uri()}?mode=ro&{way}"
        try:
            self._connection = _opened(uri, self._is_late, self._text)
        except sqlite3.Error:
            return False
        with suppress(sqlite3.Error, UnicodeDecodeError, MemoryError):
            self.tables = self._prepared()
            self._connection.text_factory = str
            if self._stands():
                return True
        self._connection.close()
        return False

    def rows(
        self,
        table: str,
        columns: Sequence[str],
        *,
        order: Sequence[str] = (),
        where: Mapping[str, Value] | None = None,
        after: Sequence[Value] = (),
        most: int | None = None,
        descending: bool = False,
    ) -> Iterator[tuple[Value, ...]]:
        """Go over the rows of a table, as `storage.tables.Tables` says.

        Raises CannotReadError as soon as a row cannot be read, and KeyError where there is no
        such table.
        """
        known = self.tables[table]
        wanted = dict(where or {})
        missing = [name for name in wanted if name not in known.columns]
        if any(wanted.pop(name) is not None for name in missing):
            return iter(())
        sorts = [quoted(name) for name in order if name in known.columns]
        conditions = [f"{quoted(name)} IS ?" for name in wanted]
        values = list(wanted.values())
        if after:
            # With a column missing the values would be compared with those of another.
            if len(sorts) != len(after):
                return iter(())
            conditions.append(f"({', '.join(sorts)}) {'<>'[not descending]} ({_places(after)})")
            values += after
        query = _selection(known, columns)
        if conditions:
            query += f" WHERE {' AND '.join(conditions)}"
        if sorts:
            way = " DESC" if descending else ""
            query += f" ORDER BY {', '.join(each + way for each in sorts)}"
        if most is not None:
            query += f" LIMIT {most:d}"
        return self._answers(query, tuple(values))

    def newest(self, table: str, columns: Sequence[str], most: int) -> Iterator[tuple[Value, ...]]:
        """Go over the rows that were stored last, by their row ids, the last one first.

        A table without row ids is gone over from the end of its primary key.
        """
        known = self.tables[table]
        if known.row_id is None:
            return self.rows(table, columns, order=known.key, most=most, descending=True)
        last_first = f" ORDER BY {known.row_id} DESC LIMIT {most:d}"
        return self._answers(_selection(known, columns) + last_first, ())

    def _answers(self, query: str, values: tuple[Value, ...]) -> Iterator[tuple[Value, ...]]:
        import sqlite3

        given = 0
        with _in_words(self.location):
            while True:
                known = given
                try:
                    for rows in self._batches(query, values):
                        new = rows[known:]
                        known -= len(rows) - len(new)
                        given += len(new)
                        yield from new
                except sqlite3.Error as error:
                    if not self._takes_more_care(error):
                        raise
                else:
                    return

    def _batches(self, query: str, values: tuple[Value, ...]) -> Iterator[list[tuple[Value, ...]]]:
        weight = 0
        with self._step():
            self._renew()
            connection = self._connection
            cursor = connection.execute(query, values)
            rows, is_last = self._taken(cursor)
        while True:
            # Pages that lead to each other can hold more than a file has bytes.
            weight += len(_packed(rows))
            if weight > _MOST_GROWTH * self._size:
                raise refused(self.location, "it claims to hold more than it has bytes")
            yield rows
            if is_last:
                return
            with self._step():
                if connection is not self._connection:
                    raise self._changed()
                rows, is_last = self._taken(cursor)

    def _taken(self, cursor: sqlite3.Cursor) -> tuple[list[tuple[Value, ...]], bool]:
        """Give the next rows, and whether they are the last ones."""
        if not self._has_long:
            rows: list[tuple[Value, ...]] = cursor.fetchmany(_BATCH)
            return rows, len(rows) < _BATCH
        rows, weight = [], 0
        for row in cursor:
            rows.append(row)
            weight += sum(len(each) for each in row if isinstance(each, (str, bytes)))
            if len(rows) >= _BATCH or weight > _BATCH_BYTES:
                return rows, False
        return rows, True

    def _takes_more_care(self, error: sqlite3.Error) -> bool:
        """Tell whether more can be read from now on, at the price of time."""
        import sqlite3

        if isinstance(error, sqlite3.DataError) and not self._has_long:
            self._has_long = True
            self._limit_length()
            return True
        if str(error).startswith("Could not decode") and self._connection.text_factory is str:
            self._connection.text_factory = self._text
            return True
        return False

    @contextmanager
    def _step(self) -> Generator[None]:
        """Let one thread go on for a while; what it read counts only if nothing changed."""
        import sqlite3

        with self._lock:
            self._begin_step()
            try:
                yield
            except sqlite3.Error as error:
                if self._stands():
                    raise
                raise self._changed() from error
            if not self._stands():
                raise self._changed()

    def _changed(self) -> CannotReadError:
        return refused(self.location, "it was written to meanwhile", "read it again")

    def _renew(self) -> None:
        """Open what is read in its place anew, where it has changed since."""
        if not self._stands():
            self._connection.close()
            self._remove()
            self._open()

    def close(self) -> None:
        """Close the database, and remove its copy."""
        connection: sqlite3.Connection | None = vars(self).get("_connection")
        if connection is not None:
            connection.close()
        self._remove()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _prepared(self) -> Mapping[str, Table]:
        """Look for damage, find the tables, and from then on allow nothing but to read these."""
        import sqlite3

        self._begin_step()
        self.damage = ()
        try:
            # To check a large one takes long; there what is damaged shows where it is read.
            if self._size < LARGE:
                found = self._connection.execute(f"PRAGMA quick_check({_MOST_DAMAGE})").fetchall()
                self.damage = tuple(str(said) for (said,) in found if said != "ok")
        except (sqlite3.Error, UnicodeDecodeError, MemoryError) as error:
            self.damage = () if _is_interrupted(error) else (_said(error),)
        self._begin_step()
        tables = _tables_of(self._connection)
        self._limit_length()
        self._connection.set_authorizer(_Authorizer(frozenset(tables)))
        return tables

    def _limit_length(self) -> None:
        """Allow no value to be longer than the file that holds it, whatever it claims.

        While none is long, rows are taken many at once.
        """
        import sqlite3

        longest = min(LONGEST, _MOST_GROWTH * self._size)
        length = longest if self._has_long else min(longest, _SHORT)
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, length)

    def _begin_step(self) -> None:
        self._deadline = time.monotonic() + self._patience + self._size / _SLOWEST

    def _is_late(self) -> bool:
        return time.monotonic() > self._deadline

    def _text(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError:
            self.bad_texts += 1
            return data.decode(errors="replace")


def tables_of(location: str) -> Mapping[str, tuple[str, ...]]:
    """Give the columns of each real table of a database, without a copy where that is possible.

    Where a log holds what the database does not have yet, both must be copied. Raises
    CannotReadError.
    """
    seen = look_at(location)
    if location != STDIN and seen.is_whole:
        try:
            tables = _tables_in_place(location)
        except CannotReadError:
            if look_at(location) == seen:
                raise
        else:
            if look_at(location) == seen:
                return tables
    with Database(location) as database:
        return {name: each.columns for name, each in database.tables.items()}


def _tables_in_place(location: str) -> Mapping[str, tuple[str, ...]]:
    deadline = time.monotonic() + PATIENCE
    # Nothing is locked, and nothing written, not even beside it.
    uri = f"{Path(location).resolve().as_uri()}?mode=ro&immutable=1"
    with _in_words(location):
        connection = _opened(
            uri, lambda: time.monotonic() > deadline, lambda data: data.decode(errors="replace")
        )
        try:
            return {name: each.columns for name, each in _tables_of(connection).items()}
        finally:
            connection.close()


def _always() -> bool:
    """Tell that a copy stands: nobody else writes to it."""
    return True


def _nothing() -> None:
    """Remove nothing."""


class _Authorizer:
    """Allows to select from some tables, and nothing else."""

    def __init__(self, tables: frozenset[str]) -> None:
        self._tables = tables

    def __call__(self, action: int, first: str | None, *_: str | None) -> int:
        import sqlite3

        is_allowed = action == sqlite3.SQLITE_SELECT or (
            action == sqlite3.SQLITE_READ and first in self._tables
        )
        return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def _opened(uri: str, is_late: _IsLate, text: _Text) -> sqlite3.Connection:
    """Open a database such that nothing in it is believed."""
    import sqlite3

    # Rows are asked for by whatever thread needs them, one at a time.
    connection = sqlite3.connect(uri, uri=True, check_same_thread=False, isolation_level=None)
    try:
        for limit, most in (
            (sqlite3.SQLITE_LIMIT_LENGTH, LONGEST),
            (sqlite3.SQLITE_LIMIT_ATTACHED, 0),
            (sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH, 1),
            (sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0),
        ):
            connection.setlimit(limit, most)
        connection.set_progress_handler(is_late, _OPERATIONS)
        connection.text_factory = text
        for pragma in ("trusted_schema=off", "cell_size_check=on", "mmap_size=0", "query_only=on"):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def _tables_of(connection: sqlite3.Connection) -> dict[str, Table]:
    """Give the real tables: views and virtual tables have no page of their own."""
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0"
    ).fetchall()
    # An old SQLite does not tell: there tables have row ids, as nearly all do.
    listed = connection.execute("PRAGMA table_list").fetchall()
    without_row_ids = {name for _, name, _, _, is_without, *_ in listed if is_without}
    tables: dict[str, Table] = {}
    for (name,) in names:
        if not isinstance(name, str) or name.startswith("sqlite_"):
            continue
        # Columns that are generated have the schema's own expressions worked out: they are left.
        about = connection.execute(f"PRAGMA table_xinfo({quoted(name)})").fetchall()
        stored = [(column[1], column[5]) for column in about if column[6] == 0]
        key = sorted((place, column) for column, place in stored if place)
        columns = tuple(column for column, _ in stored)
        taken = {column.lower() for column, _ in stored}
        row_id = next((each for each in _ROW_IDS if each not in taken), None)
        tables[name] = Table(
            name,
            columns,
            tuple(column for _, column in key),
            None if name in without_row_ids else row_id,
        )
    return tables


def _selection(table: Table, columns: Sequence[str]) -> str:
    """Give a query for some columns of a table, those that it does not have as NULL."""
    given = [quoted(name) if name in table.columns else "NULL" for name in columns]
    return f"SELECT {', '.join(given)} FROM {quoted(table.name)}"  # noqa: S608 - names of its own schema, quoted


def _places(values: Sequence[Value]) -> str:
    return ", ".join("?" for _ in values)


def quoted(name: str) -> str:
    """Give a name as it is written in a statement."""
    return '"' + name.replace('"', '""') + '"'


def _is_interrupted(error: Exception) -> bool:
    return str(error) == "interrupted"


@contextmanager
def _in_words(location: str) -> Generator[None]:
    """Turn what SQLite raises into a CannotReadError."""
    import sqlite3

    try:
        yield
    # An error whose own message holds bytes of the file may be no text.
    except (sqlite3.Error, UnicodeDecodeError, OverflowError, MemoryError) as error:
        raise refused(location, _said(error)) from error


def _said(error: Exception) -> str:
    """Give what went wrong as it goes on from "cannot read X:"."""
    if _is_interrupted(error):
        return "a look at its tables takes too long"
    words = str(error)
    if isinstance(error, UnicodeDecodeError):
        words = "its schema is no text"
    if isinstance(error, MemoryError):
        words = "a row claims to be longer than memory is"
    if words == "file is not a database":
        return "it is no SQLite database, or an encrypted one"
    return f"the database is damaged or not supported: {words}"
