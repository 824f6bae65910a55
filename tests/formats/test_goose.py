"""Goose: several sessions in a database, or one in a file, and a compaction by what is hidden."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, fixture_database, ids_of, load, replay_of, said

from tt_debugger.core.model import Kind, SessionId
from tt_debugger.debugger import Debugger
from tt_debugger.formats.goose import Goose, GooseRows

HERE = FIXTURES / "goose"
made = partial(fixture_database, "goose")


@pytest.fixture
def opened():
    store, loaded = load(HERE / "sessions.db", "goose")
    yield store, loaded.session
    store.close()


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path, opened: Any):
    store, loaded = load(made(tmp_path / "sessions.db"), "goose")

    assert facts(loaded.session) == facts(opened[1])
    store.close()


def test_all_sessions_are_there_an_empty_one_too(opened: Any):
    store, session = opened

    assert store.sessions() == ["20260901_1", "20260901_2"]
    empty = store.load(SessionId("20260901_1")).session
    assert (len(empty), empty.active, empty.title) == (0, None, "an empty one")
    assert (session.title, session.cwd) == ("Label printer", "/home/dev/labels")
    assert session.findings == ()


def test_messages_are_checkpoints_called_by_their_rows(opened: Any):
    _, session = opened

    heads = [(each.id, each.head.kind, each.head.name, each.head.failed) for each in session]

    assert heads == [
        ("1", Kind.MESSAGE, "user", False),
        ("2", Kind.TOOL_CALL, "developer__shell", False),
        ("3", Kind.TOOL_RESULT, "tool", False),
        ("4", Kind.TOOL_CALL, "developer__text_editor", False),
        ("5", Kind.TOOL_RESULT, "tool", True),
        ("6", Kind.COMPACTION, "compact", False),
        ("7", Kind.MESSAGE, "asst", False),
        ("8", Kind.MESSAGE, "asst", False),
    ]
    assert session.heads.time(0) == 1788249600


def test_what_is_hidden_from_the_model_gives_way_to_the_summary(opened: Any):
    store, session = opened
    replay = replay_of(store, session)

    before, after = replay.state(4), replay.state(session.active)
    whole = replay_of(store, session, uncompacted=True).state(session.active)

    assert len(before["messages"]) == 5
    assert before["messages"][1]["content"][2] == {
        "type": "tool_use",
        "id": "call_1",
        "name": "developer__shell",
        "input": {"command": "grep -n codepage labels/*.py"},
    }
    assert before["messages"][4]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "call_2",
            "content": "no such text",
            "is_error": True,
        }
    ]
    words = [each["content"][0]["text"] for each in after["messages"]]
    assert words == [
        "Summary: zpl.py sets ^CI0; the edit to ^CI28 failed once.",
        "The labels are set in UTF-8 now.",
    ]
    # What is shown to the user alone was never said to the model.
    assert len(whole["messages"]) == 7
    assert (after["model"], after["provider"]) == ("claude-sonnet-4-5", "anthropic")


def test_a_message_that_the_compaction_kept_stands_before_its_summary(tmp_path: Path):
    kept = """update messages set metadata_json = '{"agentVisible":true}' where id = 1"""
    store, loaded = load(made(tmp_path / "sessions.db", kept), "goose")

    messages = replay_of(store, loaded.session).state(5)["messages"]

    assert [each["content"][0]["text"][:7] for each in messages] == ["The lab", "Summary"]
    store.close()


def test_an_old_database_without_later_columns_is_read(tmp_path: Path):
    path = made(
        tmp_path / "sessions.db",
        "alter table messages drop column metadata_json",
        "alter table sessions drop column name",
        "alter table sessions drop column model_config_json",
        "update messages set content_json = '{}' where id = 2",
    )
    store, loaded = load(path, "goose")
    session = loaded.session

    assert ids_of(session, range(3)) == "1 gap@2 3"
    assert (session.title, len(session)) == ("", 8)
    assert session.findings[0].message == "messages/2: it is no list"
    store.close()


def test_a_database_is_watched_with_what_is_beside_it_and_a_file_alone():
    for name, sides in (("sessions.db", ("", "-wal", "-journal")), ("legacy.jsonl", ("",))):
        with Debugger.open(str(HERE / name)) as debugger:
            assert debugger.watched == tuple(f"{HERE / name}{side}" for side in sides)


def test_a_database_of_a_time_to_come_is_read_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = made(tmp_path / "sessions.db")
    future = time.time() + 3600
    os.utime(path, (future, future))
    store, loaded = load(path, "goose")
    monkeypatch.setattr(GooseRows, "transcript", None)

    assert store.follow(loaded.cursor).session is loaded.session
    store.close()


def test_a_file_has_a_line_for_the_session_and_one_for_each_message():
    store, loaded = load(HERE / "legacy.jsonl", "goose")
    session = loaded.session

    assert ids_of(session, session.active_path) == "L2 L3 L4 L5"
    assert (session.title, session.cwd) == ("Alarm rings twice", "/home/dev/clock")
    assert [(each.name, each.row, each.line) for each in session.asides] == [("session", -1, 1)]
    assert session.findings == ()
    state = replay_of(store, session).state(session.active)
    assert state["messages"][2]["content"] == [
        {
            "type": "tool_result",
            "tool_use_id": "call_a",
            "content": [{"type": "text", "text": "0 7 * * 1-5 ring\n0 7 * * 1 ring"}],
            "is_error": False,
        }
    ]
    assert (state["title"], state["cwd"]) == ("Alarm rings twice", "/home/dev/clock")
    store.close()


def test_what_is_damaged_in_a_file_is_told():
    store, loaded = load(HERE / "torn.jsonl", "goose")
    session = loaded.session

    assert ids_of(session, range(len(session))) == "L2 gap@3 L4 gap@6"
    assert said(session) == "TT101 3, TT408 4, TT404 5, TT101 6"
    store.close()


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({}, "/home/dev/.local/share/goose/sessions"),
        ({"XDG_DATA_HOME": "/d"}, "/d/goose/sessions"),
        ({"XDG_DATA_HOME": "/d", "GOOSE_PATH_ROOT": "/g"}, "/g/data/sessions"),
    ],
)
def test_sessions_are_kept_where_the_environment_says(environ: dict[str, str], place: str):
    assert Goose.places(environ, Path("/home/dev")) == (Path(place),)
