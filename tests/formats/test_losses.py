"""What the agents refuse or lose without a word: shown all the same, and said by a finding.

One table for each agent, from what Pi 1.6.0 and Tau 0.4.8 were seen to do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, PI_HEADER, assistant, codes, jsonl, load, pi, replay_of, tau, user

from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.model import Session

HI, YO = user("hi"), assistant("yo")
REFUSES = str(Code.AGENT_REFUSES)
LOSES = str(Code.AGENT_LOSES)


def opened(content: bytes, name: str, folder: Path) -> Session:
    path = folder / "s.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, name)
    store.close()
    return loaded.session


def said(session: Session) -> str:
    """Give each finding as code and line."""
    return ", ".join(f"{each.code} {each.line}" for each in session.findings)


# Of each: the file, the ids in storage order, the active leaf, and code and line of each finding.
PI_TABLE: dict[str, tuple[bytes, str, str, str]] = {
    "a torn last line": (
        jsonl(PI_HEADER, pi("a", None, HI)) + b'{"type":"mess',
        "a",
        "a",
        "TT102 3",
    ),
    "no final newline": (jsonl(PI_HEADER, pi("a", None, HI))[:-1], "a", "a", "TT103 2"),
    "a garbage line in the middle": (
        jsonl(PI_HEADER, pi("a", None, HI), "garbage", pi("c", "b", YO)),
        "a gap@3 c",
        "c",
        "TT101 3, TT201 4, TT403 4",
    ),
    "a missing parent": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("c", "b", YO), pi("d", "c", HI)),
        "a c d",
        "d",
        "TT201 3, TT403 3",
    ),
    "two records on one line": (
        jsonl(PI_HEADER, jsonl(pi("a", None, HI))[:-1] + jsonl(pi("b", "a", YO))[:-1]),
        "a b",
        "b",
        "TT107 2",
    ),
    "an id used twice": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", YO), pi("a", None, HI)),
        "a@2 b a",
        "a",
        "TT202 2",
    ),
    "an unknown type": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="telemetry")),
        "a b",
        "b",
        "TT401 3",
    ),
    "a second header": (
        jsonl(PI_HEADER, pi("a", None, HI), {**PI_HEADER, "id": "other"}, pi("b", "a", YO)),
        "a b",
        "b",
        "TT404 3",
    ),
    "a newer version": (
        jsonl({**PI_HEADER, "version": 4}, pi("a", None, HI)),
        "a",
        "a",
        "TT405 1",
    ),
    "a header that is not first": (
        jsonl(pi("a", None, HI), PI_HEADER, pi("b", "a", YO)),
        "a b",
        "b",
        "TT402 1, TT404 2",
    ),
    "a byte order mark": (
        b"\xef\xbb\xbf" + jsonl(PI_HEADER, pi("a", None, HI)),
        "a",
        "a",
        "TT402 1",
    ),
    "a cycle": (
        jsonl(PI_HEADER, pi("a", "b", HI), pi("b", "a", YO)),
        "a b",
        "b",
        "TT203 2, TT402 2",
    ),
    "a label on nothing": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="label", targetId="x", label="y")),
        "a b",
        "b",
        "TT406 3",
    ),
    "an entry without a type": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a")),
        "a b",
        "b",
        "TT407 3",
    ),
    "a message that is no object": (
        jsonl(PI_HEADER, pi("a", None, "just text")),
        "a",
        "a",
        "TT407 2",
    ),
    "no header at all": (jsonl(pi("a", None, HI)), "a", "a", "TT402 1"),
    # Nothing is lost here, so nothing is said.
    "blank lines and carriage returns": (
        b"\n \r\n" + jsonl(PI_HEADER, pi("a", None, HI)).replace(b"\n", b"\r\n") + b"\n",
        "a",
        "a",
        "",
    ),
    "a parent later in the file": (
        jsonl(PI_HEADER, pi("b", "a", YO), pi("a", None, HI)),
        "b a",
        "a",
        "",
    ),
    "a label as the last line": (
        jsonl(PI_HEADER, pi("a", None, HI), pi("b", "a", type="label", targetId="a", label="x")),
        "a b",
        "b",
        "",
    ),
    "null content": (
        jsonl(PI_HEADER, pi("a", None, {"role": "user", "content": None})),
        "a",
        "a",
        "",
    ),
}

TAU_TABLE: dict[str, tuple[bytes, str, str, str]] = {
    "a torn last line": (
        jsonl(tau("a", None, HI)) + b'{"id":"b","pare',
        "a",
        "a",
        "TT102 2, TT402 2",
    ),
    "no final newline": (jsonl(tau("a", None, HI))[:-1], "a", "a", "TT103 1"),
    "a garbage line in the middle": (
        jsonl(tau("a", None, HI), "garbage", tau("c", "a", YO)),
        "a gap@2 c",
        "c",
        "TT101 2, TT402 2",
    ),
    "a missing parent": (
        jsonl(tau("a", None, HI), tau("c", "b", YO)),
        "a c",
        "c",
        "TT201 2, TT403 2",
    ),
    "two records on one line": (
        jsonl(jsonl(tau("a", None, HI))[:-1] + jsonl(tau("b", "a", YO))[:-1]),
        "a b",
        "b",
        "TT107 1, TT402 1",
    ),
    "an id used twice": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("a", None, HI)),
        "a@1 b a",
        "a",
        "TT202 1, TT402 1",
    ),
    "an unknown type": (
        jsonl(tau("a", None, HI), tau("b", "a", type="telemetry")),
        "a b",
        "b",
        "TT402 2, TT401 2",
    ),
    "an unknown key": (
        jsonl(tau("a", None, HI), tau("b", "a", YO, extra=1)),
        "a b",
        "b",
        "TT402 2",
    ),
    "an unknown key in a message": (
        jsonl(tau("a", None, {**HI, "extra": 1})),
        "a",
        "a",
        "TT402 1",
    ),
    "a number where a text belongs": (
        jsonl(tau("a", None, HI), tau("b", "a", type="model_change", model=7)),
        "a b",
        "b",
        "TT402 2",
    ),
    "a byte order mark": (b"\xef\xbb\xbf" + jsonl(tau("a", None, HI)), "a", "a", "TT402 1"),
    "a cycle": (
        jsonl(tau("a", "b", HI), tau("b", "a", YO)),
        "a b",
        "b",
        "TT203 1, TT402 1",
    ),
    "a label on nothing": (
        jsonl(tau("a", None, HI), tau("b", "a", type="label", target_id="x", label="y")),
        "a b",
        "b",
        "TT406 2",
    ),
    "a legacy leaf that points elsewhere": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("l", "b", type="leaf", entry_id="a")),
        "a b l",
        "b",
        "TT403 3",
    ),
    # Nothing is lost here, so nothing is said.
    "blank lines and carriage returns": (
        b"\n" + jsonl(tau("a", None, HI)).replace(b"\n", b"\r\n") + b"\n",
        "a",
        "a",
        "",
    ),
    "a lone carriage return as line end": (
        jsonl(tau("a", None, HI))[:-1] + b"\r" + jsonl(tau("b", "a", YO)),
        "a b",
        "b",
        "",
    ),
    "two roots": (jsonl(tau("a", None, HI), tau("b", None, HI)), "a b", "b", ""),
    "a parent later in the file": (jsonl(tau("b", "a", YO), tau("a", None, HI)), "b a", "a", ""),
    "a legacy leaf at the tip": (
        jsonl(tau("a", None, HI), tau("b", "a", YO), tau("l", "b", type="leaf", entry_id="b")),
        "a b l",
        "b",
        "",
    ),
    "a legacy leaf that was left behind": (
        jsonl(tau("a", None, HI), tau("l", "a", type="leaf", entry_id="a"), tau("b", "a", YO)),
        "a l b",
        "b",
        "",
    ),
    "a custom message in the old shape": (
        jsonl(tau("a", None, {"role": "custom", "customType": "n", "content": "x"})),
        "a",
        "a",
        "",
    ),
    "a line separator inside a text": (jsonl(tau("a", None, user("a\u2028b"))), "a", "a", ""),
}


@pytest.mark.parametrize(
    ("content", "ids", "active", "findings"), PI_TABLE.values(), ids=PI_TABLE.keys()
)
def test_what_pi_loses_is_shown_and_said(
    content: bytes, ids: str, active: str, findings: str, tmp_path: Path
):
    session = opened(content, "pi", tmp_path)

    assert " ".join(session.ids) == ids
    assert session.active is not None
    assert session.ids[session.active] == active
    assert said(session) == findings


@pytest.mark.parametrize(
    ("content", "ids", "active", "findings"), TAU_TABLE.values(), ids=TAU_TABLE.keys()
)
def test_what_tau_loses_is_shown_and_said(
    content: bytes, ids: str, active: str, findings: str, tmp_path: Path
):
    session = opened(content, "tau", tmp_path)

    assert " ".join(session.ids) == ids
    assert session.active is not None
    assert session.ids[session.active] == active
    assert said(session) == findings


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
    assert all(each.hint for each in refused)
    assert replay_of(store, loaded.session).state(len(loaded.session) - 1)["messages"]
    store.close()


@pytest.mark.parametrize("name", ["pi", "tau"])
def test_no_session_that_the_agent_opened_is_said_to_be_refused(name: str):
    for oracle in (FIXTURES / name).glob("*.oracle.json"):
        store, loaded = load(oracle.with_name(oracle.name.replace(".oracle.json", ".jsonl")), name)
        assert REFUSES not in codes(loaded.session.findings)
        store.close()


@pytest.mark.parametrize("path", sorted((FIXTURES / "tau" / "resume").glob("*.jsonl")))
def test_no_session_that_tau_resumed_is_said_to_be_refused(path: Path):
    store, loaded = load(path, "tau")

    assert REFUSES not in codes(loaded.session.findings)
    store.close()


def replayed(content: bytes, name: str, folder: Path) -> tuple[Any, tuple[Finding, ...]]:
    """Give the state and the findings of the last row."""
    path = folder / "s.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, name)
    replay = replay_of(store, loaded.session)
    row = len(loaded.session) - 1
    found = replay.state(row), replay.step(row).findings
    store.close()
    return found


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
