"""Replay: any row's state is the fold of the changes along its path, however it is cached."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_records

from tt_debugger.core import replay as replay_module
from tt_debugger.core.changes import Append, Put, Snapshot, State, fold
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.replay import Replay, Spine
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.memory import Memory


def opened(records: list[Memory]) -> tuple[Session, Replay]:
    store, session = memory(records)
    return session, replay_of(store, session)


@contextmanager
def small_caches() -> Iterator[None]:
    """Make keyframes few and close, so that a handful of rows evicts them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(replay_module, "MEMO_EVERY", 2)
        patch.setattr(replay_module, "STATE_EVERY", 3)
        patch.setattr(replay_module, "MEMOS_KEPT", 1)
        patch.setattr(replay_module, "STATES_KEPT", 1)
        yield


def naive_state(session: Session, records: list[Memory], row: int) -> State:
    state: State = {}
    for each in session.tree.path_to(row):
        state = fold(state, records[each].changes)
    return state


@given(memory_records(), st.data())
def test_states_asked_for_in_any_order_are_folds_from_the_root(
    records: list[Memory], data: st.DataObject
):
    session, replay = opened(records)
    rows = st.lists(st.integers(0, len(records) - 1), min_size=1, max_size=8)

    for row in data.draw(rows):
        assert replay.state(row) == naive_state(session, records, row)


@given(memory_records(), st.data())
def test_states_are_the_same_when_keyframes_were_let_go(
    records: list[Memory], data: st.DataObject
):
    session, replay = opened(records)
    rows = st.lists(st.integers(0, len(records) - 1), min_size=1, max_size=8)

    with small_caches():
        for row in data.draw(rows):
            assert replay.state(row) == naive_state(session, records, row)


@given(memory_records())
def test_the_state_of_a_child_is_its_changes_on_that_of_its_parent(records: list[Memory]):
    session, replay = opened(records)

    for row, parent in enumerate(session.parents):
        before = {} if parent == NO_ROW else replay.state(parent)
        assert replay.state(row) == fold(before, replay.changes(row))


def test_two_states_share_what_the_changes_between_them_left_alone():
    _, replay = opened(
        memories("a b", {"a": [Put(("big",), [1, 2]), Put(("n",), 0)], "b": [Put(("n",), 1)]})
    )

    assert replay.state(0)["big"] is replay.state(1)["big"]


def test_a_gap_has_an_empty_state_and_no_changes():
    heads = {"gap": Head(Kind.GAP)}
    _, replay = opened(memories("a gap< b<a", heads=heads))

    assert (replay.state(1), replay.changes(1), replay.state(2)) == (
        {},
        (),
        {"a": True, "b": True},
    )


class CountingRules:
    """Rules whose memo is the number of rows before, and which say so in the state."""

    def start(self, session: Session) -> tuple[State, int]:  # noqa: ARG002 - a protocol
        return {"seen": []}, 0

    def step(self, _session: Session, row: int, body: Any, memo: int, bodies: Any) -> Any:
        assert body == bodies((row,))[0] == f"body {row}"
        return replay_module.Step((Append(("seen",), memo),), memo + 1)

    def resume(self, replay: Replay, row: int) -> replay_module.Resumed:
        return replay_module.Resumed(replay.state(row))


def counted(length: int) -> Replay:
    _, session = memory(memories(" ".join(map(str, range(length)))))
    return Replay(session, CountingRules(), lambda rows: [f"body {row}" for row in rows])


@given(st.lists(st.integers(0, 29), min_size=1, max_size=6))
def test_memos_are_those_of_the_path_however_few_are_kept(rows: list[int]):
    replay = counted(30)

    with small_caches():
        for row in rows:
            assert replay.memo(row) == row + 1
            beginning = (Snapshot((), {"seen": []}),) if row == 0 else ()
            assert replay.changes(row) == (*beginning, Append(("seen",), row))
            assert replay.state(row) == {"seen": list(range(row + 1))}


def test_a_long_path_is_replayed_without_recursion():
    replay = counted(5000)

    assert replay.state(4999) == {"seen": list(range(5000))}


def test_a_spine_shares_its_beginning_and_keeps_its_order():
    short = Spine.of("ab")
    long = Spine.added(short, "c")

    assert (Spine.items(short), Spine.items(long), long.length) == (["a", "b"], ["a", "b", "c"], 3)
    assert long.before is short
    assert list(Spine.backwards(long)) == ["c", "b", "a"]
    assert Spine.items(Spine.of([])) == []


def test_a_spine_of_a_million_items_is_freed_without_a_crash():
    spine = Spine.of(range(1_000_000))

    assert spine is not None
    assert (spine.length, spine.item) == (1_000_000, 999_999)
    del spine


def test_a_million_spines_over_one_beginning_hold_it_once():
    spine = Spine.of(range(3))

    branches = [Spine.added(spine, each) for each in range(1000)]

    assert all(each.before is spine for each in branches)
    assert msgspec.structs.asdict(branches[7])["length"] == 4
