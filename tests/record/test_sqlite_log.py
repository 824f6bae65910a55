"""The log in a SQLite database: what only this backend has to keep."""

from __future__ import annotations

import hashlib
import os
import resource
import sqlite3
import stat
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from record.backends import EVERY, HEADER, changed, some, start, time_at

from tt_debugger.core.changes import Put
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    Changed,
    EffectNoted,
    Entry,
    Snapshotted,
    encoded,
    encoded_header,
)
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.record.backends import sqlite, sqlite_database
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite import SqliteLog
from tt_debugger.record.backends.thinning import REFUSED, Thins

Open = Callable[..., SqliteLog]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run.db"


@pytest.fixture
def opened(path: Path) -> Iterator[Open]:
    """Open the database of a test; all logs are closed in the end."""
    logs: list[SqliteLog] = []

    def open_log(session: str = "main", tenant: str = "") -> SqliteLog:
        logs.append(SqliteLog.open(f"sqlite:///{path}", Options(session, tenant)))
        return logs[-1]

    yield open_log
    for log in logs:
        log.close()


@pytest.fixture
def log(opened: Open) -> SqliteLog:
    made = opened()
    made.begin(HEADER)
    return made


def asked(path: Path, query: str, *values: Any) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        return connection.execute(query, values).fetchall()


def made(path: Path, script: str) -> bytes:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(script)
    return path.read_bytes()


def oldest_first(log: SqliteLog) -> list[Entry]:
    return list(log.newest_first())[::-1]


@contextmanager
def full_at(size: int) -> Iterator[None]:
    """Let no file grow beyond a size: the system refuses to write there."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


class Failing(sqlite3.Connection):
    """A connection whose commits fail as a disk does, before or after they are done."""

    fails = ""

    def execute(self, statement: str, *values: Any) -> sqlite3.Cursor:  # type: ignore[override]
        if statement != "COMMIT" or not Failing.fails:
            return super().execute(statement, *values)
        if Failing.fails == "after":
            super().execute(statement)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_FSYNC
        raise error


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *where, **how: connect(*where, factory=Failing, **how)
    )
    return lambda when: monkeypatch.setattr(Failing, "fails", when)


OTHERS = {
    "langgraph": (
        """
        CREATE TABLE checkpoints (
            thread_id TEXT, checkpoint_ns TEXT, checkpoint_id TEXT, parent_checkpoint_id TEXT,
            type TEXT, checkpoint BLOB, metadata BLOB
        )
        """,
        "it has the columns checkpoint, checkpoint_ns, metadata, parent_checkpoint_id, type and",
    ),
    "turns": (
        "CREATE TABLE agent_turns (turn_id, session_id, turn_number, payload)",
        "its table agent_turns is another program's: it lacks the columns checkpoint_id",
    ),
    "view": ("CREATE VIEW agent_sessions AS SELECT 1 AS tenant", "its table agent_sessions is"),
    "no key": (
        "CREATE TABLE agent_sessions (tenant, session_id, header, schema_version, created_at)",
        "its table agent_sessions is another program's: rows may have the same ids there",
    ),
}
"""Tables of other programs with our names, and what is said of them."""


class TestLocations:
    """How a database is named."""

    @pytest.mark.parametrize("scheme", ["sqlite:///", ""])
    def test_a_relative_path_is_that_of_the_folder_one_is_in(
        self, scheme: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.chdir(tmp_path)

        with closing(SqliteLog.open(f"{scheme}run.db", Options())) as log:
            log.begin(HEADER)

        assert log.location == "run.db#main:"
        assert asked(tmp_path / "run.db", "SELECT session_id FROM agent_sessions") == [("main",)]

    def test_four_slashes_begin_a_path_from_the_root_on(self, path: Path):
        with closing(SqliteLog.open(f"sqlite:///{path}", Options("a b"))) as log:
            log.begin(HEADER)

        assert str(path).startswith("/")
        assert log.location == f"{path}#a%20b:"
        assert path.exists()

    @pytest.mark.parametrize(
        ("session", "tenant", "ref"),
        [
            ("main", "", "main:"),
            ("main", "acme", "acme/main:"),
            ("a/b", "", "/a/b:"),
            ("b", "a/c%", "a%252Fc%2525/b:"),
            ("a:b#c", "", "a%3Ab%23c:"),
        ],
    )
    def test_the_ref_names_session_and_tenant_in_one_way_only(
        self, session: str, tenant: str, ref: str, path: Path
    ):
        with closing(SqliteLog.open(str(path), Options(session, tenant))) as log:
            assert log.location == f"{path}#{ref}"

    @pytest.mark.parametrize(
        "location", ["sqlite://", "sqlite:///", "sqlite:///:memory:", "sqlite://host/run.db"]
    )
    def test_a_location_without_a_file_is_refused(self, location: str):
        with pytest.raises(UsageError) as refused:
            SqliteLog.open(location, Options())

        assert refused.value.hint
        assert "sqlite:///run.db" in refused.value.hint


class TestBegun:
    """What is made, and when."""

    def test_nothing_is_made_before_a_log_is_begun(self, opened: Open, path: Path):
        log = opened()

        assert list(log.newest_first()) == []
        with pytest.raises(CannotWriteError):
            log.append([start()])
        assert list(path.parent.iterdir()) == []

    def test_a_new_database_and_what_lies_beside_it_is_for_its_owner_alone(
        self, log: SqliteLog, path: Path
    ):
        log.append(some(3))

        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in path.parent.iterdir()}
        assert modes == {"run.db": 0o600, "run.db-wal": 0o600, "run.db-shm": 0o600}

    def test_nothing_lies_beside_it_when_it_is_closed(self, log: SqliteLog, path: Path):
        log.append(some(3))
        log.close()

        assert [each.name for each in path.parent.iterdir()] == ["run.db"]

    def test_a_folder_that_is_not_there_is_told(self, tmp_path: Path):
        log = SqliteLog.open(str(tmp_path / "none" / "run.db"), Options())
        with pytest.raises(CannotWriteError) as refused:
            log.begin(HEADER)

        assert refused.value.hint == "the folder must be there: make it first"

    def test_of_two_that_begin_the_same_session_one_is_refused(self, opened: Open):
        one, other = opened(), opened()
        one.begin(HEADER)

        with pytest.raises(CannotWriteError) as refused:
            other.begin(msgspec.structs.replace(HEADER, title="another"))

        assert refused.value.hint == REFUSED
        assert opened().header == HEADER

    def test_tables_of_other_names_are_left_alone(self, opened: Open, path: Path):
        made(path, "CREATE TABLE mine (a); INSERT INTO mine VALUES (1)")

        log = opened()
        log.begin(HEADER)
        log.append(some(2))

        assert asked(path, "SELECT a FROM mine") == [(1,)]
        assert oldest_first(log) == some(2)

    @pytest.mark.parametrize(("script", "why"), OTHERS.values(), ids=OTHERS)
    def test_tables_of_others_with_our_names_are_refused_before_anything_is_made(
        self, script: str, why: str, opened: Open, path: Path
    ):
        before = made(path, script)

        with pytest.raises(CannotWriteError) as refused:
            opened()

        assert why in refused.value.message
        assert refused.value.hint == "record to a database of its own"
        assert path.read_bytes() == before
        assert [each.name for each in path.parent.iterdir()] == ["run.db"]

    @pytest.mark.parametrize("content", [b"SQLite format 3\0" + b"\xff" * 4000, b"text\n" * 900])
    def test_what_is_no_database_is_refused_and_left_as_it_is(
        self, content: bytes, opened: Open, path: Path
    ):
        path.write_bytes(content)

        with pytest.raises(CannotReadError):
            opened()

        assert path.read_bytes() == content

    def test_an_empty_file_becomes_a_database(self, opened: Open, path: Path):
        path.touch()

        log = opened()
        log.begin(HEADER)
        log.append(some(2))

        assert oldest_first(log) == some(2)


def _of(name: str, parent: str) -> tuple[object, ...]:
    """Give the first columns of the row of an effect in the session `main`."""
    return "", "main", int(name[1:]) + 1, name, parent, "effect"


class TestRows:
    """What stands in the tables, for who asks by SQL."""

    def test_a_row_of_a_session_is_its_header(self, log: SqliteLog, path: Path):
        assert asked(path, "SELECT * FROM agent_sessions") == [
            ("", "main", encoded_header(HEADER).decode(), 1, HEADER.created_at)
        ]

    def test_a_turn_is_an_entry_with_its_hashes(self, log: SqliteLog, path: Path):
        begun = EffectNoted("e1", "e0", time_at(1), tool="mail", key="k", input_hash="0c")
        done = EffectNoted(
            "e2", "e1", time_at(2), key="k", phase="done", result={"b": 1, "a": "ü"}
        )
        log.append([start(), begun])
        log.append([done])

        digest = hashlib.sha256('{"a":"ü","b":1}'.encode()).hexdigest()
        assert asked(path, "SELECT * FROM agent_turns ORDER BY turn_id")[1:] == [
            (2, *_of("e1", "e0"), "mail", "0c", None, encoded(begun).decode(), time_at(1)),
            (3, *_of("e2", "e1"), None, None, digest, encoded(done).decode(), time_at(2)),
        ]

    def test_the_state_of_a_snapshot_stands_apart_from_its_turn(self, log: SqliteLog, path: Path):
        entry = Snapshotted("s1", None, time_at(1), state={"n": 1}, version=4, why="start")
        log.append([entry])

        assert asked(path, "SELECT * FROM checkpoints") == [
            ("", "main", "s1", None, '{"n":1}', 4, time_at(1), time_at(1))
        ]
        ((payload,),) = asked(path, "SELECT payload FROM agent_turns")
        assert payload == encoded(msgspec.structs.replace(entry, state=None)).decode()

    def test_turns_are_counted_in_their_session_over_all_branches(
        self, opened: Open, log: SqliteLog, path: Path
    ):
        other = opened("other")
        other.begin(HEADER)
        log.append(some(2))
        other.append([start()])
        log.append([changed(2, parent="e0")])

        query = "SELECT turn_id, session_id, turn_number FROM agent_turns ORDER BY turn_id"
        assert asked(path, query) == [
            (1, "main", 1),
            (2, "main", 2),
            (3, "other", 1),
            (4, "main", 3),
        ]


class TestDurability:
    """What is promised, and what happens where it cannot be kept."""

    def test_an_append_is_synced_in_a_log_of_its_own(self, log: SqliteLog, path: Path):
        assert log._connection is not None
        settings = [
            log._connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("journal_mode", "synchronous")
        ]
        assert settings == ["wal", 3]
        assert "WAL" in log.durability

    def test_who_reads_does_not_keep_the_writer_waiting(self, log: SqliteLog, path: Path):
        log.append(some(2))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            reader.execute("BEGIN")
            assert reader.execute("SELECT count(*) FROM agent_turns").fetchone() == (2,)
            log.append([changed(2)])
            assert reader.execute("SELECT count(*) FROM agent_turns").fetchone() == (2,)
            reader.execute("COMMIT")
            assert reader.execute("SELECT count(*) FROM agent_turns").fetchone() == (3,)

    def test_another_that_holds_the_database_is_waited_for_and_then_told(
        self, opened: Open, path: Path, monkeypatch: pytest.MonkeyPatch
    ):
        monkeypatch.setattr(sqlite_database, "PATIENCE", 0.05)
        log = opened()
        log.begin(HEADER)
        log.append(some(2))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(CannotWriteError) as refused:
                log.append([changed(2)])
            assert oldest_first(log) == some(2)
            other.execute("ROLLBACK")

        assert refused.value.message.endswith("it is busy: another program writes to it")
        log.append([changed(2)])
        assert oldest_first(log) == some(3)

    @pytest.mark.parametrize("when", ["before", "after"])
    def test_after_a_disk_that_failed_what_is_there_is_told_by_its_ids(
        self, when: str, failing: Callable[[str], None], opened: Open, path: Path
    ):
        log = opened()
        log.begin(HEADER)
        log.append(some(2))
        failing(when)
        with pytest.raises(CannotWriteError) as refused:
            log.append([changed(2)])
        failing("")

        assert refused.value.message.endswith("its disk fails")
        assert log._connection is None
        log.append([changed(2), changed(3)])
        assert oldest_first(log) == some(4)
        assert asked(path, "SELECT turn_number FROM agent_turns") == [(1,), (2,), (3,), (4,)]

    def test_what_stands_in_the_log_file_after_a_failure_is_written_elsewhere_first(
        self, failing: Callable[[str], None], opened: Open, path: Path
    ):
        log = opened()
        log.begin(HEADER)
        log.append(some(2))
        with closing(sqlite3.connect(path, isolation_level=None)) as reader:
            # Holds an older view, past which nothing is moved into the database itself.
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM agent_turns").fetchone()
            failing("after")
            with pytest.raises(CannotWriteError):
                log.append([changed(2)])
            failing("")
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(sqlite_database, "PATIENCE", 0.05)
                with pytest.raises(CannotWriteError) as refused:
                    log.append([changed(2)])
            reader.execute("COMMIT")

        assert "its disk failed, and others use it" in refused.value.message
        log.append([changed(2)])
        assert oldest_first(log) == some(3)

    def test_a_disk_that_takes_no_more_leaves_all_as_it_was(self, log: SqliteLog, path: Path):
        log.append(some(2))
        large = Changed("e2", "e1", time_at(2), changes=(Put(("large",), "x" * 400_000),))
        with full_at((path.parent / "run.db-wal").stat().st_size + 100_000):
            with pytest.raises(CannotWriteError):
                log.append([large, changed(3)])
            assert oldest_first(log) == some(2)

        log.append([large, changed(3)])
        assert oldest_first(log) == [*some(2), large, changed(3)]
        assert asked(path, "PRAGMA integrity_check") == [("ok",)]

    def test_an_append_that_fails_midway_adds_nothing(
        self, log: SqliteLog, monkeypatch: pytest.MonkeyPatch
    ):
        log.append(some(2))
        with monkeypatch.context() as patch:
            patch.setattr(sqlite, "_values", _fail_at("e3", sqlite._values))
            with pytest.raises(KeyboardInterrupt):
                log.append([changed(2), changed(3)])

        assert oldest_first(log) == some(2)
        log.append([changed(2), changed(3)])
        assert oldest_first(log) == some(4)

    def test_several_threads_use_one_log(self, log: SqliteLog):
        log.append([start()])
        steps = [changed(number, parent="e0") for number in range(1, 41)]

        with ThreadPoolExecutor(8) as threads:
            list(threads.map(lambda each: (log.append([each]), list(log.newest_first())), steps))

        assert sorted(oldest_first(log)[1:], key=lambda each: int(each.id[1:])) == steps

    def test_a_log_that_was_closed_says_so(self, log: SqliteLog):
        log.append(some(2))
        log.close()

        with pytest.raises(CannotWriteError) as refused:
            log.append([changed(2)])
        with pytest.raises(CannotReadError):
            list(log.newest_first())
        assert refused.value.hint == "open it again"


def _fail_at(name: str, values: Callable[..., Any]) -> Callable[..., Any]:
    def fail(turn: Any) -> Any:
        if turn.checkpoint_id == name:
            raise KeyboardInterrupt
        return values(turn)

    return fail


class TestOtherWriters:
    """What is done where somebody else wrote to the session."""

    def test_one_that_read_before_another_wrote_is_refused(self, opened: Open, log: SqliteLog):
        log.append(some(2))
        other = opened()
        log.append([changed(2)])

        assert oldest_first(other) == some(2)
        with pytest.raises(CannotWriteError) as refused:
            other.append([Changed("other", "e1", time_at(9))])
        with pytest.raises(CannotWriteError):
            other.append([Changed("other", "e1", time_at(9)), changed(2)])

        assert refused.value.hint == REFUSED
        log.append([changed(3)])
        assert oldest_first(log) == some(4)

    def test_the_same_ids_with_something_else_are_not_taken_for_ones_own(
        self, opened: Open, log: SqliteLog
    ):
        log.append(some(2))
        other = opened()
        log.append([changed(2)])

        with pytest.raises(CannotWriteError):
            other.append([Changed("e2", "e1", time_at(9))])

    def test_what_another_wrote_with_the_same_ids_counts_as_written(
        self, opened: Open, log: SqliteLog
    ):
        log.append(some(2))
        other = opened()
        log.append([changed(2)])

        other.append([changed(2), changed(3)])

        assert oldest_first(other) == some(4)


class TestDamaged:
    """What is said of a log that cannot be gone on with."""

    @pytest.mark.parametrize(
        ("statement", "why"),
        [
            ("UPDATE agent_turns SET payload = 'x' WHERE checkpoint_id = 'e1'", "entry 'e1'"),
            ("UPDATE agent_turns SET payload = x'ff' WHERE checkpoint_id = 'e1'", "entry 'e1'"),
            ("UPDATE agent_turns SET payload = 7 WHERE checkpoint_id = 'e1'", "entry 'e1'"),
            ("UPDATE checkpoints SET state_json = '{'", "entry 'e0'"),
            ("DELETE FROM checkpoints", "entry 'e0' is damaged: its state is not there"),
        ],
    )
    def test_the_entry_is_named(
        self, statement: str, why: str, opened: Open, log: SqliteLog, path: Path
    ):
        log.append(some(3))
        log.close()
        made(path, statement)

        with pytest.raises(CannotReadError) as refused:
            list(opened().newest_first())

        assert why in refused.value.message
        assert refused.value.hint

    def test_a_header_that_is_none_is_told(self, opened: Open, log: SqliteLog, path: Path):
        log.close()
        made(path, "UPDATE agent_sessions SET header = '{}'")

        with pytest.raises(CannotReadError, match="its header is damaged"):
            opened()


def whole(name: str, parent: str | None, state: object, *effects: Effect) -> Snapshotted:
    return Snapshotted(name, parent, time_at(9), state=state, effects=effects, why="moved")


def by_id(*entries: Entry) -> dict[str, Entry]:
    return {each.id: each for each in entries}


class TestThinned:
    """What stays of a log of which most is forgotten."""

    DONE = EffectNoted("e4", "e3", time_at(4), key="k", phase="done", result=1)
    ALL = (*some(4), DONE, changed(5), changed(6))

    @pytest.fixture
    def long(self, log: SqliteLog) -> SqliteLog:
        log.append(self.ALL)
        return log

    def test_kept_entries_stand_where_they_were_on_what_is_kept(self, long: SqliteLog, path: Path):
        known = Effect("k", Status.DONE, "e4", result=1)
        kept = [start(), whole("e5", "e0", {"messages": [], "n": 5}, known), changed(6)]

        assert isinstance(long, Thins)
        assert long.thin(by_id(*kept)) == 4

        assert oldest_first(long) == kept
        numbers = asked(
            path, "SELECT turn_number, checkpoint_id, parent_id, kind FROM agent_turns"
        )
        assert numbers == [
            (1, "e0", None, "snapshot"),
            (6, "e5", "e0", "snapshot"),
            (7, "e6", "e5", "change"),
        ]
        assert asked(path, "SELECT checkpoint_id, parent_id FROM checkpoints") == [
            ("e0", None),
            ("e5", "e0"),
        ]

    def test_state_and_effects_are_what_they_were(self, long: SqliteLog):
        before = restored(long.newest_first())
        known = Effect("k", Status.DONE, "e4", result=1)

        long.thin(by_id(whole("e6", None, {"messages": [], "n": 6}, known)))

        after = restored(long.newest_first())
        assert isinstance(before, Restored)
        assert isinstance(after, Restored)
        assert (after.leaf, after.state, after.effects) == (
            before.leaf,
            before.state,
            before.effects,
        )

    def test_it_goes_on_behind_and_can_be_opened_again(self, opened: Open, long: SqliteLog):
        known = Effect("k", Status.DONE, "e4", result=1)
        kept = [start(), whole("e6", "e0", {"n": 6}, known)]
        long.thin(by_id(*kept))
        long.append([changed(7)])
        long.close()

        again = opened()
        again.append([changed(8)])

        assert oldest_first(again) == [*kept, changed(7), changed(8)]

    def test_other_sessions_and_tenants_keep_all(self, opened: Open, long: SqliteLog):
        others = [opened("other"), opened("main", "acme")]
        for other in others:
            other.begin(HEADER)
            other.append(some(4))
        known = Effect("k", Status.DONE, "e4", result=1)

        long.thin(by_id(whole("e6", None, {"n": 6}, known)))

        assert [oldest_first(other) for other in others] == [some(4), some(4)]

    @pytest.mark.parametrize(
        ("kept", "why"),
        [
            ([*ALL[:6]], "its last entry must stay"),
            ([*ALL, changed(7)], "there is no entry 'e7'"),
            ([*ALL[1:]], "'e1' would hang on 'e0', which does not stay before it"),
            ([*ALL[:5], ALL[6]], "'e6' would hang on 'e5', which does not stay before it"),
            (
                [start(), *(Changed(f"e{n}", None, time_at(n)) for n in (5, 6))],
                "'e5' would begin a branch without a state",
            ),
            (
                [*ALL[:4], changed(5, parent="e3"), changed(6)],
                "what is known of effects would be lost",
            ),
            (
                [start(), whole("e6", "e0", {"n": 6})],
                "what is known of effects would be lost",
            ),
        ],
    )
    def test_what_would_not_hold_together_is_refused_and_nothing_is_changed(
        self, kept: list[Entry], why: str, long: SqliteLog
    ):
        with pytest.raises(UsageError) as refused:
            long.thin(by_id(*kept))

        assert refused.value.message == f"the log cannot be thinned so: {why}"
        assert refused.value.hint
        assert tuple(oldest_first(long)) == self.ALL

    def test_all_is_as_it_was_where_it_fails_midway(
        self, long: SqliteLog, monkeypatch: pytest.MonkeyPatch
    ):
        known = Effect("k", Status.DONE, "e4", result=1)
        kept = by_id(start(), whole("e5", "e0", {"n": 5}, known), changed(6))
        with monkeypatch.context() as patch:
            patch.setattr(sqlite, "_values", _fail_at("e6", sqlite._values))
            with pytest.raises(KeyboardInterrupt):
                long.thin(kept)

        assert tuple(oldest_first(long)) == self.ALL

    def test_one_that_read_before_another_wrote_thins_nothing(self, opened: Open, long: SqliteLog):
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


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="there are no such modes")
def test_a_database_that_was_there_keeps_its_mode(opened: Open, path: Path):
    path.touch(0o640)
    path.chmod(0o640)

    opened().begin(HEADER)

    assert stat.S_IMODE(path.stat().st_mode) == 0o640
