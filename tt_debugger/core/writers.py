"""Writers: who wrote each part of one state, kept up along the way that leads to it."""

from __future__ import annotations

from collections.abc import Callable

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.json import as_list
from tt_debugger.core.paths import Key, Path, value_at


class Writers:
    """The row that last wrote each part of a state: the part itself, around it or inside of it.

    What moves to another index of a list is written by the row that moves it.
    """

    def __init__(self, root: int) -> None:
        """Begin at the root, above which nothing is."""
        self._root = _Part(root)

    def take(self, row: int, change: Change, before: Callable[[], State]) -> None:
        """Note a change of a row; the state before it is seldom asked for."""
        match change:
            case Append(path=path):
                self._items(row, path, before).append(row)
            case Put(path=path):
                self._part(row, path[:-1]).put(path[-1], row)
            case Drop(path=(*above, int(index))):
                self._replace(row, tuple(above), (index, 1, 0), before)
            case Drop(path=path):
                self._part(row, path[:-1]).inside.pop(path[-1], None)
            case Snapshot():
                self._root = _Part(row)
            case Splice(path=path, index=index, count=count, values=values):
                if count or values:
                    self._replace(row, path, (index, count, len(values)), before)

    def of(self, path: Path) -> int:
        """Give the row that last wrote what is at a path of the state, or something in it."""
        reached = self._reached(path)
        return reached.last if isinstance(reached, _Part) else reached

    def of_whole(self, path: Path) -> int:
        """Give the row that last wrote all that is at a path of the state."""
        reached = self._reached(path)
        return reached.whole if isinstance(reached, _Part) else reached

    def _reached(self, path: Path) -> _Part | int:
        """Give the part at a path, or who wrote all that is there where nothing did inside it."""
        part = self._root
        for key in path:
            below = part.inside.get(key)
            if not isinstance(below, _Part):
                return part.writer(key)
            part = below
        return part

    def _part(self, row: int, path: Path) -> _Part:
        """Give the part at a path, which a row is about to write in."""
        part = self._root
        part.last = row
        for key in path:
            below = part.inside.get(key)
            if not isinstance(below, _Part):
                below = part.inside[key] = _Part(part.writer(key))
            part = below
            part.last = row
        return part

    def _items(self, row: int, path: Path, before: Callable[[], State]) -> list[int]:
        """Give the writers of the items of a list, which a row is about to change."""
        part = self._part(row, path)
        if part.items is None:
            part.items = [part.whole] * len(as_list(value_at(before(), path)))
        return part.items

    def _replace(
        self,
        row: int,
        path: Path,
        replaced: tuple[int, int, int],
        before: Callable[[], State],
    ) -> None:
        """Note that from an index on so many items gave way to so many others."""
        items = self._items(row, path, before)
        inside = self._part(row, path).inside
        index, count, added = replaced
        begin = min(index, len(items))
        end = min(begin + count, len(items))
        if end - begin != added:
            # What stands behind moves.
            end, added = len(items), len(items) - end + added
        items[begin:end] = [row] * added
        for key in [key for key in inside if isinstance(key, int) and begin <= key < end]:
            del inside[key]


class _Part:
    """A container of which parts were written after it was."""

    __slots__ = ("inside", "items", "last", "whole")

    def __init__(self, whole: int) -> None:
        self.whole = self.last = whole
        """The row that wrote all of it, and the one that last wrote in it."""
        self.inside: dict[Key, _Part | int] = {}
        """What was written since: parts, or the row alone where nothing was written in it yet."""
        self.items: list[int] | None = None
        """Of a list that was changed item by item, the row that wrote each one."""

    def writer(self, key: Key) -> int:
        """Give the row that wrote all that is at a key."""
        written = self.inside.get(key)
        if isinstance(written, int):
            return written
        if self.items is None or not isinstance(key, int):
            return self.whole
        return self.items[key]

    def put(self, key: Key, row: int) -> None:
        """Note that a row wrote all that is at a key."""
        if self.items is not None and isinstance(key, int):
            self.items[key] = row
            self.inside.pop(key, None)
        else:
            self.inside[key] = row
