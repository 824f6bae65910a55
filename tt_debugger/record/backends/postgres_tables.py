"""The tables of recordings in PostgreSQL: made where they are missing, looked at where they are.

What holds an entry is JSON and not JSONB: that puts keys in another order, writes numbers anew and
has no form for the sign U+0000, so that what comes back would be another text than was given.
Who asks by SQL casts it: `payload::jsonb`. Ids are compared byte by byte (`COLLATE "C"`), so that
an index stays right on a standby whose system sorts texts otherwise.

With row level security PostgreSQL itself lets a session see and write the rows of one tenant, that
of its setting `ttdbg.tenant`, whatever is asked and by whatever program; without the setting it
sees none. It holds for the owner of the tables too, who may take it away again, and for nobody who
is a superuser or has BYPASSRLS.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tt_debugger.record.backends.postgres_primary import refused
from tt_debugger.record.backends.postgres_rows import SESSIONS, STATES, TURNS
from tt_debugger.record.backends.turns import COLUMNS, other_columns
from tt_debugger.storage.postgres_tables import OF_TENANT

if TYPE_CHECKING:
    from tt_debugger.storage.connections import Connection

_ID = 'text COLLATE "C"'
_TEXT, _NUMBER, _TIME, _JSON = "text", "bigint", "timestamp with time zone", "json"
_TYPES = {
    "turn_id": _NUMBER,
    "turn_number": _NUMBER,
    "schema_version": _NUMBER,
    "header": _JSON,
    "payload": _JSON,
    "state_json": _JSON,
    "created_at": _TIME,
    "updated_at": _TIME,
    "written_at": _TIME,
}
"""The types of columns that are no texts."""
_NULLABLE = frozenset(("parent_id", "tool_name", "input_hash", "output_hash"))
_IDS = frozenset(("tenant", "session_id", "thread_id", "checkpoint_id", "parent_id"))
_KEYS = {
    SESSIONS: (("tenant", "session_id"),),
    TURNS: (
        ("turn_id",),
        ("tenant", "session_id", "turn_number"),
        ("tenant", "session_id", "checkpoint_id"),
    ),
    STATES: (("tenant", "thread_id", "checkpoint_id"),),
}
"""What no two rows have alike, the primary key first."""
_REQUIRED = {SESSIONS: _KEYS[SESSIONS], TURNS: _KEYS[TURNS][1:], STATES: _KEYS[STATES]}
_HINT = "record to a database of its own, or to another schema (search_path)"
_POLICY = "ttdbg_tenant"

_COLUMNS_THERE = """
SELECT c.relname::text, c.relkind IN ('r', 'p'), a.attname::text,
    format_type(a.atttypid, NULL)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE n.nspname = %s AND c.relname = ANY (%s)
"""
_KEYS_THERE = """
SELECT c.relname::text, array(
    SELECT a.attname::text FROM unnest((i.indkey::int2[])[0:i.indnkeyatts - 1])
        WITH ORDINALITY k(attnum, place)
    JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = k.attnum ORDER BY k.place
)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_index i ON i.indrelid = c.oid
WHERE n.nspname = %s AND c.relname = ANY (%s)
    AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
"""
_GUARDED = """
SELECT coalesce(bool_and(c.relrowsecurity AND c.relforcerowsecurity AND EXISTS (
    SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive
) AND NOT EXISTS (
    SELECT FROM pg_policy p WHERE p.polrelid = c.oid AND p.polpermissive AND NOT (
        pg_get_expr(p.polqual, p.polrelid) IS NOT DISTINCT FROM %s
        AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), %s) = %s
    )
)), false)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = ANY (%s)
"""
_IS_ABOVE_POLICIES = "SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user"
_ONE_MAKES_THEM = "SELECT pg_advisory_xact_lock(hashtextextended('ttdbg: recordings', 0))"


def are_there(connection: Connection, location: str, schema: str) -> bool:
    """Tell whether all tables are there; raise CannotWriteError where they are not ours."""
    asked = (schema, list(COLUMNS))
    there: dict[str, dict[str, str]] = {}
    for table, is_table, column, kind in connection.execute(_COLUMNS_THERE, asked):
        if not is_table:
            raise refused(location, f"its {table} is no table, but another thing", _HINT)
        columns = there.setdefault(table, {})
        if column is not None:
            columns[column] = kind
    if why := other_columns(there):
        raise refused(location, why, _HINT)
    for table, columns in there.items():
        for column, kind in columns.items():
            wanted = _TYPES.get(column, _TEXT)
            if kind != wanted:
                why = f"its table {table} is another program's: {column} is {kind}, not {wanted}"
                raise refused(location, why, _HINT)
    keys = {(table, tuple(columns)) for table, columns in connection.execute(_KEYS_THERE, asked)}
    for table in there:
        if any((table, key) not in keys for key in _REQUIRED[table]):
            why = f"its table {table} is another program's: it lets rows have the same keys"
            raise refused(location, why, _HINT)
    return len(there) == len(COLUMNS)


def make(connection: Connection, location: str, schema: str) -> None:
    """Make the tables that are not there, in a transaction. Raises CannotWriteError."""
    from psycopg import sql

    connection.execute(_ONE_MAKES_THEM)
    if are_there(connection, location, schema):
        return
    for table in COLUMNS:
        query = sql.SQL("CREATE TABLE IF NOT EXISTS {} (" + _made(table) + ")")  # pyright: ignore[reportArgumentType] - our own words
        connection.execute(query.format(sql.Identifier(schema, table)))


def guard(connection: Connection, location: str, schema: str) -> None:
    """Have the server keep tenants apart, where it does not yet. Raises CannotWriteError.

    It is not set up where it would not hold for the user who asks for it.
    """
    from psycopg import sql

    (is_above,) = connection.execute(_IS_ABOVE_POLICIES).fetchone() or (True,)
    if is_above:
        raise refused(
            location,
            "row level security does not hold for its user, a superuser or one with BYPASSRLS",
            "record as a user without these rights",
        )
    asked = (OF_TENANT, OF_TENANT, OF_TENANT, schema, list(COLUMNS))
    (is_guarded,) = connection.execute(_GUARDED, asked).fetchone() or (False,)
    if is_guarded:
        return
    for table in COLUMNS:
        name = sql.Identifier(schema, table)
        for statement in (
            "ALTER TABLE {} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY",
            f"DROP POLICY IF EXISTS {_POLICY} ON {{}}",
            f"CREATE POLICY {_POLICY} ON {{}} USING {OF_TENANT} WITH CHECK {OF_TENANT}",
        ):
            connection.execute(sql.SQL(statement).format(name))  # pyright: ignore[reportArgumentType] - our own words
    (is_guarded,) = connection.execute(_GUARDED, asked).fetchone() or (False,)
    if not is_guarded:
        raise refused(
            location,
            "its tables have other policies, by which rows of other tenants may be seen",
            "drop those policies, or record to a database of its own",
        )


def _made(table: str) -> str:
    """Give what stands between the brackets of CREATE TABLE."""
    lines = [_column(name) for name in COLUMNS[table]]
    primary, *others = _KEYS[table]
    lines.append(f"PRIMARY KEY ({', '.join(primary)})")
    lines += (f"UNIQUE ({', '.join(key)})" for key in others)
    return ", ".join(lines)


def _column(name: str) -> str:
    kind = _ID if name in _IDS else _TYPES.get(name, _TEXT)
    if name == "turn_id":
        return f"{name} {kind} GENERATED BY DEFAULT AS IDENTITY"
    return f"{name} {kind}" if name in _NULLABLE else f"{name} {kind} NOT NULL"
