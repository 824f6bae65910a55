"""What the log in PostgreSQL does beside what every backend does."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import msgspec
import psycopg
import pytest
from record.backends import EVERY, HEADER, changed, some, start, time_at
from servers import Postgres

from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    Changed,
    EffectNoted,
    Entry,
    Said,
    Snapshotted,
    encoded,
    encoded_header,
)
from tt_debugger.errors import CannotReadError, CannotWriteError, StoreError, UsageError
from tt_debugger.formats.recording_postgres import RecordingPostgres
from tt_debugger.record.backends.options import Consistency, Options
from tt_debugger.record.backends.postgres import PostgresLog
from tt_debugger.record.backends.postgres_primary import LostError
from tt_debugger.record.backends.postgres_rows import TenantRows
from tt_debugger.record.backends.thinning import REFUSED, Thins
from tt_debugger.record.backends.turns import turn_of
from tt_debugger.storage.servers import address_of

Open = Callable[..., PostgresLog]
TABLES = ["agent_sessions", "agent_turns", "checkpoints"]
SESSIONS_WITH_JSONB = (
    "CREATE TABLE agent_sessions (tenant text, session_id text, header jsonb,"
    " schema_version bigint, created_at timestamptz, PRIMARY KEY (tenant, session_id))"
)
SESSIONS_WITHOUT_KEY = (
    "CREATE TABLE agent_sessions (tenant text, session_id text, header json,"
    " schema_version bigint, created_at timestamptz)"
)
OF_LANGGRAPH = (
    "CREATE TABLE checkpoints (thread_id text, checkpoint_ns text, checkpoint_id text,"
    " checkpoint jsonb, metadata jsonb)"
)


@pytest.fixture
def address(postgres: Postgres) -> str:
    return postgres.made()


@pytest.fixture
def opened(address: str) -> Iterator[Open]:
    """Open a log of the database of a test; all are closed in the end."""
    logs: list[PostgresLog] = []

    def open_log(session: str = "main", location: str = address, **options: Any) -> PostgresLog:
        logs.append(PostgresLog.open(location, Options(session, **options)))
        return logs[-1]

    yield open_log
    for log in logs:
        log.close()


@pytest.fixture
def log(opened: Open) -> PostgresLog:
    made = opened()
    made.begin(HEADER)
    return made


def oldest_first(log: PostgresLog) -> list[Entry]:
    return list(log.newest_first())[::-1]


def asked(address: str, question: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(address, autocommit=True) as connection:
        cursor = connection.execute(question.encode())
        return cursor.fetchall() if cursor.description else []


def tables_at(address: str) -> list[str]:
    query = "SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace"
    return [name for (name,) in asked(address, f"{query} AND relkind <> 'i' ORDER BY 1")]


def cut_off(address: str) -> None:
    """End every other connection to a database."""
    asked(
        address,
        "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()",
    )


class TestWritten:
    """What is in the tables."""

    def test_an_entry_is_there_letter_by_letter(self, log: PostgresLog, address: str):
        log.append(EVERY)

        rows = asked(address, "SELECT payload::text FROM agent_turns ORDER BY turn_number")
        stateless = msgspec.structs.replace(EVERY[0], state=None)
        assert [text for (text,) in rows] == [
            encoded(each).decode() for each in (stateless, *EVERY[1:])
        ]
        assert asked(address, "SELECT state_json::text FROM checkpoints") == [
            (msgspec.json.encode(EVERY[0].state).decode(),)
        ]
        assert asked(address, "SELECT header::text FROM agent_sessions") == [
            (encoded_header(HEADER).decode(),)
        ]

    def test_the_order_of_keys_and_the_text_of_numbers_stay(self, opened: Open, address: str):
        state = {"z": 1.0, "a": 10**30, "m": 1e-07, "": -0.0}
        log = opened()
        log.begin(HEADER)
        log.append([start(state)])

        (found,) = opened().newest_first()

        assert list(found.state.items()) == list(state.items())
        (text,) = asked(address, "SELECT state_json::text FROM checkpoints")[0]
        assert text == '{"z":1.0,"a":1000000000000000000000000000000,"m":1e-7,"":-0.0}'

    def test_a_text_with_a_nul_comes_back_although_the_server_has_no_such_texts(
        self, log: PostgresLog, address: str
    ):
        entries = [
            start({"messages": [], "\0": "a\0b"}),
            Said("e1", "e0", time_at(1), name="\0", tool="a\0b", message={"content": "\0"}),
        ]
        log.append(entries)

        assert oldest_first(log) == entries
        assert asked(address, "SELECT tool_name FROM agent_turns ORDER BY turn_number") == [
            (None,),
            ("a\ufffdb",),
        ]
        with pytest.raises(psycopg.errors.UntranslatableCharacter):
            asked(address, "SELECT payload::jsonb FROM agent_turns")

    def test_columns_say_what_people_ask_for(self, log: PostgresLog, address: str):
        log.append([start(), *EVERY[7:10]])

        query = "SELECT turn_number, checkpoint_id, parent_id, kind, tool_name, input_hash"
        assert asked(address, f"{query} FROM agent_turns ORDER BY turn_number") == [
            (1, "e0", None, "snapshot", None, None),
            (2, "s7", "s6", "effect", "mail", "0c"),
            (3, "s8", "s7", "effect", None, None),
            (4, "s9", "s8", "effect", None, None),
        ]
        query = "SELECT payload->'result'->>'a' FROM agent_turns WHERE output_hash IS NOT NULL"
        assert asked(address, query) == [("ü",)]

    def test_nothing_is_made_before_a_log_is_begun(self, opened: Open, address: str):
        log = opened()

        assert list(log.newest_first()) == []
        with pytest.raises(CannotWriteError, match="it was not begun"):
            log.append([start()])
        assert tables_at(address) == []

    def test_two_that_begin_at_once_make_the_tables_once(self, opened: Open, address: str):
        together = Barrier(4)

        def begin(number: int) -> None:
            log = opened(f"session{number}")
            together.wait()
            log.begin(msgspec.structs.replace(HEADER, session_id=f"session{number}"))
            log.append(some(3))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(begin, range(4)))

        assert asked(address, "SELECT count(*) FROM agent_turns") == [(12,)]
        assert tables_at(address) == [*TABLES[:2], "agent_turns_turn_id_seq", *TABLES[2:]]

    def test_of_two_that_begin_the_same_session_one_is_refused(self, opened: Open):
        one, other = opened(), opened()
        one.begin(HEADER)

        with pytest.raises(CannotWriteError) as refused:
            other.begin(msgspec.structs.replace(HEADER, title="another"))

        assert refused.value.hint == REFUSED
        assert opened().header == HEADER


class TestRefused:
    """Where nothing is recorded, and why."""

    @pytest.mark.parametrize(
        ("script", "why"),
        [
            (OF_LANGGRAPH, "its table checkpoints is another program's: it has the columns"),
            ("CREATE TABLE agent_turns (turn_id int)", "its table agent_turns is another"),
            ("CREATE VIEW agent_turns AS SELECT 1 AS turn_id", "agent_turns is no table"),
            ("CREATE SEQUENCE checkpoints", "checkpoints is no table"),
            (SESSIONS_WITH_JSONB, "header is jsonb, not json"),
            (SESSIONS_WITHOUT_KEY, "another program's: it lets rows have the same keys"),
        ],
    )
    def test_tables_of_others_with_our_names_are_refused_before_anything_is_made(
        self, script: str, why: str, opened: Open, address: str
    ):
        asked(address, script)
        before = tables_at(address)

        with pytest.raises(CannotWriteError) as refused:
            opened()

        assert why in refused.value.message
        assert refused.value.hint == (
            "record to a database of its own, or to another schema (search_path)"
        )
        assert tables_at(address) == before

    def test_tables_that_came_meanwhile_are_refused_too(self, opened: Open, address: str):
        log = opened()
        asked(address, OF_LANGGRAPH)

        with pytest.raises(CannotWriteError, match="another program's"):
            log.begin(HEADER)

        assert tables_at(address) == ["checkpoints"]

    def test_another_schema_has_tables_of_its_own(self, opened: Open, address: str):
        asked(address, f'CREATE SCHEMA "of %s"; {OF_LANGGRAPH}')
        location = f"{address}?options=-csearch_path%3D%22of%5C%20%25s%22"
        log = opened(location=location)
        log.begin(HEADER)
        log.append(some(3))

        assert oldest_first(opened(location=location)) == some(3)
        assert tables_at(address) == ["checkpoints"]

    def test_texts_of_another_encoding_are_refused(self, postgres: Postgres, opened: Open):
        latin = postgres.made(ENCODING="'LATIN1'", LC_COLLATE="'C'", LC_CTYPE="'C'")

        with pytest.raises(CannotWriteError, match="its texts are not UTF-8") as refused:
            opened(location=latin)

        assert "ENCODING 'UTF8'" in str(refused.value.hint)

    def test_a_quorum_of_nobody_is_refused_before_anything_is_made(
        self, opened: Open, address: str
    ):
        with pytest.raises(CannotWriteError, match="waits for no standby") as refused:
            opened(consistency=Consistency.QUORUM)

        assert "synchronous_standby_names" in str(refused.value.hint)
        assert tables_at(address) == []

    def test_a_server_that_takes_no_writes_is_refused(self, address: str):
        read_only = f"{address}?options=-cdefault_transaction_read_only%3Don"

        with pytest.raises(CannotReadError, match="no server of these takes writes") as refused:
            PostgresLog.open(read_only, Options())

        assert "primary" in str(refused.value.hint)

    def test_where_no_server_answers_nothing_secret_is_said(self):
        with pytest.raises(CannotReadError, match="no server answers there") as refused:
            PostgresLog.open("postgresql://ann:s3cret@127.0.0.1:1/app", Options())

        assert "s3cret" not in f"{refused.value.message} {refused.value.hint}"

    def test_what_is_no_address_is_refused(self):
        with pytest.raises(UsageError, match="is no address of a server"):
            PostgresLog.open("run.db", Options())

    def test_a_driver_that_is_missing_is_told_with_what_to_install(
        self, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setitem(sys.modules, "psycopg", None)

        with pytest.raises(StoreError, match="driver is not installed") as refused:
            PostgresLog.open("postgresql://nowhere/app", Options())

        assert refused.value.hint == "install it with: pip install 'ttdbg[postgres]'"

    def test_a_damaged_entry_is_named(self, opened: Open, log: PostgresLog, address: str):
        log.append(some(3))
        asked(address, "UPDATE agent_turns SET payload = '{}' WHERE checkpoint_id = 'e1'")
        with pytest.raises(CannotReadError, match="the entry 'e1' is damaged"):
            list(opened().newest_first())

        asked(address, "DELETE FROM checkpoints; DELETE FROM agent_turns WHERE turn_number > 1")
        with pytest.raises(CannotReadError, match="the entry 'e0' is damaged"):
            list(opened().newest_first())

        asked(address, "UPDATE agent_sessions SET header = '{}'")
        with pytest.raises(CannotReadError, match="its header is damaged"):
            opened()


@pytest.mark.parametrize(
    ("consistency", "setting", "told"),
    [
        (None, "on", "an entry is on the disk of the primary before its step counts as written"),
        (Consistency.SYNC, "local", "an entry is on the disk of the primary before its step"),
        (Consistency.ASYNC, "off", "the server has an entry in its memory before its step"),
    ],
)
def test_the_consistency_is_a_setting_of_the_server_and_is_told(
    consistency: Consistency | None, setting: str, told: str, opened: Open
):
    log = opened(consistency=consistency)

    with log._primary.writing() as connection:
        assert connection.execute("SHOW synchronous_commit").fetchone() == (setting,)
    assert log.durability.startswith(told)
    assert f"(synchronous_commit={setting})" in log.durability
    # That of the tests is in a hurry.
    assert log.durability.endswith("; the server has fsync off, and may lose it all")


def test_what_is_asked_may_come_from_a_standby(opened: Open):
    log = opened(reads_from_replicas=True)
    log.begin(HEADER)

    server = log.location.partition("#")[0]
    assert "target_session_attrs=prefer-standby" in address_of(server).reveal()
    with RecordingPostgres.open(server)._database as database:
        assert "agent_turns" in database.tables


class TestUnknown:
    """What is done where it is not known what became of an append."""

    def test_a_connection_that_was_lost_before_is_made_anew(self, log: PostgresLog, address: str):
        log.append(some(2))
        cut_off(address)

        log.append([changed(2)])
        cut_off(address)
        log.append([changed(3)])

        assert oldest_first(log) == some(4)

    def test_what_was_written_although_it_was_not_told_is_not_added_twice(
        self, log: PostgresLog, monkeypatch: pytest.MonkeyPatch
    ):
        write = log._primary.write

        def committed_and_lost(statements: Any) -> None:
            write(statements)
            raise LostError("lost")

        monkeypatch.setattr(log._primary, "write", committed_and_lost)
        log.append(some(2))
        log.append([changed(2)])
        monkeypatch.undo()
        log.append([changed(3)])

        assert oldest_first(log) == some(4)

    def test_after_a_failure_the_next_append_sees_what_is_there(
        self, opened: Open, log: PostgresLog, monkeypatch: pytest.MonkeyPatch
    ):
        write = log._primary.write

        def committed_and_refused(statements: Any) -> None:
            write(statements)
            raise CannotWriteError("not confirmed")

        log.append(some(2))
        with monkeypatch.context() as patch:
            patch.setattr(log._primary, "write", committed_and_refused)
            with pytest.raises(CannotWriteError, match="not confirmed"):
                log.append([changed(2)])
        log.append([changed(2), changed(3)])

        assert oldest_first(log) == oldest_first(opened()) == some(4)

    def test_where_there_is_nothing_to_add_it_is_committed_nevertheless(
        self, log: PostgresLog, address: str
    ):
        log.append(some(2))
        log._is_sure = False
        where = "SELECT pg_current_wal_insert_lsn() > '{}'"
        (before,) = asked(address, "SELECT pg_current_wal_insert_lsn()::text")[0]

        log.append([changed(1)])

        assert asked(address, where.format(before)) == [(True,)]
        assert oldest_first(log) == some(2)

    def test_entries_that_another_server_has_not_got_are_counted(
        self, opened: Open, log: PostgresLog, address: str
    ):
        log.append(some(6))
        asked(address, "DELETE FROM agent_turns WHERE turn_number > 2")

        for _ in range(2):
            with pytest.raises(CannotWriteError) as refused:
                log.append([changed(6)])
            assert "no longer has the last 4 entries that it had" in refused.value.message
            assert refused.value.hint == f"has another server taken over? {REFUSED}"
        again = opened()
        again.append([changed(2)])
        assert oldest_first(again) == some(3)

    def test_a_session_that_is_gone_is_told(self, log: PostgresLog, address: str):
        log.append(some(2))
        asked(address, "DELETE FROM agent_turns; DELETE FROM agent_sessions")

        with pytest.raises(CannotWriteError, match="the session is no longer there"):
            log.append([changed(2)])

    def test_the_same_ids_with_something_else_are_not_taken_for_ones_own(
        self, opened: Open, log: PostgresLog
    ):
        log.append(some(2))
        other, third = opened(), opened()
        log.append([changed(2)])

        with pytest.raises(CannotWriteError) as refused:
            other.append([Changed("e2", "e1", time_at(9))])
        assert refused.value.hint == REFUSED
        third.append([changed(2), changed(3)])
        assert oldest_first(third) == some(4)


class TestTenants:
    """Whose rows are whose."""

    def test_every_statement_names_the_tenant_and_the_session(self):
        rows = TenantRows("public", "acme", "main")
        turns = [turn_of(each) for each in (start(), changed(1))]
        statements = [
            *(rows.header(), rows.header(locked=True), rows.begun(HEADER, "{}"), rows.last()),
            *(rows.named(), rows.since(3), rows.among(["e0"]), rows.page(9, 2), rows.state("e0")),
            *(*rows.added(0, "", turns), *rows.added(7, "e7", turns)),
            *(each for turn in turns for each in rows.replaced(turn)),
            *rows.taken_away(["e0"]),
        ]

        made = {name for name in vars(TenantRows) if not name.startswith("_")}
        assert made == {
            *("header", "begun", "last", "named", "since", "among", "page", "state", "added"),
            *("state_kept", "replaced", "taken_away"),
        }
        for query, values in statements:
            text = query.as_string(None)
            is_insert = text.startswith("INSERT")
            if is_insert:
                assert '("tenant", "session_id",' in text or '("tenant", "thread_id",' in text
                assert tuple(values[:2]) == ("acme", "main")
            assert text.count(" WHERE ") == text.count('WHERE tenant = %s AND "')
            assert is_insert or " WHERE " in text
            assert list(values).count("acme") == text.count("tenant = %s") + is_insert

    @pytest.fixture
    def owner(self, postgres: Postgres, address: str) -> Iterator[str]:
        """The address of a user that is no superuser and may make tables."""
        name = address.rpartition("/")[2]
        asked(
            address,
            f"CREATE ROLE {name}_owner LOGIN; GRANT CREATE ON SCHEMA public TO {name}_owner",
        )
        yield postgres.address(name, login=f"{name}_owner")
        cut_off(address)
        asked(address, f"DROP OWNED BY {name}_owner; DROP ROLE {name}_owner")

    @pytest.fixture
    def guarded(self, opened: Open, owner: str) -> dict[str, PostgresLog]:
        made: dict[str, PostgresLog] = {}
        for tenant in ("acme", "o'k b\\c"):
            made[tenant] = opened(location=owner, tenant=tenant, row_level_security=True)
            made[tenant].begin(msgspec.structs.replace(HEADER, title=tenant))
            made[tenant].append(some(3))
        return made

    def test_by_row_level_security_no_other_tenant_is_seen_or_written(
        self, guarded: dict[str, PostgresLog], owner: str, address: str
    ):
        assert asked(address, "SELECT count(DISTINCT tenant) FROM agent_turns") == [(2,)]
        with psycopg.connect(owner, autocommit=True) as connection:
            for table in TABLES:
                with pytest.raises(psycopg.errors.UndefinedObject, match=r"ttdbg\.tenant"):
                    connection.execute(f"TABLE {table}".encode())
            connection.execute("SET ttdbg.tenant = 'acme'")
            for table in TABLES:
                query = f"SELECT DISTINCT tenant FROM {table}".encode()  # noqa: S608 - ours
                assert connection.execute(query).fetchall() == [("acme",)]
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(
                    "INSERT INTO agent_sessions VALUES ('b', 'main', '{}', 1, now())"
                )
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("UPDATE agent_turns SET tenant = 'b'")
            for statement in ("DELETE FROM agent_turns", "UPDATE checkpoints SET parent_id = 'x'"):
                connection.execute(statement.encode())
        query = "SELECT tenant, count(*) FROM agent_turns GROUP BY 1"
        assert asked(address, query) == [("o'k b\\c", 3)]
        assert asked(address, "SELECT tenant, parent_id FROM checkpoints ORDER BY 1") == [
            ("acme", "x"),
            ("o'k b\\c", None),
        ]

    def test_the_debugger_shows_the_tenant_of_the_log_alone(self, guarded: dict[str, PostgresLog]):
        for tenant, log in guarded.items():
            server = log.location.partition("#")[0]
            store = RecordingPostgres.open(server)
            try:
                (name,) = store.sessions()
                session = store.load(name).session
                assert session.title == tenant
                assert session.ids == ["e0", "e1", "e2"]
                assert store.bodies(session, [0])[0]["state"] == {"messages": []}
            finally:
                store.close()

    def test_an_address_that_names_no_tenant_is_told_to(
        self, guarded: dict[str, PostgresLog], owner: str
    ):
        store = RecordingPostgres.open(f"{owner}?application_name=x")
        try:
            with pytest.raises(StoreError, match="keeps tenants apart") as refused:
                store.sessions()
        finally:
            store.close()
        assert "ttdbg.tenant" in str(refused.value.hint)

    def test_a_log_without_the_option_goes_on_where_tenants_are_kept_apart(
        self, guarded: dict[str, PostgresLog], opened: Open, owner: str
    ):
        log = opened(location=owner, tenant="acme")
        log.append([changed(3)])

        assert oldest_first(log) == some(4)

    def test_rows_that_are_there_are_kept_apart_from_then_on(
        self, opened: Open, owner: str, address: str
    ):
        log = opened(location=owner, tenant="acme")
        log.begin(HEADER)
        log.append(some(2))

        again = opened(location=owner, tenant="acme", row_level_security=True)

        assert oldest_first(again) == some(2)
        assert asked(address, "SELECT count(*) FROM pg_policy") == [(3,)]
        assert opened(location=owner, tenant="b", row_level_security=True).header is None

    def test_other_policies_by_which_more_is_seen_are_refused(
        self, guarded: dict[str, PostgresLog], opened: Open, owner: str, address: str
    ):
        asked(address, "CREATE POLICY open ON agent_turns USING (true)")

        with pytest.raises(CannotWriteError, match="its tables have other policies"):
            opened(location=owner, tenant="acme", row_level_security=True)

    def test_a_user_above_policies_is_refused(self, opened: Open, address: str):
        log = opened(tenant="acme", row_level_security=True)

        with pytest.raises(CannotWriteError, match="does not hold for its user") as refused:
            log.begin(HEADER)

        assert refused.value.hint == "record as a user without these rights"
        assert tables_at(address) == []

    def test_tenants_of_nobody_are_not_kept_apart(self, opened: Open):
        with pytest.raises(UsageError) as refused:
            opened(row_level_security=True)

        assert refused.value.hint == "name the tenant"


def whole(name: str, parent: str | None, state: object, *effects: Effect) -> Snapshotted:
    return Snapshotted(name, parent, time_at(9), state=state, effects=effects, why="moved")


def by_id(*entries: Entry) -> dict[str, Entry]:
    return {each.id: each for each in entries}


class TestThinned:
    """What stays of a log of which most is forgotten."""

    DONE = EffectNoted("e4", "e3", time_at(4), key="k", phase="done", result=1)
    ALL = (*some(4), DONE, changed(5), changed(6))
    KNOWN = Effect("k", Status.DONE, "e4", result=1)

    @pytest.fixture
    def long(self, log: PostgresLog) -> PostgresLog:
        log.append(self.ALL)
        return log

    def test_kept_entries_stand_where_they_were_on_what_is_kept(
        self, long: PostgresLog, address: str
    ):
        kept = [start(), whole("e5", "e0", {"messages": [], "n": 5}, self.KNOWN), changed(6)]

        assert isinstance(long, Thins)
        assert long.thin(by_id(*kept)) == 4

        assert oldest_first(long) == kept
        query = "SELECT turn_number, checkpoint_id, parent_id, kind FROM agent_turns ORDER BY 1"
        assert asked(address, query) == [
            (1, "e0", None, "snapshot"),
            (6, "e5", "e0", "snapshot"),
            (7, "e6", "e5", "change"),
        ]
        query = "SELECT checkpoint_id, parent_id, state_json->>'n' FROM checkpoints ORDER BY 1"
        assert asked(address, query) == [("e0", None, None), ("e5", "e0", "5")]

    def test_it_goes_on_behind_and_can_be_opened_again(self, opened: Open, long: PostgresLog):
        kept = [start(), whole("e6", "e0", {"n": 6}, self.KNOWN)]
        long.thin(by_id(*kept))
        long.append([changed(7)])
        again = opened()
        again.append([changed(8)])

        assert oldest_first(again) == [*kept, changed(7), changed(8)]

    def test_other_sessions_and_tenants_keep_all(self, opened: Open, long: PostgresLog):
        others = [opened("other"), opened("main", tenant="acme")]
        for other in others:
            other.begin(HEADER)
            other.append(some(4))

        long.thin(by_id(whole("e6", None, {"n": 6}, self.KNOWN)))

        assert [oldest_first(other) for other in others] == [some(4), some(4)]

    def test_what_would_not_hold_together_is_refused_and_nothing_is_changed(
        self, long: PostgresLog
    ):
        for kept, why in (
            (self.ALL[:6], "its last entry must stay"),
            ([start(), whole("e6", "e0", {"n": 6})], "what is known of effects would be lost"),
        ):
            with pytest.raises(UsageError, match=why):
                long.thin(by_id(*kept))

        assert tuple(oldest_first(long)) == self.ALL

    def test_one_that_read_before_another_wrote_thins_nothing(
        self, opened: Open, long: PostgresLog
    ):
        other = opened()
        long.append([changed(7)])

        with pytest.raises(CannotWriteError) as refused:
            other.thin(by_id(*self.ALL))

        assert refused.value.hint == REFUSED
        assert oldest_first(long) == [*self.ALL, changed(7)]

    def test_every_type_of_entry_stays_as_it_is_given(self, opened: Open):
        log = opened("every")
        log.begin(HEADER)
        log.append(EVERY)

        assert log.thin(by_id(*EVERY)) == 0

        assert tuple(oldest_first(log)) == EVERY
