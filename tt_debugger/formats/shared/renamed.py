"""Renamed tables: those that a program may call as it likes, found by the columns they have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tt_debugger.storage.sqlite import Database


def table_with(
    tables: Mapping[str, Sequence[str]], columns: Sequence[str], usual: str
) -> str | None:
    """Give the table that has these columns, the one with the usual name if there are several."""
    found = [name for name, own in tables.items() if set(columns) <= set(own)]
    return usual if usual in found else next(iter(found), None)


def table_in(database: Database, columns: Sequence[str], usual: str) -> str:
    """Give the same of a database; where none has them, the usual name."""
    tables = {name: each.columns for name, each in database.tables.items()}
    return table_with(tables, columns, usual) or usual
