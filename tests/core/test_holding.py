"""Holding: a walk over a whole tree finds what asking each checkpoint by itself finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_records

from tt_debugger.core.changes import Append, Put
from tt_debugger.core.conditions import At, parse_condition
from tt_debugger.core.conditions.forms import Or
from tt_debugger.core.holding import BATCH_ROWS, Occasions, Rows, occasions
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.search import Found
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.memory import MemoryRecord

CONDITIONS = (
    "a",
    "b == `1`",
    "length(keys(@)) > 2",
    "messages[?@ == `0`]",
    "error",
    "row > 3",
    "a and not error",
    "kind=snapshot",
)


class Told:
    """Follows by counting: it holds at each third step of a path."""

    def __init__(self, keys: tuple[str, ...] = ()) -> None:
        self.keys = keys

    def holds(self, at: At) -> bool:
        self.keys = (*self.keys, at.session.ids[at.row])
        # What is told is a whole path, one row after the other, with the state at each.
        path = [at.session.ids[each] for each in at.session.tree.path_to(at.row)]
        assert [*self.keys] == path
        assert [*at.state] == path
        return len(self.keys) % 3 == 0

    def copied(self) -> Told:
        return Told(self.keys)


class Thirds:
    """A condition that holds at each third step of a path."""

    text, is_of_checkpoints, happens, needs_state, needs_changes = (
        "thirds",
        False,
        False,
        True,
        True,
    )
    following = Told
    form = Or(())

    def holds(self, at: At) -> bool:
        return at.session.tree.depth(at.row) % 3 == 2


class Asked:
    """A condition of checkpoints that says what it was asked of."""

    text, is_of_checkpoints, happens, needs_state, needs_changes = (
        "asked",
        True,
        True,
        False,
        False,
    )

    form = Or(())

    def __init__(self) -> None:
        self.rows: list[int] = []

    def holds(self, at: At) -> bool:
        self.rows.append(at.row)
        return at.row % 2 == 0

    def following(self) -> Any:
        raise NotImplementedError


def found_in(
    records: list[MemoryRecord], condition: Any, *, is_each: bool = False, start: int = 0
) -> tuple[Session, list[Found]]:
    store, session = memory(records)
    replay = replay_of(store, session)

    def body(row: int) -> Any:
        return store.bodies(session, [row])[0]

    sought = Occasions(condition, is_each)
    rows = Rows(session, replay.changes_along, body)
    return session, [*occasions(rows, sought, start)]


def rows_of(found: list[Found]) -> list[int]:
    return [hit.row for each in found for hit in each.hits]


def at_each(records: list[MemoryRecord]) -> Iterator[At]:
    store, session = memory(records)
    replay = replay_of(store, session)
    for row in range(len(session)):
        body = store.bodies(session, [row])[0]
        yield At(session, row, replay.changes(row), replay.state(row), lambda body=body: body)


@pytest.mark.parametrize(
    "tree", ["a b c d e f", "a b c d<b e f g<b h<a i j", "a< b< c d<a e", "a b<d c< d<c e<b"]
)
def test_each_branch_is_followed_from_its_root_and_each_row_asked_once(tree):
    session, found = found_in(memories(tree), Thirds(), is_each=True)

    depths = map(session.tree.depth, range(len(session)))
    assert sorted(rows_of(found)) == [row for row, depth in enumerate(depths) if depth % 3 == 2]
    assert found[-1].done == found[-1].of == len(session)


@given(records=memory_records(), text=st.sampled_from(CONDITIONS))
def test_a_walk_finds_what_asking_each_checkpoint_finds(records, text):
    condition = parse_condition(text)
    held = [condition.holds(at) for at in at_each(records)]

    session, found = found_in(records, condition, is_each=True)
    assert sorted(rows_of(found)) == [row for row, holds in enumerate(held) if holds]

    _, found = found_in(records, condition)
    parents = session.parents
    begins = [
        row
        for row, holds in enumerate(held)
        if holds and (condition.happens or parents[row] == NO_ROW or not held[parents[row]])
    ]
    assert sorted(rows_of(found)) == begins


def test_what_stays_true_is_found_where_it_becomes_so_and_again_after_it_was_not():
    put = {"c": True, "d": True, "f": False, "h": True}
    changes = {name: [Put(("a",), put[name])] for name in put}
    changes |= {name: [] for name in "begi"} | {"a": [Put(("a",), value=False)]}
    records = memories("a b c d e f g h i", changes)

    _, found = found_in(records, parse_condition("a"))
    assert rows_of(found) == [2, 7]
    _, found = found_in(records, parse_condition("a"), is_each=True)
    assert rows_of(found) == [2, 3, 4, 7, 8]


def test_on_each_branch_it_is_told_where_it_becomes_true():
    changes = {name: [Append(("messages",), 1)] for name in "bcdefg"}
    changes["a"] = [Put(("messages",), [])]
    records = memories("a b c d<b e f<a g", changes)

    _, found = found_in(records, parse_condition("length(messages) >= 2"))
    assert rows_of(found) == [2, 3, 6]


@pytest.mark.parametrize("start", [0, 1, 300, 599])
def test_a_condition_of_checkpoints_is_asked_from_a_row_on_around_the_end(start):
    condition = Asked()
    _, found = found_in(memories(" ".join(map(str, range(600)))), condition, start=start)

    assert condition.rows == [*range(start, 600), *range(start)]
    assert rows_of(found) == [row for row in condition.rows if row % 2 == 0]
    assert all(len(each.hits) <= BATCH_ROWS for each in found)
    assert [each.done for each in found][-1] == 600


def test_what_is_found_is_what_the_checkpoint_says_else_its_name_else_its_kind():
    heads = {
        "a": Head(Kind.MESSAGE, name="user", summary="hello"),
        "b": Head(Kind.SETTING, name="effort"),
        "c": Head(Kind.GAP),
    }
    _, found = found_in(memories("a b c", heads=heads), parse_condition("row > 0"), is_each=True)

    assert [hit.excerpt for each in found for hit in each.hits] == ["hello", "effort", "gap"]


def test_an_empty_session_has_no_occasions():
    for condition in (Asked(), Thirds()):
        assert rows_of(found_in([], condition)[1]) == []
