"""Jumps: to sibling branches, fork points, leaves, compactions and errors."""

from __future__ import annotations

from array import array
from collections.abc import Callable

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import parent_rows

from tt_debugger.core import jumps
from tt_debugger.core.jumps import Found
from tt_debugger.core.model import Head, Heads, Kind, Session, SessionId
from tt_debugger.core.tree import NO_ROW

#   a b c d        the active path
#     | ├ e f      forks at b, in it at e
#     |   └ g
#     └ h
#   r s            another root
_TREE = session("a b c d e<b f g<e h<b r< s", active="d")


def jumped(jump: Callable[[Session, int], int | None], name: str) -> str | None:
    row = jump(_TREE, _TREE.rows[name])
    return None if row is None else _TREE.ids[row]


@pytest.mark.parametrize(
    ("name", "previous", "following"),
    [
        ("a", None, "r"),
        ("b", None, "r"),
        ("c", None, "e"),
        ("d", None, "e"),
        ("e", "c", "h"),
        ("f", None, "g"),
        ("g", "f", None),
        ("h", "e", None),
        ("s", "a", None),
    ],
)
def test_sibling_branches_hang_on_the_nearest_fork_above(
    name: str, previous: str | None, following: str | None
):
    assert jumped(jumps.previous_sibling, name) == previous
    assert jumped(jumps.next_sibling, name) == following


@pytest.mark.parametrize(
    ("name", "above", "below", "leaf"),
    [
        ("a", None, "b", "d"),
        ("b", None, None, "d"),
        ("d", "b", None, "d"),
        ("e", "b", None, "g"),
        ("g", "e", None, "g"),
        ("r", None, None, "s"),
    ],
)
def test_fork_points_lie_above_and_below_on_the_own_branch(
    name: str, above: str | None, below: str | None, leaf: str
):
    assert jumped(jumps.fork_above, name) == above
    assert jumped(jumps.fork_below, name) == below
    assert jumped(jumps.leaf_of, name) == leaf


def test_a_session_without_forks_has_nowhere_to_jump():
    made = session("a b c")

    nowhere = (jumps.next_sibling, jumps.previous_sibling, jumps.fork_above, jumps.fork_below)
    assert [jump(made, 1) for jump in nowhere] == [None] * 4
    searches = (
        jumps.next_error,
        jumps.previous_error,
        jumps.next_compaction,
        jumps.previous_compaction,
    )
    assert [search(made, 1) for search in searches] == [None] * 4


def test_errors_and_compactions_are_found_in_storage_order_and_over_the_end():
    made = session(
        "a b c d e f",
        heads={
            "b": Head(Kind.TOOL_RESULT, failed=True),
            "c": Head(Kind.COMPACTION),
            "e": Head(Kind.UNREADABLE),
        },
    )

    assert [jumps.next_error(made, row) for row in range(6)] == [
        Found(1),
        Found(4),
        Found(4),
        Found(4),
        Found(1, wrapped=True),
        Found(1, wrapped=True),
    ]
    assert [jumps.previous_error(made, row) for row in range(6)] == [
        Found(4, wrapped=True),
        Found(4, wrapped=True),
        Found(1),
        Found(1),
        Found(1),
        Found(4),
    ]
    assert [jumps.next_compaction(made, row) for row in (1, 2, 3)] == [
        Found(2),
        Found(2, wrapped=True),
        Found(2, wrapped=True),
    ]
    assert [jumps.previous_compaction(made, row) for row in (1, 2, 3)] == [
        Found(2, wrapped=True),
        Found(2, wrapped=True),
        Found(2),
    ]


def test_a_path_of_fifty_thousand_rows_is_walked():
    count = 50_000
    parents = array("q", [*range(-1, count - 1), 0])
    made = Session(SessionId("s"), None, Heads(), [str(row) for row in range(count + 1)], parents)

    assert jumps.previous_sibling(made, count) == 1
    assert jumps.next_sibling(made, count - 1) == count
    assert jumps.fork_above(made, count - 1) == 0
    assert jumps.leaf_of(made, 1) == count - 1


@given(parent_rows(), st.data())
def test_the_next_sibling_and_the_previous_one_undo_each_other(
    parents: array[int], data: st.DataObject
):
    row = data.draw(st.integers(0, len(parents) - 1))
    made = Session(SessionId("s"), None, Heads(), [str(each) for each in parents], parents)

    on = branches(made, row)
    after, before = jumps.next_sibling(made, row), jumps.previous_sibling(made, row)

    if not on:
        assert (before, after) == (None, None)
        return
    siblings = list(made.tree.children(parents[on[0]]))
    place = siblings.index(on[0])
    assert [before] == (siblings[place - 1 : place] or [None])
    assert [after] == (siblings[place + 1 : place + 2] or [None])
    if after is not None:
        assert jumps.previous_sibling(made, after) == on[0]


def branches(made: Session, row: int) -> list[int]:
    """Give the rows above a row, and itself, that have siblings; the nearest first."""
    path = [row]
    while made.parents[path[-1]] != NO_ROW:
        path.append(made.parents[path[-1]])
    return [each for each in path if made.parents.count(made.parents[each]) > 1]


def test_a_jump_is_known_by_its_name_and_leads_back_or_on():
    made = session("a b c d<b e", active="c")

    def led(row: int, aim: str) -> tuple[int | None, int | None]:
        back, on = (jumps.jump(made, row, aim, step) for step in (-1, 1))
        return (back and back.row, on and on.row)

    assert {aim: led(3, aim) for aim in jumps.WAYS} == {
        "parent": (1, 1),
        "child": (4, 4),
        "branch": (2, None),
        "fork point": (1, None),
        "compaction": (None, None),
        "error": (None, None),
        "message of the user": (None, None),
        "active leaf": (2, 2),
        "leaf": (4, 4),
    }
    assert jumps.jump(made, 0, "parent", -1) is None
    assert jumps.jump(made, 4, "child", 1) is None


def test_from_where_no_sibling_is_the_next_branch_is_the_one_below_and_back():
    made = session("a b c d<b e f<a g", active="e")
    ids = made.ids

    def led(name: str, step: int) -> str | None:
        found = jumps.jump(made, made.rows[name], "branch", step)
        return None if found is None else ids[found.row]

    # The active path is a b d e; c leaves it at b, f at a.
    assert [led(name, 1) for name in "abcdefg"] == ["c", "f", "d", "f", "f", None, None]
    assert [led(name, -1) for name in "abcdefg"] == [None, None, None, "c", "c", "b", "b"]


def test_among_the_rows_that_are_shown_another_stands_for_a_hidden_one():
    failed = {name: Head(Kind.TOOL_RESULT, failed=True) for name in "be"}
    made = session("a b c d<b e f<a g", active="e", heads=failed)

    def led(name: str, aim: str, step: int, hidden: str) -> str | None:
        shown = bytes(each not in hidden for each in made.ids)
        found = jumps.jump_among(made, made.rows[name], aim, step, shown)
        return None if found is None else made.ids[found.row]

    assert led("d", "branch", 1, hidden="") == "f"
    assert led("d", "branch", 1, hidden="f") == "g"
    assert led("d", "branch", 1, hidden="fg") == "f"
    assert led("e", "fork point", -1, hidden="b") == "a"
    assert led("a", "error", 1, hidden="b") == "e"
    assert led("a", "error", 1, hidden="be") == "b"
    assert led("g", "leaf", 1, hidden="") == "g"
    assert led("a", "compaction", 1, hidden="b") is None
