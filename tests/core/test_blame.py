"""Who last wrote each part of a state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest
from builders import FILE_IDS, FILES, memories, memory, replay_of
from hypothesis import given
from strategies import memory_records
from touching import MESSAGES, long_talks, moments, touches_of

from tt_debugger.core.blame import Blamed, Glance, StateBlame, Why, item_at, leaves
from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.model import Head, Kind, Role, Session
from tt_debugger.core.replay import Replay
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError

TALK: dict[str, Sequence[Change]] = {
    "a": [Put(MESSAGES, ["a"]), Put(("model",), "one")],
    **{name: [Append(MESSAGES, name)] for name in "bcde"},
    "s": [Splice(MESSAGES, 0, 3, ("sum",))],
}
COMPACTED = {"s": Head(Kind.COMPACTION)}


def blame_of(session: Session, replay: Replay, row: int) -> StateBlame:
    """Give who wrote what in the state at a row."""
    path = session.tree.path_to(row)
    return StateBlame(session, path, replay.changes_along(path))


def told(
    words: str,
    changes: Mapping[str, Sequence[Change]],
    heads: Mapping[str, Head] | None = None,
) -> list[str]:
    """Give the blame of each leaf of the last state as `path row [why] [said] [count]`."""
    store, session = memory(memories(words, changes, heads))
    replay = replay_of(store, session)
    blame = blame_of(session, replay, len(session) - 1)
    glance = Glance(touches_of(session, replay), replay.changes, replay.state)
    found = list(blame.leaves())
    assert [glance.of(len(session) - 1, each.path) for each in found] == found
    return [_told(session, each) for each in found]


def _told(session: Session, each: Blamed) -> str:
    words = ["/".join(map(str, each.path)), session.ids[each.row]]
    words += () if each.why is None else (str(each.why),)
    words += () if each.said is None else (session.ids[each.said],)
    return " ".join((*words, *([str(each.count)] if each.count else ())))


def test_each_leaf_is_of_the_row_that_wrote_it():
    changes = {**TALK, "c": [Put(("usage",), {"in": 1, "out": 2}), Append(MESSAGES, {"t": "c"})]}

    assert told("a b c", changes) == [
        "messages/0 a",
        "messages/1 b",
        "messages/2/t c",
        "model a",
        "usage/in c",
        "usage/out c",
    ]


def test_what_a_compaction_left_is_said_by_others_and_the_rest_summed_up():
    assert told("a b c d s e", TALK, COMPACTED) == [
        "messages/0 s summed_up 3",
        "messages/1 s brought_back d",
        "messages/2 e",
        "model a",
    ]


def test_what_compactions_brought_back_again_and_again_was_said_once():
    again = [Splice(MESSAGES, 0, 2, ("again", "d"))]
    heads = {**COMPACTED, "t": Head(Kind.COMPACTION)}

    assert told("a b c d s t", {**TALK, "t": again}, heads) == [
        "messages/0 t summed_up 1",
        "messages/1 t brought_back d",
        "model a",
    ]


def test_a_summary_below_the_row_that_emptied_the_list_brings_back_what_was_there():
    changes: dict[str, Sequence[Change]] = {
        **TALK,
        "s": [Splice(MESSAGES, 0, 4, ())],
        "t": [Append(MESSAGES, "sum"), Append(MESSAGES, "d")],
        "e": [Append(MESSAGES, "b")],
    }
    heads = {**COMPACTED, "t": Head(Kind.MESSAGE, Role.SYSTEM)}

    assert told("a b c d s t e", changes, heads) == [
        "messages/0 t summed_up 3",
        "messages/1 t brought_back d",
        "messages/2 e",
        "model a",
    ]


def test_what_is_brought_back_may_have_half_a_character_in_it():
    half = {"t": "\ud800"}
    changes: dict[str, Sequence[Change]] = {
        **TALK,
        "d": [Append(MESSAGES, half)],
        "s": [Splice(MESSAGES, 0, 4, ())],
        "t": [Append(MESSAGES, "sum"), Append(MESSAGES, half)],
    }
    heads = {**COMPACTED, "t": Head(Kind.MESSAGE, Role.SYSTEM)}

    assert told("a b c d s t", changes, heads) == [
        "messages/0 t summed_up 3",
        "messages/1/t t brought_back d",
        "model a",
    ]


def test_what_moves_without_a_summary_is_said_to_have_moved():
    changes: dict[str, Sequence[Change]] = {**TALK, "x": [Drop((*MESSAGES, 0))]}

    assert told("a b x", changes) == ["messages/0 x moved b", "model a"]


def test_what_is_written_inside_of_a_message_is_not_said_anew():
    changes: dict[str, Sequence[Change]] = {
        "a": [Put(MESSAGES, [{"t": "a"}])],
        "b": [Put((*MESSAGES, 0, "seen"), value=True)],
    }

    assert told("a b", changes) == ["messages/0/t a", "messages/0/seen b"]


def test_a_summary_of_a_branch_is_said_to_sum_up():
    heads = {"b": Head(Kind.BRANCH_SUMMARY)}

    assert told("a b", TALK, heads) == ["messages/0 a", "messages/1 b summed_up", "model a"]


def test_an_empty_container_is_a_leaf_of_the_row_that_emptied_it():
    changes: dict[str, Sequence[Change]] = {
        "a": [Put(("x",), {"y": 1}), Put(("l",), [1])],
        "b": [Drop(("x", "y"))],
        "c": [Drop(("l", 0))],
    }

    assert told("a b c", changes) == ["x b", "l c"]


def test_the_leaves_of_a_deep_value_are_found_without_recursion():
    state: Any = 1
    for _ in range(50_000):
        state = [state]

    ((path, value),) = leaves(state)

    assert (len(path), value) == (50_000, 1)


def test_a_path_leads_into_a_message_of_either_list():
    assert item_at(("messages", 3, "content")) == ("messages", 3)
    assert item_at(("values", "messages", 0)) == ("values", "messages", 0)
    assert item_at(("messages",)) is None
    assert item_at(("files", 3)) is None


@given(memory_records(12))
def test_blame_agrees_with_the_history_of_each_leaf(records: Any) -> None:
    store, session = memory(records)
    replay = replay_of(store, session)
    for row in range(len(session)):
        for each in blame_of(session, replay, row).leaves():
            assert each.row == moments(session, replay, row, each.path)[-1]


@given(long_talks())
def test_what_is_looked_up_is_what_the_walk_finds(records: Any) -> None:
    store, session = memory(records)
    replay = replay_of(store, session)
    glance = Glance(touches_of(session, replay), replay.changes, replay.state)
    for row in range(len(session)):
        for each in blame_of(session, replay, row).leaves():
            assert glance.of(row, each.path) == each


@pytest.mark.parametrize("location", [path for _, path in FILES], ids=FILE_IDS)
def test_the_blame_of_real_states_is_the_same_by_a_walk_and_looked_up(location: FilePath):
    try:
        debugger = Debugger.open(str(location))
    except TtdbgError:
        return
    with debugger:
        session = debugger.session
        for row in session.tree.leaves()[:4]:
            walked = debugger.state_blame(row)
            assert walked.state == debugger.state(row)
            found = list(walked.leaves())[:60]
            assert debugger.blame(row, [each.path for each in found]) == found


def test_a_sample_tells_what_its_compaction_did():
    with Debugger.open("sample_sessions/pi.jsonl") as debugger:
        whys = {each.why for each in debugger.blame(len(debugger.session) - 1)}

    assert whys == {None, Why.SUMMED_UP, Why.BROUGHT_BACK}
