"""The recorded state equals the agent's own replay at every node that it gave an answer for.

`X.oracle.json` holds what Pi 1.6.0 and Tau 0.4.8 themselves replayed from `X.jsonl`: messages
once, and for each node its path, its settings and the places of its messages.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from agreement import as_tau_dumps
from builders import FIXTURES, ids_of, load, replay_of

from tt_debugger.core.model import Session
from tt_debugger.store import Store

PI = sorted((FIXTURES / "pi").glob("*.oracle.json"))
TAU = sorted((FIXTURES / "tau").glob("*.oracle.json"))
NO_IDS = ("edge-v1-linear", "edge-no-id")
"""Here the agent gives random ids: nodes are matched by their order in the file."""


def answer_of(oracle: Path) -> dict[str, Any]:
    answer = json.loads(oracle.read_text())
    for node in answer["nodes"].values():
        node["messages"] = [answer["messages"][place] for place in node["messages"]]
    return answer


def opened(oracle: Path, answer: dict[str, Any]) -> tuple[Store, Session, dict[str, str]]:
    """Give the session, and our id of each id in the answer."""
    path = oracle.with_name(oracle.name.replace(".oracle.json", ".jsonl"))
    store, loaded = load(path, oracle.parent.name)
    session = loaded.session
    theirs = list(answer["nodes"])
    ours = session.ids if path.stem in NO_IDS else theirs
    return store, session, dict(zip(theirs, ours, strict=True))


@pytest.mark.parametrize("oracle", [*PI, *TAU], ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_active_leaf_labels_and_paths_are_the_agents(oracle: Path):
    answer = answer_of(oracle)
    store, session, names = opened(oracle, answer)

    assert (None if session.active is None else session.ids[session.active]) == (
        answer["active"] and names[answer["active"]]
    )
    assert {session.ids[row]: label for row, label in session.labels.items()} == answer["labels"]
    for name, node in answer["nodes"].items():
        path = ids_of(session, session.tree.path_to(session.rows[names[name]]))
        assert path == " ".join(names[each] for each in node["path"])
    store.close()


@pytest.mark.parametrize("oracle", PI, ids=lambda path: path.stem)
def test_pi_states_are_the_agents_at_every_node_timestamps_included(oracle: Path):
    answer = answer_of(oracle)
    store, session, names = opened(oracle, answer)
    replay = replay_of(store, session)

    for name, node in answer["nodes"].items():
        state = replay.state(session.rows[names[name]])
        assert state["messages"] == node["messages"]
        for setting in ("model", "provider", "thinking_level"):
            assert state[setting] == node[setting]
    store.close()


@pytest.mark.parametrize("oracle", TAU, ids=lambda path: path.stem)
def test_tau_states_are_the_agents_at_every_node_but_for_defaults(oracle: Path):
    answer = answer_of(oracle)
    store, session, names = opened(oracle, answer)
    replay = replay_of(store, session)

    for name, node in answer["nodes"].items():
        state = replay.state(session.rows[names[name]])
        assert as_tau_dumps(state["messages"]) == as_tau_dumps(node["messages"])
        for setting in ("model", "provider", "thinking_level", "title"):
            assert state[setting] == node[setting]
    store.close()


def test_there_are_oracles():
    assert (len(PI), len(TAU)) == (17, 13)
