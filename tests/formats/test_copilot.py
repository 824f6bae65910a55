"""Copilot CLI: the events of a session."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, ids_of, jsonl, load, replay_of, said

from tt_debugger.core.findings import Severity
from tt_debugger.core.model import Kind, Session, Usage
from tt_debugger.formats import recognise
from tt_debugger.formats.copilot import Copilot
from tt_debugger.store import Probe, Store

FOLDER = FIXTURES / "copilot"


def event(name: str, parent: str | None, kind: str, **data: Any) -> dict[str, Any]:
    time = "2026-01-01T00:00:00.000Z"
    return {"type": kind, "data": data, "id": name, "timestamp": time, "parentId": parent}


def opened(folder: Path, *events: dict[str, Any]) -> tuple[Store, Session]:
    path = folder / "events.jsonl"
    path.write_bytes(jsonl(*events))
    store, loaded = load(path, "copilot")
    return store, loaded.session


def test_the_messages_are_what_the_model_gets():
    store, loaded = load(FOLDER / "talk.jsonl", "copilot")
    state = replay_of(store, loaded.session).state(9)

    assert state["messages"] == [
        {"role": "user", "content": "<date>2026-01-01</date>\n\nWhy do letters go out twice?"},
        {
            "role": "assistant",
            "content": "I look at the queue.",
            "reasoning_content": "The queue comes first.",
            "tool_calls": [
                {
                    "id": "call-1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": {"command": "cat queue.py"}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": "retry = True"},
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [
                {
                    "id": "call-2",
                    "type": "function",
                    "function": {"name": "edit", "arguments": {"path": "queue.py"}},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "call-2", "content": "no such file", "is_error": True},
    ]
    assert (state["model"], state["cwd"]) == ("model-b", "/work/mail")
    store.close()


def test_a_row_shows_what_was_typed_and_a_result_the_name_of_its_tool():
    store, loaded = load(FOLDER / "talk.jsonl", "copilot")
    heads = loaded.session.heads

    assert heads[1].summary == "Why do letters go out twice?"
    assert [(heads[row].name, heads[row].failed) for row in (5, 9)] == [
        ("bash", False),
        ("edit", True),
    ]
    assert [heads.kind(row) for row in (0, 2, 7, 11)] == [
        Kind.SETTING,
        Kind.CUSTOM,
        Kind.MODEL_CHANGE,
        Kind.COMPACTION,
    ]
    store.close()


def test_a_compaction_leaves_its_summary_and_says_that_the_rest_is_a_guess():
    store, loaded = load(FOLDER / "talk.jsonl", "copilot")
    replay = replay_of(store, loaded.session)
    summary = "The queue retries letters that went out."

    assert replay.state(11)["messages"] == [{"role": "user", "content": summary}]
    (note,) = loaded.session.findings
    assert (note.severity, note.checkpoint) == (Severity.NOTE, "e011")
    whole = replay_of(store, loaded.session, uncompacted=True).state(11)["messages"]
    assert (len(whole), whole[-1]["content"]) == (6, summary)
    store.close()


def test_the_end_says_what_was_used_unless_each_call_did():
    talk, loaded = load(FOLDER / "talk.jsonl", "copilot")
    usage, counted = load(FOLDER / "usage.jsonl", "copilot")

    assert [each.head.usage for each in loaded.session if each.head.usage] == [
        Usage(2000, 90, 1000, 0, 3090)
    ]
    assert [each.head.usage for each in counted.session if each.head.usage] == [
        Usage(1000, 40, 200, 0, 1240)
    ]
    talk.close()
    usage.close()


def test_what_a_subagent_says_is_none_of_the_context(tmp_path: Path):
    store, session = opened(
        tmp_path,
        event("a", None, "user.message", content="hi"),
        event("b", "a", "assistant.message", content="sub", parentToolCallId="c"),
        {**event("c", "b", "assistant.message", content="also"), "agentId": "x"},
        event("d", "c", "assistant.message", content="yo"),
    )

    contents = [each["content"] for each in replay_of(store, session).state(3)["messages"]]
    assert contents == ["hi", "yo"]
    store.close()


def test_events_hang_on_those_that_they_name(tmp_path: Path):
    store, session = opened(
        tmp_path,
        event("a", None, "user.message", content="1"),
        event("b", "a", "user.message", content="2"),
        event("c", "a", "user.message", content="3"),
        event("d", "gone", "user.message", content="4"),
        {"type": "later", "data": {}, "id": "e"},
    )

    assert {each.id: each.parent for each in session} == {
        "a": None,
        "b": "a",
        "c": "a",
        "d": None,
        "e": "d",
    }
    assert said(session) == "TT201 4"
    store.close()


def test_the_session_is_called_as_it_says_or_as_its_folder(tmp_path: Path):
    folder = tmp_path / "0b0b"
    folder.mkdir()
    store, session = opened(folder, event("a", None, "user.message", content="1"))
    talk, loaded = load(FOLDER / "talk.jsonl", "copilot")

    assert (session.id, loaded.session.id) == ("0b0b", "7a22dab8-0000-4000-8000-000000000001")
    store.close()
    talk.close()


def test_a_damaged_file_opens_with_what_is_whole():
    store, loaded = load(FOLDER / "damaged.jsonl", "copilot")

    assert ids_of(loaded.session, range(len(loaded.session))) == (
        "e000 e001 gap@3 e004 e005 e006 x e008"
    )
    assert said(loaded.session) == "TT101 3, TT201 4, TT107 5, TT201 7"
    store.close()


@pytest.mark.parametrize("kind", ["user.message", "tool.execution_start", "session.error"])
def test_a_file_without_its_start_is_known_by_its_events(kind: str):
    data = jsonl(event("a", "b", kind))

    assert recognise(Probe("e.jsonl", "e.jsonl", data, len(data)))[0] is Copilot


def test_its_place_is_the_folder_of_sessions():
    home = Path("/home/dev")

    assert Copilot.places({}, home) == (home / ".copilot" / "session-state",)
    assert Copilot.places({"COPILOT_HOME": "/c"}, home) == (Path("/c/session-state"),)
