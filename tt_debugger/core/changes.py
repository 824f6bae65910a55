"""Changes: what a checkpoint did to the state. The change is the primitive, the state is derived.

`fold` applies a run of changes to a state. It never touches what it was given: a container is
copied the first time the run writes into it, everything else is shared with the old state, so
two states of one session differ as objects only where they differ as values.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

import msgspec

from tt_debugger.core.paths import ROOT, Path, pointer

State = Any
"""A JSON-like document: dicts, lists, text, numbers, booleans, None. Never mutated."""


class _Change(msgspec.Struct, frozen=True, tag_field="op"):
    path: Path


class Put(_Change, frozen=True, tag="put"):
    """The value at a path is now this one (an absent key is added)."""

    value: Any


class Drop(_Change, frozen=True, tag="drop"):
    """The key or index at a path is gone."""


class Append(_Change, frozen=True, tag="append"):
    """One value was added at the end of the list at a path."""

    value: Any


class Splice(_Change, frozen=True, tag="splice"):
    """In the list at a path, `count` values from `index` on gave way to `values`."""

    index: int
    count: int
    values: tuple[Any, ...]


class Snapshot(_Change, frozen=True, tag="snapshot"):
    """The whole state is now this value; the path is the root."""

    value: Any


Change = Put | Drop | Append | Splice | Snapshot


def fold(state: State, changes: Iterable[Change]) -> State:
    """Give the state after all the changes, in order.

    Raises KeyError, IndexError or TypeError where a change names a place that is not there: that
    is a bug in the format that made it, not bad data.
    """
    folding = _Folding(state)
    for change in changes:
        folding.apply(change)
    return folding.root


class _Folding:
    """One run of changes; `_owned` holds the containers that this run made and may write to."""

    def __init__(self, state: State) -> None:
        self.root = state
        self._owned: dict[int, Any] = {}

    def apply(self, change: Change) -> None:
        match change:
            case Snapshot(value=value):
                self.root = value
            case Put(path=(), value=value):
                self.root = value
            case Put(path=path, value=value):
                self._container(path[:-1])[path[-1]] = value
            case Drop(path=()):
                self.root = None
            case Drop(path=path):
                del self._container(path[:-1])[path[-1]]
            case Append(path=path, value=value):
                self._container(path).append(value)
            case Splice(path=path, index=index, count=count, values=values):
                self._container(path)[index : index + count] = values

    def _container(self, path: Path) -> Any:
        """Give the container at a path, ours to write to."""
        self.root = here = self._own(self.root)
        for key in path:
            here[key] = below = self._own(here[key])
            here = below
        return here

    def _own(self, container: Any) -> Any:
        if id(container) in self._owned:
            return container
        if not isinstance(container, (dict, list)):
            message = f"a change writes into {type(container).__name__}"
            raise TypeError(message)
        copy = cast("dict[Any, Any] | list[Any]", container).copy()
        self._owned[id(copy)] = copy
        return copy


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
            return form | {"op": "snapshot", "path": pointer(ROOT), "value": value}
