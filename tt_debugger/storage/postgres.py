"""PostgreSQL: tables of a server that is asked as little as possible, and believed in nothing.

Each question is one read-only transaction that selects columns of a real table and nothing else.
Names are looked up in the catalogue alone, so that no function, operator, view, policy or cast
that somebody added to the database is run. What the server or its driver says never gets into an
error: it may repeat the address.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

from tt_debugger.errors import StoreError
from tt_debugger.storage.connections import CATALOGUE, Connections
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.postgres_tables import tables_in
from tt_debugger.storage.refusals import UNDEFINED_TABLE, refused_by_postgres
from tt_debugger.storage.servers import admitted
from tt_debugger.storage.tables import Table, Value

if TYPE_CHECKING:
    import psycopg
    from psycopg import sql

    from tt_debugger.storage.connections import Connection

    ServerCursor = psycopg.ServerCursor[tuple[Any, ...]]

MOST_KEYS = 10_000
"""Keys that are asked for in one question; a few values each."""

ROW_VERSION = "xmin"
"""A column that every table has: another text as soon as a row was written anew."""

_BATCH = 16
_LARGEST_BATCH = 2_048
_ENOUGH = 4 << 20
"""Bytes that one batch should not hold many more of."""
_ONE_OF = 8
"""Of so many rows one is measured."""
_LAST = itemgetter(-1)
_ALL_BUT_LAST = itemgetter(slice(None, -1))
_FIRST_BLOCKS = 32
_MOST_BLOCKS = 1 << 17
"""Blocks from the end of a table in which its newest rows are looked for: a gibibyte."""

_SNAPSHOT = b"SELECT pg_current_snapshot()::text"
_SNAPSHOTS = 130_000
"""The version from which on what is visible has this name."""
_TID_RANGES = 140_000
"""The version from which on a range of blocks is read by itself."""

_LENGTH_KNOWN = (17, 25, 1042, 1043)
"""Bytes and texts tell how long they are; of others only what they take in the table is known."""

_TEXT = "text"
_COMPARED = {
    16: "bool",
    20: "int8",
    21: "int2",
    23: "int4",
    26: "oid",
    1042: "bpchar",
    1082: "date",
    1083: "time",
    1114: "timestamp",
    1184: "timestamptz",
    1266: "timetz",
    1700: "numeric",
    2950: "uuid",
}
"""The server's own types whose values are not compared with texts, by their numbers."""


class PostgresDatabase:
    """A database of a server, open for reading; see `storage.tables.Tables`.

    A table of a schema that is not searched by itself is named `schema.table`. Raises
    CannotReadError where no server answers, or it does not let us in.
    """

    def __init__(self, location: str) -> None:
        self.location = admitted(location)
        self._connections = Connections(self.location)
        try:
            found = tables_in(self._connections)
        except BaseException:
            self.close()
            raise
        self.damage: tuple[str, ...] = found.left_out
        self.tables: Mapping[str, Table] = found.tables
        self._places = found.places

    @property
    def bad_texts(self) -> int:
        """Texts so far that are no UTF-8; what is none of it was replaced."""
        return self._connections.bad_texts

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

        Texts are in the order of the collation that their column has.
        """
        from psycopg import sql

        known = self.tables[table]
        wanted = dict(where or {})
        missing = [name for name in wanted if name not in known.columns]
        if any(wanted.pop(name) is not None for name in missing):
            return iter(())
        sorts = [_column(name) for name in order if name in known.columns]
        conditions = [
            sql.SQL("{} IS NULL" if value is None else "{} = %s").format(_column(name))
            for name, value in wanted.items()
        ]
        values: list[Value] = [value for value in wanted.values() if value is not None]
        if after:
            # With a column missing the values would be compared with those of another.
            if len(sorts) != len(after):
                return iter(())
            compared = sql.SQL("ROW({}) < ROW({})" if descending else "ROW({}) > ROW({})")
            conditions.append(compared.format(_listed(sorts), _marks(len(after))))
            values += after
        query = self._selection(table, columns)
        if conditions:
            query += sql.SQL(" WHERE ") + sql.SQL(" AND ").join(conditions)
        if sorts:
            way = sql.SQL(" DESC" if descending else "")
            query += sql.SQL(" ORDER BY ") + _listed([each + way for each in sorts])
        if most is not None:
            query += sql.SQL(" LIMIT {}").format(sql.Literal(most))
        is_short = most is not None and most <= _BATCH
        return self._answers(table, len(columns), query, values, is_short=is_short)

    def newest(self, table: str, columns: Sequence[str], most: int) -> Iterator[tuple[Value, ...]]:
        """Go over the rows that were stored last, by the blocks at the end of the table.

        Where a server cannot read blocks by themselves, or there are none, it is the end of the
        primary key that is gone over.
        """
        place = self._places[table]
        if place.is_partitioned or self._connections.version < _TID_RANGES:
            key = self.tables[table].key
            return self.rows(table, columns, order=key, most=most, descending=True)
        return self._from_the_end(table, columns, most)

    def among(
        self,
        table: str,
        columns: Sequence[str],
        keys: Sequence[str],
        values: Sequence[Sequence[str | int]],
        where: Mapping[str, str] | None = None,
    ) -> Iterator[tuple[Value, ...]]:
        """Go over the rows whose columns have one of several values each, in no order.

        All of them must have the values of `where` in common. Raises StoreError where a column is
        of a type that somebody added, and is not compared with texts.
        """
        if not {*keys, *(where or {})} <= set(self.tables[table].columns):
            return
        for begin in range(0, len(values), MOST_KEYS):
            part = values[begin : begin + MOST_KEYS]
            yield from self._among(table, columns, keys, part, where or {})

    def _among(
        self,
        table: str,
        columns: Sequence[str],
        keys: Sequence[str],
        values: Sequence[Sequence[str | int]],
        where: Mapping[str, str],
    ) -> Iterator[tuple[Value, ...]]:
        from psycopg import sql

        # Arrays keep the question as short for many keys as for one; of the type of the column
        # they are found in its index.
        types = self._places[table].types
        arrays = _listed(
            [
                sql.SQL("%s::text[]::{}[]").format(
                    sql.Identifier(_COMPARED.get(types[key], _TEXT))
                )
                for key in keys
            ]
        )
        names = [sql.Identifier(f"v{number}") for number in range(len(keys))]
        joined = [
            sql.SQL("{} = v.{}").format(_column(key), name)
            for key, name in zip(keys, names, strict=True)
        ]
        joined += [sql.SQL("{} = %s").format(_column(name)) for name in where]
        query = self._selection(table, columns) + sql.SQL(" JOIN unnest({}) v ({}) ON {}").format(
            arrays, _listed(names), sql.SQL(" AND ").join(joined)
        )
        lists = [[str(each[place]) for each in values] for place in range(len(keys))]
        given = [*lists, *where.values()]
        is_short = len(values) <= _BATCH
        return self._answers(table, len(columns), query, given, is_short=is_short)

    def moment(self) -> str:
        """Give a text that is another one as soon as anybody has written to the server."""
        older = self._connections.version < _SNAPSHOTS
        asked = b"SELECT txid_current_snapshot()::text" if older else _SNAPSHOT
        told = self._connections.answer(CATALOGUE, asked, ())
        return str(told[0][0]) if told else ""

    def close(self) -> None:
        """Let go of all connections."""
        self._connections.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _selection(self, table: str, columns: Sequence[str]) -> sql.Composed:
        """Select some columns, and behind them whether one of their values is too long."""
        from psycopg import sql

        place, key = self._places[table], self.tables[table].key
        too_long: list[sql.Composable] = []
        selected: list[sql.Composable] = []
        for name in columns:
            if name == ROW_VERSION:
                selected.append(_column(name))
            elif name not in place.types:
                selected.append(sql.NULL)
            elif name not in place.are_long or name in key:
                selected.append(_column(name))
            else:
                length = "octet_length" if place.types[name] in _LENGTH_KNOWN else "pg_column_size"
                is_long = sql.SQL("{}({}) > {}").format(
                    sql.Identifier(length), _column(name), sql.Literal(LONGEST)
                )
                too_long.append(is_long)
                selected.append(
                    sql.SQL("CASE WHEN {} THEN NULL ELSE {} END").format(is_long, _column(name))
                )
        if too_long:
            said = sql.SQL("CASE WHEN {} THEN 1 END").format(sql.SQL(" OR ").join(too_long))
            selected.append(said)
        return sql.SQL("SELECT {} FROM {}{} AS t").format(
            _listed(selected),
            # What inherits from a table has columns, and an owner, of its own.
            sql.SQL("" if place.is_partitioned else "ONLY "),
            _name(place.schema, place.name),
        )

    def _answers(
        self,
        table: str,
        count: int,
        query: sql.Composed,
        values: Sequence[Value | list[str]],
        *,
        is_short: bool,
    ) -> Iterator[tuple[Value, ...]]:
        if is_short:
            if (given := _given(values)) is not None:
                yield from self._checked(table, count, self._at_once(table, query, given))
            return
        with self._question(table) as connection:
            yield from self._batches(table, count, connection, query, values)

    def _at_once(
        self, table: str, query: sql.Composed, given: list[Any]
    ) -> list[tuple[Value, ...]]:
        rows = self._places[table].rows
        return self._connections.answer(f"the table {table}", query, given, rows=rows)

    def _batches(
        self,
        table: str,
        count: int,
        connection: Connection,
        query: sql.Composed,
        values: Sequence[Value | list[str]],
    ) -> Iterator[tuple[Value, ...]]:
        size = _BATCH
        with connection.cursor(name="ttdbg", scrollable=False) as cursor:
            if not _is_asked(cursor, query, values):
                return
            while True:
                batch = cursor.fetchmany(size)
                yield from self._checked(table, count, batch)
                if len(batch) < size:
                    return
                held = _ONE_OF * sum(map(_length, batch[::_ONE_OF]))
                size = max(1, min(4 * size, _LARGEST_BATCH, size * _ENOUGH // max(held, 1)))

    def _checked(
        self, table: str, count: int, batch: list[tuple[Value, ...]]
    ) -> Iterator[tuple[Value, ...]]:
        if not batch or len(batch[0]) == count:
            return iter(batch)
        if any(map(_LAST, batch)):
            raise StoreError(
                f"cannot read {self.location}: a value in the table {table} is larger than"
                f" {LONGEST >> 20} MiB"
            )
        return map(_ALL_BUT_LAST, batch)

    def _from_the_end(
        self, table: str, columns: Sequence[str], most: int
    ) -> Iterator[tuple[Value, ...]]:
        from psycopg import sql

        selection = self._selection(table, columns)
        with self._question(table) as connection:
            size = "SELECT pg_relation_size(%s::oid) / current_setting('block_size')::int8"
            told = connection.execute(size, (str(self._places[table].oid),)).fetchone()
            if told is None or told[0] is None:
                raise refused_by_postgres(self.location, f"the table {table}", UNDEFINED_TABLE)
            end = int(told[0])
            least = max(0, end - _MOST_BLOCKS)
            blocks = _FIRST_BLOCKS
            while end > least and most > 0:
                begin = max(least, end - blocks)
                query = selection + sql.SQL(
                    " WHERE t.ctid >= %s::tid AND t.ctid < %s::tid ORDER BY t.ctid DESC LIMIT {}"
                ).format(sql.Literal(most))
                places = (f"({begin},0)", f"({end},0)")
                for row in self._batches(table, len(columns), connection, query, places):
                    most -= 1
                    yield row
                end, blocks = begin, 2 * blocks

    @contextmanager
    def _question(self, table: str) -> Generator[Connection]:
        rows = self._places[table].rows
        with self._connections.question(f"the table {table}", rows=rows) as connection:
            yield connection


def _column(name: str) -> sql.Composed:
    from psycopg import sql

    return sql.SQL("t.{}").format(_name(name))


def _name(*parts: str) -> sql.Identifier:
    from psycopg import sql

    # The driver looks for places of values in names, too.
    return sql.Identifier(*(each.replace("%", "%%") for each in parts))


def _listed(parts: Sequence[sql.Composable]) -> sql.Composed:
    from psycopg import sql

    return sql.SQL(", ").join(parts)


def _marks(count: int) -> sql.Composed:
    from psycopg import sql

    return _listed([sql.Placeholder()] * count)


def _is_asked(
    cursor: ServerCursor, query: sql.Composed, values: Sequence[Value | list[str]]
) -> bool:
    """Ask, if there can be an answer: what cannot be a value of its column is in no row."""
    import psycopg

    given = _given(values)
    if given is None:
        return False
    try:
        cursor.execute(query, given)
    except psycopg.DataError:
        if given:
            return False
        raise
    return True


def _given(values: Sequence[Value | list[str]]) -> list[Any] | None:
    """Give values as the driver takes them: as text of no type, each becomes what its column is.

    None where one can stand in no text of a database.
    """
    given = [value if isinstance(value, bytes | list) else str(value) for value in values]
    return None if any(map(_is_no_text, given)) else given


def _is_no_text(value: str | bytes | list[str]) -> bool:
    """Tell whether a value can stand in no text of a database."""
    if isinstance(value, bytes):
        return False
    text = value if isinstance(value, str) else "".join(value)
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return "\0" in text


def _length(row: tuple[Value, ...]) -> int:
    """Give about how many bytes a row has."""
    return sum(len(each) for each in row if isinstance(each, str | bytes))
