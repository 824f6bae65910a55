"""Which row wrote a value last, and which will write it next."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path as FilePath
from typing import Any

import pytest
from builders import FILE_IDS, FILES, memories, memory, replay_of
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import containers, memory_records
from touching import MESSAGES, long_talks, moments, paths_in, touches_of

from tt_debugger.core import item_writes, touches
from tt_debugger.core.changes import Append, Change, Drop, Put, Splice
from tt_debugger.core.history import Watched, history
from tt_debugger.core.item_writes import Hit, ItemWrites
from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path
from tt_debugger.core.touches import Touches
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError
from tt_debugger.formats.shared.memory import MemoryRecord

Said = Mapping[str, Sequence[Change]]


def last_id(words: str, changes: Said, leaf: str, path: Path) -> str | None:
    """Give the id of the row that wrote a path last."""
    session, touches = _indexed(words, changes)
    return _id_of(session, touches.last(session.rows[leaf], path))


def next_id(words: str, changes: Said, row: str, path: Path) -> str | None:
    """Give the id of the row that writes a path next."""
    session, touches = _indexed(words, changes)
    return _id_of(session, touches.next(session.rows[row], path))


def _indexed(words: str, changes: Said) -> tuple[Session, Touches]:
    store, session = memory(memories(words, changes))
    return session, touches_of(session, replay_of(store, session))


def _id_of(session: Session, row: int | None) -> str | None:
    return None if row is None else session.ids[row]


TALK: dict[str, list[Change]] = {
    "a": [Put(MESSAGES, ["a"]), Put(("model",), "one")],
    "b": [Append(MESSAGES, {"text": "b"}), Put(("usage",), {"in": 1, "out": 1})],
    "c": [Append(MESSAGES, "c"), Put(("usage",), {"in": 1, "out": 2})],
    "d": [Append(MESSAGES, "d"), Put(("model",), "two")],
}


@pytest.mark.parametrize(
    ("path", "row"),
    [
        (("messages", 0), "a"),
        (("messages", 1), "b"),
        (("messages", 1, "text"), "b"),
        (("messages", 2), "c"),
        (("messages", 3), None),
        (("messages",), "d"),
        (("model",), "two"),
        (("usage", "in"), "c"),
        ((), "d"),
    ],
)
def test_the_row_that_wrote_a_value_last_is_found(path: Path, row: str | None):
    expected = "d" if row == "two" else row
    leaf = "c" if path == ("messages", 3) else "d"

    assert last_id("a b c d", TALK, leaf, path) == expected


def test_another_branch_does_not_count():
    assert last_id("a b c d<b", TALK, "d", ("usage", "out")) == "b"
    assert last_id("a b c d<b", TALK, "d", ("messages", 2)) == "d"


def test_what_a_splice_moves_it_writes():
    changes = {**TALK, "s": [Splice(MESSAGES, 1, 2, ("sum",))]}

    assert last_id("a b c d s", changes, "s", ("messages", 0)) == "a"
    assert last_id("a b c d s", changes, "s", ("messages", 1)) == "s"
    assert last_id("a b c d s", changes, "s", ("messages", 2)) == "s"


def test_a_splice_of_the_same_size_moves_nothing():
    changes = {**TALK, "s": [Splice(MESSAGES, 1, 1, ("else",))]}

    assert last_id("a b c d s", changes, "s", ("messages", 1)) == "s"
    assert last_id("a b c d s", changes, "s", ("messages", 2)) == "c"


def test_only_what_was_written_inside_of_an_item_counts():
    inside: dict[str, list[Change]] = {"s": [Put(("messages", 1, "seen"), True)]}
    changes = {**TALK, **inside}

    assert last_id("a b c d s", changes, "s", ("messages", 1, "text")) == "b"
    assert last_id("a b c d s", changes, "s", ("messages", 1, "seen")) == "s"
    assert last_id("a b c d s", changes, "s", ("messages", 1)) == "s"


def test_that_a_value_went_away_is_a_change():
    changes = {**TALK, "s": [Drop(("model",))], "t": [Put(("other",), 1)]}

    assert last_id("a b c d s t", changes, "t", ("model",)) == "s"
    assert next_id("a b c d s t", changes, "d", ("model",)) == "s"
    assert next_id("a b c d s t", changes, "s", ("model",)) is None


def test_what_was_a_list_may_become_an_object():
    changes = {**TALK, "s": [Put(MESSAGES, {"1": "x"})], "t": [Put(("other",), 1)]}

    assert last_id("a b c d s t", changes, "t", ("messages", 0)) == "s"
    assert last_id("a b c d s t", changes, "t", ("messages", "1")) == "s"
    assert last_id("a b c d s t", changes, "t", ("messages", 1)) == "s"
    assert next_id("a b c d s t", changes, "s", ("messages", 1)) is None


def test_items_that_a_damaged_file_replaces_behind_the_end_are_added_there():
    changes = {**TALK, "s": [Splice(MESSAGES, 40, 3, ("late",))]}

    assert last_id("a b c d s", changes, "s", ("messages", 4)) == "s"
    assert last_id("a b c d s", changes, "s", ("messages", 3)) == "d"


def test_the_row_that_writes_a_value_next_is_found_on_the_own_branch():
    assert next_id("a b c d<b", TALK, "a", ("messages", 0)) is None
    assert next_id("a b c d<b", TALK, "a", ("messages", 1)) == "b"
    assert next_id("a b c d<b", TALK, "b", ("messages", 2)) == "d"
    assert next_id("a b c d<b", TALK, "c", ("usage",)) is None


def test_places_beyond_the_limits_are_looked_up_in_the_changes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(touches, "MOST_PLACES", 1)
    monkeypatch.setattr(touches, "DEEPEST", 1)

    assert last_id("a b c d", TALK, "d", ("usage", "in")) == "c"
    assert last_id("a b c d", TALK, "d", ("model",)) == "d"


@given(memory_records(14), st.data())
def test_the_last_write_is_the_newest_moment_of_the_history(records: Any, data: st.DataObject):
    store, session = memory(records)
    replay = replay_of(store, session)
    made = touches_of(session, replay)
    for row in range(len(session)):
        path = data.draw(paths_in(replay.state(row)))

        history_so_far = moments(session, replay, row, path)

        assert made.last(row, path) == (history_so_far[-1] if history_so_far else None)


@given(memory_records(14), st.data())
def test_the_next_write_is_the_next_moment_of_the_history(records: Any, data: st.DataObject):
    store, session = memory(records)
    replay = replay_of(store, session)
    made = touches_of(session, replay)
    for row in range(len(session)):
        path = data.draw(paths_in(replay.state(row)))
        whole = session.tree.path_to(leaf_of(session, row))
        below = set(whole[whole.index(row) + 1 :])

        later = [each for each in moments(session, replay, whole[-1], path) if each in below]

        assert made.next(row, path) == (later[0] if later else None)


@settings(max_examples=50)
@given(memory_records(14), st.integers(0, 14), st.integers(0, 14), st.data())
def test_a_session_that_grew_is_as_one_noted_whole(
    records: list[MemoryRecord], size: int, kept: int, data: st.DataObject
):
    store, session = memory(records)
    replay = replay_of(store, session)
    _, before = memory(first_of(records, size))
    made = Touches(before, replay.changes_along, replay.state)
    made.take_in(before)
    made.take_in(session, min(kept, len(before)))
    whole = touches_of(session, replay)
    for row in range(len(session)):
        path = data.draw(paths_in(replay.state(row)))

        assert made.last(row, path) == whole.last(row, path)
        assert made.next(row, path) == whole.next(row, path)


@settings(max_examples=30)
@given(st.data())
def test_a_list_that_changes_at_any_place_is_followed_through_blocks(data: st.DataObject):
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(item_writes, "BLOCK", 4)
        store, session = memory(data.draw(long_talks()))
        replay = replay_of(store, session)
        made = touches_of(session, replay)
        for row in data.draw(st.lists(st.integers(0, len(session) - 1), max_size=6)):
            messages = replay.state(row)["messages"]
            path = (*MESSAGES, data.draw(st.integers(0, len(messages))))

            history_so_far = moments(session, replay, row, path)

            assert made.last(row, path) == (history_so_far[-1] if history_so_far else None)


@pytest.mark.parametrize("location", [path for _, path in FILES], ids=FILE_IDS)
def test_the_places_of_a_real_state_are_found_as_its_history_has_them(location: FilePath):
    try:
        debugger = Debugger.open(str(location))
    except TtdbgError:
        return
    with debugger:
        session = debugger.session
        if not len(session):
            return
        made = Touches(session, debugger.changes_along, debugger.state)
        made.take_in(session)
        row = len(session) - 1 if session.active is None else session.active
        rows = session.tree.path_to(row)
        for path, _ in containers(debugger.state(row))[:40]:
            found = list(history(rows, debugger.changes_along(rows), Watched.at(path)))
            assert made.last(row, path) == (found[-1].row if found else None), path


def test_blocks_that_do_not_reach_an_item_are_passed_over():
    writes = ItemWrites()
    for row in range(1000):
        writes.append(row, row)
    writes.touch(1000, 3)

    assert writes.last(3, 0, 1001) == Hit(1000, is_whole=False)
    assert writes.last(3, 0, 1000) == Hit(3, is_whole=True)
    assert writes.last(700, 0, 700) is None
    assert writes.next(700, 5, 1000) == Hit(700, is_whole=True)
    assert writes.next(3, 4, 1000) is None
    assert writes.size_after(0, 1001) == 1000
    writes.drop_from(500)
    assert writes.next(700, 5, 1000) is None
    assert writes.rows == array("I", range(500))


def first_of(records: list[MemoryRecord], size: int) -> list[MemoryRecord]:
    """Give the first records, as many as do not hang on what comes behind them."""
    first = records[:size]
    names = {each.id for each in first}
    while any(each.parent is not None and each.parent not in names for each in first):
        first = first[:-1]
        names = {each.id for each in first}
    return first
