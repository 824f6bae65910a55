"""LangGraph's threads in a real PostgreSQL, compared with what LangGraph says of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import msgspec
import psycopg
import pytest
from builders import FIXTURES
from langgraph_truth import count, differences, truth_of
from servers import Postgres

from tt_debugger.core.model import SessionId
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.formats.langgraph_postgres import STORE, threads
from tt_debugger.formats.langgraph_postgres.threads import schemas_of
from tt_debugger.storage.probe import probe
from tt_debugger.store import Follows, HasMany, HasSubsessions, Store

FOLDER = FIXTURES / "langgraph_postgres"
UNNAMED = "error-parallel at step 1: next"
"""The nodes after a failed parallel step, which 0.2 does not record."""


@pytest.fixture(scope="module", params=["0.2", "0.6", "1.2"])
def generation(request: pytest.FixtureRequest, postgres: Postgres) -> tuple[str, str]:
    """A version of LangGraph and the address of the database that it has written."""
    return request.param, postgres.loaded(FOLDER / f"{request.param}.sql.gz")


@pytest.fixture(scope="module")
def newest(postgres: Postgres) -> str:
    return postgres.loaded(FOLDER / "1.2.sql.gz")


@pytest.fixture
def copy(postgres: Postgres) -> str:
    """A database that the test may change."""
    return postgres.loaded(FOLDER / "0.6.sql.gz")


@pytest.fixture
def open_store() -> Iterator[Any]:
    stores: list[Store] = []

    def opened(address: str) -> Store:
        stores.append(STORE.open(address))
        return stores[-1]

    yield opened
    for each in stores:
        each.close()


def test_every_checkpoint_is_as_langgraph_tells_it(generation: tuple[str, str], open_store: Any):
    version, address = generation
    truth = truth_of(FOLDER / f"{version}.truth.json.gz")
    store = open_store(address)

    found = set(differences(store, truth))
    assert count(truth) == {"0.2": 55, "0.6": 87, "1.2": 117}[version]
    assert found == ({UNNAMED} if version == "0.2" else set())
    assert set(truth) <= set(store.sessions())


def test_such_a_database_is_recognised_by_its_tables(generation: tuple[str, str]):
    found, match = recognise(probe(generation[1]))

    assert found is STORE
    assert match.score == 95


def test_every_thread_and_namespace_opens_with_every_row(
    generation: tuple[str, str], open_store: Any, postgres: Postgres
):
    version, address = generation
    store = open_store(address)
    with postgres.connected(address) as other:
        rows = other.execute(
            "SELECT thread_id, checkpoint_ns, count(*)::int FROM checkpoints GROUP BY 1, 2"
        ).fetchall()
    counts = {
        thread if not namespace else f"{thread}|{namespace}": number
        for thread, namespace, number in rows
    }
    for name, number in counts.items():
        session = store.load(SessionId(name)).session
        assert len(session) == number
        assert all(store.bodies(session, range(number)))
        assert msgspec.json.decode(store.raw(session, number - 1))["thread_id"] in name
        started = [each for names in session.subsessions.values() for each in names]
        assert set(started) <= set(counts)
    assert {name for name in counts if "|" in name} or version == "0.2"


def test_a_shared_value_is_fetched_once_and_is_one_object(
    newest: str, open_store: Any, monkeypatch: pytest.MonkeyPatch
):
    store = open_store(newest)
    session = store.load(SessionId("linear-chat")).session
    asked: list[tuple[str, ...]] = []
    among = store._threads._database.among

    def counted(table: str, columns: Any, keys: Any, values: Any, where: Any) -> Any:
        asked.extend(values if table == "checkpoint_blobs" else ())
        return among(table, columns, keys, values, where)

    monkeypatch.setattr(store._threads._database, "among", counted)
    first = store.bodies(session, range(len(session)))
    assert len(asked) == len(set(asked))
    fetched = len(asked)
    again = [store.bodies(session, [row])[0] for row in reversed(range(len(session)))]
    assert len(asked) == fetched
    assert first == again[::-1]
    assert any(
        a["values"]["messages"] is b["values"]["messages"]
        for a, b in pairwise(first)
        if "messages" in a["values"]
    )


def test_what_is_written_to_a_thread_is_followed(copy: str, open_store: Any, postgres: Postgres):
    store = open_store(copy)
    loaded = store.load(SessionId("linear-chat"))
    assert store.follow(loaded.cursor).session is loaded.session
    with postgres.connected(copy) as writer:
        add_checkpoint(writer, "linear-chat", "1fffffff-0000-6000-8000-000000000000")
    grown = store.follow(loaded.cursor)

    assert len(grown.session) == len(loaded.session) + 1
    assert grown.kept == len(loaded.session)
    assert grown.session.ids[-1] == "1fffffff-0000-6000-8000-000000000000"
    assert store.bodies(grown.session, [len(grown.session) - 1])[0]["values"] == {"n": 1}
    assert store.follow(grown.cursor).session is grown.session
    with postgres.connected(copy) as writer:
        writer.execute(
            "INSERT INTO checkpoint_writes"
            " VALUES ('linear-chat', '', %s, 't', 0, 'n', 'json', '2')",
            (grown.session.ids[-1],),
        )
    written = store.follow(grown.cursor)
    assert written.kept == len(grown.session) - 1
    (task,) = store.bodies(written.session, [len(written.session) - 1])[0]["tasks"]
    assert task["result"] == {"n": 2}


def add_checkpoint(writer: psycopg.Connection[Any], thread: str, name: str) -> None:
    writer.execute(
        "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, parent_checkpoint_id,"
        " checkpoint, metadata) SELECT thread_id, '', %s, max(checkpoint_id), %s, '{\"step\": 99}'"
        " FROM checkpoints WHERE thread_id = %s AND checkpoint_ns = '' GROUP BY 1",
        (name, '{"v": 4, "channel_values": {"n": 1}, "channel_versions": {"n": "1.0"}}', thread),
    )


def test_a_value_that_is_shared_wins_over_one_in_the_row(
    copy: str, open_store: Any, postgres: Postgres
):
    with postgres.connected(copy) as writer:
        add_checkpoint(writer, "linear-chat", "1fffffff-0000-6000-8000-000000000000")
        writer.execute(
            "INSERT INTO checkpoint_blobs VALUES ('linear-chat', '', 'n', '1.0', 'json', '7')"
        )
    store = open_store(copy)
    session = store.load(SessionId("linear-chat")).session

    assert store.bodies(session, [len(session) - 1])[0]["values"] == {"n": 7}


def test_of_many_threads_the_newest_page_is_listed_and_others_are_found_by_name(
    copy: str, open_store: Any, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(threads, "FEW_ROWS", 300)
    monkeypatch.setattr(threads, "A_PAGE", 50)
    with postgres.connected(copy) as writer:
        writer.execute(
            "INSERT INTO checkpoints (thread_id, checkpoint_ns, checkpoint_id, checkpoint)"
            " SELECT format('user-%s', n), '', '2' || lpad(n::text, 35, '0'), '{\"v\": 4}'"
            " FROM generate_series(1, 1000) n"
        )
    store = open_store(copy)

    assert store.sessions() == [f"user-{n}" for n in range(951, 1001)]
    assert store.sessions_named("linear-chat")[0] == "linear-chat"
    assert store.sessions_named("user-99")[0] == "user-99"
    assert {"user-990", "user-999"} <= set(store.sessions_named("user-99"))
    assert store.sessions_named("nobody") == []
    assert len(store.load(SessionId("linear-chat")).session) > 5


def test_a_thread_of_many_namespaces_tells_them_all(
    copy: str, open_store: Any, postgres: Postgres
):
    with postgres.connected(copy) as writer:
        writer.execute(
            "INSERT INTO checkpoints"
            " (thread_id, checkpoint_ns, checkpoint_id, checkpoint, metadata)"
            " SELECT 'many', CASE n WHEN 0 THEN '' ELSE format('child:%s', n) END, '1f0',"
            """ '{"v": 4}', '{"parents": {"": "1f0"}}' FROM generate_series(0, 99) n"""
        )
    store = open_store(copy)
    session = store.load(SessionId("many")).session

    assert session.ids == ["1f0"]
    assert set(session.subsessions[0]) == {f"many|child:{n}" for n in range(1, 100)}
    assert store.load(SessionId("many|child:7")).session.ids == ["1f0"]


def test_a_store_keeps_the_contract(newest: str, open_store: Any):
    store = open_store(newest)
    session = store.load(store.sessions()[-1]).session

    assert isinstance(store, Store)
    assert isinstance(store, Follows)
    assert isinstance(store, HasMany)
    assert isinstance(store, HasSubsessions)
    assert store.load(session.id).session.ids == session.ids
    with pytest.raises(CannotReadError):
        store.load(SessionId("nobody"))
    with pytest.raises(CannotReadError):
        STORE.open("/nowhere/state.db")
    store.close()
    store.close()


def test_threads_in_another_schema_are_found_and_several_are_told(
    postgres: Postgres, open_store: Any
):
    address = postgres.loaded(FOLDER / "0.6.sql.gz")
    with postgres.connected(address) as owner:
        owner.execute("ALTER SCHEMA public RENAME TO agents")
    store = open_store(address)
    truth = truth_of(FOLDER / "0.6.truth.json.gz")
    assert list(differences(store, truth)) == []
    with postgres.connected(address) as owner:
        owner.execute("CREATE SCHEMA other")
        for each in (threads.CHECKPOINTS, threads.BLOBS):
            owner.execute(f"CREATE TABLE other.{each} (LIKE agents.{each} INCLUDING ALL)".encode())
    several = open_store(address)
    loaded = several.load(SessionId("linear-chat"))
    told = [each.message for each in loaded.session.findings]
    assert told == ["there are checkpoints in other schemas too: other"]
    named = open_store(f"{address}?options=-csearch_path%3Dother")
    assert named.sessions() == []


def test_one_checkpoint_a_thread_is_read_where_a_shallow_saver_wrote(
    postgres: Postgres, open_store: Any
):
    address = postgres.made(
        "CREATE TABLE checkpoints (thread_id text, checkpoint_ns text DEFAULT '', type text,"
        " checkpoint jsonb, metadata jsonb, PRIMARY KEY (thread_id, checkpoint_ns));"
        "CREATE TABLE checkpoint_blobs (thread_id text, checkpoint_ns text DEFAULT '',"
        " channel text, type text, blob bytea, PRIMARY KEY (thread_id, checkpoint_ns, channel));"
        "INSERT INTO checkpoints VALUES ('t', '', NULL,"
        """ '{"v": 2, "id": "1f0", "channel_versions": {"a": "1", "b": "1"}}', '{"step": 3}');"""
        "INSERT INTO checkpoint_blobs"
        " VALUES ('t', '', 'a', 'json', '[1]'), ('t', '', 'c', 'json', '2');"
    )
    store = open_store(address)
    loaded = store.load(SessionId("t"))

    assert store.sessions() == ["t"]
    assert loaded.session.ids == ["1f0"]
    assert store.bodies(loaded.session, [0])[0]["values"] == {"a": [1]}
    with postgres.connected(address) as writer:
        writer.execute("UPDATE checkpoint_blobs SET blob = '[2]' WHERE channel = 'a'")
        writer.execute("""UPDATE checkpoints SET checkpoint = checkpoint || '{"id": "1f1"}'""")
    grown = store.follow(loaded.cursor)
    assert grown.session.ids == ["1f1"]
    assert store.bodies(grown.session, [0])[0]["values"] == {"a": [2]}


def test_a_table_that_may_not_be_read_and_a_login_are_told_without_secrets(
    copy: str, postgres: Postgres
):
    with postgres.connected(copy) as owner:
        owner.execute("DROP ROLE IF EXISTS max")
        owner.execute("CREATE ROLE max LOGIN PASSWORD 's3cret'")
    address = copy.replace("postgres@", "max:s3cret@")

    with pytest.raises(CannotReadError) as error:
        Debugger.open(address)
    assert error.value.message.endswith("there are no rights to read the table checkpoints")
    assert "max" not in f"{error.value.message} {error.value.hint}"


def test_a_debugger_shows_no_login_in_anything_it_says(newest: str):
    with Debugger.open(newest.replace("postgres@", "postgres:s3cret@"), "branching") as debugger:
        assert "postgres@" not in debugger.location
        assert "s3cret" not in debugger.location
        assert debugger.session.format == "langgraph_postgres"
        assert len(debugger.session) > 3


@pytest.mark.parametrize(
    ("tables", "schemas"),
    [
        ({}, ()),
        ({"checkpoints": threads.OF_CHECKPOINTS}, ()),
        ({"checkpoints": {"thread_id"}, "checkpoint_blobs": threads.OF_BLOBS}, ()),
        (
            {"a.checkpoints": threads.OF_CHECKPOINTS, "checkpoint_blobs": threads.OF_BLOBS},
            (),
        ),
        (
            {
                "b.checkpoints": threads.OF_CHECKPOINTS,
                "b.checkpoint_blobs": threads.OF_BLOBS,
                "checkpoints": threads.OF_CHECKPOINTS,
                "checkpoint_blobs": threads.OF_BLOBS,
                "old_checkpoints": threads.OF_CHECKPOINTS,
            },
            ("", "b."),
        ),
    ],
)
def test_a_checkpointer_is_all_of_its_tables_in_one_schema(tables: Any, schemas: Any):
    assert schemas_of({name: tuple(columns) for name, columns in tables.items()}) == schemas
