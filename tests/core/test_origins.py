"""The checkpoint that put a message into the state."""

from __future__ import annotations

from typing import Any

from builders import memories, memory, replay_of
from hostile_files import SAMPLES
from hypothesis import given
from strategies import memory_records

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import messages_in
from tt_debugger.core.origins import row_that_put
from tt_debugger.debugger import Debugger

PATH = ("messages",)


def said(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def origins(words: str, changes: dict[str, list[Change]], leaf: str) -> str:
    """Give the ids of the checkpoints that put the messages at a leaf there, in order."""
    store, session = memory(memories(words, changes))
    replay, row = replay_of(store, session), session.rows[leaf]
    messages = replay.state(row)["messages"]
    return "".join(
        session.ids[row_that_put(session.tree, row, place, replay.state, replay.changes)]
        for place in range(len(messages))
    )


def test_a_message_that_was_appended_comes_from_there():
    changes = {name: [Append(PATH, said(name))] for name in "bcde"}
    changes["a"] = [Put(PATH, [said("a")])]

    assert origins("a b c d<b e", changes, "e") == "abde"


def test_behind_a_splice_a_message_is_followed_to_where_it_stood():
    changes: dict[str, list[Change]] = {name: [Append(PATH, said(name))] for name in "bcd"}
    changes["a"] = [Put(PATH, [said("a")])]
    changes["s"] = [Splice(PATH, 0, 2, (said("summary"),))]
    changes["e"] = [Append(PATH, said("e"))]

    assert origins("a b c d s e", changes, "e") == "scde"


def test_of_messages_that_say_the_same_each_has_its_own_origin():
    changes: dict[str, list[Change]] = {name: [Append(PATH, said("ok"))] for name in "bc"}
    changes["a"] = [Put(PATH, [said("ok")])]

    assert origins("a b c", changes, "c") == "abc"


def test_a_message_that_was_put_anew_comes_from_there():
    changes: dict[str, list[Change]] = {"a": [Put(PATH, [said("x"), said("y")])]}
    changes["b"] = [Put((*PATH, 1), said("z"))]
    changes["c"] = [Drop((*PATH, 0))]

    assert origins("a b c", changes, "b") == "ab"


def test_every_message_of_a_compacted_branch_comes_from_its_path():
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        session, leaf = debugger.session, len(debugger.session) - 1
        path = set(session.tree.path_to(leaf))
        for place, message in enumerate(debugger.state(leaf)["messages"]):
            row = row_that_put(session.tree, leaf, place, debugger.state, debugger.changes)
            assert row in path
            assert message in messages_in(debugger.changes(row))


@given(memory_records())
def test_an_origin_is_on_the_path_and_holds_the_message(records: Any) -> None:
    store, session = memory(records)
    replay = replay_of(store, session)
    for row in range(len(session)):
        messages = as_list(as_map(replay.state(row)).get("messages"))
        for place, message in enumerate(messages):
            found = row_that_put(session.tree, row, place, replay.state, replay.changes)
            assert session.tree.is_ancestor(found, row)
            held = as_list(as_map(replay.state(found)).get("messages"))
            assert any(is_same(each, message) for each in held)
