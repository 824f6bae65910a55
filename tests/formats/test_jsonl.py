"""JSONL of no known format: a list of records, and what its records promise each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, jsonl, load, replay_of, session_of
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.model import Role, Session
from tt_debugger.store import Follows


def tree_of(session: Session) -> str:
    """Give a session as a text of `id<parent`, as in builders."""
    names = [*session.ids, ""]
    return " ".join(f"{names[row]}<{names[up]}" for row, up in enumerate(session.parents))


def heads_of(session: Session) -> list[tuple[Any, ...]]:
    heads = [each.head for each in session]
    return [(str(each.kind), each.role, each.name, each.summary, each.failed) for each in heads]


def test_lines_that_fit_nothing_are_a_list_in_their_order():
    store, loaded = load(FIXTURES / "jsonl" / "log.jsonl", "jsonl")
    session = loaded.session

    assert tree_of(session) == "L1< L2<L1 L3<L2 L4<L3 L5<L4 L6<L5"
    assert heads_of(session)[1:] == [
        ("message", Role.USER, "user", "List the ports.", False),
        ("message", Role.ASSISTANT, "asst", "Ports are in a file.", False),
        ("tool_call", Role.ASSISTANT, "shell", "cat ports", False),
        ("tool_result", Role.TOOL, "tool", "80 443", False),
        ("message", Role.ASSISTANT, "asst", "80 and 443.", False),
    ]
    assert replay_of(store, session).state(1)["messages"] == [
        {
            "type": "message",
            "role": "user",
            "content": [{"type": "input_text", "text": "List the ports."}],
        }
    ]
    store.close()


def test_in_a_list_an_id_is_a_name_and_a_gap_is_passed_over():
    store, loaded = load(FIXTURES / "jsonl" / "numbered.jsonl", "jsonl")
    session = loaded.session

    assert tree_of(session) == "a@1< b<a@1 L3<b L4<L3 a<L4 gap@6< L7<a L8<L7"
    told = [each.message for each in session.findings]
    assert told == [
        "the id a is used again later; the last one keeps it",
        "the seq 3 comes again",
        "step pack: intent without done",
        "not readable: no JSON at character 1: Expecting value",
        "the seq goes on at 7: 5 to 6 missing",
        "no seq here, though the records before it have one",
    ]
    assert "idempotency key k-pack" in (session.findings[2].hint or "")
    store.close()


def test_numbers_that_are_mostly_out_of_order_are_no_sequence(tmp_path: Path):
    numbers = [7, 3, 9, 1, 1, 20]
    content = jsonl(*[{"seq": number} for number in numbers])

    assert session_of(content, "jsonl", tmp_path).findings == ()


def test_numbers_for_ids_are_passed_over_in_a_list_without_a_word(tmp_path: Path):
    session = session_of(jsonl({"id": 1}, {"uuid": 2, "id": "b"}), "jsonl", tmp_path)

    assert (tree_of(session), session.findings) == ("L1< L2<L1", ())


def test_without_messages_the_state_is_the_record_alone(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl({"a": 1}, {"a": 2}))
    store, loaded = load(path, "jsonl")

    replay = replay_of(store, loaded.session)
    assert [replay.state(row) for row in (0, 1)] == [{"record": {"a": 1}}, {"record": {"a": 2}}]
    store.close()


def test_the_beginning_of_messages_is_there_once_a_message_comes(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl({"a": 1}))
    store, loaded = load(path, "jsonl")
    with path.open("ab") as file:
        file.write(jsonl({"role": "user", "content": "hi"}))

    assert isinstance(store, Follows)
    session = store.follow(loaded.cursor).session

    assert replay_of(store, session).state(0) == {"record": {"a": 1}, "messages": []}
    store.close()


@given(st.lists(st.dictionaries(st.sampled_from(("id", "uuid", "seq")), st.sampled_from("ab"))))
def test_each_record_hangs_on_the_one_before_whatever_their_ids_are(
    tmp_path_factory: pytest.TempPathFactory, records: list[dict[str, Any]]
):
    session = session_of(jsonl(*records), "jsonl", tmp_path_factory.getbasetemp())

    assert list(session.parents) == [row - 1 for row in range(len(records))]
