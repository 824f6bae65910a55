"""A state as the rows of a tree that fills as it is opened.

Rows are found by arithmetic: an open container knows how many rows it has and which of its
members are open, so a list of a million items costs no more than what of it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Key, Path

WIDEST_KEY = 18
"""Columns that the keys of one object take at most, so that their values stand in a column."""
KEYS_MEASURED = 1000


class StateRow(msgspec.Struct, frozen=True):
    """One member of a container: where it is, how deep, and what it holds.

    `key_width` is the room that its key has, so that the values of one container are aligned.
    """

    path: Path
    value: Any
    depth: int
    key_width: int
    is_container: bool
    is_open: bool
    is_changed: bool


class StateRows:
    """The rows of a state; `opened` are the paths whose members are shown.

    `changed` are the paths that a checkpoint wrote; whatever holds one of them counts as changed.
    """

    def __init__(self, state: Any, opened: AbstractSet[Path], changed: Iterable[Path]) -> None:
        self._changed = frozenset(path[:n] for path in changed for n in range(1, len(path) + 1))
        by_holder: dict[Path, list[Key]] = {}
        for path in opened:
            by_holder.setdefault(path[:-1], []).append(path[-1])
        self._root = _Container((), state, by_holder)

    def __len__(self) -> int:
        return self._root.size

    def __getitem__(self, place: int) -> StateRow:
        """Give the row on a line. Raises IndexError beyond the last."""
        if not 0 <= place < len(self):
            raise IndexError(place)
        holder = self._root
        inner, place = holder.at(place)
        while inner is not None:
            holder = inner
            inner, place = holder.at(place)
        return self._row(holder, place)

    def place_of(self, path: Path) -> int | None:
        """Give the line of a path, None where it is not shown."""
        holder, place = self._root, 0
        for depth in range(len(path)):
            index = holder.index_of(path[depth])
            if index is None:
                return None
            place += index + sum(inner.size for at, inner in holder.open_members if at < index)
            if depth == len(path) - 1:
                return place
            inner = next((each for at, each in holder.open_members if at == index), None)
            if inner is None:
                return None
            holder, place = inner, place + 1
        return None

    def _row(self, holder: _Container, index: int) -> StateRow:
        key = holder.key_at(index)
        path = (*holder.path, key)
        value = holder.value[key]
        is_open = any(at == index for at, _ in holder.open_members)
        is_container = isinstance(value, (dict, list)) and bool(as_map(value) or as_list(value))
        return StateRow(
            path,
            value,
            len(holder.path),
            holder.key_width,
            is_container,
            is_open,
            path in self._changed,
        )


class _Container:
    """A container whose members are shown."""

    def __init__(self, path: Path, value: Any, opened: dict[Path, list[Key]]) -> None:
        self.path = path
        self.value = value
        self._keys: list[Key] = list(as_map(value))
        self._length = len(self._keys) if isinstance(value, dict) else len(as_list(value))
        members: list[tuple[int, _Container]] = []
        for key in opened.get(path, ()):
            index = self.index_of(key)
            if index is not None and isinstance(value[key], (dict, list)):
                members.append((index, _Container((*path, key), value[key], opened)))
        self.open_members = sorted(members, key=lambda member: member[0])
        self.size = self._length + sum(inner.size for _, inner in members)

    @property
    def key_width(self) -> int:
        """The room for a key: as wide as the widest, within bounds."""
        if isinstance(self.value, list):
            return len(str(max(self._length - 1, 0)))
        measured = islice(self._keys, KEYS_MEASURED)
        return min(max((len(str(key)) for key in measured), default=0), WIDEST_KEY)

    def at(self, place: int) -> tuple[_Container | None, int]:
        """Give what is on a line: a line inside an open member, or a member by its index."""
        for index, inner in self.open_members:
            if place <= index:
                break
            if place <= index + inner.size:
                return inner, place - index - 1
            place -= inner.size
        return None, place

    def key_at(self, index: int) -> Key:
        """Give the key of a member by its place."""
        return index if isinstance(self.value, list) else self._keys[index]

    def index_of(self, key: Key) -> int | None:
        """Give the place of a member, None where there is none with this key."""
        if isinstance(self.value, list):
            return key if isinstance(key, int) and 0 <= key < self._length else None
        return self._keys.index(key) if key in as_map(self.value) else None
