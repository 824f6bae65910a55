"""Tables of a real server of PostgreSQL: read by the page, and believed in nothing."""

from __future__ import annotations

import sys
from contextlib import suppress
from itertools import islice
from pathlib import Path

import psycopg
import pytest
from servers import Postgres

from tt_debugger.errors import StoreError, TtdbgError, UsageError
from tt_debugger.storage import connections
from tt_debugger.storage import postgres as storage
from tt_debugger.storage.postgres import PostgresDatabase
from tt_debugger.storage.probe import PostgresProbe, has_columns, probe, served_columns
from tt_debugger.storage.tables import Table

NOTES = """
CREATE TABLE note (id text PRIMARY KEY, at int, said text, data bytea);
INSERT INTO note VALUES ('b', 2, 'second', '\\x00ff'), ('a', 1, 'first', NULL), ('c', 2, NULL, '');
"""

KINDS = """
CREATE TYPE mood AS ENUM ('sad', 'glad');
CREATE DOMAIN short AS text CHECK (length(VALUE) < 9);
CREATE TABLE kind (
    b bool, i8 bigint, n numeric, d double precision, j json, jb jsonb, t timestamp,
    tz timestamptz, u uuid, a text[], e mood, s short, day date, span interval, c char(3)
);
INSERT INTO kind VALUES (
    true, 9223372036854775807, 12345678901234567890.50, 0.1, '{"b":1,  "a":2}', '{"b":1, "a":2}',
    '2026-01-02 03:04:05.000006', '2026-01-02 03:04:05+02',
    'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11', '{a,"b c",NULL}', 'glad', 'text', '2026-01-02',
    '1 day 2 hours', 'x'
);
"""

EVIL = """
CREATE TABLE "Robert'); DROP TABLE note;--" ("a"" OR 1=1 --" text, "%s {} $1" text);
INSERT INTO "Robert'); DROP TABLE note;--" VALUES ('one', 'two');
CREATE TABLE touched (by_whom text);
CREATE FUNCTION touch() RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE FUNCTION touch(text, text) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE FUNCTION touch(varchar, varchar) RETURNS bool LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE FUNCTION public.octet_length(varchar) RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE OPERATOR public.= (leftarg = varchar, rightarg = varchar, function = touch);
CREATE OPERATOR public.> (leftarg = varchar, rightarg = varchar, function = touch);
CREATE VIEW checkpoints AS SELECT touch() AS thread_id;
CREATE MATERIALIZED VIEW kept AS SELECT 1 AS thread_id;
CREATE TYPE pair AS (a text, b text);
CREATE FUNCTION touch(pair) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN RAISE EXCEPTION 'touched'; END $$;
CREATE CAST (pair AS text) WITH FUNCTION touch(pair) AS IMPLICIT;
CREATE TABLE evil (
    id varchar PRIMARY KEY,
    said text DEFAULT touch(),
    p pair,
    made text GENERATED ALWAYS AS (upper(said)) STORED
);
INSERT INTO evil VALUES ('x', 'y', ROW('a', 'b')), ('z', 'y', NULL);
ALTER TABLE evil ADD CHECK (touch() IS NOT NULL) NOT VALID;
CREATE RULE told AS ON UPDATE TO evil DO INSTEAD SELECT touch();
"""


PARTED = (
    "DROP TABLE t; CREATE TABLE t (id text) PARTITION BY LIST ({});"
    "CREATE TABLE t1 PARTITION OF t DEFAULT; INSERT INTO t VALUES ('1');"
)
FUNCTION = (
    "CREATE OR REPLACE FUNCTION touch({}) RETURNS {} LANGUAGE plpgsql IMMUTABLE AS $$ {} $$;"
)
TOUCHING = (
    "CREATE OPERATOR ## (leftarg = text, rightarg = text, function = touch);"
    "CREATE TABLE t (id text PRIMARY KEY); INSERT INTO t VALUES ('1');"
)
TOUCHES = (("", "bool"), ("text", "text"), ("text, text", "bool"))


@pytest.fixture(scope="module")
def noted(postgres: Postgres) -> str:
    """A database that nothing here changes."""
    return postgres.made(NOTES)


def columns(database: PostgresDatabase, table: str, name: str = "id") -> list[object]:
    return [value for (value,) in database.rows(table, [name])]


def test_tables_and_rows_are_given_as_they_are_stored(noted: str):
    with PostgresDatabase(noted) as database:
        found = list(database.rows("note", ["id", "at", "said", "data", "none"], order=["id"]))

        assert database.tables == {
            "note": Table("note", ("id", "at", "said", "data"), ("id",)),
        }
        assert found == [
            ("a", 1, "first", None, None),
            ("b", 2, "second", b"\x00\xff", None),
            ("c", 2, None, b"", None),
        ]
        assert (database.damage, database.bad_texts) == ((), 0)


def test_rows_are_asked_for_by_value_from_a_key_on_and_either_way(noted: str):
    with PostgresDatabase(noted) as database:

        def ids(**how: object) -> str:
            return "".join(str(each) for (each,) in database.rows("note", ["id"], **how))

        assert ids(order=["id"]) == "abc"
        assert ids(order=["id"], descending=True) == "cba"
        assert ids(order=["at", "id"], after=(1, "a")) == "bc"
        assert ids(order=["at", "id"], after=(2, "c"), descending=True) == "ba"
        assert ids(order=["id"], after=("a",), most=1) == "b"
        assert ids(where={"at": 2}, order=["id"]) == "bc"
        assert ids(where={"at": 2, "said": None}) == "c"
        assert ids(where={"none": None}, order=["id"]) == "abc"
        assert ids(where={"none": 1}) == ""
        assert ids(order=["none", "id"], after=(1, "a")) == ""
        assert ids(where={"data": b"\x00\xff"}) == "b"
        with pytest.raises(KeyError):
            database.rows("nothing", ["id"])


@pytest.mark.parametrize(
    "value", ["no number", "99999999999999999999", "1\0", "\ud800", "1' OR 1"]
)
def test_what_can_be_no_value_of_a_column_is_in_no_row(noted: str, value: str):
    with PostgresDatabase(noted) as database:
        assert list(database.rows("note", ["id"], where={"at": value})) == []
        assert list(database.rows("note", ["id"], where={"id": value})) == []
        assert list(database.among("note", ["id"], ["id"], [(value,)])) == []
        assert sorted(columns(database, "note")) == ["a", "b", "c"]


def test_many_rows_are_asked_for_at_once_by_their_keys(noted: str):
    with PostgresDatabase(noted) as database:
        found = database.among("note", ["at", "id"], ["id", "said"], [("b", "second"), ("a", "x")])

        assert list(found) == [(2, "b")]
        wanted = [(each,) for each in "abcd"]
        found = database.among("note", ["id"], ["id"], wanted, {"said": "first"})
        assert list(found) == [("a",)]
        assert list(database.among("note", ["id"], ["id"], [])) == []


def test_keys_of_any_type_are_asked_for_at_once(postgres: Postgres):
    keys = {
        "uuid": "0000000a-0000-4000-8000-00000000000{}",
        "int2": "{}",
        "bigint": "{}",
        "numeric": "{}.50",
        "char(5)": "{}",
        "boolean": "true",
        "date": "2026-01-0{}",
        "timestamptz": "2026-01-0{} 08:00:00.5+02",
        "name": "n{}",
    }
    types = ", ".join(f"k{n} {each}" for n, each in enumerate(keys))
    rows = [", ".join(f"'{each.format(n)}'" for each in keys.values()) for n in (1, 2)]
    address = postgres.made(
        f"CREATE TABLE keyed ({types}); INSERT INTO keyed VALUES ({rows[0]}), ({rows[1]});"  # noqa: S608 - made right here
    )
    with PostgresDatabase(address) as database:
        for n, type_name in enumerate(keys):
            name = f"k{n}"
            stored = set(database.rows("keyed", [name]))
            assert set(database.among("keyed", [name], [name], list(stored))) == stored, type_name
        both = list(database.rows("keyed", ["k0", "k1"], order=["k1"], most=1))
        assert list(database.among("keyed", ["k0", "k1"], ["k0", "k1"], both)) == both


def test_a_key_of_a_type_that_somebody_made_is_refused_as_a_question(postgres: Postgres):
    address = postgres.made(
        "CREATE TYPE mood AS ENUM ('sad'); CREATE TABLE m (id mood); INSERT INTO m VALUES ('sad');"
    )
    with PostgresDatabase(address) as database:
        assert list(database.rows("m", ["id"], where={"id": "sad"})) == [("sad",)]
        with pytest.raises(StoreError, match="the server failed at the table m"):
            list(database.among("m", ["id"], ["id"], [("sad",)]))


def test_of_very_many_tables_it_is_told_that_not_all_are_read(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tt_debugger.storage.postgres_tables.MOST_TABLES", 2)
    address = postgres.made("CREATE TABLE a (n int); CREATE TABLE b (n int);")
    with PostgresDatabase(address) as database:
        assert (list(database.tables), database.damage) == (["a", "b"], ())
    address = postgres.made(
        "CREATE TABLE a (n int); CREATE TABLE b (n int); CREATE TABLE c (n int);"
    )
    with PostgresDatabase(address) as database:
        assert list(database.tables) == ["a", "b"]
        assert database.damage == ("the database has more than 2 tables: no others are read",)


@pytest.mark.parametrize(
    "address", [f"postgresql://zoe:s3cret-of-zoe@h/{each}" for each in ("%00", "\udcff", "%ff")]
)
def test_an_address_that_breaks_the_driver_is_told_without_the_login(address: str):
    with pytest.raises((StoreError, UsageError)) as error:
        PostgresDatabase(address)
    context = None if error.value.__suppress_context__ else error.value.__context__
    assert "zoe" not in f"{error.value} {error.value.__cause__} {context}"


def test_values_of_all_kinds_are_plain(postgres: Postgres):
    with PostgresDatabase(postgres.made(KINDS)) as database:
        (row,) = database.rows("kind", database.tables["kind"].columns)

    assert row == (
        1,
        9223372036854775807,
        "12345678901234567890.50",
        0.1,
        '{"b":1,  "a":2}',
        '{"a": 2, "b": 1}',
        "2026-01-02 03:04:05.000006",
        "2026-01-02 01:04:05+00",
        "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        '{a,"b c",NULL}',
        "glad",
        "text",
        "2026-01-02",
        "1 day 02:00:00",
        "x  ",
    )


def test_a_long_table_is_read_by_the_page_and_may_be_left_in_the_middle(postgres: Postgres):
    address = postgres.made(
        "CREATE TABLE row (n int PRIMARY KEY, said text);"
        "INSERT INTO row SELECT n, repeat('x', n % 5000) FROM generate_series(1, 9000) n;"
    )
    with PostgresDatabase(address) as database:
        begun = database.rows("row", ["n"], order=["n"])
        assert list(islice(begun, 3)) == [(1,), (2,), (3,)]
        # Others ask meanwhile.
        assert list(database.rows("row", ["n"], order=["n"], after=(8998,))) == [(8999,), (9000,)]
        assert next(begun) == (4,)
        del begun
        assert [n for n, _ in database.rows("row", ["n", "said"], order=["n"])] == [
            *range(1, 9001)
        ]
        with postgres.connected(address) as other:
            other.execute("DROP TABLE row")  # nothing holds it any longer


def test_the_newest_rows_are_found_at_the_end_of_the_table(postgres: Postgres):
    address = postgres.made(
        "CREATE TABLE row (n text, said text);"
        "INSERT INTO row SELECT n, repeat('x', 900) FROM generate_series(1, 3000) n;"
        "CREATE TABLE part (n int PRIMARY KEY) PARTITION BY RANGE (n);"
        "CREATE TABLE part_1 PARTITION OF part FOR VALUES FROM (0) TO (10);"
        "INSERT INTO part VALUES (3), (1), (2);"
        "CREATE TABLE empty (n int);"
    )
    with PostgresDatabase(address) as database:
        assert list(database.newest("row", ["n"], 3)) == [("3000",), ("2999",), ("2998",)]
        assert len(list(database.newest("row", ["n"], 5000))) == 3000
        assert list(database.newest("part", ["n"], 2)) == [(3,), (2,)]
        assert list(database.newest("empty", ["n"], 2)) == []
        assert set(database.tables) == {"row", "part", "empty"}
        with postgres.connected(address) as other:
            other.execute("DELETE FROM row WHERE n::int > 100")
        assert list(database.newest("row", ["n"], 1)) == [("100",)]


def test_an_older_server_tells_its_newest_rows_by_their_key(
    noted: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "_TID_RANGES", sys.maxsize)
    with PostgresDatabase(noted) as database:
        assert list(database.newest("note", ["id"], 2)) == [("c",), ("b",)]


def test_tables_of_other_schemas_are_named_with_them(postgres: Postgres):
    script = (
        NOTES + "CREATE SCHEMA app; CREATE TABLE app.note (n int); CREATE TABLE app.own (n int)"
    )
    address = postgres.made(script)

    with PostgresDatabase(address) as database:
        assert list(database.tables) == ["note", "app.note", "app.own"]
        assert database.tables["app.note"].columns == ("n",)
        assert columns(database, "app.own", "n") == []
    with PostgresDatabase(f"{address}?options=-csearch_path%3Dapp") as database:
        assert list(database.tables) == ["note", "own", "public.note"]
        assert database.tables["note"].columns == ("n",)


def test_nothing_that_somebody_added_to_a_database_is_run(postgres: Postgres):
    with PostgresDatabase(postgres.made(NOTES + EVIL)) as database:
        assert set(database.tables) == {
            "note",
            "touched",
            "evil",
            "Robert'); DROP TABLE note;--",
        }
        every = ["id", "said", "p", "made"]
        found = list(database.rows("evil", every, where={"id": "x"}, order=["id"], after=("a",)))
        assert found == [("x", "y", "(a,b)", "Y")]
        assert len(list(database.newest("evil", every, 5))) == 2
        assert len(list(database.among("evil", every, ["id"], [("x",), ("z",)]))) == 2
        bobby = database.tables["Robert'); DROP TABLE note;--"]
        assert list(database.rows(bobby.name, bobby.columns, order=bobby.columns)) == [
            ("one", "two")
        ]
        assert list(database.rows(bobby.name, bobby.columns, where={bobby.columns[0]: "'"})) == []
        assert sorted(columns(database, "note")) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("planned", "is_read"),
    [
        ("CREATE INDEX i ON t (id) WHERE touch()", False),
        ("CREATE INDEX i ON t ((touch()))", False),
        ("CREATE INDEX i ON t ((id ## 'x'))", False),
        ("CREATE STATISTICS s ON (touch()), id FROM t", False),
        (PARTED.format("(touch(id))"), False),
        (PARTED.format("id") + "CREATE INDEX i ON t1 (id) WHERE touch()", False),
        ("CREATE INDEX i ON t (lower(id)) WHERE length(id) > 0", True),
        ("ALTER TABLE t ADD CHECK (touch())", True),
        (PARTED.format("id") + "ALTER TABLE t1 ADD CHECK (touch())", True),
    ],
)
def test_a_table_is_left_where_the_server_would_run_what_was_added_to_plan(
    postgres: Postgres,
    planned: str,
    is_read: bool,  # noqa: FBT001 - one of the cases
):
    harmless = [FUNCTION.format(*each, "BEGIN RETURN true; END") for each in TOUCHES]
    address = postgres.made("".join((*harmless, TOUCHING, planned)))
    with postgres.connected(address) as owner:
        owner.execute("ANALYZE")
        for each in TOUCHES:
            owner.execute(FUNCTION.format(*each, "BEGIN RAISE 'touched'; END").encode())
    with PostgresDatabase(address) as database:
        assert ("t" in database.tables) is is_read
        assert bool(database.damage) is not is_read
        if is_read:
            assert columns(database, "t") == ["1"]
            assert list(database.rows("t", ["id"], where={"id": "1"}, order=["id"])) == [("1",)]
            assert list(database.newest("t", ["id"], 5)) == [("1",)]
            assert list(database.among("t", ["id"], ["id"], [("1",)])) == [("1",)]


def test_columns_and_parts_that_would_be_worked_out_elsewhere_are_left(postgres: Postgres):
    address = postgres.made(
        "CREATE FUNCTION touch(text) RETURNS text LANGUAGE plpgsql IMMUTABLE AS $$"
        "BEGIN RAISE EXCEPTION 'touched'; END $$;"
        "CREATE TABLE base (n int); CREATE TABLE child (m int) INHERITS (base);"
        "INSERT INTO base VALUES (1); INSERT INTO child VALUES (2, 3);"
    )
    with postgres.connected(address) as owner:
        if owner.info.server_version >= 180_000:
            owner.execute("CREATE TABLE virtual (a text, b text GENERATED ALWAYS AS (a || 'x'))")
    with PostgresDatabase(address) as database:
        assert columns(database, "base", "n") == [1]
        assert columns(database, "child", "n") == [2]
        if "virtual" in database.tables:
            assert database.tables["virtual"].columns == ("a",)


def test_a_partition_on_another_server_keeps_its_table_from_being_read(postgres: Postgres):
    address = postgres.made(
        "CREATE FOREIGN DATA WRAPPER far; CREATE SERVER there FOREIGN DATA WRAPPER far;"
        "CREATE TABLE part (n int) PARTITION BY LIST (n);"
        "CREATE TABLE part_1 PARTITION OF part FOR VALUES IN (1) PARTITION BY LIST (n);"
        "CREATE FOREIGN TABLE part_2 PARTITION OF part_1 FOR VALUES IN (1) SERVER there;"
        "CREATE FOREIGN TABLE away (n int) SERVER there; CREATE TABLE here (n int)"
    )
    with PostgresDatabase(address) as database:
        assert list(database.tables) == ["here"]


def test_a_transaction_can_only_read_and_leaves_no_setting_behind(noted: str):
    with PostgresDatabase(noted) as database:
        with (
            pytest.raises(StoreError, match="code 25006"),
            database._question("note") as asked,
        ):
            asked.execute("INSERT INTO public.note VALUES ('d')")
        for most in (1, None):
            list(database.rows("note", ["id"], most=most))
            (idle,) = database._connections._idle
            assert idle.info.transaction_status == psycopg.pq.TransactionStatus.IDLE
            assert idle.execute("SHOW search_path").fetchone() == ('"$user", public',)
            assert idle.execute("SHOW row_security").fetchone() == ("on",)


def test_a_client_that_cannot_ask_several_things_at_once_asks_one_by_one(
    noted: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(psycopg.Pipeline, "is_supported", lambda: False)
    with PostgresDatabase(noted) as database:
        assert list(database.rows("note", ["id"], order=["id"], most=1)) == [("a",)]
        assert list(database.rows("note", ["id"], where={"at": "x"}, most=1)) == []


def test_a_moment_is_another_one_as_soon_as_anything_was_written(postgres: Postgres):
    address = postgres.made(NOTES)
    with PostgresDatabase(address) as database:
        before = database.moment()
        list(database.rows("note", ["id"]))
        assert database.moment() == before
        with postgres.connected(address) as writer:
            writer.execute("UPDATE note SET at = 3 WHERE id = 'a'")
        assert database.moment() != before


def test_a_row_has_another_version_as_soon_as_it_was_written_anew(postgres: Postgres):
    address = postgres.made(NOTES)
    asked = ["id", storage.ROW_VERSION]
    with PostgresDatabase(address) as database:
        before = dict(database.rows("note", asked))
        with postgres.connected(address) as writer:
            writer.execute("UPDATE note SET at = at WHERE id = 'a'")
        after = dict(database.rows("note", asked))
    assert {name for name in before if before[name] != after[name]} == {"a"}


def test_a_value_that_is_too_long_is_told_and_not_fetched(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "LONGEST", 1 << 20)
    longer = "UPDATE note SET said = repeat('x', 1048577) WHERE id = 'b'"
    address = postgres.made(NOTES + longer)
    with PostgresDatabase(address) as database:
        assert len(list(database.rows("note", ["id", "at"]))) == 3
        with pytest.raises(StoreError, match="a value in the table note is larger than 1 MiB"):
            list(database.rows("note", ["said"]))


def test_texts_that_are_no_utf_8_are_counted(postgres: Postgres):
    address = postgres.made(ENCODING="'SQL_ASCII'", LOCALE="'C'")
    with postgres.connected(address) as owner:
        owner.execute("CREATE TABLE note (id text)")
        owner.execute(b"INSERT INTO note VALUES (E'\\xe9t\\xe9'), ('plain')")
    with PostgresDatabase(address) as database:
        assert columns(database, "note") == ["�t�", "plain"]
        assert database.bad_texts == 1


def test_a_connection_that_the_server_ended_is_made_anew(postgres: Postgres):
    address = postgres.made(NOTES)
    with PostgresDatabase(address) as database:
        assert len(columns(database, "note")) == 3
        end_all(postgres, address)
        assert len(columns(database, "note")) == 3
        end_all(postgres, address)
        assert list(database.rows("note", ["id"], order=["id"], most=1)) == [("a",)]


def test_a_server_that_ends_while_it_answers_is_told(
    postgres: Postgres, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(storage, "_BATCH", 1)
    address = postgres.made(NOTES)
    with PostgresDatabase(address) as database:
        begun = database.rows("note", ["id"])
        next(begun)
        end_all(postgres, address)
        with pytest.raises(StoreError, match=r"the server is shutting down|the connection was"):
            list(begun)
        assert len(columns(database, "note")) == 3


def end_all(postgres: Postgres, address: str) -> None:
    name = address.rpartition("/")[2]
    with postgres.connected(postgres.address()) as other:
        other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", (name,)
        )


def test_the_probe_tells_tables_and_columns(noted: str):
    seen = probe(noted)

    assert isinstance(seen, PostgresProbe)
    assert seen.tables == (("note", ("id", "at", "said", "data")),)
    assert "postgres@" not in seen.location
    assert served_columns(seen, "note", "id", "at")
    assert not served_columns(seen, "note", "other")
    assert not served_columns(seen, "nothing")
    assert not has_columns(seen, "note", "id")


SECRET = "s3cret-of-zoe"  # noqa: S105 - it opens nothing


def refused(address: str, *, table: str | None = None) -> str:
    """Say how an address is refused; nothing of what is secret may be anywhere in it."""
    with pytest.raises(StoreError) as error, PostgresDatabase(address) as database:
        list(database.rows(table, database.tables[table].columns)) if table else None
    problem: BaseException | None = error.value
    while problem is not None:
        assert SECRET not in str(problem)
        assert "zoe" not in str(problem)
        problem = problem.__cause__ or (
            None if problem.__suppress_context__ else problem.__context__
        )
    assert isinstance(error.value, TtdbgError)
    assert error.value.message.startswith("cannot read postgresql://")
    return error.value.message.partition(": ")[2]


@pytest.fixture(scope="module")
def guarded(postgres: Postgres) -> str:
    """A database that lets `zoe` in with her password alone; she may read one table of three."""
    address = postgres.made(
        NOTES + f"CREATE ROLE zoe LOGIN PASSWORD '{SECRET}';"  # noqa: S608 - all of it is ours
        "CREATE TABLE mine (n int); INSERT INTO mine VALUES (1); CREATE TABLE rowwise (n int);"
        "ALTER TABLE rowwise ENABLE ROW LEVEL SECURITY;"
        "CREATE POLICY own ON rowwise USING (n > 1);"
        "GRANT SELECT ON mine, rowwise TO zoe;"
    )
    with postgres.connected(address) as owner:
        told = owner.execute("SHOW hba_file").fetchone()
        assert told is not None
        rules = Path(told[0])
        rules.write_text(f"local all zoe scram-sha-256\n{rules.read_text()}")
        owner.execute("SELECT pg_reload_conf()")
    # The server reads its rules when it gets to it.
    while True:
        with suppress(psycopg.OperationalError):
            psycopg.connect(as_zoe(address, "wrong")).close()
            continue
        return address


def as_zoe(address: str, password: str) -> str:
    return address.replace("postgres@", f"zoe:{password}@")


def test_a_login_that_is_right_is_let_in(guarded: str):
    with PostgresDatabase(as_zoe(guarded, SECRET)) as database:
        assert columns(database, "mine", "n") == [1]


@pytest.mark.parametrize("password", ["", f"{SECRET}-wrong"])
def test_a_refused_login_is_told_without_it(guarded: str, password: str):
    assert refused(as_zoe(guarded, password)) == "the server refuses the login"


def test_a_database_that_is_not_there_is_told(postgres: Postgres):
    said = refused(postgres.address("none"))

    assert said == "the server has no such database, or it may not be entered"


@pytest.mark.parametrize(
    "address",
    [
        f"postgresql://zoe:{SECRET}@127.0.0.1:1/db",
        f"postgresql://zoe:{SECRET}@%2Fnowhere/db",
        f"postgresql://zoe:{SECRET}@127.0.0.1:1/db?nonsense={SECRET}",
        f"postgresql://zoe:{SECRET}@127.0.0.1:99999/db",
    ],
)
def test_where_no_server_answers_it_is_told_without_the_login(address: str):
    assert refused(address) in ("no server answers there", "the server cannot be reached")


def test_a_table_without_rights_is_told(guarded: str):
    zoe = as_zoe(guarded, SECRET)

    assert refused(zoe, table="note") == "there are no rights to read the table note"
    assert refused(zoe, table="rowwise").startswith("the table rowwise hides rows")


def test_a_table_that_goes_or_loses_a_column_is_told(postgres: Postgres):
    address = postgres.made(NOTES)
    with PostgresDatabase(address) as database, postgres.connected(address) as owner:
        owner.execute("ALTER TABLE note DROP COLUMN said")
        with pytest.raises(StoreError, match="note no longer has the columns that it had"):
            list(database.rows("note", ["id", "said"]))
        owner.execute("DROP TABLE note")
        with pytest.raises(StoreError, match="the table note is no longer there"):
            list(database.newest("note", ["id"], 1))


def test_a_server_that_takes_too_long_is_told(postgres: Postgres, monkeypatch: pytest.MonkeyPatch):
    address = postgres.made(NOTES)
    with PostgresDatabase(address) as database, postgres.connected(address) as owner:
        monkeypatch.setitem(connections._SETTINGS, "statement_timeout", "250ms")
        owner.execute("BEGIN; LOCK TABLE note")
        for most in (1, None):
            with pytest.raises(StoreError, match="note takes the server longer than 30 s"):
                list(database.rows("note", ["id"], most=most))
        # A machine that is busy may take the whole of both times before it looks which is over.
        monkeypatch.setitem(connections._SETTINGS, "statement_timeout", "30s")
        monkeypatch.setitem(connections._SETTINGS, "lock_timeout", "20ms")
        for most in (1, None):
            with pytest.raises(StoreError, match="note is locked by somebody else"):
                list(database.rows("note", ["id"], most=most))
        owner.execute("ROLLBACK")
        assert len(columns(database, "note")) == 3


def test_without_its_driver_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(StoreError) as error:
        PostgresDatabase(f"postgresql://zoe:{SECRET}@db/app")

    assert (
        error.value.message == "cannot read postgresql://db:5432/app: its driver is not installed"
    )
    assert error.value.hint == "install it with: pip install 'ttdbg[postgres]'"
