"""Rows that a fork adds to tables of a server: all or none, and no other row is touched."""

from __future__ import annotations

import sys
import threading
import time
from typing import Any

import msgspec
import psycopg
import pytest
from psycopg import sql
from servers import Postgres

from tt_debugger.core.fork.writes import Insert, NewRows, RowsWritten, Written
from tt_debugger.errors import (
    CannotReadError,
    CannotWriteError,
    StoreError,
    UnsupportedError,
    UsageError,
)
from tt_debugger.storage import connections, postgres_writing
from tt_debugger.storage.writing import take_back, write

TABLES = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN short AS text CHECK (length(VALUE) < 9 AND VALUE <> 'no');
CREATE TABLE thread (id text PRIMARY KEY, title text, about jsonb, at timestamptz DEFAULT now());
CREATE TABLE step (
    number bigserial PRIMARY KEY, thread text NOT NULL REFERENCES thread, name short, body bytea,
    weight double precision, plain json, mood mood, is_last bool DEFAULT false,
    key uuid DEFAULT gen_random_uuid(), "odd %s {} "" name" numeric,
    size int GENERATED ALWAYS AS (length(plain::text)) STORED, UNIQUE (thread, name)
);
CREATE INDEX ON step (lower(name)) WHERE weight > 0;
INSERT INTO thread VALUES ('old', 'first', '{"b": 1, "a": [2]}'), ('other', NULL, NULL);
INSERT INTO step (thread, name, body, weight, plain, mood) VALUES
    ('old', 'a', '\\x00ff', 0.1, '{"b":1,  "a":2}', 'sad'), ('old', 'b', NULL, '-0', NULL, NULL),
    ('other', 'a', '', 'NaN', '[]', 'glad');
"""
THREAD = Insert("thread", {"id": "new", "title": "%s {}", "about": '{"a": [1, 2]}'}, ("id",))
STEP = {"thread": "new", "name": "a", "body": b"\0\xff", "weight": 0.1, "plain": '{"b":1,  "a":2}'}
MORE = {"mood": "glad", "is_last": 1, 'odd %s {} " name': "12345678901234567890.50"}
STEPS = (
    Insert("step", {**STEP, **MORE}, ("thread",)),
    Insert("step", {"thread": "new", "name": "b", "body": None, "weight": 1}, ("thread",)),
)
INSERTS = (THREAD, *STEPS)
ONE = Insert("t", {"a": 1}, ("a",))
SECRET = "s3cret-of-zoe"  # noqa: S105 - it opens nothing


class Database:
    """One database for all tests: to empty it takes less time than to make another one."""

    def __init__(self, address: str) -> None:
        self.address = address

    def made(self, script: str) -> str:
        run(
            self.address,
            "DROP SCHEMA IF EXISTS s CASCADE; DROP SCHEMA public CASCADE; CREATE SCHEMA public;"
            f"GRANT USAGE ON SCHEMA public TO public; {script}",
        )
        return self.address


@pytest.fixture(scope="module")
def database(postgres: Postgres) -> Database:
    return Database(postgres.made())


@pytest.fixture
def location(database: Database) -> str:
    return database.made(TABLES)


def new(location: str, *inserts: Insert) -> NewRows:
    return NewRows(location, inserts or INSERTS)


def run(location: str, *statements: str) -> None:
    with psycopg.connect(location, autocommit=True) as connection:
        for each in statements:
            connection.execute(each.encode())


def everything(location: str) -> dict[str, list[Any]]:
    """Give all rows of all tables, with what tells whether one was written anew."""
    with psycopg.connect(location) as connection:
        names = connection.execute(
            "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
            " AND relkind = 'r' ORDER BY 1"
        ).fetchall()
        return {
            name: connection.execute(
                sql.SQL("SELECT ctid::text, xmin::text, t::text FROM {} t ORDER BY 3").format(
                    sql.Identifier(name)
                )
            ).fetchall()
            for (name,) in names
        }


def added(location: str, before: dict[str, list[Any]]) -> dict[str, list[str]]:
    """Give the rows that are new, once it is sure that all others are what they were."""
    after = everything(location)
    assert after.keys() == before.keys()
    for name, rows in before.items():
        assert [row for row in after[name] if row in rows] == rows
    return {
        name: [row[2] for row in after[name] if row not in rows]
        for name, rows in before.items()
        if after[name] != rows
    }


def logged_and_read(written: Written) -> Any:
    """Give what the operation log gives back."""
    return msgspec.json.decode(msgspec.json.encode(written), type=Written)


def test_rows_are_added_and_all_others_stay_what_they_are(location: str):
    before = everything(location)

    written = write(new(location))

    assert isinstance(written, RowsWritten)
    assert [(row.table, row.key) for row in written.rows] == [
        ("thread", {"id": "new"}),
        ("step", {"thread": "new"}),
        ("step", {"thread": "new"}),
    ]
    assert list(added(location, before)) == ["step", "thread"]
    with psycopg.connect(location) as connection:
        assert connection.execute(
            "SELECT name, body, weight, plain::text, mood::text, is_last, size,"
            """ "odd %s {} "" name"::text FROM step WHERE thread = 'new' ORDER BY number"""
        ).fetchall() == [
            (
                "a",
                b"\0\xff",
                0.1,
                '{"b":1,  "a":2}',
                "glad",
                True,
                15,
                "12345678901234567890.50",
            ),
            ("b", None, 1.0, None, None, False, None, None),
        ]
        assert connection.execute(
            "SELECT title, about FROM thread WHERE id = 'new'"
        ).fetchone() == (
            "%s {}",
            {"a": [1, 2]},
        )


def test_what_was_added_is_taken_back_and_nothing_else(location: str):
    before = everything(location)
    written = write(new(location))

    take_back(logged_and_read(written))

    assert everything(location) == before
    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)


def test_where_it_was_written_is_told_without_a_login(database: Database):
    address = database.made(TABLES)
    secret = address.replace("postgres@", f"postgres:{SECRET}@")

    written = write(new(secret))

    assert SECRET not in repr(written)
    assert isinstance(written, RowsWritten)
    assert "postgres@" not in written.location
    take_back(written)


def test_a_value_that_is_not_new_adds_nothing(location: str):
    before = everything(location)

    with pytest.raises(UsageError, match="the table thread has some already"):
        write(new(location, *STEPS, Insert("thread", {"id": "old"}, ("id",))))

    assert everything(location) == before


def test_new_is_what_has_all_of_several_values_or_none(location: str):
    name = Insert("step", {"thread": "old", "name": "c"}, ("thread", "name"))
    none = Insert("step", {"thread": "old", "name": None}, ("thread", "name"))

    written = write(new(location, name, none))

    with pytest.raises(UsageError, match="by thread and name alike"):
        write(new(location, none))
    take_back(written)


def test_rows_that_are_told_from_others_in_two_ways_are_not_added(location: str):
    before = everything(location)
    other = Insert("step", {"thread": "new", "name": "c"}, ("thread", "name"))

    with pytest.raises(CannotWriteError, match="does not give them back"):
        write(new(location, THREAD, *STEPS, other))

    assert everything(location) == before


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE step SET weight = 2 WHERE thread = 'new' AND name = 'a'",
        """UPDATE step SET plain = '{"b":1,"a":2}' WHERE thread = 'new' AND name = 'a'""",
        "DELETE FROM step WHERE thread = 'new' AND name = 'a'",
        "INSERT INTO step (thread, name) VALUES ('new', 'more')",
        "UPDATE thread SET title = NULL WHERE id = 'new'",
        "ALTER TABLE step RENAME TO steps",
    ],
)
def test_what_has_changed_since_is_not_taken_back(location: str, change: str):
    written = write(new(location))
    run(location, change)
    before = everything(location)

    with pytest.raises(UsageError, match="has changed since"):
        take_back(written)

    assert everything(location) == before


def test_a_column_that_came_since_is_no_change(location: str):
    before = everything(location)["step"]
    written = write(new(location))
    run(location, "ALTER TABLE step ADD COLUMN later text")

    take_back(written)

    assert [row[0] for row in everything(location)["step"]] == [row[0] for row in before]


@pytest.mark.parametrize("action", ["", "ON DELETE CASCADE", "ON DELETE SET NULL"])
def test_rows_that_refer_to_what_was_added_hinder_that_it_is_taken_back(
    location: str, action: str
):
    written = write(new(location))
    run(
        location,
        f"CREATE TABLE seen (at int, thread text REFERENCES thread {action})",
        "INSERT INTO seen VALUES (1, 'new')",
    )
    before = everything(location)

    with pytest.raises(UsageError, match="refer to"):
        take_back(written)

    assert everything(location) == before
    run(location, "DELETE FROM seen")
    take_back(written)


PLPGSQL = """
CREATE TABLE touched (by_whom text);
CREATE FUNCTION f(v text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE FUNCTION number() RETURNS int LANGUAGE sql AS 'SELECT 1';
CREATE OPERATOR === (leftarg = text, rightarg = text, function = texteq);
CREATE FUNCTION like_it(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE OPERATOR ~== (leftarg = text, rightarg = text, function = like_it);
"""
PARTED = "CREATE TABLE t (a int) PARTITION BY LIST (a); CREATE TABLE p PARTITION OF t DEFAULT;"


@pytest.mark.parametrize(
    ("script", "why"),
    [
        (
            "CREATE TABLE t (a int); CREATE TRIGGER r AFTER INSERT ON t EXECUTE FUNCTION f()",
            "the trigger r",
        ),
        (
            (
                "CREATE TABLE t (a int);"
                "CREATE TRIGGER r BEFORE DELETE ON t FOR EACH ROW EXECUTE FUNCTION f();"
                "ALTER TABLE t DISABLE TRIGGER r"
            ),
            "the trigger r",
        ),
        (
            f"{PARTED} CREATE TRIGGER r BEFORE INSERT ON p FOR EACH ROW EXECUTE FUNCTION f()",
            "the trigger r",
        ),
        (
            "CREATE TABLE t (a int); CREATE RULE r AS ON INSERT TO t DO ALSO DELETE FROM touched",
            "the rule r",
        ),
        ("CREATE TABLE t (a int); ALTER TABLE t ENABLE ROW LEVEL SECURITY", "row security"),
        ("CREATE VIEW t AS SELECT 1 AS a", "no table t to which rows can go"),
        ("CREATE TABLE t (a int CHECK (f(a::text)))", r"calls f\(\)"),
        ("CREATE TABLE t (a int, b int DEFAULT number())", r"calls number\(\)"),
        ("CREATE TABLE t (a int, b bool GENERATED ALWAYS AS (f(a::text)) STORED)", r"calls f\(\)"),
        ("CREATE TABLE t (a int); CREATE INDEX ON t (f(a::text))", "no table t"),
        ("CREATE DOMAIN d AS text CHECK (f(VALUE)); CREATE TABLE t (a int, b d)", r"calls f\(\)"),
        (
            (
                "CREATE DOMAIN d AS text CHECK (f(VALUE)); CREATE DOMAIN e AS d;"
                "CREATE TYPE pair AS (x e[], y int); CREATE TABLE t (a int, b pair[])"
            ),
            r"calls f\(\)",
        ),
        ("CREATE DOMAIN d AS int DEFAULT number(); CREATE TABLE t (a int, b d)", "calls number"),
        ("CREATE TABLE t (a int, b text CHECK (b ~== 'x'))", "calls like_it"),
        (
            "CREATE TABLE t (a int, b xml DEFAULT query_to_xml('DELETE FROM x', true, true, ''))",
            "calls query_to_xml",
        ),
        ("CREATE TABLE t (a int CHECK (pg_terminate_backend(a)))", "calls pg_terminate_backend"),
        (f"{PARTED} ALTER TABLE p ADD CHECK (f(a::text))", r"calls f\(\)"),
    ],
)
def test_a_table_that_would_run_more_than_an_insert_is_refused(
    database: Database, script: str, why: str
):
    location = database.made(PLPGSQL + script)
    before = everything(location)

    with pytest.raises(UnsupportedError, match=why):
        write(new(location, ONE))

    assert everything(location) == before


def test_a_default_that_is_not_needed_is_no_hindrance(database: Database):
    location = database.made(PLPGSQL + "CREATE TABLE t (a int DEFAULT number(), b int)")

    take_back(write(new(location, ONE)))

    with pytest.raises(UnsupportedError, match="calls number"):
        write(new(location, ONE, Insert("t", {"b": 1}, ("b",))))


def test_what_only_gives_a_value_may_be_called(database: Database):
    location = database.made(
        "CREATE DOMAIN d AS text CHECK (VALUE ~ '^[a-z]+$');"
        "CREATE TABLE t (a int CHECK (a > 0 AND a::text <> '7'), b d DEFAULT lower('X'),"
        " at text DEFAULT to_char(now(), 'YYYY'), i int GENERATED BY DEFAULT AS IDENTITY,"
        " j jsonb DEFAULT '{}'::jsonb, u text DEFAULT CURRENT_USER)"
    )

    take_back(write(new(location, ONE)))

    assert everything(location) == {"t": []}


def test_a_table_in_parts_or_of_another_schema_takes_rows(database: Database):
    location = database.made(f"{PARTED} CREATE SCHEMA s; CREATE TABLE s.t (a int)")

    written = write(new(location, ONE, Insert("s.t", {"a": 2}, ("a",))))

    assert list(added(location, {"p": []})) == ["p"]
    take_back(logged_and_read(written))
    assert everything(location) == {"p": []}


@pytest.mark.parametrize(
    ("insert", "error", "why"),
    [
        (Insert("note", {"a": 1}, ("a",)), UnsupportedError, "no table note"),
        (Insert("thread", {"id": "x", "b": 1}, ("id",)), UsageError, "no column b"),
        (Insert("thread", {"id": "\ud800"}, ("id",)), UnsupportedError, "keeps in no text"),
        (Insert("thread", {"id": "a\0"}, ("id",)), UnsupportedError, "keeps in no text"),
        (Insert("thread", {"id": "x", "about": "{"}, ("id",)), UnsupportedError, "such a row"),
        (
            Insert("step", {"thread": "new", "name": "much too long"}, ("name",)),
            UnsupportedError,
            "s",
        ),
        (Insert("step", {"thread": "new", "name": "a"}, ("name", "body")), KeyError, "body"),
        (Insert("step", {"thread": "none", "name": "x"}, ("thread",)), UsageError, "refer to"),
        (Insert("step", {"thread": "new", "size": 1}, ("size",)), UnsupportedError, "such a row"),
    ],
)
def test_what_does_not_fit_the_tables_is_said(
    location: str, insert: Insert, error: type[Exception], why: str
):
    before = everything(location)

    with pytest.raises(error, match=why):
        write(new(location, *INSERTS, insert))

    assert everything(location) == before


def test_no_copy_is_made_of_a_server(location: str):
    with pytest.raises(UnsupportedError, match="it is a server"):
        write(NewRows(location, INSERTS, "copy.db"))


def test_a_table_that_somebody_holds_is_left_alone(location: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(connections._SETTINGS, "lock_timeout", "100ms")
    with psycopg.connect(location) as connection:
        connection.execute("LOCK TABLE step IN SHARE MODE")
        with pytest.raises(CannotWriteError, match="it is busy"):
            write(new(location))


def test_a_server_that_takes_no_writes_says_so(postgres: Postgres):
    location = postgres.made(TABLES)
    with psycopg.connect(location, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(
            sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = on").format(
                sql.Identifier(name)
            )
        )
    # What is only a default is no rule.
    take_back(write(new(location)))
    assert "primary" in str(postgres_writing._refused(location, "25006", is_kept=False).hint)


def test_who_has_no_rights_writes_nothing(database: Database):
    location = database.made(
        f"{TABLES} DROP ROLE IF EXISTS reader; CREATE ROLE reader LOGIN;"
        "GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader"
    )
    before = everything(location)

    with pytest.raises(CannotWriteError, match="no rights") as raised:
        write(new(location.replace("postgres@", "reader@")))

    assert raised.value.__cause__ is None
    assert everything(location) == before


def test_no_error_repeats_the_address_or_what_the_server_says(database: Database):
    address = database.made(TABLES).replace("postgres@", f"postgres:{SECRET}@")
    nobody = address.replace("postgres:", "nobody:")

    for location, insert in (
        (address, Insert("thread", {"id": "x", "about": SECRET}, ("id",))),
        (nobody, THREAD),
    ):
        with pytest.raises((UnsupportedError, StoreError)) as raised:
            write(new(location, insert))
        assert SECRET not in f"{raised.value} {raised.value.hint} {raised.value.__cause__}"
    with pytest.raises(CannotReadError):
        write(new("postgresql://127.0.0.1:1/none"))


def test_without_a_driver_it_is_said_what_to_install(
    location: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(StoreError, match="driver is not installed") as raised:
        write(new(location))

    assert "ttdbg[postgres]" in str(raised.value.hint)


def test_writers_at_the_same_time_lose_nothing(location: str):
    before = everything(location)
    stop = threading.Event()
    said: list[str] = []

    def writer() -> None:
        with psycopg.connect(location, autocommit=True) as connection:
            while not stop.is_set():
                name = f"w{len(said)}"
                connection.execute("INSERT INTO step (thread, name) VALUES ('other', %s)", (name,))
                said.append(name)
                time.sleep(0.001)

    other = threading.Thread(target=writer)
    other.start()
    kept: list[Written] = []
    try:
        while not said and other.is_alive():
            time.sleep(0.001)
        for number in range(8):
            values = {"id": f"new {number}"}
            written = write(new(location, Insert("thread", values, ("id",))))
            if number % 2:
                take_back(written)
            else:
                kept.append(written)
    finally:
        stop.set()
        other.join()

    more = added(location, before)
    assert said
    assert len(more["step"]) == len(said)
    assert len(more["thread"]) == len(kept) == 4


class Failing(psycopg.Connection[Any]):
    """A connection of which the n-th statement is lost, before it is run or after."""

    left = 0
    is_after = False
    is_lost = False

    def execute(self, query: Any, *given: Any, **more: Any) -> Any:
        Failing.left -= 1
        if Failing.left != 0:
            return super().execute(query, *given, **more)
        if Failing.is_after and query != b"COMMIT":
            super().execute(query, *given, **more)
        if Failing.is_lost:
            self.close()
        raise psycopg.OperationalError(SECRET)


@pytest.mark.parametrize("is_after", [False, True])
@pytest.mark.parametrize("is_lost", [False, True])
@pytest.mark.parametrize("way", ["insert", "delete"])
def test_whichever_statement_fails_nothing_is_left(
    location: str, monkeypatch: pytest.MonkeyPatch, way: str, *, is_lost: bool, is_after: bool
):
    written = write(new(location)) if way == "delete" else None
    before = everything(location)
    connected = connections.connected

    def failing(place: str) -> psycopg.Connection[Any]:
        with monkeypatch.context() as patch:
            patch.setattr(psycopg, "connect", Failing.connect)
            return connected(place)

    monkeypatch.setattr(postgres_writing, "connected", failing)
    Failing.is_after, Failing.is_lost = is_after, is_lost
    count = 0
    said: list[str] = []
    while True:
        count += 1
        Failing.left = count
        try:
            if written is None:
                write(new(location))
            else:
                take_back(written)
        except CannotWriteError as error:
            said.append(f"{error} {error.__cause__}")
        else:
            break
        assert everything(location) == before
    Failing.left = 0

    assert count > 8
    assert everything(location) != before
    assert "is not known" in said[-1]
    assert not any("is not known" in each or SECRET in each for each in said[:-1])
