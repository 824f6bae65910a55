"""Writes: what a fork adds to the world, as values, and what is known of it once it is there.

A format says what is to be written by these; only `storage` writes. Each of them makes something
new: none changes a byte or a row that is there. What was written is told by a value with digests,
by which it can be found and taken back as long as it is what it was.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

import msgspec


class How(enum.StrEnum):
    """How a record of a fork came about."""

    KEPT = "kept"
    """As it stands in the original, but for what names the session and its records."""
    CHANGED = "changed"
    """One of the original, with what was edited."""
    ADDED = "added"
    """New."""


class Record(msgspec.Struct, frozen=True):
    """A piece of a file: its bytes, the line end included, and how it came about.

    `row` is the row of the original that it is of, None where there is none.
    """

    data: bytes
    how: How
    row: int | None = None


class NewFile(msgspec.Struct, frozen=True, tag="file"):
    """A file that is not there yet, in a folder that is, or is made for it with those above."""

    path: str
    records: tuple[Record, ...]
    makes_folders: bool = False


class MoreLines(msgspec.Struct, frozen=True, tag="lines"):
    """Lines at the end of a file that is `size` bytes long and has a digest.

    The digest is the SHA-256 of all its bytes, as hexadecimal text. `lock` is a file that whoever
    else writes locks first (flock), None where nobody does.
    """

    path: str
    records: tuple[Record, ...]
    size: int
    digest: str
    lock: str | None = None


class IndexLine(msgspec.Struct, frozen=True, tag="index"):
    """One more line of an index, which is written anew as a whole; it need not be there yet."""

    path: str
    record: Record


class Insert(msgspec.Struct, frozen=True):
    """A row of a table. No row may have its values in the `fresh` columns before.

    Values are text, numbers, bytes or None; JSON of PostgreSQL is given as text.
    """

    table: str
    values: Mapping[str, Any]
    fresh: tuple[str, ...]
    how: How = How.ADDED
    row: int | None = None


class NewRows(msgspec.Struct, frozen=True, tag="rows"):
    """Rows of a database, in one transaction.

    `location` is a path, or the shown address of a server. With `copy` the rows go into a copy
    of the database at that path, which is not there yet.
    """

    location: str
    inserts: tuple[Insert, ...]
    copy: str | None = None


class Key(msgspec.Struct, frozen=True):
    """A key of Redis that is not there yet, and its value.

    `kind` is `string`, `hash`, `list`, `zset` or `json`; the value is bytes, a map of bytes, a
    list of bytes, pairs of member and score, or JSON text. `ttl` is in milliseconds, None for a
    key that stays.
    """

    name: str
    kind: str
    value: Any
    ttl: int | None = None
    how: How = How.ADDED
    row: int | None = None


class NewKeys(msgspec.Struct, frozen=True, tag="keys"):
    """Keys of a server, all or none of them."""

    location: str
    keys: tuple[Key, ...]


class NewBranch(msgspec.Struct, frozen=True, tag="branch"):
    """A branch of a git repository that is not there yet; `base` is a commit's full id.

    With files or a message it ends in a new commit on the base: None takes a file away. Without
    it ends at the base. `time` is in seconds since 1970.
    """

    repository: str
    branch: str
    base: str
    files: Mapping[str, bytes | None]
    message: str
    author: str
    email: str
    time: int

    @property
    def has_commit(self) -> bool:
        """Whether it ends in a commit of its own, and not at its base."""
        return bool(self.files or self.message)


Write = NewFile | MoreLines | IndexLine | NewRows | NewKeys | NewBranch


class FileWritten(msgspec.Struct, frozen=True, tag="file"):
    """A file that was made: its size in bytes and its SHA-256."""

    path: str
    size: int
    digest: str


class LinesWritten(msgspec.Struct, frozen=True, tag="lines"):
    """Bytes that were added to a file: from where, how many, and their SHA-256."""

    path: str
    offset: int
    size: int
    digest: str
    lock: str | None = None


class IndexWritten(msgspec.Struct, frozen=True, tag="index"):
    """A line that an index was given, without its line end; `is_new` says that there was none."""

    path: str
    line: str
    is_new: bool


class RowWritten(msgspec.Struct, frozen=True):
    """A row: its table, the values by which it is found, and the SHA-256 of all its values."""

    table: str
    key: Mapping[str, Any]
    digest: str


class RowsWritten(msgspec.Struct, frozen=True, tag="rows"):
    """Rows that were added, in the order of their writing."""

    location: str
    rows: tuple[RowWritten, ...]


class KeysWritten(msgspec.Struct, frozen=True, tag="keys"):
    """Keys that were set: the SHA-256 of each one's value by its name."""

    location: str
    keys: Mapping[str, str]


class BranchWritten(msgspec.Struct, frozen=True, tag="branch"):
    """A branch that was made, and the commit that it was left at."""

    repository: str
    branch: str
    commit: str


Written = FileWritten | LinesWritten | IndexWritten | RowsWritten | KeysWritten | BranchWritten
