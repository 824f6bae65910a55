"""Tables of one's own in PostgreSQL: what is told of SQLite holds of a real server too."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, load, replay_of
from servers import Postgres

from tt_debugger.core.model import Kind, Session, SessionId
from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.formats import recognise
from tt_debugger.formats.postgres_tables import PostgresTables
from tt_debugger.storage.map_files import MAP
from tt_debugger.storage.postgres import PostgresDatabase
from tt_debugger.storage.probe import probe

GENERIC = FIXTURES / "postgres_tables" / "generic.sql"
TREE = """create table snaps (id uuid primary key, chat_id bigint, parent_id uuid, seq numeric,
    body jsonb, ts timestamptz);
insert into snaps select ('00000000-0000-4000-8000-' || lpad(i::text, 12, '0'))::uuid, 7,
    case when i > 1 then
        ('00000000-0000-4000-8000-' || lpad((i / 2)::text, 12, '0'))::uuid
    end, i, jsonb_build_object('n', i), timestamptz '2026-01-01 00:00:00+00' + i * interval '1 h'
from generate_series(1, 200) i"""


@pytest.fixture
def opened() -> Iterator[Any]:
    stores: list[PostgresTables] = []

    def open_database(address: str) -> PostgresTables:
        stores.append(PostgresTables.open(address))
        return stores[-1]

    yield open_database
    for each in stores:
        each.close()


@pytest.fixture
def generic(postgres: Postgres, opened: Any) -> PostgresTables:
    return opened(postgres.loaded(GENERIC))


def states(store: PostgresTables, session: Session) -> list[Any]:
    replay = replay_of(store, session)
    return [replay.state(row) for row in range(len(session))]


def test_both_tables_are_read_and_their_sessions_are_by_time(generic: PostgresTables):
    assert recognise(probe(generic.location))[0] is PostgresTables
    ids = generic.sessions()
    assert ids == ["sess-a", "sess-b", "user:42:chat", "research-2", "support-1"]
    assert [len(generic.load(name).session) for name in ids] == [8, 8, 3, 4, 6]


def test_the_states_are_the_documents_that_the_server_holds(generic: PostgresTables):
    fields, rest = {}, GENERIC.read_text().splitlines()
    for line in rest:
        cells = line.split("\t")
        if len(cells) == 5 and not line.startswith("COPY"):
            fields[cells[0]] = json.loads(cells[1].replace("\\\\", "\\"))

    for name in ("user:42:chat", "research-2", "support-1"):
        session = generic.load(SessionId(name)).session
        assert states(generic, session) == [fields.pop(each) for each in session.ids]
        assert session.ids[-1] == name
    assert fields == {}


def test_turns_are_those_of_sqlite(generic: PostgresTables):
    session = generic.load(SessionId("sess-a")).session

    assert [each.head.name for each in session] == [
        *("search", "fetch", "turn", "write", "search", "fetch", "turn", "write")
    ]
    assert {each.head.kind for each in session} == {Kind.TURN}
    assert [len(each["turns"]) for each in states(generic, session)] == list(range(1, 9))
    assert session.findings == ()


def test_a_session_is_loaded_again_alike_and_followed_by_asking_again(generic: PostgresTables):
    loaded = generic.load(SessionId("support-1"))

    assert facts(generic.load(SessionId("support-1")).session) == facts(loaded.session)
    assert generic.follow(loaded.cursor).session is loaded.session
    assert list(generic.watched()) == []


def test_a_long_session_with_keys_of_any_type_is_read_as_it_is_looked_at(
    postgres: Postgres, opened: Any, monkeypatch: pytest.MonkeyPatch
):
    store = opened(postgres.made(TREE))
    session = store.load(store.sessions()[-1]).session

    assert (session.id, len(session), session.heads.waiting()) == ("7", 200, 200)
    assert session.parents[100] == 49
    assert [session.heads.step(row) for row in (0, 199)] == [1, 200]
    assert session.heads.time(0) == 1767229200.0
    asked: list[str] = []
    rows = PostgresDatabase.rows

    def counted(self: PostgresDatabase, table: str, *more: Any, **how: Any) -> Any:
        asked.append(table)
        return rows(self, table, *more, **how)

    monkeypatch.setattr(PostgresDatabase, "rows", counted)
    assert store.bodies(session, range(100, 164)) == [{"n": n} for n in range(101, 165)]
    assert len(asked) == 1


def test_rows_that_are_no_neighbours_are_asked_for_at_once_by_keys_of_any_type(
    postgres: Postgres, opened: Any, monkeypatch: pytest.MonkeyPatch
):
    store = opened(postgres.made(TREE))
    session = store.load(store.sessions()[-1]).session
    monkeypatch.setattr(PostgresDatabase, "rows", None)

    wanted = (199, 3, 50, 7, 120)
    assert store.bodies(session, wanted) == [{"n": row + 1} for row in wanted]


def test_tables_that_no_format_reads_are_named_with_what_to_do(postgres: Postgres):
    tables = "".join(f"create table t{n} (a int);" for n in range(8))
    with pytest.raises(CannotReadError) as error:
        recognise(probe(postgres.made(tables)))

    assert error.value.message.endswith(
        ": it is a database of PostgreSQL whose tables no format reads"
        " (t0, t1, t2, t3, t4, t5 and 2 more)"
    )
    assert error.value.hint == (
        "say with `--map FILE` which table and columns hold checkpoints; the README shows how"
    )
    with pytest.raises(CannotReadError, match=r"no format reads: it has none$"):
        recognise(probe(postgres.made()))


def test_a_session_is_followed_as_it_is_written_to(postgres: Postgres, opened: Any):
    address = postgres.loaded(GENERIC)
    store = opened(address)
    since = store.load(SessionId("sess-a")).cursor
    with postgres.connected(address) as connection:
        connection.execute(
            "insert into agent_turns select gen_random_uuid(), session_id, 9, tool_name,"
            " input_hash, output_hash, payload, written_at from agent_turns"
            " where session_id = 'sess-a' and turn_number = 8"
        )
    grown = store.follow(since)
    assert (grown.kept, len(grown.session)) == (8, 9)
    with postgres.connected(address) as connection:
        connection.execute("delete from agent_turns where session_id = 'sess-a'")
    gone = store.follow(grown.cursor)
    assert (gone.kept, gone.session.id) == (0, "support-1")
    assert store.follow(gone.cursor).session is gone.session


def test_a_map_names_what_the_tables_of_a_server_hold(
    postgres: Postgres, opened: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "m.toml"
    path.write_text('table = "odd.brain"\nsession = "who"\nstate = "mind"\nid = "k"\n')
    monkeypatch.setenv(MAP, str(path))
    store = opened(
        postgres.made(
            "create schema odd; create table odd.brain (k int primary key, who text, mind json);"
            "insert into odd.brain values (1, 'bob', '{\"n\":1}'), (2, 'bob', '{\"n\":2}')"
        )
    )

    assert recognise(probe(store.location))[0] is PostgresTables
    assert states(store, store.load(SessionId("bob")).session) == [{"n": 1}, {"n": 2}]
    path.write_text('table = "brain"\nsession = "who"\nstate = "mind"\n')
    with pytest.raises(UsageError, match="there is no table 'brain'") as error:
        PostgresTables.open(store.location)
    assert error.value.hint == "there are the tables odd.brain"


def test_what_is_no_address_is_refused(tmp_path: Path):
    with pytest.raises(CannotReadError, match="no address of a server"):
        load(tmp_path, "postgres_tables")
