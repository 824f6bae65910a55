"""Tau: what is particular to its files, beside what the oracles and laws show."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import assistant, codes, jsonl, load, replay_of, tau, user

from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Any]:
    stores: list[Any] = []

    def open_file(*records: Any) -> tuple[Session, Replay]:
        path = tmp_path / "a-name.jsonl"
        path.write_bytes(jsonl(*records))
        store, loaded = load(path, "tau")
        stores.append(store)
        return loaded.session, replay_of(store, loaded.session)

    yield open_file
    for store in stores:
        store.close()


def texts(state: dict[str, Any]) -> list[str]:
    contents = [each["content"] for each in state["messages"]]
    return [each if isinstance(each, str) else each[0]["text"] for each in contents]


def test_the_session_is_named_by_its_file_and_by_its_last_session_info(opened: Any):
    session, replay = opened(
        tau("a", None, type="session_info", created_at=1.5, title="T", cwd="/home/dev/one"),
        tau("b", "a", type="session_info", created_at=1.5, cwd="/home/dev/two"),
        tau("c", "a", user("hi")),
    )

    assert (session.id, session.title, session.cwd) == ("a-name", None, "/home/dev/two")
    assert (replay.state(2)["title"], replay.state(2)["cwd"]) == ("T", "/home/dev/one")


def test_labels_are_trimmed_and_an_empty_one_clears(opened: Any):
    session, _ = opened(
        tau("a", None, user("hi")),
        tau("b", "a", type="label", target_id="a", label=" x "),
        tau("c", "b", type="label", target_id="b", label="y"),
        tau("d", "c", type="label", target_id="b", label="  "),
    )

    assert session.labels == {0: "x"}


def test_the_summary_of_an_earlier_compaction_stays_where_it_is_kept(opened: Any):
    """Unlike Pi, what was dropped once never comes back."""
    _, replay = opened(
        tau("a", None, user("one")),
        tau("b", "a", user("two")),
        tau("c", "b", type="compaction", summary="S1", first_kept_entry_id="b"),
        tau("d", "c", user("three")),
        tau("e", "d", type="compaction", summary="S2", first_kept_entry_id="a"),
    )

    assert texts(replay.state(4)) == [
        "Previous conversation summary:\nS2",
        "two",
        "Previous conversation summary:\nS1",
        "three",
    ]


def test_an_old_compaction_puts_its_summary_where_the_first_replaced_row_was(opened: Any):
    _, replay = opened(
        tau("a", None, user("one")),
        tau("b", "a", user("two")),
        tau("c", "b", user("three")),
        tau("d", "c", type="compaction", summary="S", replaces_entry_ids=["b", "gone"]),
    )

    assert texts(replay.state(3)) == ["one", "Previous conversation summary:\nS", "three"]


def test_a_model_change_without_a_provider_keeps_the_provider(opened: Any):
    _, replay = opened(
        tau("a", None, type="model_change", model="m1", provider="p1"),
        tau("b", "a", type="model_change", model="m2"),
        tau("c", "b", type="thinking_level_change", thinking_level="high"),
        tau("d", "c", type="thinking_level_change"),
    )

    seen = [replay.state(row) for row in range(4)]

    assert [(each["model"], each["provider"], each["thinking_level"]) for each in seen] == [
        ("m1", "p1", None),
        ("m2", "p1", None),
        ("m2", "p1", "high"),
        ("m2", "p1", None),
    ]


@pytest.mark.parametrize(
    ("time", "seconds"),
    [(7, 7.0), ("7.5", 7.5), ("soon", None), (None, None), (True, None), ([], None)],
)
def test_a_time_may_be_a_text_that_is_a_number(opened: Any, time: Any, seconds: float | None):
    session, _ = opened(tau("a", None, user("hi"), timestamp=time))

    assert session.heads[0].time == seconds


def test_a_refusal_names_the_key(opened: Any):
    session, _ = opened(
        tau("a", None, user("hi")),
        tau("b", "a", assistant("yo", usage={"cacheWrite1h": 1})),
    )

    (found,) = session.findings

    assert (codes([found]), found.line) == (["TT402"], 2)
    assert "usage" in found.message
