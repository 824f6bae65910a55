"""What agents refuse or lose without a word is shown all the same, and said by a finding.

What each agent was seen to do stands in a table of its own test file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import (
    FILES,
    FIXTURES,
    PI_HEADER,
    assistant,
    codes,
    jsonl,
    load,
    pi,
    replay_of,
    tau,
    user,
)

from tt_debugger.core.findings import Code, Finding

HI, YO = user("hi"), assistant("yo")


@pytest.mark.parametrize(
    ("name", "file", "line"),
    [
        ("pi", "edge-bom", 1),
        ("pi", "edge-header-not-first", 1),
        ("pi", "edge-cycle", 2),
        ("tau", "edge-bom", 1),
        ("tau", "edge-cycle", 1),
        ("tau", "edge-duplicate-id", 1),
        ("tau", "edge-truncated-tail", 3),
        ("tau", "edge-unknown-field", 3),
        ("tau", "edge-unknown-message-field", 3),
        ("tau", "edge-unknown-type", 3),
    ],
)
def test_a_session_that_the_agent_refuses_opens_and_the_finding_names_the_line(
    name: str, file: str, line: int
):
    store, loaded = load(FIXTURES / name / f"{file}.jsonl", name)
    refused = [each for each in loaded.session.findings if each.code is Code.AGENT_REFUSES]

    assert [each.line for each in refused] == [line]
    at_the_line = [each for each in loaded.session.findings if each.line == line]
    assert any(each.hint for each in at_the_line)
    assert replay_of(store, loaded.session).state(len(loaded.session) - 1)["messages"]
    store.close()


ANSWERED = [
    (name, path)
    for name, path in FILES
    if path.with_suffix(".oracle.json").exists() or path.with_suffix(".expected.json").exists()
]
"""The fixtures that the agent itself opened and gave an answer for."""


@pytest.mark.parametrize(
    ("name", "path"), ANSWERED, ids=[f"{name}-{path.stem}" for name, path in ANSWERED]
)
def test_no_session_that_the_agent_opened_is_said_to_be_refused(name: str, path: Path):
    store, loaded = load(path, name)

    assert str(Code.AGENT_REFUSES) not in codes(loaded.session.findings)
    store.close()


def replayed(content: bytes, name: str, folder: Path) -> tuple[Any, tuple[Finding, ...]]:
    """Give the state of the last row and the findings about it."""
    path = folder / "s.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, name)
    replay = replay_of(store, loaded.session)
    row = len(loaded.session) - 1
    store_says = tuple(
        each for each in loaded.session.findings if each.checkpoint == loaded.session.ids[row]
    )
    state = replay.state(row)
    store.close()
    return state, store_says


@pytest.mark.parametrize("kept", ["gone", "z"])
def test_a_compaction_that_keeps_from_what_is_not_there_says_so(kept: str, tmp_path: Path):
    ours = pi("c", "a", type="compaction", summary="S", firstKeptEntryId=kept)
    theirs = tau("c", "a", type="compaction", summary="S", first_kept_entry_id=kept)
    other = {"pi": pi("z", "a", YO), "tau": tau("z", "a", YO)}

    pis = replayed(jsonl(PI_HEADER, pi("a", None, HI), other["pi"], ours), "pi", tmp_path)
    taus = replayed(jsonl(tau("a", None, HI), other["tau"], theirs), "tau", tmp_path)

    assert [len(state["messages"]) for state, _ in (pis, taus)] == [1, 1]
    assert codes(pis[1]) == codes(taus[1]) == ["TT301"]


def test_a_pi_compaction_that_names_itself_keeps_nothing_on_purpose(tmp_path: Path):
    entry = pi("c", "a", type="compaction", summary="S", firstKeptEntryId="c")

    state, found = replayed(jsonl(PI_HEADER, pi("a", None, HI), entry), "pi", tmp_path)

    assert ([each["role"] for each in state["messages"]], found) == (["compactionSummary"], ())
