"""What tests of touches and blame share: how both are made, and what hypothesis draws for them."""

from __future__ import annotations

from typing import Any, cast

from hypothesis import strategies as st
from strategies import containers, parent_rows

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.history import Watched, history
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path
from tt_debugger.core.replay import Replay
from tt_debugger.core.touches import Touches
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.memory import MemoryRecord

MESSAGES = ("messages",)


def touches_of(session: Session, replay: Replay) -> Touches:
    """Give the touches of a whole session."""
    made = Touches(session, replay.changes_along, replay.state)
    made.take_in(session)
    return made


def moments(session: Session, replay: Replay, row: int, path: Path) -> list[int]:
    """Give the rows of the history of a path, down to a row."""
    rows = session.tree.path_to(row)
    watched = Watched.at(path)
    return [each.row for each in history(rows, replay.changes_along(rows), watched)]


@st.composite
def paths_in(draw: st.DrawFn, state: State) -> Path:
    """Give the path of any value of a state, or of one that is not there."""
    path, container = draw(st.sampled_from(containers(state) or [((), None)]))
    is_map = isinstance(container, dict)
    keys: list[str | int] = list(cast("dict[str, Any]", container)) if is_map else []
    keys += () if is_map else range(len(container or ()))
    further = draw(st.sampled_from([None, *keys, "a", "messages", 0, 2]))
    return path if further is None else (*path, further)


@st.composite
def long_talks(draw: st.DrawFn) -> list[MemoryRecord]:
    """Give the records of a session whose messages mostly come, and at times go or move."""
    parents = draw(parent_rows(40))
    lengths: dict[int, int] = {NO_ROW: 0}
    records: list[MemoryRecord] = []
    for row, drawn in enumerate(parents):
        parent = NO_ROW if drawn >= row else drawn
        length = lengths[parent]
        changes: list[Change] = []
        if parent == NO_ROW:
            changes.append(Snapshot({"messages": []}))
            length = 0
        for _ in range(draw(st.integers(0, 2))):
            match draw(st.integers(0, 7)):
                case 0 if length:
                    begin = draw(st.integers(0, length - 1))
                    count = draw(st.integers(0, length - begin))
                    values = tuple(draw(st.lists(st.integers(0, 2), max_size=3)))
                    changes.append(Splice(MESSAGES, begin, count, values))
                    length += len(values) - count
                case 1 if length:
                    changes.append(Drop((*MESSAGES, draw(st.integers(0, length - 1)))))
                    length -= 1
                case 2 if length:
                    changes.append(Put((*MESSAGES, draw(st.integers(0, length - 1))), row))
                case 3:
                    length = draw(st.integers(0, 3))
                    changes.append(Put(MESSAGES, [row] * length))
                case _:
                    changes.append(Append(MESSAGES, row))
                    length += 1
        lengths[row] = length
        above = None if parent == NO_ROW else f"m{parent}"
        records.append(MemoryRecord(f"m{row}", above, tuple(changes)))
    return records
