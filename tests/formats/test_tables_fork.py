"""Forks in tables of one's own: rows of a new thread, the same but for what names them."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, database_of, replay_of
from forks_of_rows import NOW, draft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from servers import Postgres
from strategies import json_values

from tt_debugger.core.changes import Drop, Put
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import How, NewRows
from tt_debugger.core.model import SessionId
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.postgres_tables import PostgresTables
from tt_debugger.formats.sqlite_tables import SqliteTables
from tt_debugger.storage.writing import write

HERE = FIXTURES / "sqlite_tables"
HI = {"role": "user", "content": "hi"}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    """Open a copy of a fixture, or a database of a few statements, or one of a server."""
    stores: list[Any] = []

    def open_store(what: str) -> Any:
        if what.startswith("postgres"):
            stores.append(PostgresTables.open(what))
        elif " " in what:
            stores.append(SqliteTables.open(str(database_of(tmp_path / "s.db", what))))
        else:
            copy = shutil.copyfile(HERE / f"{what}.db", tmp_path / f"{what}.db")
            stores.append(SqliteTables.open(str(copy)))
        return stores[-1]

    yield open_store
    for each in stores:
        each.close()


def inserts(fork: Draft) -> list[dict[str, Any]]:
    (rows,) = fork.writes
    assert isinstance(rows, NewRows)
    assert all(each.fresh for each in rows.inserts)
    return [dict(each.values) for each in rows.inserts]


def read_again(store: Any, fork: Draft) -> list[tuple[str, Any]]:
    """Write a fork, and give the states of its thread with their ids."""
    for each in fork.writes:
        write(each)
    found = type(store).open(fork.location)
    assert fork.session in found.sessions()
    session = found.load(SessionId(fork.session)).session
    assert session.ids[session.active or 0] == fork.point
    replay = replay_of(found, session)
    states = [(session.ids[row], replay.state(row)) for row in session.active_path]
    found.close()
    return states


def stored(path: str, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


# --- A thread and its past -----------------------------------------------------------------------


def test_a_thread_gets_its_past_and_the_wanted_state_under_a_new_name(opened: Any):
    store = opened("threads")
    before = stored(store.location, "select * from checkpoints")

    fork = draft(store, "parcel:7", 1, Put(("status",), "paused"))

    name = "parcel:7-fork-01010101"
    first, second, current = inserts(fork)
    old = {row[0]: row for row in before}
    for made, time in ((first, "01"), (second, "02")):
        key = f":history:2026-04-02T08:{time}:00.000001+00:00"
        row = old[f"parcel:7{key}"]
        assert list(made.values()) == [
            name + key, row[1].replace('"parcel:7"', f'"{name}"'), *row[2:],
        ]  # fmt: skip
    assert current == {
        "thread_id": name,
        "state_json": second["state_json"].replace('"running"', '"paused"'),
        "schema_version": 1,
        "created_at": "2026-12-23T04:26:40.250000+00:00",
        "updated_at": "2026-12-23T04:26:40.250000+00:00",
    }
    assert (fork.session, fork.point, fork.own) == (name, name, ("thread_id",))
    assert fork.resume_command == f"thread_id = {name!r}"
    hows = [each.how for each in fork.writes[0].inserts]
    assert hows == [How.KEPT, How.KEPT, How.CHANGED]
    states = read_again(store, fork)
    assert [state["status"] for _, state in states] == ["running", "running", "paused"]
    assert set(before) <= set(stored(store.location, "select * from checkpoints"))


def test_the_state_that_a_thread_has_is_forked_with_all_of_its_past(opened: Any):
    store = opened("threads")
    message = store.message({"messages": [HI]}, "more", NOW)

    states = read_again(store, draft(store, "parcel:7", 3, message))

    assert len(states) == 4
    assert states[-1][1]["messages"][-1] == {"role": "user", "content": "more"}
    assert len(read_again(store, draft(store, "alone", 0))) == 1


def test_an_edit_may_name_the_thread(opened: Any):
    store = opened("threads")
    fork = draft(store, "parcel:7", 1, Put(("thread_id",), "mine"))

    assert (fork.session, fork.own) == ("mine", ())
    assert [state["thread_id"] for _, state in read_again(store, fork)] == ["mine"] * 3


def test_a_state_in_an_envelope_names_its_thread_there(opened: Any):
    store = opened(
        "create table checkpoints (thread_id text primary key, state_json, schema_version, more);"
        """insert into checkpoints values
        ('t', '{"schema_version": 1, "state": {"thread_id": "t", "n": 1}}', 1, 'kept')"""
    )
    fork = draft(store, "t", 0)

    assert fork.own == ("state",)
    assert inserts(fork)[0]["more"] == "kept"
    (found,) = read_again(store, fork)
    assert found[1]["state"] == {"thread_id": "t-fork-01010101", "n": 1}


def test_a_fork_may_go_into_a_copy_of_the_database(opened: Any, tmp_path: Path):
    store = opened("threads")
    before = Path(store.location).read_bytes()
    fork = draft(store, "alone", 0, target=str(tmp_path / "other.db"))

    assert fork.location == str(tmp_path / "other.db")
    assert read_again(store, fork)[0][0] == fork.session == "alone-fork-02020202"
    assert Path(store.location).read_bytes() == before


# --- States and turns ----------------------------------------------------------------------------


def test_rows_that_name_their_parent_get_new_ids_and_keep_their_tree(opened: Any):
    store = opened("branches")

    fork = draft(store, "conv-1", 4, Put(("status",), "done"))

    named = ("id", "conversationId", "parentId", "seq", "ts")
    rows = inserts(fork)
    assert [tuple(each[name] for name in named) for each in rows] == [
        (6, "conv-1-fork-01010101", None, 1, 1767225660),
        (7, "conv-1-fork-01010101", 6, 2, 1767225840),
        (8, "conv-1-fork-01010101", 7, 3, 1798000000),
    ]
    old = stored(store.location, "select snapshot from snapshots where id in (1, 4, 5)")
    assert [each["snapshot"] for each in rows[:2]] == [old[0][0], old[1][0]]
    assert rows[2]["snapshot"] == old[2][0].replace("running", "done")
    assert [name for name, _ in read_again(store, fork)] == ["6", "7", "8"]


def test_turns_are_copied_and_what_was_edited_is_hashed_as_before(opened: Any):
    store = opened("turns")

    fork = draft(store, "run-a", 2, Put(("turn", "input", "query"), "other"))

    rows = inserts(fork)
    assert [each["turn_id"] for each in rows] == [f"run-a-fork-01010101-{n}" for n in (1, 2, 3)]
    assert [each["turn_number"] for each in rows] == [1, 2, 3]
    text = json.dumps({"query": "other"}, sort_keys=True, separators=(",", ":"))
    assert rows[2]["input_hash"] == hashlib.sha256(text.encode()).hexdigest()
    assert rows[2]["output_hash"].startswith("5429ed31")
    assert rows[2]["written_at"] == "2026-12-23T04:26:40+00:00"
    assert fork.own == ("turns",)
    assert fork.notes == ()
    assert read_again(store, fork)[-1][1]["turn"]["input"] == {"query": "other"}


def test_a_hash_that_nobody_can_make_stays_and_is_told(opened: Any):
    store = opened(
        "create table agent_turns"
        " (turn_id, session_id, turn_number, tool_name, input_hash, payload);"
        """insert into agent_turns values ('a', 's', 1, 't', 'ffffffffffffffffffff',
        '{"input": 1}')"""
    )
    fork = draft(store, "s", 0, Put(("turn", "input"), 2))

    assert inserts(fork)[0]["input_hash"] == "f" * 20
    assert fork.notes == ("input_hash is still that of the input before the edit",)


def test_rows_of_a_table_without_a_key_are_found_by_what_is_known_of_them(opened: Any):
    store = opened(
        "create table states (session_id, state, step, extra);"
        """insert into states values ('s', '{"n": 1}', 1, 'a'), ('s', '{"n": 2}', 2, 'b'),
        ('other', '{"n": 9}', 1, 'c')"""
    )
    fork = draft(store, "s", 1)

    assert [each["extra"] for each in inserts(fork)] == ["a", "b"]
    assert [state["n"] for _, state in read_again(store, fork)] == [1, 2]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("'3f2b8c1e-0d4a-4c57-9b1e-2a6d5e8f7c90'", "uuid"),
        ("'0123456789abcdef'", "0404040404040404"),
        ("'c1'", "c1-fork-02020202"),
        ("'s:7'", "s-fork-01010101:7"),
        ("12", 13),
        ("x'00112233445566778899aabbccddeeff'", b"\4" * 16),
    ],
)
def test_a_new_id_is_of_the_kind_of_the_old_one(opened: Any, old: str, new: Any):
    store = opened(
        "create table states (checkpoint_id primary key, session_id, state, step);"
        "insert into states values (OLD, 's', '{}', 1)".replace("OLD", old)
    )
    ((made, *_),) = [list(each.values()) for each in inserts(draft(store, "s", 0))]

    if new == "uuid":
        assert len(made) == 36
        assert made[14] == "4"
    elif isinstance(new, int):
        assert made == new
    else:
        assert len(made) == len(new)
        assert type(made) is type(new)
        assert made != old.strip("'")


def test_a_number_is_the_name_of_a_new_session_where_one_was_of_the_old(opened: Any):
    store = opened(
        "create table states (session_id integer, state, step integer);"
        """insert into states values (4, '{"session_id": 4}', 1), (9, '{"session_id": 9}', 1)"""
    )
    fork = draft(store, "4", 0)

    assert inserts(fork) == [{"session_id": 10, "state": '{"session_id": 10}', "step": 1}]
    assert read_again(store, fork) == [("1", {"session_id": 10})]


def test_what_tables_cannot_hold_is_refused(opened: Any):
    store = opened("turns")
    with pytest.raises(UnsupportedError, match="turns cannot be edited"):
        draft(store, "run-a", 1, Drop(("turns", 0)))
    with pytest.raises(UsageError, match="what a turn holds is an object"):
        draft(store, "run-a", 1, Put(("turn",), 3))
    with pytest.raises(UnsupportedError, match="no messages"):
        store.message({"turns": [], "turn": {}}, "hi", NOW)
    with pytest.raises(UnsupportedError, match="a fork is a thread of its own"):
        draft(opened("threads"), "alone", 0, in_place=True)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(value=json_values, name=st.sampled_from(["status", "messages", "new", "cost"]))
def test_any_value_comes_back_from_a_fork(opened: Any, value: Any, name: str):
    store = opened("threads")
    fork = draft(store, "parcel:7", 2, Put((name,), value))

    assert read_again(store, fork)[-1][1][name] == value


def test_one_that_becomes_true_is_an_edit(opened: Any):
    store = opened(
        "create table states (session_id, state, step);"
        """insert into states values ('s', '{"n": 1}', 1)"""
    )
    fork = draft(store, "s", 0, Put(("n",), value=True))

    assert [state["n"] is True for _, state in read_again(store, fork)] == [True]
    store = opened("turns")
    loaded = replay_of(store, store.load(SessionId("run-a")).session).state(1)
    turn = next(key for key, each in loaded["turns"][0].items() if each == 1)
    with pytest.raises(UnsupportedError, match="turns cannot be edited"):
        draft(store, "run-a", 1, Put(("turns", 0, turn), value=True))


# --- PostgreSQL ----------------------------------------------------------------------------------

GENERIC = FIXTURES / "postgres_tables" / "generic.sql"


def test_threads_and_turns_of_a_server_are_forked_alike(opened: Any, postgres: Postgres):
    store = opened(postgres.loaded(GENERIC))

    fork = draft(store, "user:42:chat", 1, Put(("status",), "paused"))
    assert fork.session == "user:42:chat-fork-01010101"
    states = read_again(store, fork)
    assert len(states) == 3
    assert states[-1][1]["status"] == "paused"
    turns = draft(store, "sess-a", 3, Put(("turn", "input"), {"q": "other"}))
    assert turns.notes == ()
    assert read_again(store, turns)[-1][1]["turn"]["input"] == {"q": "other"}
    assert len(turns.point) == 36
    with pytest.raises(UnsupportedError, match="what is at a server is forked there"):
        draft(store, "sess-a", 3, target="there.db")


def test_each_checkpoint_at_a_server_can_be_forked_and_the_rest_stays(
    opened: Any, postgres: Postgres
):
    address = postgres.loaded(GENERIC)
    store = opened(address)
    before = rows_at(postgres, address)
    for name in store.sessions():
        session = store.load(name).session
        for row in range(len(session)):
            wanted = replay_of(store, session).state(row)
            fork = draft(store, name, row, fresh=os.urandom)
            found = read_again(store, fork)[-1][1]
            assert {key for key in wanted if found[key] != wanted[key]} <= set(fork.own)
    assert before <= rows_at(postgres, address)


def rows_at(postgres: Postgres, address: str) -> set[str]:
    with postgres.connected(address) as connection:
        threads = connection.execute("select t::text from checkpoints t").fetchall()
        turns = connection.execute("select t::text from agent_turns t").fetchall()
        return {text for (text,) in (*threads, *turns)}


def test_a_server_goes_on_counting_where_it_was(opened: Any, postgres: Postgres):
    address = postgres.made(
        "create table snaps (id bigserial primary key, thread_id bigint, parent_id bigint,"
        " seq numeric, body jsonb, ts timestamptz default '2026-01-01 00:00:00.5+00');"
        "insert into snaps (thread_id, parent_id, seq, body) select 7, nullif(i - 1, 0), i,"
        " jsonb_build_object('n', i) from generate_series(1, 4) i"
    )
    store = opened(address)
    fork = draft(store, "7", 2, Put(("n",), 9))

    assert [each["id"] for each in inserts(fork)] == [-3, -2, -1]
    assert [each["parent_id"] for each in inserts(fork)] == [None, -3, -2]
    assert fork.notes == (
        "the new rows have ids below 0: those that the server gives by itself stay free",
    )
    assert [(name, state["n"]) for name, state in read_again(store, fork)] == [
        ("-3", 1), ("-2", 2), ("-1", 9),
    ]  # fmt: skip
    with postgres.connected(address) as connection:
        added = connection.execute(
            "insert into snaps (thread_id, seq, body) values (7, 5, '{}') returning id"
        ).fetchone()
    assert added == (5,)
