"""Outlines: which places a state has, kept small along a path, so that a change can be checked.

A change on file may name a place that is not there. The rules of a replay see no state, so they
carry its outline: the objects and lists of it, with next to nothing in the place of other values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, LiveState, Put, Snapshot, Splice
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Key
from tt_debugger.formats.shared.context import Spine

KEPT_EVERY = 1024
"""Steps after which an outline is kept whole, so that no walk back is longer."""

Told = Callable[[Any], Any]
"""Gives what stands in an outline for a value that is no object and no list."""


def untold(_value: Any) -> None:
    """Nothing is kept of a value."""


def hashed(value: Any) -> int:
    """Keep of a value what tells it from others."""
    return hash((value.__class__, value))


def outlined(value: Any, told: Told) -> Any:
    """Give the outline of a value; it is deep enough for no recursion."""
    top: list[Any] = [None]
    waiting: list[tuple[Any, Any, Any]] = [(value, top, 0)]
    while waiting:
        each, above, place = waiting.pop()
        if isinstance(each, dict):
            fields = as_map(each)
            above[place] = own = dict[str, Any].fromkeys(fields)
            waiting += [(inner, own, key) for key, inner in fields.items()]
        elif isinstance(each, list):
            items = as_list(each)
            above[place] = own = [None] * len(items)
            waiting += [(inner, own, index) for index, inner in enumerate(items)]
        else:
            above[place] = told(each)
    return top[0]


class Outline(msgspec.Struct, frozen=True):
    """The outline of a state: one that was kept whole, and the outlined changes since."""

    whole: Any
    since: Spine | None = None


class Outlines:
    """Goes from outline to outline, at the cost of the change where one follows the other."""

    def __init__(self, told: Told = untold) -> None:
        self.told = told
        self._tip: tuple[Outline, LiveState] | None = None

    def live(self, outline: Outline) -> LiveState:
        """Give the outline to be changed; whoever has done so puts it back."""
        # Taken out at once: another thread that asks for it makes one of its own.
        tip, self._tip = self._tip, None
        if tip is not None and tip[0] is outline:
            return tip[1]
        live = LiveState(outline.whole)
        for changes in Spine.items(outline.since):
            live.apply(changes)
        return live

    def after(
        self, outline: Outline, live: LiveState, changes: tuple[Change, ...], *, is_anew: bool
    ) -> Outline:
        """Give the outline after changes that were made to the live one, and keep that at hand."""
        if is_anew or (outline.since is not None and outline.since.length >= KEPT_EVERY):
            outline, live = Outline(live.value), LiveState(live.value)
        elif changes:
            outline = Outline(outline.whole, Spine.added(outline.since, changes))
        self._tip = outline, live
        return outline

    def change(self, change: Change) -> Change:
        """Give a change as it is made to an outline."""
        match change:
            case Put(path=path, value=value):
                return Put(path, outlined(value, self.told))
            case Append(path=path, value=value):
                return Append(path, outlined(value, self.told))
            case Splice(path=path, index=index, count=count, values=values):
                return Splice(path, index, count, tuple(outlined(v, self.told) for v in values))
            case Snapshot(value=value):
                return Snapshot(outlined(value, self.told))
            case Drop():
                return change


def fits(outline: Any, change: Change) -> bool:
    """Tell whether a change can be made to a state with an outline; a state is an object."""
    match change:
        case Snapshot(value=value):
            return isinstance(value, dict)
        case Put(path=(*above, str())) if isinstance(_at(outline, above), dict):
            return True
        case Put(path=(*above, key)) | Drop(path=(*above, key)):
            return _has(_at(outline, above), key)
        case Append(path=path):
            return isinstance(_at(outline, path), list)
        case Splice(path=path, index=index, count=count):
            size = _size(_at(outline, path))
            return size is not None and min(index, count) >= 0 and index + count <= size
        case _:
            return False


def _at(outline: Any, path: Sequence[Key]) -> Any:
    """Give what stands at a path, UNSET where nothing does."""
    here = outline
    for key in path:
        if not _has(here, key):
            return msgspec.UNSET
        here = here[key]
    return here


def _has(holder: Any, key: Key) -> bool:
    """Tell whether there is a key in an object, or an index in a list."""
    if isinstance(holder, dict):
        return isinstance(key, str) and key in holder
    size = _size(holder)
    return size is not None and isinstance(key, int) and 0 <= key < size


def _size(holder: Any) -> int | None:
    return len(cast("list[Any]", holder)) if isinstance(holder, list) else None
