"""Statements about the rows of one session of one tenant: there is no way to make others.

Each of them is built here, from the tables that there are, and each names the tenant and the
session; what is asked for beyond that is added to these two and never stands alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tt_debugger.core.recording.entries import Header
from tt_debugger.record.backends.turns import Turn

if TYPE_CHECKING:
    from psycopg import sql

    Statement = tuple[sql.Composed, Sequence[Any]]

SESSIONS, TURNS, STATES = "agent_sessions", "agent_turns", "checkpoints"

_SESSION = {SESSIONS: "session_id", TURNS: "session_id", STATES: "thread_id"}
"""What each table calls the session."""
_JSON = frozenset(("header", "payload", "state_json"))


class TenantRows:
    """The rows of a session in the tables of a schema."""

    def __init__(self, schema: str, tenant: str, session: str) -> None:
        self._schema = schema
        self._key = (tenant, session)

    def header(self, *, locked: bool = False) -> Statement:
        """Ask for the header; where locked, nobody else writes meanwhile.

        A lock is written to the log of the server: a transaction that does nothing else is
        committed as one that does.
        """
        return self._selected(SESSIONS, ("header",), behind=" FOR UPDATE" if locked else "")

    def begun(self, header: Header, data: str) -> Statement:
        """Insert the header."""
        values = {
            "header": data,
            "schema_version": header.schema_version,
            "created_at": header.created_at,
        }
        return self._inserted(SESSIONS, values)

    def last(self) -> Statement:
        """Ask for the number and the id of the last turn."""
        return self._selected(TURNS, ("turn_number", "checkpoint_id"), behind=_DOWN + " LIMIT 1")

    def named(self) -> Statement:
        """Ask for the number and the id of every turn, in their order."""
        return self._selected(
            TURNS, ("turn_number", "checkpoint_id"), behind=" ORDER BY turn_number"
        )

    def since(self, number: int) -> Statement:
        """Ask for a turn and those behind it, in their order: number, id, entry."""
        return self._selected(
            TURNS,
            ("turn_number", "checkpoint_id", "payload"),
            "turn_number >= %s",
            (number,),
            behind=" ORDER BY turn_number",
        )

    def among(self, ids: Sequence[str]) -> Statement:
        """Ask which of some turns are there, by their ids."""
        return self._selected(TURNS, ("checkpoint_id",), "checkpoint_id = ANY (%s)", (list(ids),))

    def page(self, before: int, most: int) -> Statement:
        """Ask for the turns before one, the last one first: number, id, kind, entry."""
        return self._selected(
            TURNS,
            ("turn_number", "checkpoint_id", "kind", "payload"),
            "turn_number < %s",
            (before,),
            behind=f"{_DOWN} LIMIT {most:d}",
        )

    def state(self, name: str) -> Statement:
        """Ask for the state of a snapshot."""
        return self._selected(STATES, ("state_json",), "checkpoint_id = %s", (name,))

    def added(self, last: int, name: str, turns: Sequence[Turn]) -> list[Statement]:
        """Insert turns behind the last one, which must be there with its number and id.

        Where it is not, the first of them has no number, and no table takes it.
        """
        from psycopg import sql

        made: list[Statement] = []
        for number, turn in enumerate(turns, last + 1):
            values = _values(turn)
            statement = self._inserted(TURNS, {"turn_number": number, **values})
            if number == last + 1 and last:
                behind, where = self._filtered(
                    TURNS, "turn_number = %s AND checkpoint_id = %s", (last, name)
                )
                place = sql.SQL("(SELECT turn_number + 1 FROM {} WHERE {})").format(
                    self._table(TURNS), behind
                )
                statement = self._inserted(TURNS, values, {"turn_number": (place, where)})
            made += (statement, *self.state_kept(turn))
        return made

    def state_kept(self, turn: Turn) -> list[Statement]:
        """Insert the state of a turn, if it is a snapshot."""
        if turn.state is None:
            return []
        values = {
            "checkpoint_id": turn.checkpoint_id,
            "parent_id": turn.parent_id,
            "state_json": turn.state,
            "schema_version": turn.version,
            "created_at": turn.written_at,
            "updated_at": turn.written_at,
        }
        return [self._inserted(STATES, values)]

    def replaced(self, turn: Turn) -> list[Statement]:
        """Let a turn be as it is given, where it stands, and its state too."""
        from psycopg import sql

        values = _values(turn)
        changed = sql.SQL(", ").join(
            sql.SQL("{} = {}").format(sql.Identifier(name), _mark(name)) for name in values
        )
        where, key = self._filtered(
            TURNS, "checkpoint_id = %s AND payload::text <> %s", (turn.checkpoint_id, turn.payload)
        )
        query = sql.SQL("UPDATE {} SET {} WHERE {}").format(self._table(TURNS), changed, where)
        return [
            (query, (*values.values(), *key)),
            self._deleted(STATES, (turn.checkpoint_id,)),
            *self.state_kept(turn),
        ]

    def taken_away(self, ids: Sequence[str]) -> list[Statement]:
        """Delete turns and their states."""
        return [self._deleted(table, ids) for table in (STATES, TURNS)]

    def _selected(
        self,
        table: str,
        columns: Sequence[str],
        condition: str = "",
        values: Sequence[Any] = (),
        *,
        behind: str = "",
    ) -> Statement:
        from psycopg import sql

        listed = sql.SQL(", ").join(
            # As text it is what was given, and not what a driver makes of it.
            sql.SQL("{}::text" if name in _JSON else "{}").format(sql.Identifier(name))
            for name in columns
        )
        where, key = self._filtered(table, condition, values)
        query = sql.SQL("SELECT {} FROM {} WHERE {}").format(listed, self._table(table), where)
        return query + sql.SQL(behind), key  # pyright: ignore[reportArgumentType] - our own words

    def _inserted(
        self,
        table: str,
        values: Mapping[str, Any],
        worked_out: Mapping[str, tuple[sql.Composed, Sequence[Any]]] | None = None,
    ) -> Statement:
        """Insert a row; some values of it may be worked out by the server."""
        from psycopg import sql

        key = dict(zip(("tenant", _SESSION[table]), self._key, strict=True))
        own = {**key, **values}
        more = worked_out or {}
        query = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
            self._table(table),
            sql.SQL(", ").join(map(sql.Identifier, (*own, *more))),
            sql.SQL(", ").join([*map(_mark, own), *(made for made, _ in more.values())]),
        )
        return query, (*own.values(), *(each for _, given in more.values() for each in given))

    def _deleted(self, table: str, ids: Sequence[str]) -> Statement:
        from psycopg import sql

        where, key = self._filtered(table, "checkpoint_id = ANY (%s)", (list(ids),))
        return sql.SQL("DELETE FROM {} WHERE {}").format(self._table(table), where), key

    def _filtered(
        self, table: str, condition: str, values: Sequence[Any]
    ) -> tuple[sql.Composed, Sequence[Any]]:
        """Give a condition as one about the rows of the session of the tenant alone."""
        from psycopg import sql

        own = sql.SQL("tenant = %s AND {} = %s").format(sql.Identifier(_SESSION[table]))
        if condition:
            own += sql.SQL(f" AND {condition}")  # pyright: ignore[reportArgumentType] - our own words
        return own, (*self._key, *values)

    def _table(self, name: str) -> sql.Identifier:
        from psycopg import sql

        # The driver looks for places of values in names, too.
        return sql.Identifier(self._schema.replace("%", "%%"), name)


_DOWN = " ORDER BY turn_number DESC"


def _values(turn: Turn) -> dict[str, Any]:
    """Give what a turn has in columns; its number and whose it is stand apart."""
    return {
        "checkpoint_id": turn.checkpoint_id,
        "parent_id": turn.parent_id,
        "kind": turn.kind,
        # No text of the server holds a NUL. The entry has it whole.
        "tool_name": turn.tool_name and turn.tool_name.replace("\0", "\ufffd"),
        "input_hash": turn.input_hash,
        "output_hash": turn.output_hash,
        "payload": turn.payload,
        "written_at": turn.written_at,
    }


def _mark(name: str) -> sql.SQL:
    from psycopg import sql

    return sql.SQL("%s::pg_catalog.json" if name in _JSON else "%s")
