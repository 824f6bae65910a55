"""Letta: each agent of a file is a session, and what was put away gives way to what came after."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, ids_of, load, replay_of

from tt_debugger.core.model import Kind, SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.letta import Letta
from tt_debugger.storage.files import HEAD
from tt_debugger.storage.probe import probe
from tt_debugger.store import Probe

FORMAT = "letta"
HERE = FIXTURES / FORMAT


def test_each_agent_is_a_session_with_its_messages():
    store, loaded = load(HERE / "harbour.json", FORMAT)
    session = loaded.session

    assert store.sessions() == ["agent-1", "agent-0"]
    assert (session.id, session.title) == ("agent-0", "Harbour")
    shown = [(each.id, each.head.kind, each.head.name, each.head.summary) for each in session]
    assert shown == [
        ("message-0", Kind.MESSAGE, "system", "You keep the harbour log."),
        ("message-1", Kind.MESSAGE, "user", "Who came in?"),
        ("message-2", Kind.TOOL_CALL, "read_log", '{"day":"Mon"}'),
        ("message-3", Kind.TOOL_RESULT, "read_log", "two boats"),
        ("message-4", Kind.MESSAGE, "user", "A summary: two boats came in."),
        ("message-5", Kind.MESSAGE, "asst", "Two boats came in."),
    ]
    assert len(store.load(SessionId("agent-1")).session) == 1
    with pytest.raises(CannotReadError, match="no session agent-7"):
        store.load(SessionId("agent-7"))
    assert session.findings == ()
    store.close()


def test_what_was_put_away_is_in_the_context_until_then():
    store, loaded = load(HERE / "harbour.json", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    def said(row: int) -> list[str]:
        return [each["id"][-1] for each in replay.state(row)["messages"]]

    assert [said(row) for row in (3, 4, 5)] == [["0", "1", "2", "3"], ["0", "4"], ["0", "4", "5"]]
    whole = replay_of(store, session, uncompacted=True).state(5)["messages"]
    assert len(whole) == 6
    state = replay.state(5)
    assert (state["model"], state["provider"]) == ("m-2", "acme")
    assert state["blocks"] == {"human": "Name: Ida"}
    thought = {"type": "thinking", "thinking": "Look at the log."}
    assert whole[2]["content"] == [thought, {"type": "text", "text": "I look."}]
    store.close()


def test_records_and_places_are_those_of_the_file():
    store, loaded = load(HERE / "harbour.json", FORMAT)
    session = loaded.session
    document: Any = json.loads((HERE / "harbour.json").read_bytes())

    messages = document["agents"][1]["messages"]

    assert store.bodies(session, range(6)) == messages
    assert [json.loads(store.raw(session, row)) for row in range(6)] == messages
    lines = (HERE / "harbour.json").read_text().splitlines()
    assert lines[(session.heads.line(1) or 0) - 1].strip() == "{"
    asides = {each.name for each in session.asides}
    assert {"agent-1", "blocks", "tools", "system", "llm_config"} <= asides
    store.close()


def test_of_a_file_that_was_cut_what_is_whole_is_shown():
    store, loaded = load(HERE / "cut.json", FORMAT)
    session = loaded.session

    assert len(session) > 0
    assert codes(session.findings)
    assert ids_of(session, [0]) == "message-9"
    store.close()


@pytest.mark.parametrize(
    ("keys", "is_one"),
    [
        ("agents groups blocks files sources tools", True),
        ("agents blocks tools", False),
        ("agents groups files sources", False),
    ],
)
def test_a_file_is_told_by_its_keys(keys: str, tmp_path: Path, *, is_one: bool):
    path = tmp_path / "a.json"
    path.write_text(json.dumps({key: [] for key in keys.split()}))

    assert (Letta.sniff(probe(str(path))) is not None) is is_one


def test_a_long_file_is_told_by_how_it_begins():
    data = json.dumps({"agents": [{"in_context_message_ids": [], "system": "s" * HEAD}]}).encode()
    other = data.replace(b"in_context", b"in_another")

    assert Letta.sniff(Probe("a.af", "a.af", data[:HEAD], len(data))) is not None
    assert Letta.sniff(Probe("a.af", "a.af", other[:HEAD], len(data))) is None
