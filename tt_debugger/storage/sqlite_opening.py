"""Opening a database of others, or a copy of it, for long enough to change it once.

Nothing in it is believed, and what SQLite says against it is told in words of ours.
"""

from __future__ import annotations

import stat
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tt_debugger.errors import CannotWriteError, TtdbgError, UnsupportedError
from tt_debugger.storage.database_files import SUPER_JOURNAL
from tt_debugger.storage.sqlite import LARGE
from tt_debugger.storage.sqlite_effects import COPY_INSTEAD
from tt_debugger.storage.written_rows import referred_to

if TYPE_CHECKING:
    import sqlite3

PATIENCE = 5.0
"""Seconds that are waited for others who write to the database."""

_JOURNAL = "-journal"
BESIDE = ("-wal", "-shm", _JOURNAL)
"""How the names of the files end that lie beside a database."""
_LATER = f"close what writes to it, or try again in a moment; {COPY_INSTEAD}"
_STRANGE = ("unknown function", "no such function", "collation sequence", "unsafe use", "module")
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


def must_be_writable(location: str) -> None:
    """Let pass only files to which SQLite can write without writing to others.

    Raises CannotWriteError.
    """
    try:
        status = Path(location).lstat()
        beside = [each for side in BESIDE if (each := Path(location + side)).is_symlink()]
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


def must_be_healthy(connection: sqlite3.Connection, location: str) -> None:
    """Let pass only a database without damage, as far as one looks for it when one reads it."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    # To check a large one takes long, and others would have to wait.
    if pages * size >= LARGE:
        return
    found = connection.execute("PRAGMA quick_check(1)").fetchall()
    if found != [("ok",)]:
        raise damaged(location, str(found[0][0]))


@contextmanager
def opened_to_write(path: str, location: str | None = None) -> Generator[sqlite3.Connection]:
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
def transaction(connection: sqlite3.Connection) -> Generator[None]:
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
            raise referred_to(location) from error
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


def damaged(location: str, damage: str) -> CannotWriteError:
    """Say that a database is damaged."""
    hint = "`sqlite3 FILE .recover` may save what is in it"
    return _refused(location, f"it is damaged: {damage}", hint)
