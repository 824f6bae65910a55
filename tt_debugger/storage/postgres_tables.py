"""Which tables a database of PostgreSQL has: those that can be read without running code of it."""

from __future__ import annotations

from itertools import groupby, islice
from operator import itemgetter

import msgspec

from tt_debugger.storage.connections import CATALOGUE, Connections
from tt_debugger.storage.refusals import Rows
from tt_debugger.storage.tables import Table

MOST_TABLES = 2_000
"""Tables that are looked at, those that need no schema before their name first."""
# A table that is read with others, such as a partition that lies on another server, is left out;
# so is one of which the server, as soon as it plans a question, works out functions that somebody
# has added: in the expressions of indexes, of statistics and of the key of partitions.
_TABLES = """
WITH RECURSIVE beneath(root, part) AS (
    SELECT oid, oid FROM pg_class WHERE relkind IN ('r', 'p') AND NOT relispartition
    UNION
    SELECT root, inhrelid FROM beneath JOIN pg_inherits ON inhparent = part
    JOIN pg_class ON pg_class.oid = root AND relkind = 'p'
), planned(part, class, object) AS (
    SELECT indrelid, 'pg_class'::regclass, indexrelid FROM pg_index
    WHERE indexprs IS NOT NULL OR indpred IS NOT NULL
    UNION ALL SELECT stxrelid, 'pg_statistic_ext'::regclass, oid FROM pg_statistic_ext
    UNION ALL SELECT partrelid, 'pg_class'::regclass, partrelid FROM pg_partitioned_table
), added(object) AS (
    -- Neither C nor internal: those only an administrator can have added.
    SELECT oid FROM pg_proc WHERE prolang NOT IN (12, 13)
    UNION ALL
    SELECT o.oid FROM pg_operator o JOIN pg_proc p ON p.oid = o.oprcode
    WHERE p.prolang NOT IN (12, 13)
), unsafe(root) AS (
    SELECT DISTINCT root FROM beneath JOIN planned USING (part)
    JOIN pg_depend d ON d.classid = planned.class AND d.objid = planned.object
    JOIN added ON added.object = d.refobjid
    WHERE d.refclassid IN ('pg_proc'::regclass, 'pg_operator'::regclass)
), known AS (
    SELECT c.oid, n.nspname, c.relname, c.relkind, c.relrowsecurity,
        array_position(%s::name[], n.nspname) AS place
    FROM pg_class c
    JOIN pg_namespace n ON n.oid = c.relnamespace
    LEFT JOIN pg_am m ON m.oid = c.relam
    WHERE (c.relkind = 'p' OR (c.relkind = 'r' AND m.amname = 'heap')) AND NOT c.relispartition
        AND n.nspname <> 'information_schema' AND NOT starts_with(n.nspname, 'pg_')
        AND NOT EXISTS (
            SELECT FROM beneath JOIN pg_class p ON p.oid = part
            WHERE root = c.oid AND p.relkind NOT IN ('r', 'p')
        )
    ORDER BY place, n.nspname, c.relname LIMIT %s
)
SELECT k.oid::int8, k.nspname, k.relname, k.relkind,
    CASE WHEN k.relrowsecurity THEN coalesce((
        SELECT bool_and(pg_get_expr(polqual, polrelid) = %s) FROM pg_policy
        WHERE polrelid = k.oid AND polcmd IN ('r', '*')
    ), false) END,
    k.place IS NOT NULL,
    EXISTS (SELECT FROM unsafe WHERE root = k.oid),
    a.attname, a.atttypid::int8, a.attlen < 0, array_position(i.key, a.attnum)
FROM known k
LEFT JOIN pg_attribute a
    ON a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated <> 'v'
LEFT JOIN (
    SELECT indrelid, (indkey::int2[])[0:indnkeyatts - 1] AS key FROM pg_index WHERE indisprimary
) i ON i.indrelid = k.oid
ORDER BY k.place, k.nspname, k.relname, a.attnum
"""


TENANT = "ttdbg.tenant"
"""The setting of a session that says whose rows it may see, where tenants are kept apart."""
OF_TENANT = f"(tenant = current_setting('{TENANT}'::text))"
"""The policy that keeps tenants apart, as the server writes it where only its own is searched."""

# All that such a policy runs is the server's own.
_ROWS = {None: Rows.ALL, 0: Rows.SOME, 1: Rows.OF_TENANT}
_UNSAFE = (
    "the table {} is not read: to look for its rows the server would run functions that somebody"
    " has added to the database"
)


class Place(msgspec.Struct, frozen=True):
    """Where a table is, and what must be known of its columns to select them."""

    oid: int
    schema: str
    name: str
    is_partitioned: bool
    rows: Rows
    types: dict[str, int]
    are_long: frozenset[str]
    """Columns whose values may have any length."""


class Found(msgspec.Struct, frozen=True):
    """The tables by the names that they are known by, where they are, and what is left out."""

    tables: dict[str, Table]
    places: dict[str, Place]
    left_out: tuple[str, ...]


def tables_in(connections: Connections) -> Found:
    """Look the tables up, those that are searched by their own name first.

    What their columns hold is from then on given as `storage.tables.Value` says. Raises
    StoreError.
    """
    schemas = connections.schemas()
    with connections.question(CATALOGUE) as connection:
        asked = (schemas, MOST_TABLES + 1, OF_TENANT)
        rows = connection.execute(_TABLES, asked).fetchall()
    tables: dict[str, Table] = {}
    places: dict[str, Place] = {}
    left_out: list[str] = []
    every = groupby(rows, key=itemgetter(0))
    for _, about in islice(every, MOST_TABLES):
        each = list(about)
        oid, schema, name, kind, security, is_searched, is_unsafe = each[0][:7]
        known_as = name if is_searched and name not in tables else f"{schema}.{name}"
        if is_unsafe:
            left_out.append(_UNSAFE.format(known_as))
            continue
        if known_as in tables:
            continue
        columns = [row[7:] for row in each if row[7] is not None]
        key = sorted((at, column) for column, _, _, at in columns if at is not None)
        places[known_as] = Place(
            oid,
            schema,
            name,
            kind == "p",
            _ROWS[security],
            {column: type_id for column, type_id, _, _ in columns},
            frozenset(column for column, _, is_long, _ in columns if is_long),
        )
        tables[known_as] = Table(
            known_as, tuple(places[known_as].types), tuple(column for _, column in key)
        )
    if next(every, None) is not None:
        left_out.append(f"the database has more than {MOST_TABLES:,} tables: no others are read")
    connections.read_as_values(
        {each for place in places.values() for each in place.types.values()}
    )
    return Found(tables, places, tuple(left_out))
