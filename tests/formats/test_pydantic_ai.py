"""Pydantic AI: each message is a checkpoint, and its parts are messages that everybody knows."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import FIXTURES, codes, ids_of, load, replay_of

from tt_debugger.core.messages import calls_in, read_message
from tt_debugger.core.model import Kind, Usage
from tt_debugger.formats.pydantic_ai import PydanticAi
from tt_debugger.storage.probe import probe

FORMAT = "pydantic_ai"
HERE = FIXTURES / FORMAT


def test_what_the_kit_wrote_is_a_conversation_of_two_runs():
    store, loaded = load(HERE / "history.json", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert session.id == "01a22852-b2fb-75c2-bece-b876fe9754df"
    assert ids_of(session, session.active_path) == "L1 L1.2 L1.3 L1.4 L1.5 L1.6"
    kinds = [each.head.kind for each in session]
    assert kinds == [
        Kind.MESSAGE,
        Kind.TOOL_CALL,
        Kind.TOOL_RESULT,
        Kind.MESSAGE,
        Kind.MESSAGE,
        Kind.MESSAGE,
    ]
    last = replay.state(5)
    assert [each["role"] for each in last["messages"]] == [
        *("system", "user", "assistant", "tool", "assistant"),
        *("user", "assistant"),
    ]
    runs = [replay.state(row)["run_id"][-12:] for row in range(6)]
    assert runs == ["b8756510dc77"] * 4 + ["d36746d2916c"] * 2
    assert (last["model"], last["provider"], last["instructions"]) == ("test", "test", "be brief")
    assert last["usage"]["total"] == 219
    records = json.loads((HERE / "history.json").read_bytes())
    assert store.bodies(session, range(6)) == records
    assert json.loads(store.raw(session, 2)) == records[2]
    assert session.findings == ()
    store.close()


def test_each_kind_of_part_has_its_shape():
    store, loaded = load(HERE / "parts.json", FORMAT)
    session = loaded.session

    messages = replay_of(store, session).state(len(session) - 1)["messages"]

    assert messages == [
        {"role": "system", "content": "Mind the tide."},
        {
            "role": "user",
            "content": [
                "What is this?",
                {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}},
                {"type": "image", "mimeType": "image/png", "data": "aGk="},
                {"url": "https://example.org/a.pdf", "kind": "document-url"},
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "A shell, perhaps."},
                {"type": "thinking", "thinking": "", "redacted": True},
                {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"name": "shell"}},
                {"type": "tool_use", "id": "t2", "name": "look_up", "input": "{torn"},
            ],
        },
        {"role": "tool", "tool_call_id": "t1", "name": "look_up", "content": '{"found":2}'},
        {
            "role": "tool",
            "tool_call_id": "t2",
            "name": "look_up",
            "content": '[{"type":"json_invalid","loc":[],"msg":"torn"}]',
            "is_error": True,
        },
        {
            "role": "assistant",
            "content": [
                {
                    "type": "tool_use",
                    "id": "b1",
                    "name": "web_search",
                    "input": {"query": "shells"},
                },
                {
                    "type": "tool_result",
                    "tool_use_id": "b1",
                    "name": "web_search",
                    "content": '{"hits":1}',
                },
                {"type": "text", "text": "A cockle."},
                {"part_kind": "new-kind", "value": 1},
            ],
        },
        {"role": "user", "content": "Plain text is not allowed."},
        {"role": "assistant", "content": []},
    ]
    assert [each.name for each in calls_in(messages[2])] == ["look_up", "look_up"]
    assert all(read_message(each).role == each["role"] for each in messages)
    store.close()


def test_heads_show_what_is_new_and_what_it_used():
    store, loaded = load(HERE / "parts.json", FORMAT)
    session = loaded.session

    heads = [(each.head.kind, each.head.name, each.head.failed) for each in session]

    assert heads == [
        (Kind.MESSAGE, "user", False),
        (Kind.TOOL_CALL, "look_up", False),
        (Kind.TOOL_RESULT, "look_up", False),
        (Kind.TOOL_CALL, "web_search", True),
        (Kind.MESSAGE, "user", False),
        (Kind.MESSAGE, "asst", False),
        (Kind.CUSTOM, "record", False),
    ]
    used = [session.heads.usage(row) for row in (1, 3)]
    assert used == [Usage(30, 9, 0, 0, 39), Usage(20, 6, 20, 10, 56)]
    assert session.heads.time(2) == 1791187202
    assert session.id == "parts"
    store.close()


def test_what_is_damaged_hides_nothing_else():
    store, loaded = load(HERE / "damaged.json", FORMAT)
    session = loaded.session

    assert [each.head.kind for each in session] == [Kind.MESSAGE, Kind.GAP]
    assert set(codes(session.findings)) <= {"TT101", "TT102"}
    assert session.findings
    store.close()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ('[{"kind":"request","parts":[{"part_kind":"user-prompt","content":"hi"}]}]', True),
        ('\ufeff\n[{"kind":"response","parts":[]}', True),
        ('[{"kind":"request","parts":[{"content":"hi"}]}]', False),
        ('[{"role":"user","parts":[{"text":"hi"}]}]', False),
        ('{"kind":"request","parts":[]}', False),
        ("[]", False),
    ],
)
def test_a_history_is_told_by_its_first_message(text: str, tmp_path: Path, *, is_one: bool):
    path = tmp_path / "h.json"
    path.write_text(text)

    assert (PydanticAi.sniff(probe(str(path))) is not None) is is_one
