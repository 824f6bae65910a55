"""Bundles: what their entries tell, and what is made of one that is damaged or made up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, jsonl, load, replay_of, said, session_of, user

from tt_debugger.core.model import Kind, Role
from tt_debugger.core.tree import NO_ROW

HEAD = {"ttdbg_bundle": 1, "version": "0.1.0", "title": "t", "cwd": "/w"}
ROOT = {"id": "a", "state": {"messages": [], "model": None}, "is_a": True}


def grown(**more: Any) -> dict[str, Any]:
    return {"id": "b", "parent": "a", **more}


def states_of(content: bytes, folder: Path) -> list[Any]:
    path = folder / "r.jsonl"
    path.write_bytes(content)
    store, loaded = load(path, "bundle")
    replay = replay_of(store, loaded.session)
    states = [replay.state(row) for row in range(len(loaded.session))]
    store.close()
    return states


def test_an_entry_puts_drops_and_splices_key_by_key(tmp_path: Path):
    told = jsonl(
        HEAD,
        {"id": "a", "state": {"messages": [1, 2, 3], "gone": 1, "model": "m"}},
        grown(
            put={"model": "n"},
            drop={"gone": True},
            at={"messages": [1, 1]},
            insert={"messages": [8, 9]},
        ),
    )

    assert states_of(told, tmp_path) == [
        {"messages": [1, 2, 3], "gone": 1, "model": "m"},
        {"messages": [1, 8, 9, 3], "model": "n"},
    ]


def test_the_head_and_its_points_tell_title_folder_labels_and_active_leaf(tmp_path: Path):
    content = jsonl(HEAD, ROOT, grown(is_b=True), {"id": "c", "parent": "b", "label": "mine"})
    session = session_of(content, "bundle", tmp_path)

    assert (session.title, session.cwd, session.active) == ("t", "/w", 1)
    assert session.labels == {0: "A", 1: "B", 2: "mine"}


def test_a_checkpoint_that_has_no_summary_is_summed_up_by_its_message(tmp_path: Path):
    entry = grown(
        kind="message", role="user", at={"messages": [0, 0]}, insert={"messages": [user("hi")]}
    )
    head = session_of(jsonl(HEAD, ROOT, entry), "bundle", tmp_path).heads[1]

    assert (head.kind, head.role, head.summary) == (Kind.MESSAGE, Role.USER, "hi")


@pytest.mark.parametrize(
    ("entry", "state", "findings"),
    [
        (grown(drop={"none": True}), {"messages": [], "model": None}, "TT409 3"),
        (grown(at={"new": [4, 2]}, insert={"new": [1]}), None, "TT409 3"),
        (
            grown(at={"model": [0, 0]}, insert={"model": [1]}),
            {"messages": [], "model": [1]},
            "TT409 3",
        ),
        (grown(at={"messages": [5, 9]}, insert={"messages": [1]}), None, "TT409 3"),
        (grown(insert={"messages": [1]}), {"messages": [1], "model": None}, "TT409 3"),
        (grown(at={"messages": [-1, 0]}, insert={"messages": [1]}), None, "TT407 3"),
        (grown(put=[]), {"messages": [], "model": None}, "TT407 3"),
        (grown(state=[]), {"messages": [], "model": None}, "TT407 3"),
        ({"id": 5}, {}, "TT401 3, TT204 3"),
        (grown(kind="gap", role="queen", label=""), {"messages": [], "model": None}, ""),
    ],
)
def test_what_does_not_fit_is_a_finding_and_the_rest_is_read(
    tmp_path: Path, entry: dict[str, Any], state: Any, findings: str
):
    content = jsonl(HEAD, ROOT, entry)
    session = session_of(content, "bundle", tmp_path)

    assert said(session) == findings
    assert len(session) == 2
    found = states_of(content, tmp_path)[1]
    assert found == state or state is None
    assert isinstance(found, dict)


def test_parts_that_are_no_checkpoints_are_shown_but_none(tmp_path: Path):
    content = jsonl(HEAD, ROOT, {"part": "diff", "value": {}}, {"part": "later"})
    session = session_of(content, "bundle", tmp_path)

    assert (len(session), said(session)) == (1, "")
    assert session.extent is not None
    assert session.extent.skipped == 0


def test_what_was_found_in_the_session_is_told_again(tmp_path: Path):
    found = {"code": "TT408", "severity": "warning", "message": "m", "hint": "h"}
    odd = {"code": "TT999", "severity": "odd", "message": "m"}
    session = session_of(
        jsonl(HEAD | {"findings": [found, odd]}, ROOT | {"findings": [found]}), "bundle", tmp_path
    )

    assert [
        (each.code, each.line, each.checkpoint, each.message) for each in session.findings
    ] == [
        ("TT408", 1, None, "m"),
        ("TT401", 1, None, "a finding TT999 (odd) that this ttdbg does not know: m"),
        ("TT408", 2, "a", "m"),
    ]


def test_a_damaged_bundle_tells_what_is_wrong_and_opens():
    _, loaded = load(FIXTURES / "bundle" / "damaged.jsonl", "bundle")
    session = loaded.session

    assert said(session) == (
        "TT405 1, TT104 1, TT401 1, TT201 3, TT408 4, TT409 4, TT101 5, TT409 7, TT407 8, "
        "TT409 9, TT401 12, TT404 13"
    )
    assert [each.id for each in session if session.parents[each.row] == NO_ROW] == [
        *("info", "th", "gap@5", "L12"),
    ]
