"""Forks of recordings in SQLite: rows from which the recorder goes on, and nothing else."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES
from forks_of_rows import draft

from tt_debugger.core.changes import Append, Drop, Put, Snapshot
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import NewRows
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import Continues, Forked, Snapshotted
from tt_debugger.core.recording.naming import tenant_and_session
from tt_debugger.core.recording.restoring import Restored, restored
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.formats.recording_sqlite import RecordingSqlite
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.sqlite import SqliteLog
from tt_debugger.storage.writing import write

HI = {"role": "user", "content": "hi"}
DONE = Effect("mail-7", Status.DONE, "m7", "mail", "5e", {"id": 41})
TABLES = ("agent_sessions", "agent_turns", "checkpoints")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordingSqlite]:
    path = shutil.copy(FIXTURES / "recording_sqlite" / "run.db", tmp_path / "run.db")
    opened = RecordingSqlite.open(str(path))
    yield opened
    opened.close()


def rows(location: str) -> dict[str, list[Any]]:
    with closing(sqlite3.connect(location)) as database:
        return {each: database.execute(f"SELECT * FROM {each}").fetchall() for each in TABLES}  # noqa: S608


def inserted(fork: Draft) -> list[tuple[str, Any]]:
    """Give the table and the kind of each row that a fork adds."""
    (new,) = fork.writes
    assert isinstance(new, NewRows)
    return [(each.table, each.values.get("kind")) for each in new.inserts]


def gone_on_with(fork: Draft) -> Restored:
    """Write a fork; give from where a recorder goes on that opens it."""
    for each in fork.writes:
        write(each)
    tenant, session = tenant_and_session(fork.session)
    with closing(SqliteLog.open(fork.location, Options(session, tenant))) as log:
        found = restored(log.newest_first())
        assert isinstance(found, Restored)
        log.append([Forked("next", found.leaf, "2027-01-01T00:00:00Z")])
        return found


def test_a_session_of_its_own_begins_with_the_state_and_all_that_is_known_of_effects(
    store: RecordingSqlite,
):
    before = rows(store.location)

    fork = draft(store, "main", 3, Append(("messages",), HI))

    assert inserted(fork) == [
        ("agent_sessions", None),
        ("checkpoints", None),
        ("agent_turns", "snapshot"),
    ]
    assert fork.session == "main-fork-01010101"
    assert fork.resume_command == (
        "from tt_debugger import Recorder\n"
        f"recorder = Recorder.open('sqlite:///{store.location}', session='main-fork-01010101')"
    )
    found = gone_on_with(fork)
    assert found.leaf == fork.point
    assert [each["content"] for each in found.state["messages"]][2:] == ["form.py: 3", "hi"]
    assert found.effects == {"mail-7": DONE}
    with closing(SqliteLog.open(store.location, Options(fork.session))) as log:
        assert log.header is not None
        assert log.header.continues == Continues(f"{store.location}#main:", "m3")
    after = rows(store.location)
    assert {table: after[table][: len(each)] for table, each in before.items()} == before


def test_a_fork_of_a_tenants_session_is_the_tenants(store: RecordingSqlite):
    fork = draft(store, "acme/main", 1)

    assert fork.session == "acme/main-fork-01010101"
    assert fork.resume_command.endswith("session='main-fork-01010101', tenant='acme')")
    assert gone_on_with(fork).state == {"messages": [{"role": "user", "content": "hello"}]}


def test_a_branch_in_the_session_is_one_row_where_nothing_is_edited(store: RecordingSqlite):
    fork = draft(store, "main", 3, in_place=True, note="again")

    assert inserted(fork) == [("agent_turns", "fork")]
    assert fork.session == "main"
    found = gone_on_with(fork)
    assert found.path[-1] == Forked(fork.point, "m3", "2026-12-23T04:26:40.250Z", note="again")
    assert [each["content"] for each in found.state["messages"]][2:] == ["form.py: 3"]
    assert found.effects == {"mail-7": DONE}


def test_what_is_edited_in_a_branch_is_a_change(store: RecordingSqlite):
    fork = draft(store, "main", 3, Put(("plan",), ["mend"]), Drop(("messages", 0)), in_place=True)

    assert inserted(fork) == [("agent_turns", "fork"), ("agent_turns", "change")]
    found = gone_on_with(fork)
    assert found.state["plan"] == ["mend"]
    assert len(found.state["messages"]) == 2


def test_a_branch_where_a_change_cannot_be_made_ends_in_a_snapshot(store: RecordingSqlite):
    with closing(sqlite3.connect(store.location)) as database:
        wrong = """replace(payload, '"messages"', '"nowhere"')"""
        database.execute(f"UPDATE agent_turns SET payload = {wrong} WHERE checkpoint_id = 'm3'")  # noqa: S608
        database.commit()

    fork = draft(store, "main", 3, in_place=True)

    assert inserted(fork) == [
        ("agent_turns", "fork"),
        ("checkpoints", None),
        ("agent_turns", "snapshot"),
    ]
    found = gone_on_with(fork)
    assert isinstance(found.path[-1], Snapshotted)
    assert len(found.state["messages"]) == 2
    assert found.effects == {"mail-7": DONE}


def test_a_recorder_that_has_the_session_open_is_refused_after_a_branch(store: RecordingSqlite):
    with closing(SqliteLog.open(store.location, Options("main"))) as log:
        for each in draft(store, "main", 3, in_place=True).writes:
            write(each)

        with pytest.raises(CannotWriteError, match="another writer wrote to it"):
            log.append([Forked("mine", "m11", "2027-01-01T00:00:00Z")])


def test_a_fork_can_stand_in_a_copy(store: RecordingSqlite, tmp_path: Path):
    before = rows(store.location)

    fork = draft(store, "main", 3, target=str(tmp_path / "other.db"))

    assert fork.location == str(tmp_path / "other.db")
    assert gone_on_with(fork).effects == {"mail-7": DONE}
    assert rows(store.location) == before


def test_a_state_that_is_no_object_is_refused(store: RecordingSqlite):
    with pytest.raises(UsageError):
        draft(store, "main", 3, Snapshot([1]))


@pytest.mark.parametrize("in_place", [False, True])
def test_a_fork_of_what_its_recorder_cannot_read_is_one_that_it_can(
    store: RecordingSqlite, *, in_place: bool
):
    with closing(sqlite3.connect(store.location)) as database:
        database.execute("UPDATE agent_turns SET payload = '{}' WHERE checkpoint_id = 'm11'")
        database.commit()

    fork = draft(store, "main", 7, in_place=in_place)

    assert "1 entry cannot be read: what is said there of effects is not known" in fork.notes
    found = gone_on_with(fork)
    assert found.state["told"] is True
    assert isinstance(found.path[-1], Snapshotted)
    assert found.effects == {"mail-7": DONE}
