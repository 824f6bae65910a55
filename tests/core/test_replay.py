"""Replay: any row's state is the fold of the changes along its path, however it is cached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from builders import memories, memory, replay_of
from hypothesis import given
from hypothesis import strategies as st
from strategies import memory_records

from tt_debugger.core import replay as replay_module
from tt_debugger.core.changes import Append, Put, Snapshot, State, fold
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.replay import Replay
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.memory import MemoryRecord, MemoryRules


def opened(records: list[MemoryRecord]) -> tuple[Session, Replay]:
    store, session = memory(records)
    return session, replay_of(store, session)


@contextmanager
def small_caches() -> Iterator[None]:
    """Make what is kept so little that a handful of rows evicts it; for a replay made within."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (
            ("BATCH", 2),
            ("MEMO_EVERY", 2),
            ("MEMOS_KEPT", 4),
            ("STATE_EVERY", 3),
            ("STATES_KEPT", 4),
            ("LAST_STATES", 1),
            ("END_KEPT", 2),
            ("ENDS_KEPT", 1),
            ("STEPS_KEPT", 3),
        ):
            patch.setattr(replay_module, name, value)
        yield


def naive_state(session: Session, records: list[MemoryRecord], row: int) -> State:
    state: State = {}
    for each in session.tree.path_to(row):
        state = fold(state, records[each].changes)
    return state


def questions(size: int) -> st.SearchStrategy[list[tuple[str, int]]]:
    """Give methods to call, each with a row."""
    names = st.sampled_from(("state", "changes"))
    return st.lists(st.tuples(names, st.integers(0, size - 1)), min_size=1, max_size=12)


def naive_answer(session: Session, records: list[MemoryRecord], name: str, row: int) -> Any:
    return records[row].changes if name == "changes" else naive_state(session, records, row)


@given(memory_records(), st.data())
def test_answers_in_any_order_are_those_of_a_walk_from_the_root(
    records: list[MemoryRecord], data: st.DataObject
):
    session, replay = opened(records)

    for name, row in data.draw(questions(len(records))):
        assert getattr(replay, name)(row) == naive_answer(session, records, name, row)


@given(memory_records(20), st.data())
def test_answers_are_the_same_when_what_was_kept_was_let_go(
    records: list[MemoryRecord], data: st.DataObject
):
    with small_caches():
        session, replay = opened(records)
        for name, row in data.draw(questions(len(records))):
            assert getattr(replay, name)(row) == naive_answer(session, records, name, row)


@given(memory_records())
def test_the_state_of_a_child_is_its_changes_on_that_of_its_parent(records: list[MemoryRecord]):
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
    """Rules whose memo is the number of rows before, and which say so in the state.

    They count their steps.
    """

    def __init__(self) -> None:
        self.steps = 0

    def start(self, session: Session) -> tuple[State, int]:
        return {"seen": []}, 0

    def step(self, _session: Session, row: int, body: Any, memo: int, bodies: Any) -> Any:
        self.steps += 1
        assert body == bodies((row,))[0] == f"body {row}"
        return replay_module.Step((Append(("seen",), memo),), memo + 1)

    def resume(self, replay: Replay, row: int) -> replay_module.Resumed:
        return replay_module.Resumed(replay.state(row))


def counted(length: int) -> tuple[Replay, CountingRules]:
    """Give the replay of one long path, and the rules that count."""
    _, session = memory(memories(" ".join(map(str, range(length)))))
    rules = CountingRules()
    return Replay(session, rules, lambda rows: [f"body {row}" for row in rows]), rules


@given(st.lists(st.integers(0, 29), min_size=1, max_size=6))
def test_memos_are_those_of_the_path_however_few_are_kept(rows: list[int]):
    with small_caches():
        replay, _ = counted(30)
        for row in rows:
            assert replay.memo(row) == row + 1
            beginning = (Snapshot({"seen": []}),) if row == 0 else ()
            assert replay.changes(row) == (*beginning, Append(("seen",), row))
            assert replay.state(row) == {"seen": list(range(row + 1))}


DEEP = 20_000
WALK = replay_module.STATE_EVERY
"""A walk from one keyframe to the next."""


def look_around(replay: Replay, rows: Sequence[int], ahead: int = 0) -> None:
    """Ask for what the inspector shows of each row, and of rows that are read ahead."""
    size = len(replay.session)
    for row in rows:
        for near in range(ahead + 1):
            for each in {row + near, row - near}:
                if 0 < each < size:
                    replay.changes(each)
                    assert len(replay.state(each - 1)["seen"]) == each
                    assert len(replay.state(each)["seen"]) == each + 1


def test_stepping_about_at_the_end_of_a_long_path_costs_no_walk():
    replay, rules = counted(DEEP)

    look_around(replay, range(DEEP - 1, DEEP - 101, -1))
    look_around(replay, range(DEEP - 100, DEEP))

    assert rules.steps == DEEP


@pytest.mark.parametrize(("far", "ahead"), [(1000, 0), (150, 24)])
def test_stepping_far_up_and_down_again_costs_a_short_walk_now_and_then(far: int, ahead: int):
    replay, rules = counted(DEEP)

    look_around(replay, range(DEEP - 1, DEEP - far, -1), ahead)
    look_around(replay, range(DEEP - far, DEEP), ahead)

    walks = (far + ahead) // replay_module.END_KEPT + 1
    assert rules.steps <= DEEP + walks * WALK + far + ahead


@pytest.mark.parametrize("first", ["changes", "state"])
def test_changes_and_state_of_a_deep_row_cost_one_walk(first: str):
    replay, rules = counted(DEEP)

    for name in (first, "state", "changes"):
        getattr(replay, name)(DEEP - 1)

    assert rules.steps == DEEP


def test_a_jump_on_a_path_that_was_walked_costs_less_than_the_way_between_keyframes():
    replay, rules = counted(DEEP)
    replay.state(DEEP - 1)
    rules.steps = 0

    replay.state(DEEP // 2)

    assert rules.steps <= WALK


def test_changes_alone_make_no_states(monkeypatch: pytest.MonkeyPatch):
    replay, rules = counted(300)

    def refused(*_: Any) -> State:
        raise AssertionError("a state was made")

    monkeypatch.setattr(replay_module, "fold", refused)
    for row in range(300):
        replay.changes(row)

    assert rules.steps == 300


def test_what_is_kept_is_bounded_on_a_path_of_any_length():
    with small_caches():
        replay, _ = counted(200)
        look_around(replay, range(199, 0, -1))

        assert [
            len(kept._values)
            for kept in vars(replay).values()
            if isinstance(kept, replay_module._Kept)
        ] == [1, 1, 1, 1, 3]


def grown(before: list[MemoryRecord], after: list[MemoryRecord], asked: Any) -> Replay:
    """Give a replay that was asked something about some records, then extended to others."""
    now = list(before)
    _, session = memory(before)
    replay = Replay(session, MemoryRules(), lambda rows: [now[row] for row in rows])
    for name, row in asked:
        getattr(replay, name)(row)
    now[:] = after
    return replay.extended(memory(after)[1])


@given(memory_records(20), st.data())
def test_an_extended_replay_answers_as_a_fresh_one(
    records: list[MemoryRecord], data: st.DataObject
):
    session, _ = opened(records)
    parents = session.parents
    whole = [size for size in range(1, len(records) + 1) if max(parents[:size]) < size]
    size = data.draw(st.sampled_from(whole))

    with small_caches() if data.draw(st.booleans()) else nullcontext():
        replay = grown(records[:size], records, data.draw(questions(size)))
        for name, row in data.draw(questions(len(records))):
            assert getattr(replay, name)(row) == naive_answer(session, records, name, row)


@pytest.mark.parametrize("after", ["a b x", "a b c<a", "a b"])
def test_a_replay_extended_to_another_history_takes_nothing_over(after: str):
    asked = [("state", 2), ("changes", 2), ("state", 1)]

    replay = grown(memories("a b c"), memories(after), asked)

    session, fresh = opened(memories(after))
    assert [replay.state(row) for row in range(len(session))] == [
        fresh.state(row) for row in range(len(session))
    ]


def test_an_extended_replay_takes_only_the_new_steps():
    replay, rules = counted(DEEP)
    replay.state(DEEP - 1)
    _, session = memory(memories(" ".join(map(str, range(DEEP + 3)))))

    extended = replay.extended(session)

    assert len(extended.state(DEEP + 2)["seen"]) == DEEP + 3
    assert rules.steps == DEEP + 3
