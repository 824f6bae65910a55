"""SQLite: databases that others wrote, and may still be writing, read without trusting them.

The file is never opened in its place: SQLite locks, recovers and makes files beside it. It reads
a private copy of the database and of its write-ahead log or journal, and may do nothing there but
select from real tables: no view, trigger, function or other statement of the schema is run. What
is damaged is said in words, and what can be read is read.
"""

from __future__ import annotations

import stat
import threading
import time
import weakref
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.stdin import STDIN
from tt_debugger.storage.tables import Table, Value

if TYPE_CHECKING:
    import sqlite3

MAGIC = b"SQLite format 3\0"
"""The first bytes of a database."""
LARGEST = 2 << 30
"""Bytes of a database, with its log, that are copied."""
PATIENCE = 2.0
"""Seconds that SQLite may work until the next rows."""

_IsLate = Callable[[], bool]
_Text = Callable[[bytes], str]

_SIDES = ("-wal", "-journal")
_TRIES = 3
_PAUSE = 0.05
_CHUNK = 1 << 20
_BATCH = 256
_MOST_DAMAGE = 5
_OPERATIONS = 2_000
"""Steps of SQLite's machine between two looks at the clock."""
_ROW_IDS = ("rowid", "_rowid_", "oid")
"""What the number of a row is called, unless a column has that name."""
_SUPER_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


class Seen(msgspec.Struct, frozen=True):
    """How a database and the files beside it look; whatever writes to it changes that."""

    files: tuple[tuple[int, ...] | None, ...]

    @property
    def size(self) -> int:
        """The bytes of all of them."""
        return sum(max(each[0], 0) for each in self.files if each is not None)

    @property
    def times(self) -> tuple[int, ...]:
        """When each of them was written to, in nanoseconds since 1970."""
        return tuple(each[1] for each in self.files if each is not None)


def is_database(location: str) -> bool:
    """Tell whether a location is a SQLite database. Raises CannotReadError where nothing is."""
    try:
        if Path(location).is_dir():
            return False
    except (OSError, ValueError) as error:
        raise _refused(location, str(error), "give the path of a file") from error
    file = RegularFile(location)
    try:
        return file.read(0, len(MAGIC)) == MAGIC
    finally:
        file.close()


def look_at(location: str) -> Seen:
    """Tell how a database looks, so that it can be seen later whether it has changed."""
    return Seen(tuple(_status(path) for path in _files(location)))


def sides_of(location: str) -> Sequence[Path]:
    """Give the files beside a database to which is written first; they need not be there."""
    return _files(location)[1:]


class Database:
    """A private copy of a database, open for reading.

    `tables` are its real ones by name, `seen` is how it looked when it was copied, and `damage`
    what is wrong with it, in words. Raises CannotReadError where it is no database, or none that
    can be read.
    """

    def __init__(self, location: str, *, patience: float = PATIENCE) -> None:
        self.location = location
        self.damage: tuple[str, ...] = ()
        self.bad_texts = 0
        """Texts so far that are no UTF-8; what is none of it was replaced."""
        # Slow to import, and most locations are no databases.
        import shutil
        import tempfile

        self._patience = patience
        self._lock = threading.Lock()
        self._begin_step()
        folder = Path(tempfile.mkdtemp(prefix="ttdbg-"))
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        try:
            self.seen, told = _copied(location, folder / "copy")
            self._size = sum(each.stat().st_size for each in folder.iterdir())
            with _in_words(location):
                uri = f"{(folder / 'copy').as_uri()}?mode=rw"
                self._connection = _opened(uri, self._is_late, self._text)
                self.tables: Mapping[str, Table] = self._prepared()
            self.damage = (*told, *self.damage)
        except BaseException:
            self.close()
            raise

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
        sorts = [_quoted(name) for name in order if name in known.columns]
        conditions = [f"{_quoted(name)} IS ?" for name in wanted]
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
        # Pages that lead to each other can hold more rows than a file has bytes.
        left = self._size
        with _in_words(self.location):
            with self._lock:
                self._begin_step()
                cursor = self._connection.execute(query, values)
            while True:
                with self._lock:
                    self._begin_step()
                    batch = cursor.fetchmany(_BATCH)
                left -= len(batch)
                if left < 0:
                    raise _refused(self.location, "it claims to hold more rows than bytes")
                yield from batch
                if len(batch) < _BATCH:
                    return

    def close(self) -> None:
        """Close the copy and remove it."""
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
        try:
            found = self._connection.execute(f"PRAGMA quick_check({_MOST_DAMAGE})").fetchall()
            self.damage = tuple(str(said) for (said,) in found if said != "ok")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            # A large one takes long to check, which says nothing against it.
            self.damage = () if _is_interrupted(error) else (_said(error),)
        self._begin_step()
        tables = _tables_of(self._connection)
        self._connection.set_authorizer(_Authorizer(frozenset(tables)))
        return tables

    def _begin_step(self) -> None:
        self._deadline = time.monotonic() + self._patience

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
    has_side = any(each is not None and each[0] for each in seen.files[1:])
    if location == STDIN or has_side:
        with Database(location) as database:
            return {name: each.columns for name, each in database.tables.items()}
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
        about = connection.execute(f"PRAGMA table_xinfo({_quoted(name)})").fetchall()
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


def _copied(location: str, target: Path) -> tuple[Seen, tuple[str, ...]]:
    """Copy a database with its log as they were at one moment; give what was left out, in words.

    Raises CannotReadError where it is no database, too large, or never at rest.
    """
    for attempt in range(_TRIES):
        seen = look_at(location)
        if seen.size > LARGEST:
            raise _refused(
                location,
                f"it is larger than {LARGEST >> 30} GiB",
                "copy the tables that matter to a smaller database",
            )
        told = _copy_once(location, target)
        if location == STDIN or look_at(location) == seen:
            return seen, told
        time.sleep(_PAUSE * (attempt + 1))
    raise _refused(location, "it is being written to all the time", "try again in a moment")


def _copy_once(location: str, target: Path) -> tuple[str, ...]:
    own, *sides = map(str, _files(location)) if location != STDIN else (STDIN,)
    file = RegularFile(own)
    try:
        begin = file.read(0, len(MAGIC))
        if begin != MAGIC:
            raise _refused(location, "it is no SQLite database")
        _copy(file, target)
    finally:
        file.close()
    told: list[str] = []
    for side, name in zip(sides, _SIDES, strict=False):
        beside = target.with_name(target.name + name)
        beside.unlink(missing_ok=True)
        if (status := _status(Path(side))) is None or not status[0]:
            continue
        try:
            file = RegularFile(side)
        except CannotReadError as error:
            told.append(f"what its {name} holds is not shown: {error.message}")
            continue
        try:
            # SQLite would remove the file that such a journal names, wherever it is.
            if file.read(max(0, file.size() - 8), 8) == _SUPER_JOURNAL:
                told.append(f"its {name} spans several databases and is not applied")
            else:
                _copy(file, beside)
        finally:
            file.close()
    return tuple(told)


def _copy(file: RegularFile, target: Path) -> None:
    try:
        with target.open("wb") as copy:
            offset = 0
            while chunk := file.read(offset, _CHUNK):
                copy.write(chunk)
                offset += len(chunk)
    except OSError as error:
        raise CannotReadError(
            f"cannot copy {file.path}: {error.strerror or error}",
            "a database is copied to be read; TMPDIR names another folder for that",
        ) from error


def _files(location: str) -> tuple[Path, ...]:
    """Give the paths of a database and of the files beside it that belong to it."""
    if location == STDIN:
        return ()
    try:
        # Where it is a link, SQLite keeps them beside what it leads to.
        own = Path(location).resolve()
    except (OSError, ValueError, RuntimeError):
        own = Path(location)
    return (own, *(own.with_name(own.name + side) for side in _SIDES))


def _status(path: Path) -> tuple[int, ...] | None:
    try:
        found = path.stat()
    except (OSError, ValueError):
        return None
    size = found.st_size if stat.S_ISREG(found.st_mode) else -1
    return size, found.st_mtime_ns, found.st_ino, found.st_dev


def _selection(table: Table, columns: Sequence[str]) -> str:
    """Give a query for some columns of a table, those that it does not have as NULL."""
    given = [_quoted(name) if name in table.columns else "NULL" for name in columns]
    return f"SELECT {', '.join(given)} FROM {_quoted(table.name)}"  # noqa: S608 - names of its own schema, quoted


def _places(values: Sequence[Value]) -> str:
    return ", ".join("?" for _ in values)


def _quoted(name: str) -> str:
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
    except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
        raise _refused(location, _said(error)) from error


def _said(error: Exception) -> str:
    """Give what went wrong as it goes on from "cannot read X:"."""
    if _is_interrupted(error):
        return "a look at its tables takes too long"
    words = "its schema is no text" if isinstance(error, UnicodeDecodeError) else str(error)
    if words == "file is not a database":
        return "it is no SQLite database, or an encrypted one"
    return f"the database is damaged or not supported: {words}"


def _refused(location: str, why: str, hint: str | None = None) -> CannotReadError:
    hint = hint or "`sqlite3 FILE .recover` may save what is in it"
    return CannotReadError(f"cannot read {location}: {why}", hint)
