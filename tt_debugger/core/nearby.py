"""What may have been meant by a place that is not there: those whose names are near to it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Key, Path, value_at, value_or_unset

MOST = 3
"""Places that are offered."""
CLOSE = 0.7
"""How much alike two names are, of 1, so that one may have been meant by the other."""
DEEPEST = 4
"""Keys of the longest path at which the same name is looked for."""
MOST_LOOKED_AT = 2000
"""Names that are looked at, so that a state of many thousands is answered for at once."""


def nearby(state: State, path: Path) -> tuple[Path, ...]:
    """Give the places that are there and may have been meant, the likeliest first."""
    above, value = _as_far_as_it_is_there(state, path)
    if len(above) == len(path):
        return ()
    missing, rest = path[len(above)], path[len(above) + 1 :]
    found: dict[Path, None] = {}
    for key in _like(missing, value):
        here = (*above, key)
        longer = (*here, *rest)
        below = (longer,) if _is_there(state, longer) else nearby(state, longer)
        found[next((each for each in below if each[: len(here)] == here), here)] = None
    last = str(path[-1])
    elsewhere = {each: None for each in places(state) if str(each[-1]) == last}
    return tuple({**found, **elsewhere})[:MOST]


def _as_far_as_it_is_there(state: State, path: Path) -> tuple[Path, Any]:
    """Give the longest beginning of a path that is there, and what is there."""
    size = next(size for size in range(len(path), -1, -1) if _is_there(state, path[:size]))
    return path[:size], value_at(state, path[:size])


def _is_there(state: State, path: Path) -> bool:
    return value_or_unset(state, path) is not msgspec.UNSET


def _like(missing: Key, value: Any) -> list[Key]:
    """Give the keys of an object that are written nearly so; of a list, its last index."""
    items = as_list(value)
    if items:
        return [len(items) - 1] if isinstance(missing, int) else []
    names = {each.casefold(): each for each in list(as_map(value))[:MOST_LOOKED_AT]}
    close = get_close_matches(str(missing).casefold(), names, MOST, CLOSE)
    return [names[each] for each in close]


def places(state: State) -> Iterator[Path]:
    """Give the places below the keys of objects, those of the fewest keys first.

    Of a state of many thousands not all are given, nor what is very deep.
    """
    level: list[tuple[Path, Any]] = [((), state)]
    left = MOST_LOOKED_AT
    for _ in range(DEEPEST):
        below: list[tuple[Path, Any]] = []
        for path, value in level:
            for key, each in as_map(value).items():
                yield (*path, key)
                left -= 1
                below.append(((*path, key), each))
                if not left:
                    return
        level = below
