"""Where branches and sessions part, whether they meet again, and the three-way comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from builders import family, memories, memory, replay_of
from hypothesis import given
from strategies import states

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.diff.comparing import ComparedMessage, EqualRun, compare
from tt_debugger.core.diff.divergence import By, divergence
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.side_by_side import compare_sides, three_way
from tt_debugger.core.model import Session


def said(text: str, role: str = "user", **more: Any) -> dict[str, Any]:
    return {"role": role, "content": text, **more}


def talk(words: str, texts: dict[str, str] | None = None) -> tuple[Any, Session]:
    """Give a session in which each checkpoint says its own name, or the text given for it."""
    names = [word.partition("<")[0] for word in words.split()]
    changes: dict[str, list[Change]] = {
        name: [Append(("messages",), said((texts or {}).get(name, name)))] for name in names
    }
    for name, parent in family(words):
        if parent is None:
            changes[name].insert(0, Put(("messages",), []))
    return memory(memories(words, changes))


def side(opened: tuple[Any, Session], name: str) -> Side:
    store, session = opened
    replay = replay_of(store, session)
    row = session.rows[name]
    return Side(name, session, row, replay.state(row), replay.changes_along, replay.state)


def told(one: tuple[Any, Session], a: str, other: tuple[Any, Session], b: str) -> str:
    """Give a divergence in names: how, the points, what follows on each side."""
    found = divergence(side(one, a), side(other, b))
    ours, theirs = one[1].ids, other[1].ids

    def name(ids: Any, row: int | None) -> str:
        return "-" if row is None else ids[row]

    after = [
        "".join(ids[row] for row in rows) or "-"
        for ids, rows in ((ours, found.old_after), (theirs, found.new_after))
    ]
    again = "".join(f"{ours[one]}{theirs[other]} " for one, other in found.again)
    meets = "" if found.meets is None else f"meet {ours[found.meets[0]]}{theirs[found.meets[1]]}"
    points = f"{name(ours, found.old_point)}{name(theirs, found.new_point)}"
    return f"{found.by} {points} | {' '.join(after)} | {again}{meets}".rstrip(" |")


def test_two_branches_of_a_session_part_at_their_fork_point():
    tree = talk("a b c d e<b f")

    assert told(tree, "d", tree, "f") == "tree bb | cd ef"


def test_a_checkpoint_and_its_ancestor_part_at_the_ancestor():
    tree = talk("a b c d")

    assert told(tree, "b", tree, "d") == "tree bb | - cd"


def test_two_roots_have_nothing_in_common():
    tree = talk("a b c< d")

    assert told(tree, "b", tree, "d") == "nothing -- | ab cd"


def test_branches_that_say_the_same_again_meet():
    tree = talk("a b c d e<a f g", {"f": "c", "g": "d"})

    assert told(tree, "d", tree, "g") == "tree aa | bcd efg | cf dg meet cf"


def test_what_is_said_again_in_between_is_no_meeting():
    tree = talk("a b c d e<a f g", {"f": "c"})

    assert told(tree, "d", tree, "g") == "tree aa | bcd efg | cf"


def test_a_copied_session_parts_where_the_ids_do():
    old, new = talk("a b c d"), talk("a b x y")

    assert told(old, "d", new, "y") == "id bb | cd xy"


def test_a_run_under_new_ids_parts_where_it_says_something_else():
    old = talk("a b c d")
    new = talk("p q r s", {"p": "a", "q": "b", "r": "other", "s": "d"})

    assert told(old, "d", new, "s") == "content bq | cd rs | ds meet ds"


def test_an_id_that_stands_for_something_else_is_not_in_common():
    old, new = talk("a b"), talk("a b", {"a": "quite another beginning"})

    assert told(old, "b", new, "b") == "nothing -- | ab ab | bb meet bb"


def test_one_session_that_goes_on_where_the_other_ends():
    old, new = talk("a b"), talk("p q r", {"p": "a", "q": "b"})

    assert told(old, "b", new, "r") == "content bq | - r"


def test_rows_that_do_nothing_do_not_part_sessions():
    changes = {"a": [Put(("messages",), [said("hi")])], "m": [Put(("usage",), {"input": 3})]}
    changes |= {"b": [Append(("messages",), said("yes"))]}
    old = memory(memories("a m b", changes))
    new = memory(memories("a b", changes))

    found = divergence(side(old, "b"), side(new, "b"))

    assert (found.by, found.old_point, found.new_point) == (By.CONTENT, 2, 1)


def test_another_model_parts_sessions_before_anything_else_is_said():
    def opened(model: str) -> tuple[Any, Session]:
        changes = {"a": [Put(("messages",), [said("hi")])], "m": [Put(("model",), model)]}
        changes |= {"b": [Append(("messages",), said("yes"))]}
        return memory(memories("a m b", changes))

    assert told(opened("small"), "b", opened("large"), "b") == "id aa | mb mb | bb meet bb"


def test_the_same_format_is_compared_as_it_is_and_two_in_the_normal_form():
    one, other = talk("a b"), talk("a c")
    as_is = compare_sides(side(one, "b"), side(other, "c"))
    foreign = Side(
        "c", _of_format(other[1], "else"), 1, side(other, "c").state | {"x": 1}, nothing, {}.get
    )

    normal = compare_sides(side(one, "b"), foreign)

    assert not as_is.is_normal
    assert normal.is_normal
    assert normal.left_out == ("x",)
    assert normal.comparison.counts.total == as_is.comparison.counts.total == 2


def _of_format(session: Session, name: str) -> Session:
    return msgspec.structs.replace(session, format=name)


def nothing(rows: Sequence[int]) -> list[list[Any]]:
    return [[] for _ in rows]


def test_against_the_fork_point_each_side_has_its_own_edits_and_conflicts_are_named():
    base = {"model": "m", "level": "low", "title": "t", "messages": [said("hi")]}
    old = base | {"model": "x", "level": "high", "messages": [said("hi"), said("ours")]}
    new = base | {"model": "y", "level": "high", "messages": [said("hi"), said("theirs")]}

    found = three_way(base, old, new)

    assert found.old.counts.total == found.new.counts.total == 3
    assert [edit.path for edit in found.both] == [("level",)]
    assert [(mine.new, theirs.new) for mine, theirs in found.conflicts] == [("x", "y")]


def conflicts(base: Any, old: Any, new: Any) -> list[tuple[Any, Any]]:
    return [(mine.path, other.path) for mine, other in three_way(base, old, new).conflicts]


def test_who_changes_what_the_other_takes_away_disagrees_with_it():
    base = {"v": {"x": 1, "y": 1}, "w": 1}

    assert conflicts(base, {"v": {"x": 2, "y": 1}, "w": 1}, {"w": 1}) == [(("v", "x"), ("v",))]
    assert conflicts(base, {"w": 1}, {"v": {"x": 2, "y": 1}, "w": 1}) == [(("v",), ("v", "x"))]


def test_what_came_into_a_list_is_no_conflict_with_what_stood_there():
    base = {"messages": [said("one"), said("two")]}
    old = {"messages": [said("quite new", "assistant"), *base["messages"]]}
    new = {"messages": base["messages"][1:]}

    assert conflicts(base, old, new) == []


@given(states, states, states)
def test_with_the_sides_exchanged_both_and_the_conflicts_are_the_same(
    base: State, old: State, new: State
) -> None:
    there, back = three_way(base, old, new, mask=False), three_way(base, new, old, mask=False)

    def pairs(found: Any, *, turned: bool) -> set[tuple[Any, Any]]:
        each = [(mine.path, other.path) for mine, other in found.conflicts]
        return {(b, a) if turned else (a, b) for a, b in each}

    assert pairs(there, turned=False) == pairs(back, turned=True)
    assert {edit.path for edit in there.both} == {edit.path for edit in back.both}


def test_a_run_of_another_format_does_not_part_at_the_first_result_of_a_tool():
    call = {"type": "toolCall", "id": "c1", "name": "ls", "arguments": {"p": "."}}
    text = [{"type": "text", "text": "a.py"}]
    block = {"type": "tool_use", "id": "t1", "name": "ls", "input": {"p": "."}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "a.py"}
    ours = [
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "ls", "content": text},
    ]
    others = [{"role": "assistant", "content": [block]}, {"role": "user", "content": [result]}]

    def opened(messages: list[Any]) -> tuple[Any, Session]:
        first = [Put(("messages",), []), Append(("messages",), messages[0])]
        return memory(memories("a b", {"a": first, "b": [Append(("messages",), messages[1])]}))

    theirs = side(opened(others), "b")
    theirs = msgspec.structs.replace(theirs, session=_of_format(theirs.session, "else"))
    found = divergence(side(opened(ours), "b"), theirs)

    assert (found.old_after, found.new_after) == ((), ())


def rows(old: list[Any], new: list[Any]) -> list[str]:
    """Give the rows of a comparison: sign and places, or how many are equal."""
    words: list[str] = []
    for row in compare({"messages": old}, {"messages": new}).messages:
        if isinstance(row, EqualRun):
            words.append(f"= {row.old_begin} {row.new_begin} x{row.count}")
        else:
            words.append(f"{row.sign} {_place(row.old_place)} {_place(row.new_place)}")
    return words


def _place(place: int | None) -> str:
    return "." if place is None else str(place)


def test_rows_stand_in_order_and_what_is_gone_before_what_came():
    old = [said("a"), said("b b b"), said("c"), said("d")]
    new = [said("a"), said("quite new", "assistant"), said("c"), said("d d"), said("e e e")]

    assert rows(old, new) == ["= 0 0 x1", "- 1 .", "+ . 1", "= 2 2 x1", "~ 3 3", "+ . 4"]


def test_a_moved_message_has_a_row_where_it_stood_and_one_where_it_stands():
    old = [said("a a"), said("b b"), said("c c")]

    assert rows(old, [old[2], old[0], old[1]]) == ["> 2 0", "= 0 1 x2", "> 2 0"]


def test_equal_states_are_one_stretch():
    old = [said("a"), said("b", timestamp=1)]

    found = compare({"messages": old}, {"messages": [said("a"), said("b", timestamp=2)]})

    assert found.equal
    assert found.messages == (EqualRun(0, 0, 2),)
    assert found.counts.total == 0


def test_messages_that_only_one_state_has_are_rows_too():
    found = compare({}, {"messages": [said("a")]})

    assert [row.sign for row in found.messages if isinstance(row, ComparedMessage)] == ["+"]
    assert found.counts.added == 1


def test_an_empty_list_of_messages_that_only_one_state_has_is_a_setting():
    found = compare({}, {"messages": []})

    assert [edit.path for edit in found.settings] == [("messages",)]
    assert found.counts.added == 1
