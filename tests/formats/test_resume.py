"""The resume reading equals what the agents themselves sent, at the leaf and at every node.

`resume/X.expected.json` holds what Tau 0.4.8 gave to its provider and Pi 1.6.0 made of the
context for a model, recorded by running them on `resume/X.jsonl`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agreement import as_tau_dumps, plain
from builders import FIXTURES, PI_HEADER, assistant, jsonl, load, pi, replay_of, tau, user

PI = sorted((FIXTURES / "pi" / "resume").glob("*.jsonl"))
TAU = sorted((FIXTURES / "tau" / "resume").glob("*.jsonl"))


def answer_of(path: Path) -> dict[str, Any]:
    answer = json.loads(path.with_suffix(".expected.json").read_text())
    messages = answer["messages"]
    for place in ("sent", "recorded"):
        answer[place] = [messages[each] for each in answer.get(place, ())]
    answer["nodes"] = {
        name: [messages[each] for each in sent] for name, sent in answer["nodes"].items()
    }
    return answer


@pytest.mark.parametrize("path", PI, ids=lambda path: path.stem)
def test_pi_would_send_what_pi_sent(path: Path):
    answer = answer_of(path)
    store, loaded = load(path, "pi")
    session = loaded.session
    replay = replay_of(store, session)

    model = replay.state(session.active)["model"]
    for name, sent in answer["nodes"].items():
        # Every node was run for the model of the leaf; where a node has another, Pi's own choice
        # would be that one.
        if replay.state(session.rows[name])["model"] in {None, model}:
            assert plain(replay.resumed(session.rows[name]).state["messages"]) == sent
    assert plain(replay.resumed(session.active).state["messages"]) == answer["sent"]
    store.close()


@pytest.mark.parametrize("path", TAU, ids=lambda path: path.stem)
def test_tau_would_send_what_tau_sent(path: Path):
    answer = answer_of(path)
    store, loaded = load(path, "tau")
    session = loaded.session
    replay = replay_of(store, session)

    for name, sent in answer["nodes"].items():
        ours = replay.resumed(session.rows[name]).state["messages"]
        assert as_tau_dumps(ours) == as_tau_dumps(sent)
    leaf = session.active
    assert as_tau_dumps(replay.resumed(leaf).state["messages"]) == as_tau_dumps(answer["sent"])
    assert as_tau_dumps(replay.state(leaf)["messages"]) == as_tau_dumps(answer["recorded"])
    store.close()


REPAIRS = {
    "pi": {
        "aborted-error": "1 no_response, 2 no_response, 3 dropped_call, 5 dropped_call",
        "call-id-reused": "4 added_result",
        "dangling-bash-between": "2 added_result",
        "dangling-end": "2 added_result",
        "dangling-end-partial": "3 added_result",
        "dangling-mid-assistant": "2 added_result",
        "dangling-mid-user": "2 added_result",
        "dangling-system-between": "4 added_result",
        "error-after-open-call": "2 added_result, 3 no_response",
        "error-last-overflow": "1 no_response",
        "misplaced-before-call": "3 added_result",
        "misplaced-result": "2 added_result",
        "stop-length-deferred": "4 added_result",
    },
    "tau": {
        "aborted-error": "3 no_response, 8 added_result",
        "bash-between": "2 moved_result",
        "call-id-reused": "4 added_result",
        "call-id-reused-late": "2 moved_result",
        "compaction-cut-in-tools": "0 summary, 1 dropped_result",
        "compaction-hides-dangling": "0 summary, 2 added_result, 5 added_result",
        "compaction-then-dangling-after": "4 added_result",
        "compaction-then-dangling-in-kept": "0 summary, 4 added_result",
        "dangling-end": "2 added_result",
        "dangling-end-partial": "3 added_result",
        "dangling-mid-user": "2 added_result",
        "dangling-with-custom-entries": "2 added_result",
        "duplicate-interrupted-then-real": "2 moved_result, 3 dropped_result",
        "duplicate-result": "3 dropped_result",
        "error-empty-between-call-and-result": "2 no_response",
        "misplaced-before-call": "2 moved_result",
        "misplaced-result": "2 moved_result",
        "orphan-result": "1 dropped_result",
        "orphan-result-first": "0 dropped_result",
        "result-on-other-branch": "2 added_result",
        "result-order-swapped": "2 moved_result, 3 moved_result",
        "same-id-twice-in-one-message": "3 added_result",
    },
}
"""The repairs at the leaf of each case: the place in what is sent, and the kind."""


@pytest.mark.parametrize("path", [*PI, *TAU], ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_each_repair_is_listed_at_the_place_where_it_shows(path: Path):
    format_name = path.parts[-3]
    store, loaded = load(path, format_name)
    found = replay_of(store, loaded.session).resumed(loaded.session.active).repairs

    listed = ", ".join(f"{each.index} {each.kind}" for each in found)

    assert listed == REPAIRS[format_name].get(path.stem, "")
    assert all(each.why for each in found)
    store.close()


@pytest.mark.parametrize("path", [*PI, *TAU], ids=lambda path: f"{path.parts[-3]}-{path.stem}")
def test_a_path_without_repairs_is_sent_as_it_is(path: Path):
    """What is not listed did not happen: Tau then sends the recorded messages themselves."""
    format_name = path.parts[-3]
    store, loaded = load(path, format_name)
    replay = replay_of(store, loaded.session)

    for row in range(len(loaded.session)):
        resumed = replay.resumed(row)
        if format_name == "tau" and not resumed.repairs:
            assert resumed.state == replay.state(row)
        assert {**resumed.state, "messages": []} == {**replay.state(row), "messages": []}
    store.close()


def python_calls(asked: Callable[[], object]) -> int:
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        asked()
    finally:
        sys.setprofile(before)
    return calls


def test_the_work_of_resuming_pi_grows_with_the_messages_and_not_with_their_square(
    tmp_path: Path,
):
    """No answer is of the last model, so its API is looked for among all messages."""
    asked: list[int] = []
    for size in (100, 400):
        entries = [pi(f"e{n}", f"e{n - 1}" if n else None, assistant("yo")) for n in range(size)]
        last = pi("m", f"e{size - 1}", type="model_change", provider="p", modelId="other")
        path = tmp_path / f"{size}.jsonl"
        path.write_bytes(jsonl(PI_HEADER, *entries, last))
        store, loaded = load(path, "pi")
        replay = replay_of(store, loaded.session)
        replay.state(size)
        asked.append(python_calls(lambda replay=replay, size=size: replay.resumed(size)))
        store.close()

    assert asked[1] < 5 * asked[0]


def test_repairs_are_the_same_however_the_states_were_reached(tmp_path: Path):
    """Bodies that are decoded anew are other objects: that alone is no repair."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(
        jsonl(
            tau("a", None, user("hi")),
            tau("b", "a", assistant("run", "c1")),
            tau("c", "b", user("never mind")),
        )
    )
    store, loaded = load(path, "tau")
    fresh, browsed = replay_of(store, loaded.session), replay_of(store, loaded.session)
    for row in range(3):
        browsed.state(row)

    assert fresh.resumed(2) == browsed.resumed(2)
    assert [(each.index, each.kind) for each in fresh.resumed(2).repairs] == [(2, "added_result")]
    store.close()
