"""A SQLite database that is recorded to: how it is made, opened, and told from that of others."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.record.backends.turns import COLUMNS, other_columns
from tt_debugger.storage.publishing import opened, opened_folder, sync_folder, writing
from tt_debugger.storage.sqlite import quoted

PATIENCE = 5.0
"""Seconds that are waited for others who write to the database."""
DISK_FAILS = 10
"""SQLite's code for an error of the disk, of syncing too."""

_SCHEME = "sqlite://"
_MADE = (
    """
    CREATE TABLE IF NOT EXISTS agent_sessions (
        tenant TEXT NOT NULL,
        session_id TEXT NOT NULL,
        header TEXT NOT NULL,
        schema_version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        PRIMARY KEY (tenant, session_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS agent_turns (
        turn_id INTEGER PRIMARY KEY AUTOINCREMENT,
        tenant TEXT NOT NULL,
        session_id TEXT NOT NULL,
        turn_number INTEGER NOT NULL,
        checkpoint_id TEXT NOT NULL,
        parent_id TEXT,
        kind TEXT NOT NULL,
        tool_name TEXT,
        input_hash TEXT,
        output_hash TEXT,
        payload TEXT NOT NULL,
        written_at TEXT NOT NULL,
        UNIQUE (tenant, session_id, turn_number),
        UNIQUE (tenant, session_id, checkpoint_id)
    )
    """,
    """
    CREATE TABLE IF NOT EXISTS checkpoints (
        tenant TEXT NOT NULL,
        thread_id TEXT NOT NULL,
        checkpoint_id TEXT NOT NULL,
        parent_id TEXT,
        state_json TEXT NOT NULL,
        schema_version INTEGER NOT NULL,
        created_at TEXT NOT NULL,
        updated_at TEXT NOT NULL,
        PRIMARY KEY (tenant, thread_id, checkpoint_id)
    )
    """,
)
_KEYS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "agent_sessions": (("tenant", "session_id"),),
    "agent_turns": (
        ("tenant", "session_id", "turn_number"),
        ("tenant", "session_id", "checkpoint_id"),
    ),
    "checkpoints": (("tenant", "thread_id", "checkpoint_id"),),
}
"""What no two rows of a table have alike: by it a second writer is told."""
_BUSY = ("it is busy: another program writes to it", "try again in a moment")
_SIGNS: Mapping[int, tuple[str, str]] = {
    5: _BUSY,
    6: _BUSY,
    8: ("it may not be written to", "see who may write there, or choose another place"),
    DISK_FAILS: ("its disk fails", "look after the disk; what was acknowledged before is kept"),
    11: ("it is damaged", "`sqlite3 FILE .recover` may save what is in it"),
    13: ("there is no room for more", "make some room, then flush"),
    14: ("it cannot be opened", "its folder must be there, and let files be made"),
    18: ("a value is too long", "keep large values in files, and their names in the state"),
    26: ("it is no SQLite database, or an encrypted one", "choose another place"),
}
"""What SQLite's codes mean to who records."""


def path_in(location: str) -> str:
    """Give the path in a location. Raises UsageError where it names none."""
    if not location.startswith(_SCHEME):
        return location
    host, slash, path = location.removeprefix(_SCHEME).partition("/")
    if host or not slash or not path or path == ":memory:":
        raise UsageError(
            f"{location!r} names no file",
            "write sqlite:///run.db, or sqlite:////folder/run.db from the root on",
        )
    return path


def make_file(path: str) -> None:
    """Make an empty database for its owner alone, as the files beside it will be.

    Raises CannotWriteError.
    """
    with writing(path), suppress(FileExistsError):
        with opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
            pass
        with opened_folder(os.path.abspath(path)) as folder:  # noqa: PTH100 - it knows `..`
            sync_folder(folder)


def connected(path: str) -> sqlite3.Connection:
    """Open a database that is there, such that a commit is on the disk. Raises sqlite3.Error.

    The connection may go from thread to thread; it is for one at a time.
    """
    connection = sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode=rw",
        uri=True,
        timeout=PATIENCE,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        for pragma in (
            "trusted_schema=off",
            # In WAL mode this is what FULL is. Where a file system has no WAL it syncs the folder
            # too, without which a journal could come back and undo what was acknowledged.
            "synchronous=extra",
            "fullfsync=on",
            "checkpoint_fullfsync=on",
        ):
            connection.execute(f"PRAGMA {pragma}")
    except BaseException:
        connection.close()
        raise
    return connection


def keep_log_apart(connection: sqlite3.Connection) -> None:
    """Let what is written stand in a file of its own first (WAL).

    Who reads never waits for a writer then, nor a writer for who reads. Raises sqlite3.Error.
    """
    connection.execute("PRAGMA journal_mode=wal").fetchone()


def make_tables(connection: sqlite3.Connection) -> None:
    """Make those of our tables that are not there. Raises sqlite3.Error."""
    for statement in _MADE:
        connection.execute(statement)


def has_our_tables(connection: sqlite3.Connection, path: str) -> bool:
    """Tell whether our tables are there.

    Raises CannotWriteError where one of that name is another program's.
    """
    about = {table: _asked(connection, "table_xinfo", table) for table in COLUMNS}
    there = {table: [column[1] for column in columns] for table, columns in about.items()}
    there = {table: columns for table, columns in there.items() if columns}
    why = other_columns(there)
    for table in there if why is None else ():
        if not _unique(connection, table).issuperset(_KEYS[table]):
            why = f"its table {table} is another program's: rows may have the same ids there"
    if why is not None:
        raise CannotWriteError(
            f"cannot record to {path}: {why}", "record to a database of its own"
        )
    return len(there) == len(COLUMNS)


def must_be_on_disk(connection: sqlite3.Connection, location: str) -> None:
    """Write what stands in the log file into the database itself.

    Syncing has failed before this, and the system may have taken what it could not write for
    written: to sync the same file once more would tell nothing. What is written once more, and
    elsewhere, is on the disk or is known not to be. Raises CannotWriteError and sqlite3.Error.
    """
    busy, written, moved = connection.execute("PRAGMA wal_checkpoint(full)").fetchone()
    if busy or written != moved:
        raise CannotWriteError(
            f"cannot write to {location}: its disk failed, and others use it meanwhile",
            "close what has it open, or try again in a moment",
        )


def in_words(error: Exception) -> tuple[str, str | None]:
    """Give what an error of SQLite means, and what to do."""
    return _SIGNS.get(code_of(error), (str(error), None))


def code_of(error: Exception) -> int:
    """Give SQLite's code for an error, 0 where it has none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def _unique(connection: sqlite3.Connection, table: str) -> set[tuple[str, ...]]:
    """Give the columns of which no two rows of a table have the same values."""
    found: set[tuple[str, ...]] = set()
    for _, name, is_unique, _, is_partial, *_ in _asked(connection, "index_list", table):
        if is_unique and not is_partial:
            found.add(tuple(column[2] for column in _asked(connection, "index_info", name)))
    return found


def _asked(connection: sqlite3.Connection, pragma: str, name: str) -> list[tuple[Any, ...]]:
    return connection.execute(f"PRAGMA {pragma}({quoted(name)})").fetchall()
