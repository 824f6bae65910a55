"""Changes: what a checkpoint did to the state. The change is the primitive, the state is derived.

`fold` applies a run of changes to a state. It never touches what it was given: a container is
copied the first time the run writes into it, everything else is shared with the old state, so
two states of one session differ as objects only where they differ as values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, cast

import msgspec

from tt_debugger.core.json import as_list
from tt_debugger.core.paths import ROOT, Path, pointer, value_at

State = Any
"""A JSON-like document: dicts, lists, text, numbers, booleans, None. Never mutated."""


class _Change(msgspec.Struct, frozen=True, gc=False, tag_field="op"):
    path: Path


class Put(_Change, frozen=True, gc=False, tag="put"):
    """The value at a path below the root is now this one (an absent key is added)."""

    value: Any


class Drop(_Change, frozen=True, gc=False, tag="drop"):
    """The key or index at a path below the root is gone."""


class Append(_Change, frozen=True, gc=False, tag="append"):
    """One value was added at the end of the list at a path."""

    value: Any


class Splice(_Change, frozen=True, gc=False, tag="splice"):
    """In the list at a path, `count` values from `index` on gave way to `values`."""

    index: int
    count: int
    values: tuple[Any, ...]


class Snapshot(msgspec.Struct, frozen=True, gc=False, tag_field="op", tag="snapshot"):
    """The whole state is now this value."""

    path: ClassVar[Path] = ROOT
    value: Any


Change = Put | Drop | Append | Splice | Snapshot


def fold(state: State, changes: Iterable[Change]) -> State:
    """Give the state after all the changes, in order.

    Raises KeyError, IndexError or TypeError where a change names a place that is not there: that
    is a bug in the format that made it, not bad data.
    """
    live = LiveState(state)
    live.apply(changes)
    return live.value


def touches(change: Change, path: Path) -> bool:
    """Tell whether a change may alter what stands at a path; only a no is certain.

    It may where it writes there, above it, or inside of it, and where it moves the items of a
    list that the path leads through. A part of a path that is a number may be the key of an
    object too.
    """
    place = change.path
    if isinstance(change, Drop) and isinstance(place[-1], int):
        # The items behind it move up.
        place = place[:-1]
    for one, other in zip(place, path, strict=False):
        if one != other and str(one) != str(other):
            return False
    return True


def written_paths(changes: Iterable[Change], before: State) -> list[Path]:
    """Give the paths that a run of changes wrote, as they are after the run.

    What was put, added to a list or inserted into one has its own path, with its final index. A
    key that was dropped has the path where it was; items that were dropped and not replaced have
    the path of their list. `before` is the state that the changes were made to, None at a root.
    """
    writing = _Writing({} if before is None else before)
    for change in changes:
        writing.apply(change)
    return list(writing.paths)


class LiveState:
    """A state that one run of changes is made to; what it was made of is never touched.

    A container is copied the first time it is written to, and written to from then on. So a long
    run costs what its changes cost, however large the state grows; but `value`, and each container
    in it, is what it is only until the next change: whoever keeps a part of it copies or encodes
    it.
    """

    def __init__(self, state: State) -> None:
        self.value = state
        self._owned: dict[int, Any] = {}
        """The containers that this run made and may write to."""
        self._grown: tuple[Path, list[Any]] | None = None
        """The list that was appended to last, and where it is, as long as nothing else changes."""

    def apply(self, changes: Iterable[Change]) -> None:
        """Make some changes to it, in order. Raises what `fold` does."""
        for change in changes:
            self._apply(change)

    def _apply(self, change: Change) -> None:
        if isinstance(change, Append):
            # Most sessions are long runs of these, to one list.
            if self._grown is None or self._grown[0] != change.path:
                self._grown = change.path, self._items(change.path)
            self._grown[1].append(change.value)
            return
        self._grown = None
        match change:
            case Snapshot(value=value):
                self.value = value
            case Put(path=path, value=value):
                self._container(path[:-1])[path[-1]] = value
            case Drop(path=path):
                del self._container(path[:-1])[path[-1]]
            case Splice(path=path, index=index, count=count, values=values):
                self._items(path)[index : index + count] = values

    def _container(self, path: Path) -> Any:
        """Give the container at a path, ours to write to."""
        self.value = here = self._own(self.value)
        for key in path:
            here[key] = below = self._own(here[key])
            here = below
        return here

    def _items(self, path: Path) -> list[Any]:
        """Give the list at a path, ours to write to."""
        container = self._container(path)
        # An object would take a slice for a key: since Python 3.12 it can be hashed.
        if not isinstance(container, list):
            message = f"a change adds items to {type(container).__name__}"
            raise TypeError(message)
        return cast("list[Any]", container)

    def _own(self, container: Any) -> Any:
        if id(container) in self._owned:
            return container
        if not isinstance(container, (dict, list)):
            message = f"a change writes into {type(container).__name__}"
            raise TypeError(message)
        copy = cast("dict[Any, Any] | list[Any]", container).copy()
        self._owned[id(copy)] = copy
        return copy


class _Writing:
    """The paths written so far by a run of changes, which is folded as far as lengths need it."""

    def __init__(self, before: State) -> None:
        self.paths: dict[Path, None] = {}
        self._live = LiveState(before)
        self._unfolded: list[Change] = []

    def apply(self, change: Change) -> None:
        match change:
            case Snapshot():
                self._replace(ROOT)
            case Drop(path=(*above, int(index))):
                self._splice(tuple(above), index, 1, 0)
            case Put(path=path) | Drop(path=path):
                self._replace(path)
            case Append(path=path):
                self.paths[*path, self._length(path)] = None
            case Splice(path=path, index=index, count=count, values=values):
                self._splice(path, index, count, len(values))
        self._unfolded.append(change)

    def _replace(self, path: Path) -> None:
        """Put a path in the place of all that were written below it."""
        size = len(path)
        self.paths = {each: None for each in self.paths if each[:size] != path}
        self.paths[path] = None

    def _splice(self, path: Path, index: int, count: int, added: int) -> None:
        """Move the written items of a list, and add those that are new."""
        old, self.paths = self.paths, {}
        size, end = len(path), index + count
        for each in old:
            place = each[size] if len(each) > size and each[:size] == path else None
            if not isinstance(place, int) or place < index:
                self.paths[each] = None
            elif place >= end:
                self.paths[*path, place + added - count, *each[size + 1 :]] = None
        for place in range(index, index + added):
            self.paths[*path, place] = None
        if count and not added:
            self.paths[path] = None

    def _length(self, path: Path) -> int:
        self._live.apply(self._unfolded)
        self._unfolded.clear()
        return len(as_list(value_at(self._live.value, path)))


def change_json(change: Change) -> dict[str, Any]:
    """Give a change in the form of CONTRACT: `{"op","path","value","index","count"}`."""
    form: dict[str, Any] = {"op": "", "path": pointer(change.path), "value": None}
    form |= {"index": None, "count": None}
    match change:
        case Put(value=value):
            return form | {"op": "put", "value": value}
        case Drop():
            return form | {"op": "drop"}
        case Append(value=value):
            return form | {"op": "append", "value": value}
        case Splice(index=index, count=count, values=values):
            return form | {
                "op": "splice",
                "value": list(values),
                "index": index,
                "count": count,
            }
        case Snapshot(value=value):
            return form | {"op": "snapshot", "value": value}
