"""What a table of SQLite runs when rows come and go: all that could do more than that.

Triggers are named as they are. A schema may also call functions; those that its own program has
added are not there, and of SQLite's own a few can reach beyond the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from tt_debugger.errors import UnsupportedError

if TYPE_CHECKING:
    import sqlite3

COPY_INSTEAD = "`--to FILE` writes a copy of the database instead"
"""What to do where a database may not be written to."""

_COPY_QUIETLY = f"{COPY_INSTEAD}, in which no trigger is fired"
_INNOCUOUS = 0x20_0000
"""The bit by which SQLite tells a function that does nothing but to give a value."""
_OF_JSON = ("json", "->")
"""How functions begin that do nothing else either, though not every SQLite says so."""


class Schema:
    """What is said of the tables of a database: their statements, and those of what is on them.

    SQLite does not tell a name in capitals from another one.
    """

    def __init__(self, rows: Sequence[tuple[str, str, str, int | None, str | None]]) -> None:
        self.rows = frozenset(rows)
        self._tables = {name: page for kind, name, _, page, _ in rows if kind == "table"}
        self._all = rows

    def __contains__(self, table: str) -> bool:
        """Tell whether a table is a real one: others have no page of their own."""
        return bool(self._tables.get(table))

    def statements_on(self, table: str) -> list[str]:
        """Give what makes a table and its indexes."""
        kinds = ("table", "index")
        return [
            text
            for kind, _, owner, _, text in self._all
            if kind in kinds and text and owner.lower() == table.lower()
        ]

    def triggers_on(self, tables: Iterable[str]) -> list[tuple[str, str]]:
        """Give the names of triggers and what makes them, in the order of their making."""
        owners = {table.lower() for table in tables}
        return [
            (name, text or "")
            for kind, name, owner, _, text in self._all
            if kind == "trigger" and owner.lower() in owners
        ]


def schema_of(connection: sqlite3.Connection) -> Schema:
    """Give what is said of the tables of a database."""
    return Schema(
        connection.execute(
            "SELECT type, name, tbl_name, rootpage, sql FROM main.sqlite_master ORDER BY rowid"
        ).fetchall()
    )


def must_run_nothing(connection: sqlite3.Connection, location: str, tables: Sequence[str]) -> None:
    """Let pass only tables of which a row can come and go without anything else being run."""
    schema = schema_of(connection)
    suspects = _suspects(connection)
    for table in tables:
        if table not in schema:
            raise UnsupportedError(
                f"cannot write to {location}: it has no real table {table}",
                "rows cannot be added to a view, or to a virtual table",
            )
        for name, _ in schema.triggers_on([table]):
            raise UnsupportedError(
                f"cannot write to {location}: the table {table} has the trigger {name}, which"
                " could change other rows",
                _COPY_QUIETLY,
            )
        statements = schema.statements_on(table)
        for name in suspects:
            if any(_calls(text, name) for text in statements):
                raise UnsupportedError(
                    f"cannot write to {location}: the table {table} calls {name}() for each row",
                    "what that does is not known, so it is not run",
                )


def _suspects(connection: sqlite3.Connection) -> set[str]:
    """Give the functions of SQLite that may do more than give a value.

    It says itself that a schema may not call these, but not each version sees to it.
    """
    listed = connection.execute("PRAGMA function_list").fetchall()
    names = {name for name, _, _, _, _, flags in listed if not flags & _INNOCUOUS}
    return {name for name in names if not name.startswith(_OF_JSON)}


def _calls(statement: str, name: str) -> bool:
    between = r"[\"'`\]]?(?:\s|--[^\n]*\n|/\*.*?\*/)*\("
    pattern = rf"(?<![A-Za-z0-9_$]){re.escape(name)}{between}"
    return re.search(pattern, statement, re.IGNORECASE | re.DOTALL) is not None


class Only:
    """Allows to look at a database, and to change it in one way."""

    def __init__(self, may_change: Callable[[int, str | None], bool]) -> None:
        import sqlite3

        self._may_change = may_change
        self._looks = (
            sqlite3.SQLITE_SELECT,
            sqlite3.SQLITE_READ,
            sqlite3.SQLITE_PRAGMA,
            sqlite3.SQLITE_TRANSACTION,
        )
        self._yes, self._no = sqlite3.SQLITE_OK, sqlite3.SQLITE_DENY

    def __call__(
        self, action: int, first: str | None, _: str | None, __: str | None, inner: str | None
    ) -> int:
        """Answer SQLite's question whether something may be done; `inner` names a trigger."""
        is_allowed = inner is None and (action in self._looks or self._may_change(action, first))
        return self._yes if is_allowed else self._no


def insert_into(tables: Sequence[str]) -> Callable[[int, str | None], bool]:
    """Give what tells whether rows are inserted into some tables."""
    import sqlite3

    return lambda action, table: action == sqlite3.SQLITE_INSERT and table in tables


def deletion(action: int, _: str | None) -> bool:
    """Tell whether rows are deleted, or what refers to them has to follow, which is undone."""
    import sqlite3

    return action in (sqlite3.SQLITE_DELETE, sqlite3.SQLITE_UPDATE)
