"""Forks of conversations: in the form in which their messages stand, each with its own bytes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, jsonl, replay_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Change, Drop, Put, Splice, fold
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, NewFile
from tt_debugger.core.model import SessionId
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.messages import Messages

HERE = FIXTURES / "messages"
HI = {"role": "user", "content": "hi"}


@pytest.fixture
def drafted(tmp_path: Path) -> Iterator[Any]:
    """Draft a fork of a copy of a fixture, or of a file of its own."""
    stores: list[Messages] = []

    def draft(
        what: str | bytes, row: int | None, *edits: Change, name: str = "s.jsonl", **more: Any
    ) -> Draft:
        target = tmp_path / (what if isinstance(what, str) else name)
        if isinstance(what, bytes):
            target.write_bytes(what)
        else:
            shutil.copyfile(HERE / what, target)
        store = Messages.open(str(target))
        stores.append(store)
        session = store.load(store.sessions()[-1]).session
        row = session.active or 0 if row is None else row
        replay = replay_of(store, session)
        state = replay.state(row)
        fresh = iter(range(1, 1000))
        plan = Plan(
            row, state, fold(state, edits), edits, "there", 0.0,
            lambda count: bytes([next(fresh)] * count), **more,
        )  # fmt: skip
        return store.draft(replay, plan)

    yield draft
    for each in stores:
        each.close()


def data_of(draft: Draft) -> bytes:
    (write,) = draft.writes
    assert isinstance(write, NewFile)
    return b"".join(each.data for each in write.records)


def read_again(draft: Draft) -> dict[str, Any]:
    """Give the state at the end of a fork that was written."""
    (write,) = draft.writes
    assert isinstance(write, NewFile)
    Path(write.path).write_bytes(data_of(draft))
    store = Messages.open(write.path)
    assert list(store.sessions()) == [draft.session]
    session = store.load(SessionId(draft.session)).session
    assert session.ids[session.active or 0] == draft.point
    assert session.findings == ()
    state = replay_of(store, session).state(session.active or 0)
    store.close()
    return state


def test_messages_on_lines_are_kept_to_the_byte(drafted: Any, tmp_path: Path):
    before = (HERE / "chat.jsonl").read_bytes().splitlines(keepends=True)

    fork = drafted("chat.jsonl", 3, Append(("messages",), HI))

    assert data_of(fork) == b"".join(before[:4]) + b'{"role":"user","content":"hi"}\n'
    assert fork.location == str(tmp_path / "chat-fork-01010101.jsonl")
    assert (
        fork.resume_command == f"messages = [json.loads(line) for line in open({fork.location!r})]"
    )
    hows = [each.how for each in fork.writes[0].records]
    assert hows == [How.KEPT] * 4 + [How.ADDED]
    assert read_again(fork)["messages"][-1] == HI


def test_a_list_stays_a_list_with_its_white_space(drafted: Any):
    fork = drafted("array.json", 1, Put(("messages", 1, "content"), "Sideways."))

    assert data_of(fork).decode() == (
        '[\n  {"role": "user", "content": "Up?"},'
        '\n  {"role": "assistant", "content": "Sideways."}\n]\n'
    )
    assert fork.resume_command == f"messages = json.load(open({fork.location!r}))"
    assert read_again(fork)["messages"][1]["content"] == "Sideways."


def test_a_request_keeps_all_that_it_has_beside_its_messages(drafted: Any):
    text = (HERE / "request.json").read_text()

    fork = drafted("request.json", 0, Append(("messages",), HI), Put(("max_tokens",), 5))

    made = json.loads(data_of(fork))
    assert made == {
        **json.loads(text), "max_tokens": 5, "messages": [json.loads(text)["messages"][0], HI],
    }  # fmt: skip
    assert list(made) == list(json.loads(text))
    begin = text[: text.index('"content": "Mend')].replace("100", "5")
    assert data_of(fork).decode().startswith(begin)
    assert fork.resume_command == f"messages = json.load(open({fork.location!r}))['messages']"
    state = read_again(fork)
    assert (state["max_tokens"], state["messages"]) == (5, made["messages"])


def test_one_that_becomes_true_is_an_edit(drafted: Any):
    data = b'{"messages": [{"role": "user", "content": "a", "n": 1}], "max_tokens": 1}'

    fork = drafted(data, 0, Put(("messages", 0, "n"), value=True), Put(("max_tokens",), 1.0))

    wanted = data.replace(b'"n": 1', b'"n": true').replace(b'tokens": 1', b'tokens": 1.0')
    assert data_of(fork) == wanted + b"\n"


def test_of_many_conversations_the_one_of_the_point_goes_on(drafted: Any):
    text = (HERE / "conversations.jsonl").read_text().splitlines()

    first = drafted("conversations.jsonl", 1)
    assert data_of(first).decode() == text[0] + "\n"
    second = drafted("conversations.jsonl", 3)
    assert json.loads(data_of(second)) == json.loads(text[1])
    listed = drafted("conversations.jsonl", 5)
    assert json.loads(data_of(listed)) == json.loads(text[2])
    assert read_again(listed)["messages"] == json.loads(text[2])


def test_what_was_asked_and_what_was_answered_become_one_list(drafted: Any):
    first = json.loads((HERE / "responses.jsonl").read_text().splitlines()[0])
    # The point is a call: the debugger moves a fork to its result, but the format can do either.
    fork = drafted("responses.jsonl", 2, Append(("messages",), _output("f1")))

    assert json.loads(data_of(fork)) == {
        **{key: value for key, value in first.items() if key != "output"},
        "input": [*first["input"], *first["output"], _output("f1")],
    }
    assert fork.resume_command.endswith("['input']")
    assert read_again(fork)["messages"] == json.loads(data_of(fork))["input"]


def _output(name: str) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": name, "output": "80"}


def test_a_call_and_its_result_are_taken_away_together(drafted: Any):
    both = drafted("chat.jsonl", 4, Splice(("messages",), 2, 2, ()))
    assert [each["role"] for each in read_again(both)["messages"]] == [
        *("system", "user", "assistant")
    ]


def test_what_no_conversation_can_hold_is_refused(drafted: Any):
    with pytest.raises(UnsupportedError, match="no place for model beside messages"):
        drafted("chat.jsonl", 1, Put(("model",), "m"))
    with pytest.raises(UnsupportedError, match="a request has no key mood"):
        drafted("request.json", 0, Put(("mood",), "good"), Put(("model",), "m"))
    with pytest.raises(UnsupportedError, match="what would stand among the messages is none"):
        drafted("chat.jsonl", 1, Append(("messages",), {"content": "who?"}))
    with pytest.raises(UnsupportedError, match="nothing in it names a branch"):
        drafted("chat.jsonl", 1, in_place=True)
    for edit in (Drop(("messages",)), Put(("messages",), []), Drop(("messages", 0))):
        with pytest.raises(UsageError, match="without a message is none"):
            drafted("array.json", 0, edit)


def test_a_damaged_line_is_left_out_and_told(drafted: Any):
    fork = drafted("damaged.jsonl", 2)

    assert data_of(fork) == b'{"role":"user","content":"one"}\n{"role":"user","content":"three"}\n'
    assert fork.notes == ("1 place cannot be read, and it is not in the fork",)


def test_one_message_that_is_spread_over_lines_becomes_a_line(drafted: Any):
    spread = b'{\n  "role": "user",\n  "content": "a\\nb", "n": 1.10\n}\n'
    fork = drafted(spread, 0, Append(("messages",), HI), name="s.json")

    assert data_of(fork).splitlines()[0] == b'{"role":"user","content":"a\\nb","n":1.10}'
    assert read_again(fork)["messages"] == [{"role": "user", "content": "a\nb", "n": 1.1}, HI]


def test_a_byte_order_mark_is_not_part_of_a_message(drafted: Any):
    fork = drafted(b"\xef\xbb\xbf" + jsonl(HI, {"role": "assistant", "content": "b"}), 1)
    assert read_again(fork)["messages"] == [HI, {"role": "assistant", "content": "b"}]


NAMES = ("array.json", "chat.jsonl", "conversations.jsonl", "one-line.json", "request.json")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_fork_reads_back_as_what_was_wanted(drafted: Any, data: st.DataObject):
    name = data.draw(st.sampled_from(NAMES))
    kept = drafted(name, None)
    messages = read_again(kept)["messages"]
    place = data.draw(st.integers(0, len(messages)))
    text = data.draw(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
    said = {"role": "user", "content": text}
    edits = [
        Splice(("messages",), place, 0, (said,)),
        *([Put(("messages", 0), said)] if data.draw(st.booleans()) else []),
    ]

    fork = drafted(name, None, *edits)

    assert read_again(fork)["messages"] == fold({"messages": messages}, edits)["messages"]
