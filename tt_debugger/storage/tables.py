"""Tables: what a format may ask of a database, whichever kind it is.

SQLite (`storage.sqlite.Database`) and PostgreSQL (`storage.postgres.PostgresDatabase`) both answer
so. Rows are asked for in the order of some columns and from a place on, never by counting: a page
deep in a table costs what the first one does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import msgspec

Value = str | bytes | int | float | None
"""What a column holds. What a server keeps as JSON, a time or a number of any length is text."""


class Table(msgspec.Struct, frozen=True):
    """A real table: its name, its columns that are stored, and those of its primary key."""

    name: str
    columns: tuple[str, ...]
    key: tuple[str, ...] = ()
    row_id: str | None = None
    """The name under which SQLite gives the number of a row, by which rows stand as stored."""


class Tables(Protocol):
    """A database that is open for reading.

    `tables` are its real ones by name, `damage` what is wrong with it, in words. Of a text that is
    no UTF-8 what is none of it was replaced.
    """

    location: str
    tables: Mapping[str, Table]
    damage: tuple[str, ...]

    @property
    def bad_texts(self) -> int:
        """How many texts so far are no UTF-8."""
        ...

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
        """Go over the rows of a table that have certain values, in the order of some columns.

        `after` has the values of the columns of `order`, which must have no NULL then, behind
        which the rows begin; `most` is how many are given. A column that this database does not
        have is None in each row. Raises CannotReadError as soon as a row cannot be read, and
        KeyError where there is no such table.
        """
        ...

    def newest(self, table: str, columns: Sequence[str], most: int) -> Iterator[tuple[Value, ...]]:
        """Go over the rows that were stored last, the last one first, as far as that is known.

        Neither the whole table nor an index is read for it.
        """
        ...

    def close(self) -> None:
        """Let go of the connection."""
        ...
