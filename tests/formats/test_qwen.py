"""Qwen Code: a tree of records with parts, in which a rewind leaves a dead branch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, ids_of, jsonl, load, replay_of, said

from tt_debugger.core.model import Kind, Usage
from tt_debugger.formats import recognise
from tt_debugger.formats.qwen import Qwen
from tt_debugger.store import Probe

BRANCHED = FIXTURES / "qwen" / "branched.jsonl"
DAMAGED = FIXTURES / "qwen" / "damaged.jsonl"


@pytest.fixture
def branched():
    store, loaded = load(BRANCHED, "qwen")
    yield store, loaded.session
    store.close()


def text(role: str, said: str) -> dict[str, Any]:
    return {"role": role, "parts": [{"text": said}]}


def test_the_last_record_is_the_active_leaf_and_what_was_rewound_a_dead_branch(branched: Any):
    _, session = branched

    path = ids_of(session, session.active_path)

    assert path == "q-01 q-02 q-03 q-04 q-05 q-09 q-10 q-11 q-13 q-14 q-15 q-16"
    assert ids_of(session, session.tree.leaves()) == "q-08 q-12 q-16"
    assert (session.title, session.cwd) == ("Prices without cents", "/home/dev/kiosk")
    assert session.findings == ()


def test_each_record_has_a_head_that_says_what_it_is(branched: Any):
    _, session = branched

    heads = [(head.kind, head.name, head.failed) for head in (each.head for each in session)]

    assert heads == [
        (Kind.MESSAGE, "user", False),
        (Kind.TOOL_CALL, "grep_search", False),
        (Kind.CUSTOM, "ui_telemetry", False),
        (Kind.TOOL_RESULT, "grep_search", False),
        (Kind.MESSAGE, "asst", False),
        (Kind.MESSAGE, "user", False),
        (Kind.TOOL_CALL, "edit", False),
        (Kind.TOOL_RESULT, "edit", True),
        (Kind.CUSTOM, "rewind", False),
        (Kind.MESSAGE, "user", False),
        (Kind.MESSAGE, "asst", False),
        (Kind.SETTING, "title", False),
        (Kind.CUSTOM, "slash_command", False),
        (Kind.COMPACTION, "compact", False),
        (Kind.MESSAGE, "user", False),
        (Kind.MESSAGE, "asst", False),
    ]
    assert session.heads[12].summary == "/compress"
    assert session.heads[1].usage == Usage(1800, 52, 0, 0, 1852)
    assert session.heads[4].usage == Usage(400, 60, 1500, 0, 1960)


def test_after_a_compression_its_history_stands_for_all_that_was_said(branched: Any):
    store, session = branched
    summary = text("user", "Summary: format_price lost the cents; it prints with divmod now.")

    state = replay_of(store, session).state(session.active)

    assert state == {
        "messages": [
            summary,
            text("model", "Got it. Thanks for the additional context!"),
            text("user", "Is there a test for 5 cents?"),
            text("model", "There is now: `0.05`."),
        ],
        "model": "qwen3-coder-flash",
        "provider": None,
        "thinking_level": None,
        # The record of the title hangs beside the path.
        "title": None,
        "cwd": "/home/dev/kiosk",
        "usage": {
            "input": 2830,
            "output": 162,
            "cache_read": 3400,
            "cache_write": 0,
            "total": 6392,
            "cost": 0.0,
        },
    }


def test_without_compressions_all_that_was_said_on_the_path_is_there(branched: Any):
    store, session = branched

    state = replay_of(store, session, uncompacted=True).state(session.active)

    spoken = [row for row in session.active_path if session.heads.role(row) is not None]
    bodies = store.bodies(session, spoken)
    assert state["messages"] == [body["message"] for body in bodies]
    assert len(state["messages"]) == 8


def test_what_is_damaged_is_shown_and_told():
    store, loaded = load(DAMAGED, "qwen")
    session = loaded.session

    assert list(session.ids) == ["d-1", "d-2", "gap@3", "d-4", "d-5", "d-6", "L8"]
    assert said(session) == (
        "TT101 3, TT201 4, TT403 4, TT408 4, TT401 5, TT407 6, TT401 7, TT204 8, TT102 9"
    )
    assert [(each.name, each.row, each.line) for each in session.asides] == [("heartbeat", 5, 7)]
    assert session.forked_from == "0f6e"
    assert session.heads.kind(5) is Kind.UNREADABLE
    assert replay_of(store, session).state(1)["messages"][1]["parts"] == [
        {"executableCode": {"code": "print(1)"}}
    ]
    store.close()


@pytest.mark.parametrize(
    ("record", "format_name"),
    [
        ({"message": {"role": "user", "parts": [{"text": "hi"}]}}, "qwen"),
        (
            {"type": "system", "subtype": "session_model", "systemPayload": {"modelId": "m"}},
            "qwen",
        ),
    ],
)
def test_parts_tell_qwen_code_from_agents_whose_lines_look_alike(
    record: dict[str, Any], format_name: str
):
    data = jsonl({"uuid": "a", "parentUuid": None, "sessionId": "s", "type": "user", **record})

    assert recognise(Probe("s.jsonl", "s.jsonl", data, len(data)))[0].format == format_name


def test_a_message_with_content_is_not_qwen_codes():
    record = {"uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "hi"}}
    data = jsonl(record)

    assert Qwen.sniff(Probe("s.jsonl", "s.jsonl", data, len(data))) is None


@pytest.mark.parametrize(
    ("environ", "place"),
    [
        ({}, "/home/dev/.qwen/projects"),
        ({"QWEN_HOME": "/srv/q"}, "/srv/q/projects"),
        ({"QWEN_HOME": "/srv/q", "QWEN_RUNTIME_DIR": "/srv/r"}, "/srv/r/projects"),
    ],
)
def test_sessions_are_kept_below_the_home_of_qwen_code(environ: dict[str, str], place: str):
    assert Qwen.places(environ, Path("/home/dev")) == (Path(place),)
