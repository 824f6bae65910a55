"""What a table of PostgreSQL runs when rows come and go: all that could do more than that.

Triggers, rules and policies are named as they are. Of expressions, such as those of constraints,
defaults and the domains that columns are of, it is known which functions they call: one that
somebody has added may do anything, and so may a few of the server's own.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.storage.postgres_statements import name_of, of_claim, table_of
from tt_debugger.storage.postgres_tables import Found, Place
from tt_debugger.storage.written_rows import Claim

if TYPE_CHECKING:
    from tt_debugger.storage.connections import Connection

_OWN = """
WITH RECURSIVE own(root, part) AS (
    SELECT oid, oid FROM pg_class WHERE oid = ANY (%s::oid[])
    UNION
    SELECT root, inhrelid FROM own JOIN pg_inherits ON inhparent = part
    JOIN pg_class c ON c.oid = root AND c.relkind = 'p'
)"""
_EFFECTS = (
    _OWN
    + """
SELECT root::int8, 'the trigger ' || tgname FROM own
JOIN pg_trigger ON tgrelid = part AND NOT tgisinternal
UNION ALL
SELECT root::int8, 'the rule ' || rulename FROM own JOIN pg_rewrite ON ev_class = part
UNION ALL
SELECT root::int8, 'row security' FROM own
JOIN pg_class c ON c.oid = part AND (relrowsecurity OR relforcerowsecurity)
UNION ALL
SELECT root::int8, 'a part on another server' FROM own
JOIN pg_class c ON c.oid = part AND relkind NOT IN ('r', 'p')
"""
)
# Of those that are written in C, as the server's own are, those do nothing but give a value that
# are said to give the same one each time, or that are known by name.
_CALLS = (
    _OWN  # noqa: S608 - both are constants
    + """, types(root, type) AS (
    SELECT root, atttypid FROM own
    JOIN pg_attribute ON attrelid = part AND attnum > 0 AND NOT attisdropped
    UNION
    SELECT root, next.type FROM types JOIN pg_type t ON t.oid = types.type
    JOIN LATERAL (
        SELECT typbasetype WHERE typtype = 'd'
        UNION ALL SELECT typelem
        UNION ALL SELECT atttypid FROM pg_attribute
        WHERE attrelid = typrelid AND attnum > 0 AND NOT attisdropped
        UNION ALL SELECT rngsubtype FROM pg_range WHERE rngtypid = t.oid
    ) next(type) ON next.type <> 0
), expressions(root, given_up, tree) AS (
    SELECT root, NULL, conbin::text FROM own JOIN pg_constraint ON conrelid = part
    UNION ALL
    SELECT root, NULL, conbin::text FROM types JOIN pg_constraint ON contypid = type
    UNION ALL
    SELECT root, NULL, typdefaultbin::text FROM types JOIN pg_type t ON t.oid = type
    UNION ALL
    SELECT root, CASE WHEN attgenerated = '' THEN attname END, adbin::text
    FROM own JOIN pg_attrdef ON adrelid = part
    JOIN pg_attribute ON attrelid = part AND attnum = adnum
    UNION ALL
    SELECT root, NULL, coalesce(indexprs::text, '') || coalesce(indpred::text, '')
    FROM own JOIN pg_index ON indrelid = part
    UNION ALL
    SELECT root, NULL, partexprs::text FROM own JOIN pg_partitioned_table ON partrelid = part
), called(root, given_up, function) AS (
    SELECT root, given_up, m[1]::oid FROM expressions,
    regexp_matches(tree, ':(?:op)?funcid ([0-9]+)', 'g') m
    UNION
    SELECT root, NULL, oprcode::oid FROM own JOIN pg_constraint ON conrelid = part
    JOIN pg_operator o ON o.oid = ANY (conpfeqop || conppeqop || conffeqop || conexclop)
)
SELECT DISTINCT root::int8, given_up, proname FROM called JOIN pg_proc p ON p.oid = function
WHERE NOT (prolang IN (12, 13) AND (provolatile = 'i' OR proname = ANY (%s::name[])))
"""
)
_HARMLESS = (
    "clock_timestamp",
    "currval",
    "date",
    "date_part",
    "date_trunc",
    "extract",
    "gen_random_uuid",
    "nextval",
    "now",
    "random",
    "statement_timestamp",
    "text",
    "time",
    "timeofday",
    "timestamp",
    "timestamptz",
    "timezone",
    "to_char",
    "to_timestamp",
    "transaction_timestamp",
    "uuid_generate_v1",
    "uuid_generate_v1mc",
    "uuid_generate_v4",
    "uuidv4",
    "uuidv7",
)
_REFERRING = """
SELECT confrelid::int8, conrelid::int8,
    (SELECT array_agg(attname ORDER BY place) FROM unnest(conkey) WITH ORDINALITY k(number, place)
    JOIN pg_attribute ON attrelid = conrelid AND attnum = number),
    (SELECT array_agg(attname ORDER BY place) FROM unnest(confkey) WITH ORDINALITY k(number, place)
    JOIN pg_attribute ON attrelid = confrelid AND attnum = number)
FROM pg_constraint
WHERE contype = 'f' AND confrelid = ANY (%s::oid[]) AND confdeltype IN ('c', 'n', 'd')
"""


def must_fire_nothing(connection: Connection, location: str, places: Mapping[str, Place]) -> None:
    """Let pass only tables on which nothing is fired. Raises UnsupportedError."""
    names = {place.oid: name for name, place in places.items()}
    for oid, what in connection.execute(_EFFECTS, (list(names),)):
        raise UnsupportedError(
            f"cannot write to {location}: the table {names[oid]} has {what}",
            "it could change other rows, so nothing is written; rows can be added by its own"
            " program alone",
        )


def must_call_nothing(
    connection: Connection,
    location: str,
    places: Mapping[str, Place],
    given: Mapping[str, Collection[str]],
) -> None:
    """Let pass only tables that call nothing that could do more than give a value.

    The columns that are `given` need no default. Raises UnsupportedError.
    """
    names = {place.oid: name for name, place in places.items()}
    found = connection.execute(_CALLS, (list(names), list(_HARMLESS))).fetchall()
    for oid, column, function in found:
        name = names[oid]
        if column is None or column not in given[name]:
            raise UnsupportedError(
                f"cannot write to {location}: the table {name} calls {function}() for a new row",
                "what that does is not known, so it is not run",
            )


class Followers:
    """Rows of others that would go, or change, as soon as what they refer to is deleted."""

    def __init__(
        self, connection: Connection, location: str, found: Found, places: Mapping[str, Place]
    ) -> None:
        self._connection = connection
        self._location = location
        self._places = places
        self._known = {place.oid: place for place in found.places.values()}
        self._all = _referring(connection, places)

    def must_be_none(self, claim: Claim) -> None:
        """Raise UsageError where there are some."""
        from psycopg import sql

        place = self._places[claim.table]
        for target, by, theirs, ours in self._all:
            if target != place.oid:
                continue
            # One that is not among the tables that are read would run code of its own.
            child = self._known.get(by)
            if child is None:
                raise _has_followers(self._location)
            alike = [
                sql.SQL("f.{} = t.{}").format(name_of(their), name_of(our))
                for their, our in zip(theirs, ours, strict=True)
            ]
            query, values = of_claim(sql.SQL("SELECT FROM"), place, claim)
            query += sql.SQL(" AND EXISTS (SELECT FROM {} AS f WHERE {}) LIMIT 1").format(
                table_of(child), sql.SQL(" AND ").join(alike)
            )
            if self._connection.execute(query, values).rowcount:
                raise _has_followers(self._location)


def _has_followers(location: str) -> UsageError:
    return UsageError(
        f"cannot take rows back from {location}: others refer to them",
        "nothing was taken back; look at what has come since",
    )


def _referring(
    connection: Connection, places: Mapping[str, Place]
) -> list[tuple[int, int, list[str], list[str]]]:
    """Give what would follow rows that go: the two tables, and the columns that must be alike.

    The first table is that which is referred to, by its number.
    """
    oids = [place.oid for place in places.values()]
    return connection.execute(_REFERRING, (oids,)).fetchall()
