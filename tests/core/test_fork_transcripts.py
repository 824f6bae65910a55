"""The records of a transcript's fork: kept, rewritten, left out and added."""

from __future__ import annotations

import os
from typing import Any

import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.fork.edits import edited
from tt_debugger.core.fork.plan import Plan, other_edits
from tt_debugger.core.fork.sources import Source, sources
from tt_debugger.core.fork.transcripts import (
    Added,
    Kept,
    Left,
    Part,
    Rewritten,
    parts_of,
)
from tt_debugger.errors import UnsupportedError

MESSAGES = ("messages",)


def plan_of(state: Any, edits: list[Change], row: int) -> Plan:
    return Plan(
        row=row,
        state=state,
        wanted=edited(state, edits),
        edits=tuple(edits),
        origin="o#x",
        time=0.0,
        fresh=os.urandom,
    )


def parts(edits: list[Change], **changes: list[Change]) -> tuple[Part, ...]:
    """Give what becomes of rows that made some changes, one after the other."""
    store, session = memory(memories(" ".join(changes), changes))
    replay = replay_of(store, session)
    last = len(session) - 1
    return parts_of(replay, plan_of(replay.state(last), edits, last))


THREE: dict[str, list[Change]] = {
    "a": [Put(MESSAGES, [])],
    "b": [Append(MESSAGES, "one")],
    "c": [Append(MESSAGES, "two"), Append(MESSAGES, "three")],
    "d": [Append(MESSAGES, "four")],
}


@pytest.mark.parametrize(
    ("edits", "found"),
    [
        ([], [Kept(0), Kept(1), Kept(2), Kept(3)]),
        ([Put(("messages", 0), "x")], [Kept(0), Rewritten(1, {0: "x"}), Kept(2), Kept(3)]),
        ([Put(("messages", 2), "x")], [Kept(0), Kept(1), Rewritten(2, {1: "x"}), Kept(3)]),
        ([Drop(("messages", 0))], [Kept(0), Left(1), Kept(2), Kept(3)]),
        ([Drop(("messages", 1))], [Kept(0), Kept(1), Rewritten(2, {0: None}), Kept(3)]),
        (
            [Drop(("messages", 1)), Drop(("messages", 1))],
            [Kept(0), Kept(1), Left(2), Kept(3)],
        ),
        ([Append(MESSAGES, "x")], [Kept(0), Kept(1), Kept(2), Kept(3), Added("x")]),
        (
            [Splice(MESSAGES, 1, 0, ("x", "y"))],
            [Kept(0), Kept(1), Added("x"), Added("y"), Kept(2), Kept(3)],
        ),
        (
            [Splice(MESSAGES, 3, 1, ("x", "y"))],
            [Kept(0), Kept(1), Kept(2), Rewritten(3, {0: "x"}), Added("y")],
        ),
        (
            [Put(MESSAGES, ["one", "two", "x", "four"])],
            [Kept(0), Kept(1), Rewritten(2, {1: "x"}), Kept(3)],
        ),
        ([Put(("title",), "x")], [Kept(0), Kept(1), Kept(2), Kept(3)]),
    ],
)
def test_an_edit_of_messages_is_one_of_records(edits: list[Change], found: list[Part]):
    assert parts(edits, **THREE) == tuple(found)


def test_an_edit_inside_of_a_message_rewrites_all_of_it():
    changes: dict[str, list[Change]] = {
        "a": [Put(MESSAGES, [])],
        "b": [Append(MESSAGES, {"t": 1})],
    }

    found = parts([Put(("messages", 0, "t"), 2), Put(("messages", 0, "u"), 3)], **changes)

    assert found == (Kept(0), Rewritten(1, {0: {"t": 2, "u": 3}}))


def test_what_a_compaction_brought_back_is_known_again():
    path = [0, 1, 2, 3]
    changes = [
        (Put(MESSAGES, []),),
        (Append(MESSAGES, {"n": 1}), Append(MESSAGES, {"n": 1})),
        (Splice(MESSAGES, 0, 2, ("summary", {"n": 1})),),
        (Splice(MESSAGES, 0, 2, ("again", {"n": 1}, {"n": 1})),),
    ]

    assert sources(path, changes) == [Source(3, 0), Source(1, 0), Source(1, 1)]


def test_other_edits_are_those_beside_the_messages():
    state = {"messages": [1], "title": "t", "model": "m"}
    plan = plan_of(state, [Put(("title",), "u"), Put(("messages",), []), Put(("new",), 1)], 0)

    assert other_edits(plan) == {"title": "u", "new": 1}


def test_a_value_of_another_type_is_an_edit_too():
    plan = plan_of({"stream": 1, "n": 0}, [Put(("stream",), value=True), Put(("n",), 0)], 0)

    assert list(other_edits(plan).items()) == [("stream", True)]
    assert other_edits(plan)["stream"] is True


def applied(found: tuple[Part, ...], given: dict[int, list[Any]]) -> list[Any]:
    """Give the messages of records that became what they should, by the messages they gave."""
    messages: list[Any] = []
    for part in found:
        match part:
            case Kept(row):
                messages += given[row]
            case Rewritten(row, others):
                own = [others.get(place, each) for place, each in enumerate(given[row])]
                messages += [each for each in own if each is not None]
            case Added(message):
                messages.append(message)
            case Left():
                pass
    return messages


@given(st.data())
def test_the_records_give_the_messages_that_are_wanted(data: st.DataObject):
    counts = data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=5))
    texts = st.sampled_from(["x", "y", "z"])
    given = {
        0: [],
        **{row: [data.draw(texts) for _ in range(n)] for row, n in enumerate(counts, 1)},
    }
    changes: dict[str, list[Change]] = {
        f"r{row}": [Append(MESSAGES, each) for each in own] if row else [Put(MESSAGES, [])]
        for row, own in given.items()
    }
    size = sum(counts)
    edits: list[Change] = []
    for _ in range(data.draw(st.integers(0, 4))):
        place = data.draw(st.integers(0, size))
        match data.draw(st.sampled_from(["put", "drop", "add", "list"])):
            case "put" if place < size:
                edits.append(Put(("messages", place), data.draw(texts)))
            case "drop" if place < size:
                edits.append(Drop(("messages", place)))
                size -= 1
            case "list":
                own = data.draw(st.lists(texts, max_size=6))
                edits.append(Put(MESSAGES, own))
                size = len(own)
            case _:
                edits.append(Splice(MESSAGES, place, 0, (data.draw(texts),)))
                size += 1

    store, session = memory(memories(" ".join(changes), changes))
    replay = replay_of(store, session)
    last = len(session) - 1
    plan = plan_of(replay.state(last), edits, last)

    try:
        found = parts_of(replay, plan)
    except UnsupportedError:
        # Only where a record holds several messages can there be a place between two of them.
        assert max(counts) > 1
        return
    assert applied(found, given) == plan.wanted["messages"]


def test_nothing_can_stand_between_two_messages_of_one_record():
    with pytest.raises(UnsupportedError, match="between two that one record holds"):
        parts([Splice(MESSAGES, 2, 0, ("x",))], **THREE)
