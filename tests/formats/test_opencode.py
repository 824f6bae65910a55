"""opencode: several sessions in a database or in a folder, a revert, and a session of its own."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import time
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, facts, fixture_database, ids_of, load, replay_of

from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import is_session, recognise
from tt_debugger.formats.opencode import Opencode, files
from tt_debugger.formats.opencode.files import OpencodeFiles
from tt_debugger.storage.probe import probe
from tt_debugger.store import Follows, Probe, unheard

HERE = FIXTURES / "opencode"
made = partial(fixture_database, "opencode")
DATABASE = HERE / "sessions.db"
STORAGE = HERE / "storage"


def said(role: str, *blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": role, "content": list(blocks)}


def text(words: str) -> dict[str, str]:
    return {"type": "text", "text": words}


@pytest.fixture
def opened():
    store, loaded = load(DATABASE, "opencode")
    yield store, loaded.session
    store.close()


def test_the_database_of_the_fixture_is_what_its_statements_make(tmp_path: Path, opened: Any):
    store, loaded = load(made(tmp_path / "opencode.db"), "opencode")

    assert facts(loaded.session) == facts(opened[1])
    store.close()


def test_all_sessions_are_there_the_one_written_to_last_at_the_end(opened: Any):
    store, session = opened

    assert store.sessions() == ["ses_a", "ses_b"]
    assert (session.id, session.title, session.cwd) == (
        "ses_b",
        "Tide table is an hour off",
        "/home/dev/buoy",
    )
    child = store.load(SessionId("ses_a")).session
    assert ids_of(child, range(len(child))) == "msg_21 msg_22"
    with pytest.raises(CannotReadError, match="there is no session ses_z"):
        store.load(SessionId("ses_z"))


def test_what_was_reverted_is_a_dead_branch(opened: Any):
    _, session = opened

    assert ids_of(session, session.active_path) == " ".join(f"msg_0{n}" for n in range(1, 8))
    assert ids_of(session, session.tree.leaves()) == "msg_09"
    (told,) = session.findings
    assert (told.code, told.checkpoint) == ("TT403", "msg_08")
    assert told.message == "opencode hides 2 messages from here on: they were reverted"


def test_a_message_is_a_checkpoint_with_all_its_parts(opened: Any):
    store, session = opened
    head = session.heads[1]

    assert (head.kind, head.name, head.failed) == (Kind.TOOL_CALL, "task", True)
    assert head.usage == Usage(900, 150, 3000, 200, 4250, 0.012)
    assert replay_of(store, session).state(1)["messages"][1] == said(
        "assistant",
        {"type": "thinking", "thinking": "Summer time ended on Sunday."},
        text("Summer time ended on Sunday. I let an agent find all zones."),
        {
            "type": "tool_use",
            "id": "toolu_1",
            "name": "task",
            "input": {
                "description": "Find the time zones",
                "prompt": "List every place that names a zone.",
                "subagent_type": "explore",
            },
        },
        {
            "type": "tool_result",
            "tool_use_id": "toolu_1",
            "content": "tide.py:31 adds 3600 by hand",
            "is_error": False,
        },
        {
            "type": "tool_use",
            "id": "toolu_2",
            "name": "bash",
            "input": {"command": "pytest tests/test_tide.py"},
        },
        {
            "type": "tool_result",
            "tool_use_id": "toolu_2",
            "content": "exit code 1: 1 failed",
            "is_error": True,
        },
    )
    assert session.heads[8].failed
    assert session.heads[8].summary == "MessageAbortedError"


def test_the_summary_of_a_compaction_stands_for_what_was_said(opened: Any):
    store, session = opened

    state = replay_of(store, session).state(session.active)
    whole = replay_of(store, session, uncompacted=True).state(session.active)

    assert session.heads.kind(4) is Kind.COMPACTION
    assert state["messages"] == [
        said("assistant", text("Done so far: the hour added by hand in tide.py is gone.")),
        said("user", text("Add a test for the last Sunday of October.")),
        said("assistant", text("The test is in tests/test_tide.py.")),
    ]
    assert len(whole["messages"]) == 6
    assert {key: state[key] for key in ("model", "provider", "agent", "cwd", "title")} == {
        "model": "claude-haiku-4-5",
        "provider": "anthropic",
        "agent": "build",
        "cwd": "/home/dev/buoy",
        "title": "Tide table is an hour off",
    }
    assert state["usage"]["cost"] == 0.017


def test_a_session_is_linked_to_the_message_that_started_it(opened: Any):
    store, session = opened

    assert session.subsessions == {1: ("ses_a",)}
    assert store.subsession(session, "ses_a") == f"{DATABASE}#ses_a:"
    assert store.subsession(session, "ses_z") is None


def test_a_session_that_no_part_names_belongs_to_the_message_before_it(tmp_path: Path):
    later = """insert into session select 'ses_e', project_id, 'ses_b', slug, directory, title,
        version, null, 1790000505000, 1790000505000, null from session where id = 'ses_a'"""
    store, loaded = load(made(tmp_path / "opencode.db", later), "opencode")

    assert loaded.session.subsessions == {1: ("ses_a",), 5: ("ses_e",)}
    store.close()


def test_a_row_that_is_damaged_is_a_gap_and_hides_no_other(tmp_path: Path):
    path = made(
        tmp_path / "opencode.db",
        "update message set data = '{\"role\":' where id = 'msg_03'",
        "update part set data = x'ff00' where id = 'prt_11'",
        "update session set revert = 'no JSON' where id = 'ses_b'",
    )
    store, loaded = load(path, "opencode")
    session = loaded.session

    assert ids_of(session, range(len(session))) == (
        "msg_01 msg_02 gap@msg_03 msg_04 msg_05 gap@prt_11 msg_06 msg_07 msg_08 msg_09"
    )
    assert [str(each.code) for each in session.findings] == ["TT101", "TT101"]
    assert session.ids[session.active] == "msg_09"
    store.close()


def test_a_database_that_grows_is_followed(tmp_path: Path):
    path = made(tmp_path / "opencode.db")
    store, loaded = load(path, "opencode")
    assert isinstance(store, Follows)
    with closing(sqlite3.connect(path)) as writer:
        writer.execute("pragma journal_mode = wal")
        writer.execute("update session set revert = null")
        writer.execute(
            "insert into message values ('msg_10', 'ses_b', 1790000900000, 1790000900000, ?)",
            (json.dumps({"role": "user", "time": {"created": 1790000900000}}),),
        )
        writer.commit()

        followed = store.follow(loaded.cursor)

    assert followed.session.ids[-1] == "msg_10"
    assert followed.session.active == 9
    assert store.follow(followed.cursor).session is followed.session
    store.close()


def test_the_storage_folder_holds_the_same_as_files():
    store, loaded = load(STORAGE, "opencode")
    session = loaded.session

    assert is_session(str(STORAGE))
    assert not is_session(str(STORAGE / "part"))
    assert probe(str(STORAGE)).size
    assert store.sessions() == ["ses_d", "ses_c"]
    assert ids_of(session, range(len(session))) == "msg_1 msg_2 gap@prt_5 msg_3"
    assert (session.title, session.cwd) == ("Scale a recipe", "/home/dev/recipes")
    assert replay_of(store, session).state(session.active)["messages"][2] == said(
        "user", text("Write it down.")
    )
    assert json.loads(store.raw(session, 0)) == store.bodies(session, [0])[0]
    store.close()


def test_the_file_of_a_session_opens_that_session_alone(tmp_path: Path):
    shutil.copytree(STORAGE, tmp_path / "storage")
    path = tmp_path / "storage/session/global/ses_d.json"

    store, loaded = load(path, "opencode")

    assert recognise(probe(str(path)))[0] is Opencode
    assert store.sessions() == ["ses_d"]
    assert loaded.session.title == "Read the units"
    store.close()


@pytest.mark.parametrize("inside", ["", "session/global/ses_d.json"])
def test_of_files_the_storage_folder_is_watched_and_read_once_though_of_a_time_to_come(
    inside: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    storage = tmp_path / "storage"
    shutil.copytree(STORAGE, storage)
    future, later = time.time() + 3600, time.time_ns() + 10**10
    for path in storage.rglob("*.json"):
        os.utime(path, (future, future))
    monkeypatch.setattr(files, "time_ns", lambda: later)
    store = OpencodeFiles(str(storage / inside))
    loaded = store.load(store.sessions()[-1])
    again = store.load(loaded.session.id)
    monkeypatch.setattr(files, "one_record", None)

    assert store.watched() == (str(storage),)
    assert store.follow(again.cursor).session is again.session
    assert store.read(loaded.session.id, unheard).pieces


def test_of_a_database_what_is_beside_it_is_watched_too(tmp_path: Path):
    path, link = tmp_path / "opencode.db", tmp_path / "link.db"
    shutil.copy(DATABASE, path)
    link.symlink_to(path)
    with Debugger.open(str(link)) as debugger:
        assert debugger.watched == (str(link), f"{path}-wal", f"{path}-journal")


def test_a_session_whose_file_the_probe_cuts_is_recognised(tmp_path: Path):
    path = tmp_path / "ses_1.json"
    record = {
        "id": "ses_1",
        "projectID": "p",
        "directory": "/w",
        "time": {},
        "diffs": "x" * 99_999,
    }
    path.write_text(json.dumps(record, indent=2))

    assert recognise(probe(str(path)))[0] is Opencode


@pytest.mark.parametrize("missing", ["id", "projectID", "directory", "time"])
def test_another_object_is_no_session_of_opencode(missing: str):
    record = {"id": "s", "projectID": "p", "directory": "/w", "time": {"created": 1}}
    del record[missing]
    data = json.dumps(record).encode()

    assert Opencode.sniff(Probe("s.json", "s.json", data, len(data))) is None


def test_sessions_in_files_are_linked_by_the_folder_or_by_their_own_file():
    store, loaded = load(STORAGE, "opencode")
    assert isinstance(store, Opencode)
    assert loaded.session.subsessions == {1: ("ses_d",)}
    assert store.subsession(loaded.session, "ses_d") == f"{STORAGE}#ses_d:"
    store.close()

    path = STORAGE / "session/global/ses_c.json"
    store, loaded = load(path, "opencode")
    assert isinstance(store, Opencode)
    assert store.subsession(loaded.session, "ses_d") == str(path.with_name("ses_d.json"))
    assert store.subsession(loaded.session, "ses_z") is None
    store.close()


@pytest.mark.parametrize(
    ("environ", "database", "folder"),
    [
        ({}, "/home/dev/.local/share/opencode/opencode.db", "/home/dev/.local/share/opencode"),
        ({"XDG_DATA_HOME": "/d"}, "/d/opencode/opencode.db", "/d/opencode"),
        (
            {"OPENCODE_DB": "~/o.db"},
            "/home/dev/o.db",
            "/home/dev/.local/share/opencode",
        ),
        (
            {"XDG_DATA_HOME": "/d", "OPENCODE_DB": "other.db"},
            "/d/opencode/other.db",
            "/d/opencode",
        ),
    ],
)
def test_sessions_are_kept_where_the_environment_says(
    environ: dict[str, str], database: str, folder: str
):
    assert Opencode.places(environ, Path("/home/dev")) == (
        Path(database),
        Path(folder) / "storage/session",
    )
