"""Cline and Roo Code: task folders, and what stands beside the messages."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, load, replay_of, said

from tt_debugger.core.model import Kind, Usage
from tt_debugger.formats import is_session, recognise
from tt_debugger.formats.cline import Cline
from tt_debugger.storage.probe import probe
from tt_debugger.store import Follows

FOLDER = FIXTURES / "cline"
TASK = FOLDER / "1767225600000"


def test_the_messages_are_those_of_the_api():
    store, loaded = load(TASK, "cline")
    state = replay_of(store, loaded.session).state(3)

    assert state["messages"] == json.loads((TASK / "api_conversation_history.json").read_text())
    assert (state["model"], state["provider"]) == ("a-model-1", "anthropic")
    assert loaded.session.title == state["title"] == "Sort the table by date."
    assert loaded.session.id == "1767225600000"
    store.close()


def test_the_window_says_what_each_answer_used_and_which_commit_holds_the_files():
    store, loaded = load(TASK, "cline")
    session = loaded.session
    replay = replay_of(store, session)

    assert [each.head.usage for each in session] == [
        None,
        Usage(1200, 80, 300, 0, 1580, 0.0042),
        None,
        Usage(1500, 40, 0, 0, 1540, 0.005),
    ]
    commits = [replay.state(row).get("checkpoint") for row in range(4)]
    assert commits == ["1f0c9ad4", "1f0c9ad4", "1f0c9ad4", "77be21c0"]
    store.close()


def test_roo_names_the_commit_in_a_message_of_its_own_and_is_told_by_the_time():
    store, loaded = load(FOLDER / "roo", "cline")
    replay = replay_of(store, loaded.session)

    assert [replay.state(row).get("checkpoint") for row in range(3)] == [
        None,
        "9d3e77aa",
        "9d3e77aa",
    ]
    assert loaded.session.heads[1].usage == Usage(900, 30, 0, 0, 930, 0.002)
    store.close()


@pytest.mark.parametrize(
    "name", ["api_conversation_history.json", "ui_messages.json", "task_metadata.json"]
)
def test_each_file_of_a_task_leads_to_its_folder(name: str):
    store, loaded = load(TASK / name, "cline")

    assert recognise(probe(str(TASK / name)))[0] is Cline
    assert (store.location, loaded.session.id) == (str(TASK), TASK.name)
    store.close()


def test_the_folder_of_a_task_is_a_session_and_that_of_all_tasks_is_none():
    assert is_session(str(TASK))
    assert not is_session(str(FOLDER))


def test_a_result_is_called_by_the_tool_whose_call_it_answers(tmp_path: Path):
    def call(name: str, tool: str) -> dict[str, Any]:
        return {"type": "tool_use", "id": name, "name": tool, "input": {}}

    def result(name: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": name, "content": "ok"}

    said = [
        {"role": "assistant", "content": [call("t1", "read_file"), call("t2", "list_files")]},
        {"role": "user", "content": [result("t2")]},
        {"role": "user", "content": [result("t1"), result("t2")]},
        {"role": "user", "content": [result("gone")]},
    ]
    (tmp_path / "api_conversation_history.json").write_text(json.dumps(said))
    store, loaded = load(tmp_path, "cline")

    assert [(each.head.kind, each.head.name) for each in loaded.session] == [
        (Kind.TOOL_CALL, "read_file"),
        (Kind.TOOL_RESULT, "list_files"),
        (Kind.TOOL_RESULT, "read_file"),
        (Kind.TOOL_RESULT, "tool"),
    ]
    store.close()


def test_where_the_messages_are_lost_the_window_is_shown():
    store, loaded = load(FOLDER / "window-only", "cline")

    assert [each.head.name for each in loaded.session][:3] == [
        "task",
        "checkpoint_created",
        "api_req_started",
    ]
    assert {each.head.kind for each in loaded.session} == {Kind.CUSTOM}
    store.close()


def test_what_newer_versions_write_outside_an_editor_is_read():
    store, loaded = load(FOLDER / "command-line", "cline")
    state = replay_of(store, loaded.session).state(3)

    assert (len(state["messages"]), state["system_prompt"]) == (4, "You edit code.")
    store.close()


def test_a_damaged_task_opens_with_a_gap_for_each_file_that_lost_something():
    store, loaded = load(FOLDER / "damaged", "cline")
    session = loaded.session

    assert codes(session.findings) == ["TT101"] * 3
    assert [each.head.kind for each in session].count(Kind.GAP) == 3
    usages = [each.head.usage for each in session if each.head.role == "assistant"]
    assert usages == [Usage(1200, 80, 300, 0, 1580, 0.0042)]
    assert "table.ts" in store.raw(session, 1).decode()
    store.close()


def test_a_task_that_grows_is_followed(tmp_path: Path):
    task = tmp_path / "task"
    shutil.copytree(TASK, task)
    store, loaded = load(task, "cline")
    path = task / "api_conversation_history.json"
    path.write_text(json.dumps([*json.loads(path.read_text()), {"role": "user", "content": "?"}]))

    assert isinstance(store, Follows)
    grown = store.follow(loaded.cursor)

    assert (len(loaded.session), len(grown.session), grown.kept) == (4, 5, 4)
    assert said(grown.session) == ""
    store.close()


def test_its_places_are_the_storages_of_the_editors():
    places = Cline.places({"CLINE_DIR": "/c"}, Path("/home/dev"))
    storage = Path("/home/dev/.config/Code/User/globalStorage")

    assert storage / "saoudrizwan.claude-dev" / "tasks" in places
    assert storage / "rooveterinaryinc.roo-cline" / "tasks" in places
    assert places[-1] == Path("/c/data/tasks")
