"""The difference of two values, as a tree, and the same as flat edits.

A place is told on both sides: an index in a list counts in the old list for what was removed or
moved away, in the new list for what was added or moved to. So nothing depends on the order in
which edits are read, and the difference the other way round is the same one with its sides
exchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from tt_debugger.core.diff.texts import hunk_json, hunks, text_rows
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import ROOT, Path, pointer

LONG = 60
"""Characters from which a text is told by its hunks too."""


class Replaced(msgspec.Struct, frozen=True):
    """One value in the place of another."""

    old: Any
    new: Any


class InObject(msgspec.Struct, frozen=True):
    """What differs in an object, by key."""

    removed: Mapping[str, Any]
    added: Mapping[str, Any]
    inside: Mapping[str, Difference]


class InList(msgspec.Struct, frozen=True):
    """What differs in a list, by index.

    `moved` and `inside` name items by their old and their new index; an item may be in both.
    """

    removed: tuple[tuple[int, Any], ...]
    added: tuple[tuple[int, Any], ...]
    moved: tuple[tuple[int, int], ...]
    inside: tuple[tuple[int, int, Difference], ...]


Difference = Replaced | InObject | InList


class Op(StrEnum):
    """What an edit does."""

    ADD = "add"
    REMOVE = "remove"
    CHANGE = "change"
    MOVE = "move"


class Edit(msgspec.Struct, frozen=True):
    """One thing that differs.

    `path` is its place in the new state, in the old one for what was removed; `origin` is its
    place in the old state, None for what was added. A moved item has its value on both sides;
    what changed inside it are edits of their own.
    """

    op: Op
    path: Path
    origin: Path | None
    old: Any = None
    new: Any = None


def edits(difference: Difference | None, old: Any) -> Iterator[Edit]:
    """Give the edits of a difference in the order of the new state, removals at their old place.

    `old` is the value on the old side, in which moved items are looked up.
    """
    if difference is not None:
        yield from _edits(difference, old, ROOT, ROOT)


def apply(difference: Difference | None, old: Any) -> Any:
    """Give the new value: the old one with its difference applied.

    Nothing is mutated; what does not differ is shared. Raises KeyError or IndexError where the
    difference is not one of this value.
    """
    match difference:
        case None:
            return old
        case Replaced(new=new):
            return new
        case InObject(removed=removed, added=added, inside=inside):
            members = {key: each for key, each in as_map(old).items() if key not in removed}
            for key, below in inside.items():
                members[key] = apply(below, members[key])
            return members | dict(added)
        case InList():
            return _applied_to_list(difference, as_list(old))


def inverted(difference: Difference | None) -> Difference | None:
    """Give the difference the other way round."""
    match difference:
        case None:
            return None
        case Replaced(old=old, new=new):
            return Replaced(new, old)
        case InObject(removed=removed, added=added, inside=inside):
            return InObject(added, removed, {key: _inverted(each) for key, each in inside.items()})
        case InList(removed=removed, added=added, moved=moved, inside=inside):
            return InList(
                added,
                removed,
                tuple(sorted((new, old) for old, new in moved)),
                tuple(sorted((new, old, _inverted(each)) for old, new, each in inside)),
            )


def edit_json(edit: Edit) -> dict[str, Any]:
    """Give an edit in the form of CONTRACT: `{"op","path","from","old","new","text"}`."""
    return {
        "op": str(edit.op),
        "path": pointer(edit.path),
        "from": None if edit.origin is None else pointer(edit.origin),
        "old": edit.old,
        "new": edit.new,
        "text": _text_json(edit.old, edit.new),
    }


def _text_json(old: Any, new: Any) -> list[dict[str, Any]]:
    """Give the hunks of two texts of which one is long or has several lines."""
    if not (isinstance(old, str) and isinstance(new, str)) or old == new:
        return []
    if max(len(old), len(new)) < LONG and "\n" not in old + new:
        return []
    return [hunk_json(each) for each in hunks(text_rows(old, new))]


def _inverted(difference: Difference) -> Difference:
    turned = inverted(difference)
    assert turned is not None  # noqa: S101 - only None has no other side
    return turned


def _edits(difference: Difference, old: Any, origin: Path, path: Path) -> Iterator[Edit]:
    match difference:
        case Replaced(old=before, new=after):
            yield Edit(Op.CHANGE, path, origin, before, after)
        case InObject(removed=removed, added=added, inside=inside):
            for key, value in removed.items():
                place = (*origin, key)
                yield Edit(Op.REMOVE, place, place, old=value)
            for key, below in inside.items():
                yield from _edits(below, as_map(old)[key], (*origin, key), (*path, key))
            for key, value in added.items():
                yield Edit(Op.ADD, (*path, key), None, new=value)
        case InList():
            yield from _edits_of_list(difference, as_list(old), origin, path)


def _edits_of_list(difference: InList, old: list[Any], origin: Path, path: Path) -> Iterator[Edit]:
    for index, value in difference.removed:
        place = (*origin, index)
        yield Edit(Op.REMOVE, place, place, old=value)
    places: list[tuple[int, int, Any]] = []
    places += [(new, 0, value) for new, value in difference.added]
    places += [(new, 1, before) for before, new in difference.moved]
    places += [(new, 2, (before, below)) for before, new, below in difference.inside]
    for new, kind, what in sorted(places, key=lambda place: place[:2]):
        if kind == 0:
            yield Edit(Op.ADD, (*path, new), None, new=what)
        elif kind == 1:
            value = old[what]
            yield Edit(Op.MOVE, (*path, new), (*origin, what), value, value)
        else:
            before, below = what
            yield from _edits(below, old[before], (*origin, before), (*path, new))


def _applied_to_list(difference: InList, old: list[Any]) -> list[Any]:
    gone = {index for index, _ in difference.removed}
    gone.update(before for before, _ in difference.moved)
    inside = {before: below for before, _, below in difference.inside}
    placed = dict(difference.added)
    for before, new in difference.moved:
        placed[new] = apply(inside.pop(before, None), old[before])
    items = [
        apply(inside[index], each) if index in inside else each
        for index, each in enumerate(old)
        if index not in gone
    ]
    if not placed:
        return items
    staying = iter(items)
    size = len(items) + len(placed)
    return [placed[place] if place in placed else next(staying) for place in range(size)]
