"""Forks of sessions of the OpenAI Agents SDK: the items of a new session, counted as it counts."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, replay_of
from forks_of_rows import draft
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Drop, Put, Splice, fold
from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import How, NewRows
from tt_debugger.core.model import SessionId
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.openai_agents import OpenAIAgents
from tt_debugger.storage.writing import write

HERE = FIXTURES / "openai_agents"
HI = {"role": "user", "content": "hi"}


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    stores: list[OpenAIAgents] = []

    def open_copy(name: str) -> OpenAIAgents:
        copy = shutil.copyfile(HERE / f"{name}.db", tmp_path / f"{name}.db")
        stores.append(OpenAIAgents.open(str(copy)))
        return stores[-1]

    yield open_copy
    for each in stores:
        each.close()


def inserts(fork: Draft, table: str) -> list[dict[str, Any]]:
    (rows,) = fork.writes
    assert isinstance(rows, NewRows)
    assert all(each.fresh == ("session_id",) for each in rows.inserts)
    return [dict(each.values) for each in rows.inserts if each.table == table]


def read_again(fork: Draft) -> list[Any]:
    """Write a fork, and give the messages with which its agent goes on."""
    for each in fork.writes:
        write(each)
    store = OpenAIAgents.open(fork.location)
    assert fork.session in store.sessions()
    session = store.load(SessionId(fork.session)).session
    assert session.findings == ()
    assert session.ids[session.active or 0] == fork.point
    messages = replay_of(store, session).state(session.active or 0)["messages"]
    store.close()
    return messages


def stored(path: str, query: str) -> list[Any]:
    with closing(sqlite3.connect(path)) as database:
        return database.execute(query).fetchall()


def test_the_first_items_become_those_of_a_new_session_text_by_text(opened: Any):
    store = opened("plain")
    old = stored(store.location, "select * from agent_messages where session_id = 'sess-1'")

    fork = draft(store, "sess-1", 3, Append(("messages",), HI))

    made = inserts(fork, "agent_messages")
    name = "sess-1-fork-01010101"
    assert [tuple(each.values()) for each in made[:4]] == [
        (8 + place, name, *row[2:]) for place, row in enumerate(old[:4])
    ]
    assert made[4] == {
        "id": 12,
        "session_id": name,
        "message_data": '{"role":"user","content":"hi"}',
        "created_at": "2026-12-23 04:26:40",
    }
    now = "2026-12-23 04:26:40"
    assert inserts(fork, "agent_sessions") == [
        {"session_id": name, "created_at": now, "updated_at": now}
    ]
    assert inserts(fork, "message_structure") == []
    assert (fork.session, fork.point) == (name, "12")
    assert fork.resume_command == (
        f"session = SQLiteSession(session_id={name!r}, db_path={store.location!r})"
    )
    assert read_again(fork)[-1] == HI
    found = stored(store.location, "select * from agent_messages where session_id = 'sess-1'")
    assert found == old


def test_a_fork_of_a_branch_is_the_main_branch_of_a_session_of_its_own(opened: Any):
    store = opened("sessions")
    session = store.load(SessionId("menu")).session
    row = session.row_of("10")
    assert row is not None

    fork = draft(store, "menu", row, Append(("messages",), HI))

    order = inserts(fork, "message_structure")
    named = ("id", "message_id", "branch_id", "sequence_number", "user_turn_number")
    assert [tuple(each[name] for name in named) for each in order] == [
        (30, 12, "main", 1, 1),
        (31, 13, "main", 2, 1),
        (32, 14, "main", 3, 1),
        (33, 15, "main", 4, 1),
        (34, 16, "main", 5, 1),
        (35, 17, "main", 6, 2),
        (36, 18, "main", 7, 2),
        (37, 19, "main", 8, 3),
    ]
    assert [each["message_type"] for each in order] == [
        *("user", "reasoning", "function_call", "function_call_output", "assistant"),
        *("user", "assistant", "user"),
    ]
    assert [each["tool_name"] for each in order] == [None, None, "pantry", *[None] * 5]
    assert fork.resume_command == (
        "session = AdvancedSQLiteSession(session_id='menu-fork-01010101',"
        f" db_path={store.location!r}, sessions_table='chats', messages_table='chat_items')"
    )
    ((answer,),) = stored(store.location, "select message_data from chat_items where id = 10")
    asked = {"role": "user", "content": "Make it mild."}
    assert read_again(fork)[5:] == [asked, json.loads(answer), HI]


def test_an_edited_item_keeps_its_place_and_its_time(opened: Any):
    store = opened("plain")
    new = {"role": "user", "content": "good day"}
    edits = (Put(("messages", 0, "content"), "other"), Splice(("messages",), 1, 0, (new,)))
    fork = draft(store, "sess-1", 3, *edits)
    (rows,) = fork.writes
    assert isinstance(rows, NewRows)

    hows = [each.how for each in rows.inserts if each.table == "agent_messages"]
    assert hows == [How.CHANGED, How.ADDED, How.KEPT, How.KEPT, How.KEPT]
    times = [each["created_at"] for each in inserts(fork, "agent_messages")]
    assert times == sorted(times)
    assert times[0] == times[1]
    found = read_again(fork)
    assert (found[0]["content"], found[1]) == ("other", new)


def test_what_a_session_cannot_hold_is_refused(opened: Any):
    store = opened("sessions")
    with pytest.raises(UnsupportedError, match="title cannot be edited"):
        draft(store, "menu", 4, Put(("title",), "t"))
    with pytest.raises(UnsupportedError, match="always begins with the branch main"):
        draft(store, "menu", 4, in_place=True)
    with pytest.raises(UnsupportedError, match="an object with a role or a type"):
        draft(store, "menu", 4, Append(("messages",), "hi"))
    for edit in (Drop(("messages", 0)), Drop(("messages",)), Put(("messages",), [])):
        with pytest.raises(UsageError, match="a session without an item"):
            draft(store, "before", 0, edit)


def test_a_fork_may_go_into_a_copy_of_the_database(opened: Any, tmp_path: Path):
    store = opened("advanced")
    before = Path(store.location).read_bytes()

    fork = draft(store, "adv-1", 4, target=str(tmp_path / "other.db"))

    assert fork.location == str(tmp_path / "other.db")
    assert repr(fork.location) in fork.resume_command
    assert read_again(fork)
    assert Path(store.location).read_bytes() == before


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=20)
@given(data=st.data())
def test_a_fork_reads_back_as_what_was_wanted(opened: Any, data: st.DataObject):
    store = opened(data.draw(st.sampled_from(["plain", "advanced", "sessions"])))
    name = store.sessions()[-1]
    loaded = store.load(name).session
    row = data.draw(st.integers(0, len(loaded) - 1))
    messages = replay_of(store, loaded).state(row)["messages"]
    text = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
    said = {"role": "user", "content": text}
    place = data.draw(st.integers(0, len(messages)))
    edit = Splice(("messages",), place, 0, (said,))

    assert (
        read_again(draft(store, name, row, edit))
        == fold({"messages": messages}, [edit])["messages"]
    )
