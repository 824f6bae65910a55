"""Recordings in PostgreSQL: what a recorder wrote to a server is shown as it was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, replay_of
from forks_of_rows import draft
from record.backends import EVERY, HEADER, changed, some, start
from servers import Postgres

from tt_debugger.core.changes import Put
from tt_debugger.core.model import Kind, SessionId
from tt_debugger.core.recording.entries import Continues, Entry, Forked, Header, encoded
from tt_debugger.core.recording.naming import tenant_and_session
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.core.refs import parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.formats.recording_postgres import RecordingPostgres
from tt_debugger.formats.recording_sqlite import RecordingSqlite
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.postgres import PostgresLog
from tt_debugger.record.backends.sqlite import SqliteLog
from tt_debugger.storage.postgres import PostgresDatabase
from tt_debugger.storage.probe import probe
from tt_debugger.storage.writing import write

DUMP = FIXTURES / "recording_postgres" / "run.sql"
"""What pg_dump says of a database to which `SESSIONS` were recorded."""
SESSIONS: dict[tuple[str, str], tuple[Entry, ...]] = {
    ("", "a/b"): (start(),),
    ("", "main"): EVERY,
    ("acme", "main"): tuple(some(5)),
}
NAMES = ["/a/b", "main", "acme/main"]


@pytest.fixture
def address(postgres: Postgres) -> str:
    return postgres.loaded(DUMP)


@pytest.fixture
def opened() -> Iterator[Any]:
    stores: list[RecordingPostgres] = []

    def open_store(address: str) -> RecordingPostgres:
        stores.append(RecordingPostgres.open(address))
        return stores[-1]

    yield open_store
    for each in stores:
        each.close()


@pytest.fixture
def store(address: str, opened: Any) -> RecordingPostgres:
    return opened(address)


def log_at(address: str, session: str = "main", tenant: str = "") -> PostgresLog:
    return PostgresLog.open(address, Options(session, tenant))


def test_such_a_database_is_recognised_by_its_tables(address: str):
    found, match = recognise(probe(address))

    assert (found, match.score) == (RecordingPostgres, 97)


def test_sessions_of_all_tenants_are_named_the_one_written_last_at_the_end(
    store: RecordingPostgres, address: str, postgres: Postgres
):
    assert store.sessions() == NAMES
    with postgres.connected(address) as writer:
        writer.execute("DELETE FROM agent_turns WHERE tenant = 'acme'")
        assert store.sessions() == ["acme/main", "/a/b", "main"]
        writer.execute("DELETE FROM agent_sessions WHERE tenant = ''")
        assert store.sessions() == ["acme/main", "/a/b", "main"]
    assert store.sessions_named("acme") == ["acme/main"]
    assert store.sessions_named("main") == ["main"]
    assert store.sessions_named("nobody") == store.sessions_named("a%FF/b") == []


@pytest.mark.parametrize(("key", "name"), zip(SESSIONS, NAMES, strict=True))
def test_a_session_is_what_its_log_says(
    key: tuple[str, str], name: str, store: RecordingPostgres, address: str
):
    tenant, wanted = key
    log = log_at(address, wanted, tenant)
    try:
        assert list(log.newest_first()) == list(SESSIONS[key])[::-1]
        goes_on = restored(log.newest_first())
        assert log.location == f"{store.location}#{name}:"
    finally:
        log.close()
    session = store.load(SessionId(name)).session

    assert session.ids == [each.id for each in SESSIONS[key]]
    assert session.title == f"run of {tenant or 'nobody'}"
    bodies = store.bodies(session, range(len(session)))
    assert bodies == [json.loads(encoded(each)) for each in SESSIONS[key]]
    assert session.active is not None
    assert isinstance(goes_on, Restored)
    assert replay_of(store, session).state(session.active) == goes_on.state


def test_what_is_shown_is_what_sqlite_shows_of_the_same_entries(
    store: RecordingPostgres, tmp_path: Path
):
    path = f"{tmp_path}/run.db"
    for (tenant, wanted), entries in SESSIONS.items():
        log = SqliteLog.open(f"sqlite:///{path}", Options(wanted, tenant))
        log.begin(Header(wanted, HEADER.created_at, title=f"run of {tenant or 'nobody'}"))
        log.append(entries)
        log.close()
    other = RecordingSqlite.open(path)
    try:
        for name in NAMES:
            one, two = (each.load(SessionId(name)).session for each in (store, other))
            assert facts(one) | {"format": ""} == facts(two) | {"format": ""}
            for row in range(len(one)):
                assert store.raw(one, row) == other.raw(two, row)
    finally:
        other.close()


def test_entries_show_as_what_they_are(store: RecordingPostgres):
    session = store.load(SessionId("main")).session

    assert [str(each.head.kind) for each in session][:9] == [
        *("snapshot", "tool_result", "message", "compaction", "branch_summary", "label"),
        *("label", "tool_call", "tool_call"),
    ]
    assert session.heads.step(13) == 14


def test_a_snapshot_is_kept_as_its_entry_and_behind_it_its_state(store: RecordingPostgres):
    session = store.load(SessionId("main")).session
    entry, state = store.raw(session, 0).split(b"\n")

    assert json.loads(entry) | {"state": json.loads(state)} == json.loads(encoded(EVERY[0]))
    assert store.raw(session, 2) == encoded(EVERY[2])


def test_it_is_followed_by_asking_again(store: RecordingPostgres, address: str):
    loaded = store.load(SessionId("acme/main"))
    again = store.follow(loaded.cursor)
    assert again.session is loaded.session
    log = log_at(address, "main", "acme")
    try:
        log.append([changed(5)])
        grown = store.follow(again.cursor)
        log.thin({each.id: each for each in (*some(2), changed(5, parent="e1"))})
        thinned = store.follow(grown.cursor)
    finally:
        log.close()

    assert (grown.kept, grown.session.ids) == (5, [f"e{number}" for number in range(6)])
    assert thinned.session.ids == ["e0", "e1", "e5"]
    assert list(store.watched()) == []


def test_what_others_write_to_the_server_is_no_reason_to_read_a_session_again(
    store: RecordingPostgres, address: str, postgres: Postgres, monkeypatch: pytest.MonkeyPatch
):
    since = store.follow(store.load(SessionId("main")).cursor)
    with postgres.connected(address) as writer:
        writer.execute("CREATE TABLE other (a int); INSERT INTO other VALUES (1)")
    asked: list[tuple[str, ...]] = []
    rows = PostgresDatabase.rows

    def counted(self: PostgresDatabase, table: str, columns: Any, **how: Any) -> Any:
        asked.append(tuple(columns))
        return rows(self, table, columns, **how)

    monkeypatch.setattr(PostgresDatabase, "rows", counted)

    assert store.follow(since.cursor).session is since.session
    assert not any("payload" in columns for columns in asked)


def test_damage_is_told_and_the_rest_is_shown(
    store: RecordingPostgres, address: str, postgres: Postgres
):
    with postgres.connected(address) as writer:
        writer.execute(
            "UPDATE agent_turns SET payload = '[1]' WHERE checkpoint_id = 's2';"
            'UPDATE agent_turns SET payload = \'{"type":"odd","id":"s6","parent":"s5"}\''
            " WHERE checkpoint_id = 's6';"
            "UPDATE agent_turns SET parent_id = 'x' WHERE checkpoint_id = 's12';"
            "DELETE FROM checkpoints WHERE thread_id = 'main' AND tenant = '';"
            "UPDATE agent_sessions SET header = '7' WHERE session_id = 'main' AND tenant = ''"
        )
    session = store.load(SessionId("main")).session

    assert session.ids == [each.id for each in EVERY]
    assert session.heads.kind(2) is Kind.UNREADABLE
    assert session.heads.kind(6) is Kind.CUSTOM
    messages = [each.message for each in session.findings]
    for part in (
        "agent_turns/s2: payload: it is a list",
        "the entry type 'odd' is not known",
        "the parent_id is 'x', and the entry says 's11'",
        "the row is not there",
        "agent_sessions: header: it is a single value",
    ):
        assert any(part in each for each in messages), part
    assert store.raw(session, 2) == b"[1]"


def test_a_session_that_is_not_there_is_told(store: RecordingPostgres):
    for name in ("none", "acme/none", "a%FF/main"):
        with pytest.raises(CannotReadError, match="there is no session"):
            store.load(SessionId(name))


def test_what_is_no_address_is_refused(tmp_path: Path):
    with pytest.raises(CannotReadError, match="no address of a server"):
        RecordingPostgres.open(str(tmp_path))


def test_the_location_of_a_log_opens_its_session(address: str):
    log = log_at(address, "main", "acme")
    log.close()
    server, _, fragment = log.location.partition("#")

    debugger = Debugger.open(server, parse_fragment(fragment).session)
    try:
        assert debugger.session.ids == [f"e{number}" for number in range(5)]
        assert debugger.state(4) == {"messages": [], "n": 4}
    finally:
        debugger.close()


@pytest.mark.parametrize("in_place", [False, True])
def test_a_recorder_goes_on_from_a_fork(
    in_place: bool,  # noqa: FBT001 - a parameter of the test
    store: RecordingPostgres,
    address: str,
):
    fork = draft(store, "acme/main", 2, Put(("n",), 20), in_place=in_place)
    for each in fork.writes:
        write(each)
    tenant, session = tenant_and_session(fork.session)
    log = log_at(address, session, tenant)
    try:
        found = restored(log.newest_first())
        assert isinstance(found, Restored)
        assert (found.leaf, found.state) == (fork.point, {"messages": [], "n": 20})
        log.append([Forked("next", found.leaf, "2027-01-01T00:00:00Z")])
        header = log.header
    finally:
        log.close()

    assert tenant == "acme"
    assert header is not None
    continues = None if in_place else Continues(f"{store.location}#acme/main:", "e2")
    assert header.continues == continues
    assert store.load(SessionId("acme/main")).session.ids[:5] == [f"e{n}" for n in range(5)]
