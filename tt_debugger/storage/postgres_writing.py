"""PostgreSQL: rows that a fork adds to tables of a server, and takes back.

All of it is one transaction in which nothing is done but to insert rows into real tables, or to
delete these again. What else a table would run is looked at first, while nobody can change that.
As in reading, what the server or its driver says never gets into an error.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, Any, Literal

from tt_debugger.core.fork.writes import Insert, NewRows, RowsWritten, RowWritten
from tt_debugger.errors import CannotWriteError, TtdbgError, UnsupportedError, UsageError
from tt_debugger.storage.connections import Connections, code_of, connected, settings
from tt_debugger.storage.postgres_effects import Followers, must_call_nothing, must_fire_nothing
from tt_debugger.storage.postgres_statements import name_of, of_claim, table_of, value_of
from tt_debugger.storage.postgres_tables import Found, Place, tables_in
from tt_debugger.storage.refusals import unwritten_by_postgres
from tt_debugger.storage.servers import admitted
from tt_debugger.storage.written_rows import (
    Claim,
    claims_in,
    claims_of,
    digest_of,
    has_changed,
    not_given_back,
    referred_to,
    rows_of,
    taken,
)

if TYPE_CHECKING:
    from psycopg import sql

    from tt_debugger.storage.connections import Connection

_BEGIN = b"BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_REOPEN = "open the database again"
_NO_VALUES = ("22", "428C9", "23")
"""How codes begin by which a table refuses a row for what is in it."""
_REFERRED_TO = "23503"


def insert(new: NewRows) -> RowsWritten:
    """Add rows, all of them or none; give what there is then.

    Raises CannotWriteError, StoreError where no server lets us in, UsageError where there are
    such rows already, and UnsupportedError where rows may not be added.
    """
    if new.copy is not None:
        raise UnsupportedError(
            f"cannot copy {new.location} to {new.copy}: it is a server",
            "leave out --to, and the fork is added to the server under a new name",
        )
    location = admitted(new.location)
    places = _places(location, new.inserts)
    given = _given(location, new.inserts, places)
    with _transaction(location) as connection:
        _lock(connection, places, "ROW EXCLUSIVE")
        must_fire_nothing(connection, location, places)
        must_call_nothing(connection, location, places, given)
        return RowsWritten(location, _added(connection, location, new.inserts, places))


def delete(written: RowsWritten) -> None:
    """Delete rows that were added, all of them or none.

    Raises UsageError where they are not all there as they were, or others have joined them, and
    otherwise what `insert` raises.
    """
    location = admitted(written.location)
    claims = claims_in(written)
    found = _found(location)
    for claim in claims:
        if claim.table not in found.places:
            raise has_changed(location, claim.table)
    places = {claim.table: found.places[claim.table] for claim in claims}
    with _transaction(location) as connection:
        _lock(connection, places, "SHARE ROW EXCLUSIVE")
        must_fire_nothing(connection, location, places)
        followers = Followers(connection, location, found, places)
        for claim in reversed(claims):
            if Counter(_digests(connection, places[claim.table], claim)) != claims[claim]:
                raise has_changed(location, claim.table)
            followers.must_be_none(claim)
            if _deleted(connection, places[claim.table], claim) != claims[claim].total():
                raise has_changed(location, claim.table)


def _added(
    connection: Connection, location: str, inserts: Sequence[Insert], places: Mapping[str, Place]
) -> tuple[RowWritten, ...]:
    """Insert rows in a transaction that has begun; give what is there of them then."""
    import psycopg
    from psycopg import sql

    claims = claims_of(inserts)
    for claim in claims:
        query, values = of_claim(sql.SQL("SELECT FROM"), places[claim.table], claim)
        if connection.execute(query + sql.SQL(" LIMIT 1"), values).rowcount:
            raise taken(location, claim)
    # A server is waited for once, where the client's library can do so.
    many = connection.pipeline() if psycopg.Pipeline.is_supported() else nullcontext()
    with many:
        for each in inserts:
            connection.execute(*_insertion(places[each.table], each))
    rows: list[RowWritten] = []
    for claim, count in claims.items():
        digests = list(_digests(connection, places[claim.table], claim))
        if len(digests) != count:
            hint = "has somebody else added some at the same time? try again"
            raise not_given_back(location, claim.table, hint)
        rows += rows_of(claim, digests)
    return tuple(rows)


def _deleted(connection: Connection, place: Place, claim: Claim) -> int:
    from psycopg import sql

    return connection.execute(*of_claim(sql.SQL("DELETE FROM"), place, claim)).rowcount


def _found(location: str) -> Found:
    connections = Connections(location)
    try:
        return tables_in(connections)
    finally:
        connections.close()


def _places(location: str, inserts: Sequence[Insert]) -> dict[str, Place]:
    """Give where the tables are; none is a view, or one that is read with code of others."""
    found = _found(location)
    places: dict[str, Place] = {}
    for each in inserts:
        if each.table not in found.places:
            known = [said for said in found.left_out if f" {each.table} " in said]
            raise UnsupportedError(
                f"cannot write to {location}: it has no table {each.table} to which rows can go",
                known[0] if known else "rows cannot be added to a view, or to a foreign table",
            )
        places[each.table] = found.places[each.table]
    return places


def _given(
    location: str, inserts: Sequence[Insert], places: Mapping[str, Place]
) -> dict[str, set[str]]:
    """Give the columns of each table that all of its new rows have a value for."""
    given: dict[str, set[str]] = {}
    for each in inserts:
        for name, value in each.values.items():
            if name not in places[each.table].types:
                raise UsageError(
                    f"cannot write to {location}: the table {each.table} has no column {name}",
                    f"has the database changed? {_REOPEN}",
                )
            if isinstance(value, str) and not _is_text(value):
                raise UnsupportedError(
                    f"cannot write to {location}: a text for the column {name} has signs in it"
                    " that PostgreSQL keeps in no text",
                    "a NUL, or half of a pair",
                )
        given.setdefault(each.table, set(each.values)).intersection_update(each.values)
    return given


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in value


def _lock(
    connection: Connection,
    places: Mapping[str, Place],
    mode: Literal["ROW EXCLUSIVE", "SHARE ROW EXCLUSIVE"],
) -> None:
    """Let nobody change the tables themselves, or what the mode says, before we are done."""
    from psycopg import sql

    for place in sorted(places.values(), key=lambda each: each.oid):
        query = sql.SQL("LOCK TABLE {} IN {} MODE").format(table_of(place), sql.SQL(mode))
        connection.execute(query)


def _insertion(place: Place, each: Insert) -> tuple[sql.Composed, list[Any]]:
    from psycopg import sql

    listed, marks = sql.SQL(", ").join, [sql.Placeholder()] * len(each.values)
    query = sql.SQL("INSERT INTO {} ({}) VALUES ({})").format(
        name_of(place.schema, place.name), listed(map(name_of, each.values)), listed(marks)
    )
    return query, [value_of(value) for value in each.values.values()]


def _digests(connection: Connection, place: Place, claim: Claim) -> Iterator[str]:
    """Give the digest of each row that has the claimed values."""
    from psycopg import sql

    columns = sql.SQL(", ").join(sql.SQL("t.{}").format(name_of(name)) for name in place.types)
    query, values = of_claim(sql.SQL("SELECT {} FROM").format(columns), place, claim)
    cursor = connection.execute(query, values)
    # As the server writes it: what Python would make of it may have lost something.
    told = cursor.pgresult
    if told is None:
        return
    for number in range(told.ntuples):
        row = [told.get_value(number, column) for column in range(told.nfields)]
        yield digest_of(zip(place.types, row, strict=True))


@contextmanager
def _transaction(location: str) -> Generator[Connection]:
    """Keep all that is done meanwhile, on the server's disk, or nothing of it."""
    import psycopg

    connection = connected(location)
    problem: TtdbgError | None = None
    is_kept = False
    try:
        # Numbers as they are, whatever the server was told to round.
        mine = settings(synchronous_commit="on", extra_float_digits="1")
        connection.execute(_BEGIN + b";" + mine)
        yield connection
        is_kept = True
        connection.execute(b"COMMIT")
    except psycopg.Error as error:
        problem = _refused(location, code_of(error), is_kept=is_kept)
    finally:
        with suppress(psycopg.Error):
            connection.rollback()
        connection.close()
    if problem is not None:
        # Not from the driver's error: that may repeat the address.
        raise problem from None


def _refused(location: str, code: str, *, is_kept: bool) -> TtdbgError:
    """Say why nothing was written, by the code that PostgreSQL gives."""
    if code == _REFERRED_TO:
        return referred_to(location)
    if is_kept and code.startswith("08"):
        return CannotWriteError(
            f"the connection to {location} was lost as what was written was to be kept: whether it"
            " was is not known",
            "look whether the fork is there before you make another one",
        )
    if code.startswith(_NO_VALUES):
        return UnsupportedError(
            f"cannot write to {location}: a table does not take such a row (code {code})",
            "its tables may be of another version than those that are known",
        )
    return unwritten_by_postgres(location, code)
