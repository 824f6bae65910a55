"""Turns: the state is the list of turns so far and what the last one held.

What went in and came out of a turn may have been hashed. A hash is checked where the way in which
it was made is known: by another turn of the session, for which one of the usual ways is right.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.shared.tables.documents import Document
from tt_debugger.formats.shared.tables.index import Index

_WAYS = tuple(
    json.JSONEncoder(sort_keys=True, separators=separators, ensure_ascii=is_ascii).encode
    for separators in ((",", ":"), (", ", ": "))
    for is_ascii in (False, True)
)
"""How JSON is written in one form, by those who hash it."""
_SHA = "sha256:"
_SHORTEST_HASH = 16
"""Letters of a hash that was cut."""
_OF = {"inputhash": "input", "outputhash": "output"}


class TurnRules:
    """Each turn is added to the list of turns, and what it held takes the place of the last."""

    def __init__(self, index: Index) -> None:
        self._compact = list(_compact(index))
        self._parents = index.parents
        self._is_line = index.parents == array("q", range(NO_ROW, len(index) - 1))

    def start(self, session: Session) -> tuple[State, None]:
        """Give the state before the first turn."""
        return {"turns": [], "turn": None}, None

    def state_of(self, body: Body) -> State:
        """Give the turns up to one, without what came before being read."""
        row: int = body[0]
        payload: Any = body[1]
        if self._is_line:
            return {"turns": self._compact[: row + 1], "turn": payload}
        path: list[dict[str, Any]] = []
        while row != NO_ROW:
            path.append(self._compact[row])
            row = self._parents[row]
        return {"turns": path[::-1], "turn": payload}

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what a turn did."""
        changes: tuple[Change, ...] = (
            Append(("turns",), self._compact[row]),
            Put(("turn",), body[1]),
        )
        return Step(changes, memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: an agent goes on from its turns."""
        return Resumed(replay.state(row))


def _compact(index: Index) -> Iterator[dict[str, Any]]:
    """Give what the columns say of each turn, but for its session and its payload."""
    layout = index.layout
    named = (
        *zip(layout.key, index.key, strict=True),
        (layout.order, index.orders),
        (layout.tool, index.tools),
        *zip(layout.hashes, index.hashes, strict=True),
        *zip(layout.times, index.times, strict=True),
        (layout.version, index.versions),
    )
    columns: dict[str, Sequence[Any]] = {
        name: values for name, values in named if name is not None and name != layout.session
    }
    for values in zip(*columns.values(), strict=True):
        yield {
            name: value.hex() if isinstance(value, bytes) else value
            for name, value in zip(columns, values, strict=True)
        }


class HashCheck:
    """The hashes of turns, looked at turn by turn."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._columns = [
            (name, key_hashed(name), column)
            for name, column in zip(index.layout.hashes, index.hashes, strict=True)
        ]
        self._right = [0] * len(self._columns)
        self._wrong: list[list[tuple[int, bool]]] = [[] for _ in self._columns]

    def look_at(self, row: int, document: Document) -> None:
        """Look at the hashes of a turn."""
        for place, (_, key, column) in enumerate(self._columns):
            hashed = column[row]
            if not isinstance(hashed, str) or key not in document.value:
                continue
            value = document.value[key]
            if _is_of(hashed, value):
                self._right[place] += 1
            else:
                self._wrong[place].append((row, _may_vary(value)))

    def findings(self) -> Iterator[Finding]:
        """Say which are wrong; where most are, they are made in a way that nobody told us."""
        index = self._index
        for (name, key, _), right, wrong in zip(
            self._columns, self._right, self._wrong, strict=True
        ):
            rows = [row for row, may_vary in wrong if not may_vary]
            for row in rows if right > len(wrong) else ():
                yield finding(
                    Code.WRONG_HASH,
                    f"{index.layout.table}/{index.ids[row]}: {name} is not the hash of its {key}",
                    hint="the payload was changed after it was hashed, or the hash was",
                    checkpoint=index.ids[row],
                )


def key_hashed(column: str) -> str:
    """Give the key of a payload of which a column holds the hash."""
    return _OF[column.replace("_", "").lower()]


def rehashed(hashed: str, before: Any, after: Any) -> str | None:
    """Give the hash of another value in the way of a hash; None where that way is not known."""
    way = _way_of(hashed, before)
    if way is None:
        return None
    digits = hashed.lower().removeprefix(_SHA)
    made = _digest(way, after)[: len(digits)]
    return hashed[: -len(digits)] + (made.upper() if hashed[-len(digits) :].isupper() else made)


def _is_of(hashed: str, value: Any) -> bool:
    return _way_of(hashed, value) is not None


def _way_of(hashed: str, value: Any) -> Callable[[Any], str] | None:
    """Give the way in which a hash was made of a value, None where it is of another."""
    wanted = hashed.lower().removeprefix(_SHA)
    if len(wanted) < _SHORTEST_HASH:
        return None
    return next((way for way in _WAYS if _digest(way, value).startswith(wanted)), None)


def _digest(way: Callable[[Any], str], value: Any) -> str:
    return hashlib.sha256(way(value).encode(errors="replace")).hexdigest()


def _may_vary(value: Any) -> bool:
    """Tell whether a value holds numbers that are written in more ways than one."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, float) or "$type" in as_map(each):
            return True
        waiting += as_list(each) or as_map(each).values()
    return False
