"""Forks of states: files of their own, in which only what was edited, and their name, is new."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from builders import FIXTURES, jsonl, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import json_values, states

from tt_debugger.core.changes import Append, Change, Drop, Put, fold
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, MoreLines, NewFile
from tt_debugger.core.model import SessionId
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.json_text import spread, with_value, written
from tt_debugger.formats.shared.time_forms import time_like
from tt_debugger.formats.snapshots import Snapshots

HERE = FIXTURES / "snapshots"
NOW = 1798000000.25


def plan_of(state: Any, row: int, *edits: Change, **more: Any) -> Plan:
    wanted = fold(state, edits)
    count = iter(range(1, 1000))
    return Plan(
        row, state, wanted, edits, "there", NOW, lambda n: bytes([next(count)] * n), **more
    )


@pytest.fixture
def drafted(tmp_path: Path) -> Iterator[Any]:
    """Draft a fork of a copy of a fixture, or of a file of states."""
    stores: list[Snapshots] = []

    def draft(
        what: str | bytes, row: int, *edits: Change, name: str = "s.jsonl", **more: Any
    ) -> Draft:
        target = tmp_path / (what if isinstance(what, str) else name)
        if isinstance(what, bytes):
            target.write_bytes(what)
        else:
            copy = shutil.copytree if (HERE / what).is_dir() else shutil.copyfile
            copy(HERE / what, target)
        store = Snapshots.open(str(target))
        stores.append(store)
        session = store.load(store.sessions()[-1]).session
        replay = replay_of(store, session)
        return store.draft(replay, plan_of(replay.state(row), row, *edits, **more))

    yield draft
    for each in stores:
        each.close()


def data_of(draft: Draft) -> bytes:
    (write,) = draft.writes
    assert isinstance(write, NewFile | MoreLines)
    return b"".join(each.data for each in write.records)


def read_again(draft: Draft) -> list[tuple[str, Any]]:
    """Give the states on the active path of a fork that was written, with their ids."""
    (write,) = draft.writes
    assert isinstance(write, NewFile)
    Path(write.path).write_bytes(data_of(draft))
    store = Snapshots.open(write.path)
    assert draft.session in store.sessions()
    session = store.load(SessionId(draft.session)).session
    replay = replay_of(store, session)
    found = [(session.ids[row], replay.state(row)) for row in session.active_path]
    assert found[-1][0] == draft.point
    store.close()
    return found


def test_states_on_lines_are_kept_to_the_byte_but_for_the_name_of_their_session(drafted: Any):
    before = (HERE / "agent-state.jsonl").read_bytes().splitlines(keepends=True)

    fork = drafted("agent-state.jsonl", 1)

    name = b"thread-7-fork-01010101"
    assert data_of(fork).splitlines(keepends=True) == [
        each.replace(b"thread-7", name) for each in before[:2]
    ]
    assert Path(fork.location).name == "agent-state-fork-02020202.jsonl"
    assert (fork.session, fork.point, fork.own) == (name.decode(), "L2", ("thread_id",))
    assert fork.resume_command == f"state = json.loads(open({fork.location!r}).readlines()[-1])"
    assert [each.how for each in fork.writes[0].records] == [How.KEPT, How.KEPT]


def test_an_edited_state_stands_behind_the_one_that_it_was_made_of(drafted: Any):
    fork = drafted("agent-state.jsonl", 1, Put(("status",), "paused"))

    (_, root), (_, before), (name, after) = read_again(fork)

    assert name == "L3"
    assert root["current_step"] == 0
    assert before["status"] == "running"
    assert after == {**before, "status": "paused"}
    assert [each.how for each in fork.writes[0].records] == [How.KEPT, How.KEPT, How.CHANGED]


def test_where_states_name_their_parent_the_new_one_does_so_too(drafted: Any):
    fork = drafted("branched.jsonl", 3, Put(("task",), "other"))

    path = read_again(fork)

    assert [name for name, _ in path] == ["c0", "c1", "c3", "02020202"]
    assert path[-1][1]["parent_checkpoint_id"] == "c3"
    assert path[-1][1]["task"] == "other"
    assert fork.own == ("checkpoint_id", "parent_checkpoint_id", "session_id")


@pytest.mark.parametrize("key", ["checkpoint_id", "parent_checkpoint_id"])
def test_an_edit_cannot_say_what_hangs_on_what(drafted: Any, key: str):
    with pytest.raises(UnsupportedError, match=f"{key} cannot be edited"):
        drafted("branched.jsonl", 3, Put((key,), "c9"))


def test_a_list_of_states_stays_one_with_the_bytes_of_each(drafted: Any):
    text = (HERE / "states.json").read_text()
    fork = drafted("states.json", 1, Put(("decisions", 0, "what"), "neither"))

    states = json.loads(data_of(fork))

    old = json.loads(text)[:2]
    assert [{**each, "session_id": "run-3"} for each in states[:2]] == old
    assert states[2]["decisions"][0]["what"] == "neither"
    # What is indented stays so, also around what was edited.
    first = data_of(fork).decode().replace("run-3-fork-01010101", "run-3")
    assert first.startswith(text[: text.index('"write the form"\n')].rpartition("},")[0])
    assert '\n    "what": "neither",\n    "why": "no mobile client"\n   }\n  ],\n' in first
    assert read_again(fork)[-1][0] == fork.point


def test_one_state_becomes_another_one_in_the_same_form(drafted: Any):
    before = (HERE / "checkpoint.json").read_text()
    fork = drafted("checkpoint.json", 0, Append(("artifacts",), "src/new.ts"))

    assert (
        data_of(fork).decode()
        == before.rstrip()
        .replace("run-3", "run-3-fork-01010101")
        .replace('"src/routes.ts"\n', '"src/routes.ts",\n    "src/new.ts"\n')
        + "\n"
    )
    assert read_again(fork) == [("L1", json.loads(data_of(fork)))]
    assert fork.resume_command == f"state = json.load(open({fork.location!r}))"


def test_a_state_of_a_folder_becomes_a_file_beside_it(drafted: Any, tmp_path: Path):
    fork = drafted("saved", 1, Put(("status",), "paused"))

    assert fork.location == str(tmp_path / "saved-fork-02020202.json")
    assert json.loads(data_of(fork))["thread_id"] == fork.session == "thread-7-fork-01010101"
    assert read_again(fork)[-1][1]["status"] == "paused"
    assert fork.notes == (
        "the fork is one file with one state; those before it stay where they are",
    )


def test_an_edit_may_name_the_session(drafted: Any):
    fork = drafted("agent-state.jsonl", 1, Put(("thread_id",), "mine"))

    assert fork.session == "mine"
    assert fork.own == ()
    assert [state["thread_id"] for _, state in read_again(fork)] == ["mine"] * 3


def test_states_that_name_no_session_are_of_that_of_the_new_file(drafted: Any):
    lines = jsonl({"plan": [], "status": "a", "step": 1}, {"plan": [], "status": "b", "step": 2})
    fork = drafted(lines, 1, Put(("status",), "c"))

    assert data_of(fork).startswith(lines)
    assert fork.session == Path(fork.location).stem == "s-fork-01010101"
    assert [state["status"] for _, state in read_again(fork)] == ["a", "b", "c"]


def test_a_state_that_names_no_session_is_of_that_before_it(drafted: Any):
    lines = jsonl({"thread_id": "t", "plan": [], "step": 1}, {"plan": [], "step": 2})
    fork = drafted(lines, 1)

    assert fork.session == "t-fork-01010101"
    assert [state for _, state in read_again(fork)] == [
        {"thread_id": "t-fork-01010101", "plan": [], "step": 1},
        {"plan": [], "step": 2},
    ]


def test_numbers_that_a_parser_would_round_are_what_they_were(drafted: Any):
    line = b'{"thread_id": "t", "plan": [1e400, 1.10], "step": 18446744073709551617}\n'
    fork = drafted(line, 0, Put(("status",), "x"))

    assert data_of(fork).splitlines()[1] == (
        b'{"thread_id": "t-fork-01010101", "plan": [1e400, 1.10], "step": 18446744073709551617,'
        b' "status": "x"}'
    )


def test_what_cannot_be_read_is_left_out_and_told(drafted: Any):
    lines = jsonl({"thread_id": "t", "plan": [], "step": 1}, '{"thread_id": "t", "pl')
    fork = drafted(lines + jsonl({"thread_id": "t", "plan": [], "step": 2}), 2)

    assert fork.notes == ("1 place cannot be read, and it is not in the fork",)
    assert [state["step"] for _, state in read_again(fork)][-1] == 2


def test_a_state_can_be_added_to_lines_where_it_says_what_it_hangs_on(
    drafted: Any, tmp_path: Path
):
    fork = drafted("branched.jsonl", 1, Put(("task",), "other"), in_place=True)
    path = tmp_path / "branched.jsonl"

    (more,) = fork.writes
    assert isinstance(more, MoreLines)
    assert (more.path, more.size) == (str(path), path.stat().st_size)
    with path.open("ab") as file:
        file.write(data_of(fork))
    store = Snapshots.open(str(path))
    session = store.load(SessionId("run-3")).session
    assert session.ids[session.active or 0] == fork.point == "01010101"
    assert [session.ids[row] for row in session.active_path] == ["c0", "c1", "01010101"]
    assert replay_of(store, session).state(session.active or 0)["task"] == "other"
    store.close()


def test_one_that_becomes_true_is_an_edit(drafted: Any):
    states = jsonl({"thread_id": "t", "plan": [], "step": 1})

    fork = drafted(states, 0, Put(("step",), value=True))

    assert [state["step"] for _, state in read_again(fork)] == [1, True]
    assert data_of(fork).endswith(b'"step": true}\n')


def test_a_state_without_a_parent_is_added_behind_the_last_one_alone(drafted: Any):
    assert drafted("agent-state.jsonl", 4, Put(("status",), "x"), in_place=True).point == "L6"
    with pytest.raises(UnsupportedError, match="would hang on the last one"):
        drafted("agent-state.jsonl", 1, in_place=True)
    for each in ("states.json", "saved"):
        with pytest.raises(UnsupportedError, match="only a file with a state on each line"):
            drafted(each, 1, in_place=True)


def test_a_state_that_is_added_has_no_other_place(drafted: Any):
    with pytest.raises(UsageError, match="has no other place to be written to"):
        drafted("branched.jsonl", 1, in_place=True, target="other.jsonl")


def test_a_user_speaks_as_before_and_only_where_there_are_messages():
    store = Snapshots.open(str(HERE / "agent-state.jsonl"))
    block = {"role": "user", "content": [{"type": "input_text", "text": "a"}], "type": "message"}
    for messages, said in (
        ([], {"role": "user", "content": "hi"}),
        ([{"type": "human", "content": "a", "id": "1"}], {"type": "human", "content": "hi"}),
        ([block], {**block, "content": [{"type": "input_text", "text": "hi"}]}),
        (
            [{"role": "user", "parts": [{"text": "a"}]}],
            {"role": "user", "parts": [{"text": "hi"}]},
        ),
        (
            [{"role": "user", "content": [{"type": "tool_result", "content": "x"}]}],
            {"role": "user", "content": "hi"},
        ),
    ):
        assert store.message({"messages": messages}, "hi", NOW) == Append(("messages",), said)
        inner = {"state": {"messages": messages}, "schema_version": 2}
        assert store.message(inner, "hi", NOW) == Append(("state", "messages"), said)
    for state in ({}, {"messages": "none"}, {"messages": ["a", "b"]}):
        with pytest.raises(UnsupportedError, match="no messages"):
            store.message(state, "hi", NOW)
    store.close()


@given(before=json_values, after=json_values, indent=st.sampled_from([None, 1, 2]))
def test_a_text_with_another_value_reads_as_that_value(before: Any, after: Any, indent: Any):
    text = json.dumps(before, indent=indent).encode()

    assert msgspec.json.decode(with_value(text, before, after)) == after
    assert with_value(text, before, before) == text


@given(state=states, key=st.text(max_size=3), value=json_values)
def test_what_is_not_edited_keeps_its_bytes(state: dict[str, Any], key: str, value: Any):
    state = {"first": [1, 1.5, {"a": None}], **state}
    text = json.dumps(state, indent=2).encode()

    put = with_value(text, state, {**state, key: value})
    assert msgspec.json.decode(put) == {**state, key: value}
    if key != "first":
        assert text[: text.index(b"]")] in put
    dropped = with_value(text, state, {each: state[each] for each in state if each != key})
    assert key not in msgspec.json.decode(dropped)
    assert Drop((key,))


def test_white_space_between_items_is_that_of_the_original():
    assert with_value(
        b'{"a": [1, 2], "b": 3}', {"a": [1, 2], "b": 3}, {"a": [1, 2, 4], "c": 5}
    ) == (b'{"a": [1, 2, 4], "c": 5}')
    assert with_value(b"[1,2]", [1, 2], [1]) == b"[1]"
    assert with_value(b"[\n 1\n]", [1], []) == b"[]"
    assert spread(b"[\n  1, 2\n]") == (b"\n  ", b"\n")
    with pytest.raises(UnsupportedError, match="cannot be written as JSON"):
        written("\ud800")


@pytest.mark.parametrize(
    ("sample", "made"),
    [
        ("2026-03-01T09:00:00Z", "2026-12-23T04:26:40Z"),
        ("2026-03-01 09:00:00", "2026-12-23 04:26:40"),
        ("2026-03-01T09:00:00.123456+00:00", "2026-12-23T04:26:40.250000+00:00"),
        ("2026-03-01 09:00:00.123+02", "2026-12-23 06:26:40.250+02"),
        (1767225660, 1798000000),
        (1767225660.5, NOW),
        (1767225660123, 1798000000250),
        ("1767225660.123", "1798000000.250"),
        ("yesterday", "yesterday"),
        (None, None),
        (True, True),
        (b"2026", b"2026"),
    ],
)
def test_a_time_is_written_as_another_one_is(sample: Any, made: Any):
    assert time_like(sample, NOW) == made
