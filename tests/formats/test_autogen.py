"""AutoGen: a file is one snapshot, and the thread of the team is its conversation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import FIXTURES, codes, load, replay_of

from tt_debugger.core.messages import calls_in, results_in
from tt_debugger.core.model import Kind, Usage
from tt_debugger.formats.autogen import Autogen
from tt_debugger.storage.probe import probe

FORMAT = "autogen"
HERE = FIXTURES / FORMAT


@pytest.mark.parametrize(
    ("name", "roles"),
    [
        ("team", ["user", "assistant", "assistant", "assistant"]),
        ("agent", ["user", "assistant", "user", "assistant"]),
    ],
)
def test_a_state_of_the_kit_is_its_document_and_its_messages(name: str, roles: list[str]):
    store, loaded = load(HERE / f"{name}.json", FORMAT)
    session = loaded.session

    state = replay_of(store, session).state(0)

    assert [each["role"] for each in state["messages"]] == roles
    assert [each["content"] for each in state["messages"]] == [
        "say hi",
        "hi from alice",
        "hi from bob",
        "second",
    ]
    document = json.loads((HERE / f"{name}.json").read_bytes())
    assert {key: state[key] for key in document} == document
    assert store.bodies(session, [0]) == [document]
    assert session.findings == ()
    store.close()


def test_the_head_of_a_team_tells_what_it_is_and_what_it_used():
    store, loaded = load(HERE / "team.json", FORMAT)
    head = loaded.session.heads[0]

    assert (head.kind, head.summary) == (Kind.SNAPSHOT, "TeamState · 4 messages · second")
    assert head.usage == Usage(75, 7, 0, 0, 82)
    assert head.time == 1795972843.235558
    assert loaded.session.id == "team"
    store.close()


def test_each_type_of_message_has_its_shape():
    store, loaded = load(HERE / "tools.json", FORMAT)

    messages = replay_of(store, loaded.session).state(0)["messages"]

    call = {"type": "tool_use", "id": "c1", "name": "look", "input": {"at": "map"}}
    result = {"role": "tool", "tool_call_id": "c1", "name": "look", "content": "no map"}
    other = {"role": "tool", "tool_call_id": "c2", "name": "look", "content": "a pier"}
    image = {"type": "image", "mimeType": "image/png", "data": "aGk="}
    thought = {"type": "thinking", "thinking": "I should look it up."}
    assert messages == [
        {"role": "user", "content": ["What is on it?", image]},
        {"role": "assistant", "content": [thought], "name": "writer"},
        {"role": "assistant", "content": [call], "name": "writer"},
        {**result, "is_error": True},
        other,
        {"role": "assistant", "content": ['{"pier":true}'], "name": "writer"},
    ]
    assert [each.name for each in calls_in(messages[2])] == ["look"]
    assert [each.failed for each in results_in(messages[3])] == [True]
    store.close()


def test_of_a_team_without_a_thread_the_agent_that_heard_most_tells(tmp_path: Path):
    def agent(*said: str) -> dict[str, object]:
        heard = [{"type": "UserMessage", "source": "user", "content": each} for each in said]
        return {"type": "AssistantAgentState", "llm_context": {"messages": heard}}

    inner = {"type": "TeamState", "agent_states": {"c": agent("1", "2", "3")}}
    state = {
        "type": "TeamState",
        "version": "1.0.0",
        "agent_states": {"a": agent("1", "2"), "b": {"inner_team_state": inner}},
    }
    path = tmp_path / "s.json"
    path.write_text(json.dumps(state))
    store, loaded = load(path, FORMAT)

    messages = replay_of(store, loaded.session).state(0)["messages"]

    assert [each["content"] for each in messages] == ["1", "2", "3"]
    store.close()


def test_a_damaged_state_is_a_gap():
    store, loaded = load(HERE / "damaged.json", FORMAT)
    session = loaded.session

    assert [each.head.kind for each in session] == [Kind.GAP]
    assert codes(session.findings) == ["TT101"]
    store.close()


@pytest.mark.parametrize(
    ("state", "is_one"),
    [
        ({"type": "TeamState", "version": "1.0.0", "agent_states": {}}, True),
        ({"type": "RoundRobinManagerState", "version": "1", "message_thread": []}, True),
        ({"type": "TeamState", "agent_states": {}}, False),
        ({"type": "TeamState", "version": "1.0.0"}, False),
        ({"type": "state", "version": "1.0.0", "llm_context": {}}, False),
    ],
)
def test_a_state_is_told_by_its_type_and_its_keys(
    state: dict[str, object], tmp_path: Path, *, is_one: bool
):
    path = tmp_path / "s.json"
    path.write_text(json.dumps(state))

    assert (Autogen.sniff(probe(str(path))) is not None) is is_one
