"""The origin of a message: the checkpoint on a path that put it into the state."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Put, Splice, State
from tt_debugger.core.diff.comparing import MESSAGES
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.tree import Tree


def row_that_put(
    tree: Tree,
    row: int,
    place: int,
    state: Callable[[int], State],
    changes: Callable[[int], Sequence[Change]],
) -> int:
    """Give the row that put the message at a place of the state at a row there, as it is now."""

    def messages(at: int) -> list[Any]:
        return as_list(as_map(state(at)).get(MESSAGES))

    wanted = messages(row)[place]
    while True:
        path, at = tree.path_to(row), place

        def stands(each: int, at: int = at) -> bool:
            held = messages(each)
            return at < len(held) and is_same(held[at], wanted)

        # Between two compactions messages only come: each is there from some row on.
        found = bisect_left(path, True, key=stands)
        row = path[found] if found < len(path) else row
        if found in {0, len(path)}:
            return row
        before = _place_before(changes(row), place, len(messages(path[found - 1])))
        if before is None or not stands(path[found - 1], before):
            return row
        row, place = path[found - 1], before


def _place_before(changes: Sequence[Change], place: int, length: int) -> int | None:
    """Give where a message stood before some changes to so many messages; None if nowhere."""
    lengths = [length]
    for change in changes:
        lengths.append(lengths[-1] + _growth(change))
    for change, size in zip(reversed(changes), reversed(lengths[:-1]), strict=True):
        match change:
            case Append(path=(name,)) if name == MESSAGES:
                if place == size:
                    return None
            case Splice(path=(name,), index=index, count=count, values=values) if name == MESSAGES:
                if index <= place < index + len(values):
                    return None
                if place >= index + len(values):
                    place += count - len(values)
            case Put(path=(name, *rest)) if name == MESSAGES and (not rest or rest[0] == place):
                return None
            case _:
                pass
    return place if place < length else None


def _growth(change: Change) -> int:
    match change:
        case Append(path=(name,)) if name == MESSAGES:
            return 1
        case Splice(path=(name,), count=count, values=values) if name == MESSAGES:
            return len(values) - count
        case _:
            return 0
