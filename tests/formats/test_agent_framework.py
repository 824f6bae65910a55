"""Microsoft Agent Framework: a folder of checkpoints is a tree, and pickles in it stay closed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from builders import FIXTURES, codes, ids_of, load, replay_of

from tt_debugger.core.model import Kind
from tt_debugger.formats.agent_framework import AgentFramework
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.storage.probe import probe

FORMAT = "agent_framework"
HERE = FIXTURES / FORMAT
FIRST = "12060a9c-08fb-4583-820a-18c3bfe0739f"


@pytest.mark.parametrize("location", ["saved", f"saved/{FIRST}.json"])
def test_what_the_kit_wrote_is_a_line_of_checkpoints(location: str):
    store, loaded = load(HERE / location, FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    assert [each.id[:4] for each in session] == ["1206", "d621", "602c"]
    assert session.active_path == [0, 1, 2]
    assert [each.head.step for each in session] == [0, 1, 2]
    assert [replay.state(row)["state"].get("seen") for row in range(3)] == [None, "hello", "hello"]
    (message,) = replay.state(0)["messages"]["internal:up"]
    assert message["__type__"] == "agent_framework._workflows._runner_context:WorkflowMessage"
    assert (message["__pickled__"]["$opaque"], message["__pickled__"]["size"]) == ("pickle", 251)
    assert session.title == "WorkflowBuilder-a250747f-5f6f-44c0-b261-d92dfcf7c473"
    assert [(each.code, each.checkpoint) for each in session.findings] == [
        ("TT111", session.ids[row]) for row in (0, 1)
    ]
    store.close()


def test_checkpoints_hang_on_those_that_they_name():
    store, loaded = load(HERE / "branched", FORMAT)
    session = loaded.session

    tree = " ".join(f"{each.id}<{each.parent or ''}" for each in session)

    assert tree == "gap@torn< c-zero< b-one<c-zero a-two<b-one d-again<b-one"
    assert ids_of(session, session.active_path) == "c-zero b-one d-again"
    shown = [(each.head.kind, each.head.summary) for each in session][1:]
    assert shown == [
        (Kind.SUPER_STEP, "messages for writer · state draft"),
        (Kind.SUPER_STEP, "state draft"),
        (Kind.SUPER_STEP, "state draft, sent"),
        (Kind.INTERRUPT, "asks 1 · state draft"),
    ]
    assert [each.name for each in session.asides] == ["other.json"]
    assert sorted(codes(session.findings)) == ["TT101", "TT111"]
    store.close()


def test_the_state_is_the_document_but_for_what_is_pickled():
    store, loaded = load(HERE / "branched", FORMAT)
    session = loaded.session
    replay = replay_of(store, session)

    sealed = opaque("pickle", b"\x80\x04K\x04.")
    document = json.loads((HERE / "branched" / "c-zero.json").read_bytes())
    assert store.bodies(session, [1]) == [document]
    note = {"__pickled__": sealed, "__type__": "demo:Note"}
    assert replay.state(1) == {**document, "messages": {"writer": [note]}}
    assert replay.state(4)["state"] == {"_executor_state": {}, "draft": "Dear Ann"}
    store.close()


def test_a_folder_is_told_by_most_of_its_files(tmp_path: Path):
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.json").write_text('{"checkpoint_id":"x"}')
    (tmp_path / "d.json").write_bytes((HERE / "branched" / "b-one.json").read_bytes())

    assert AgentFramework.sniff(probe(str(tmp_path))) is None
    assert AgentFramework.sniff(probe(str(tmp_path / "d.json"))) is not None
    assert AgentFramework.sniff(probe(str(tmp_path / "a.json"))) is None
