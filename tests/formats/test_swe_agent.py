"""SWE-agent and mini-swe-agent: trajectories, whole and cut."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, codes, load, replay_of

from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.formats import recognise
from tt_debugger.formats.swe_agent import SweAgent
from tt_debugger.storage.probe import probe
from tt_debugger.store import Probe

FOLDER = FIXTURES / "swe_agent"


def state_at_end(path: Path) -> dict[str, Any]:
    store, loaded = load(path, "swe_agent")
    state = replay_of(store, loaded.session).state(len(loaded.session) - 1)
    store.close()
    return state


def test_the_messages_are_those_of_the_history_and_steps_say_where_the_agent_was():
    state = state_at_end(FOLDER / "slugs.traj")
    history = json.loads((FOLDER / "slugs.traj").read_text())["history"]

    assert state["messages"] == [
        *history[:4],
        {**history[4], "tool_call_id": "call_1"},
        *history[5:],
    ]
    assert (state["model"], state["cwd"]) == ("a-model-1", "/repo/src")
    assert state["environment"]["open_file"] == "/repo/src/slug.py"
    assert state["info"]["exit_status"] == "submitted"


def test_each_answer_has_its_step_and_a_demonstration_has_none():
    store, loaded = load(FOLDER / "slugs.traj", "swe_agent")
    replay = replay_of(store, loaded.session)

    assert [replay.state(row).get("cwd") for row in range(len(loaded.session))] == [
        *[None] * 3,
        *["/repo"] * 2,
        *["/repo/src"] * 2,
    ]
    store.close()


def test_a_run_without_a_history_is_shown_by_its_steps():
    store, loaded = load(FOLDER / "steps-only.traj", "swe_agent")
    state = replay_of(store, loaded.session).state(1)

    assert [each.head.kind for each in loaded.session] == [Kind.TURN, Kind.TURN]
    assert [each["role"] for each in state["messages"]] == ["assistant", "user"] * 2
    store.close()


def test_mini_swe_agent_says_what_an_answer_used_and_when():
    store, loaded = load(FOLDER / "mini.traj.json", "swe_agent")
    head = loaded.session.heads[2]

    assert head.usage == Usage(900, 40, total=940)
    assert head.time == 1767225600.25
    assert state_at_end(FOLDER / "mini.traj.json")["cwd"] == "/repo"
    store.close()


def test_the_session_is_called_as_the_file():
    names = {path.name: SweAgent.open(str(path)).sessions() for path in FOLDER.iterdir()}

    assert names["slugs.traj"] == (SessionId("slugs"),)
    assert names["mini.traj.json"] == (SessionId("mini"),)


def test_of_a_damaged_history_all_other_messages_and_the_end_are_read():
    store, loaded = load(FOLDER / "damaged.traj", "swe_agent")
    session = loaded.session

    assert [each.head.kind for each in session].count(Kind.GAP) == 1
    assert len(session) == 7
    assert codes(session.findings) == ["TT101"]
    assert replay_of(store, session).state(6)["info"]["exit_status"] == "submitted"
    store.close()


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.9, 0.99])
@pytest.mark.parametrize("name", ["slugs.traj", "mini.traj.json", "mini-list.traj.json"])
def test_a_trajectory_that_is_cut_anywhere_opens(name: str, share: float, tmp_path: Path):
    data = (FOLDER / name).read_bytes()
    path = tmp_path / name
    path.write_bytes(data[: int(len(data) * share)])

    store, loaded = load(path, "swe_agent")

    assert "TT102" in codes(loaded.session.findings)
    store.close()


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.json", b'{"trajectory_format": "mini-swe-agent-1", "messages": []}'),
        ("x.json", b'{"trajectory": [{"action": "ls"}], "history": [], "info": {}}'),
        ("x.traj", b'{"environment": "e", "trajectory": ['),
        ("x.traj", b'{"trajectory": [{"action": "a", "observ'),
        ("x.traj.json", b'[{"role": "user", "content": "hi"}]'),
    ],
)
def test_a_trajectory_is_known_by_its_keys_or_its_name(name: str, data: bytes):
    assert recognise(Probe(name, name, data, len(data) + 1))[0].format == "swe_agent"


@pytest.mark.parametrize(
    "data",
    [
        b'{"messages": [], "info": {}}',
        b'{"trajectory": "a path", "info": {}}',
        b'[{"role": "user", "content": "hi"}]',
    ],
)
def test_other_documents_are_not_claimed(data: bytes):
    assert SweAgent.sniff(Probe("x.json", "x.json", data, len(data))) is None


def test_its_places_are_those_that_the_environment_names_and_that_of_the_last_run():
    places = SweAgent.places({"SWE_AGENT_TRAJECTORY_DIR": "/t"}, Path("/home/dev"))

    assert places[:2] == (Path("/t"), Path("/home/dev/.config/mini-swe-agent"))


def test_a_folder_of_trajectories_is_no_session():
    assert SweAgent.sniff(probe(str(FOLDER))) is None
