"""OpenHands: conversations of the kit and of the old server."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, load, replay_of

from tt_debugger.core.model import Kind
from tt_debugger.debugger import Debugger
from tt_debugger.formats import recognise
from tt_debugger.formats.openhands import OpenHands
from tt_debugger.formats.shared import transcript_files
from tt_debugger.storage.probe import probe
from tt_debugger.store import unheard

FOLDER = FIXTURES / "openhands"
TALK = FOLDER / "3f0c"


def messages(location: Path, row: int, *, uncompacted: bool = False) -> list[dict[str, Any]]:
    store, loaded = load(location, "openhands")
    state = replay_of(store, loaded.session, uncompacted=uncompacted).state(row)
    store.close()
    return state["messages"]


def test_events_are_messages_and_calls_that_are_made_at_once_are_one():
    said = messages(TALK, 5)

    assert [each["role"] for each in said] == ["system", "user", "assistant", "tool", "tool"]
    assert [each["function"]["name"] for each in said[2]["tool_calls"]] == [
        "terminal",
        "file_editor",
    ]
    assert [each["tool_call_id"] for each in said[3:]] == ["call-1", "call-2"]
    assert said[4]["is_error"] is True


def test_a_condensation_forgets_events_and_puts_a_summary_in_their_place():
    texts = ["You fix code.", "The tests fail.", "The tests fail in a.py."]

    said = messages(TALK, 6)
    assert [each["content"] for each in said] == [
        [{"type": "text", "text": texts[0]}],
        [{"type": "text", "text": texts[1]}],
        texts[2],
    ]
    assert len(messages(TALK, 6, uncompacted=True)) == 7


def test_the_state_says_the_model_the_folder_and_how_the_conversation_stands():
    store, loaded = load(TALK, "openhands")
    state = replay_of(store, loaded.session).state(8)

    assert (state["model"], state["cwd"], state["status"]) == ("a-model-1", "/repo", "finished")
    assert [each.head.failed for each in loaded.session][4:6] == [True, True]
    store.close()


def test_events_that_name_their_parents_are_a_tree_with_the_leaf_that_the_state_names():
    store, loaded = load(FOLDER / "tree", "openhands")
    session = loaded.session

    assert {each.id: each.parent for each in session} == {
        "ev-0": None,
        "ev-1": "ev-0",
        "ev-2": "ev-1",
        "ev-9": "ev-0",
        "ev-10": "ev-9",
    }
    assert session.active == 2
    contents = [each["content"][0]["text"] for each in messages(FOLDER / "tree", 4)]
    assert contents == ["You fix code.", "Fix the docs instead.", "The docs are fine."]
    store.close()


def test_events_of_the_old_server_are_read_with_the_calls_that_they_name():
    store, loaded = load(FOLDER / "old", "openhands")
    session = loaded.session
    state = replay_of(store, session).state(5)

    assert list(session.ids) == ["0", "1", "2", "3", "4", "5"]
    assert [each["role"] for each in state["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert state["messages"][2]["tool_calls"] == [
        {
            "id": "call_9",
            "type": "function",
            "function": {"name": "execute_bash", "arguments": '{"command":"ls"}'},
        }
    ]
    assert (state["status"], session.title) == ("running", "Files")
    store.close()


@pytest.mark.parametrize(
    "inside", ["", "events", "base_state.json", "events/event-00001-ev-1.json"]
)
def test_all_in_a_conversation_leads_to_its_folder(inside: str):
    store, loaded = load(TALK / inside, "openhands")

    assert recognise(probe(str(TALK / inside)))[0] is OpenHands
    assert (store.location, loaded.session.id) == (str(TALK), "3f0c")
    store.close()


def test_a_damaged_event_is_a_gap_at_its_place():
    store, loaded = load(FOLDER / "damaged", "openhands")
    session = loaded.session

    assert list(session.ids) == [
        "gap@base_state",
        "ev-0",
        "ev-1",
        "gap@event-00002-ev-2",
        "ev-3",
    ]
    assert codes(session.findings) == ["TT101", "TT101"]
    assert store.raw(session, 3) == b"\0" * 60
    assert session.checkpoint(4).parent == "ev-1"
    store.close()


def test_events_are_ordered_by_their_numbers_and_what_others_keep_is_left_alone(tmp_path: Path):
    talk = tmp_path / "talk"
    events = talk / "events"
    events.mkdir(parents=True)
    for n in (10, 9, 100000):
        event = {"id": f"e{n}", "kind": "PauseEvent", "source": "user"}
        (events / f"event-{n:05d}-e{n}.json").write_text(json.dumps(event))
    (talk / "other.json").write_text("{}")

    store, loaded = load(talk / "events", "openhands")

    assert list(loaded.session.ids) == ["e9", "e10", "e100000"]
    assert [each.head.kind for each in loaded.session] == [Kind.CUSTOM] * 3
    store.close()


def test_a_new_event_is_followed(tmp_path: Path):
    talk = tmp_path / "talk"
    shutil.copytree(TALK, talk)
    store, loaded = load(talk, "openhands")
    event = {"id": "new", "kind": "PauseEvent", "source": "user"}
    (talk / "events" / "event-00009-new.json").write_text(json.dumps(event))

    grown = store.follow(loaded.cursor)

    assert (grown.kept, grown.session.ids[-1]) == (9, "new")
    store.close()


@pytest.mark.parametrize("inside", ["events", "base_state.json", "events/event-00001-ev-1.json"])
def test_whatever_was_opened_of_it_the_folder_is_watched(inside: str):
    with Debugger.open(str(TALK / inside)) as debugger:
        assert debugger.watched == (str(TALK),)


def test_events_of_a_time_to_come_are_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    talk = tmp_path / "talk"
    shutil.copytree(TALK, talk)
    future, later = time.time() + 3600, time.time_ns() + 10**10
    os.utime(talk / "events" / "event-00001-ev-1.json", (future, future))
    monkeypatch.setattr(transcript_files, "time_ns", lambda: later)
    store, loaded = load(talk, "openhands")
    monkeypatch.setattr(OpenHands, "parse", None)

    assert store.follow(loaded.cursor).session is loaded.session
    assert store.read(loaded.session.id, unheard).pieces
    store.close()


def test_its_places_are_those_of_the_command_line_and_of_the_old_server():
    places = OpenHands.places({"FILE_STORE_PATH": "/store"}, Path("/home/dev"))

    assert Path("/home/dev/.openhands/conversations") in places
    assert Path("/store/sessions") in places
