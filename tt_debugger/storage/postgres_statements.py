"""Statements about rows of a fork in PostgreSQL, of which no part is put together as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tt_debugger.storage.postgres_tables import Place
from tt_debugger.storage.written_rows import Claim

if TYPE_CHECKING:
    from psycopg import sql


def of_claim(before: sql.Composable, place: Place, claim: Claim) -> tuple[sql.Composed, list[Any]]:
    """Give a statement about the rows that have the claimed values, and these."""
    from psycopg import sql

    conditions = [
        sql.SQL("t.{} IS NULL" if value is None else "t.{} = %s").format(name_of(name))
        for name, value in claim.values
    ]
    query = sql.SQL("{} {} AS t WHERE {}").format(
        before, table_of(place), sql.SQL(" AND ").join([sql.SQL("true"), *conditions])
    )
    return query, [value_of(value) for _, value in claim.values if value is not None]


def table_of(place: Place) -> sql.Composed:
    """Give a table without what inherits from it."""
    from psycopg import sql

    # What inherits from a table has columns, and an owner, of its own.
    only = sql.SQL("" if place.is_partitioned else "ONLY ")
    return sql.SQL("{}{}").format(only, name_of(place.schema, place.name))


def name_of(*parts: str) -> sql.Identifier:
    """Give a name in quotes."""
    from psycopg import sql

    # The driver looks for places of values in names, too.
    return sql.Identifier(*(each.replace("%", "%%") for each in parts))


def value_of(value: Any) -> Any:
    """Give a value as text of no type, which becomes what its column is without any cast."""
    return value if value is None or isinstance(value, bytes) else str(value)
