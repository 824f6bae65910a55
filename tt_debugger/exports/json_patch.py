"""RFC 6902 JSON Patch: operations that, applied in order, make the old state into the new one."""

from __future__ import annotations

from collections.abc import Container, Iterator
from typing import Any

from tt_debugger.core.diff.comparing import compare
from tt_debugger.core.diff.edits import Difference, InList, InObject, Replaced, apply
from tt_debugger.core.paths import ROOT, Path, pointer
from tt_debugger.exports.gate import Passed
from tt_debugger.exports.json_forms import json_text
from tt_debugger.exports.subjects import TwoStates

Operation = dict[str, Any]
MOST_EFFORT = 2_000_000
"""Moves times items of a list beyond which it is told anew: each move is looked up in it."""


def difference(passed: Passed[TwoStates]) -> str:
    """Give the patch of two states. Nothing is masked: applied to the old one it gives the new."""
    subject = passed.subject
    found = compare(subject.old, subject.new, mask=False).difference
    return json_text(list(operations(found, subject.old)))


def operations(difference: Difference | None, old: Any) -> Iterator[Operation]:
    """Give the operations that make the old value into the new one."""
    waiting: list[tuple[Difference | None, Path, Any]] = [(difference, ROOT, old)]
    while waiting:
        found, path, value = waiting.pop()
        match found:
            case None:
                pass
            case Replaced(new=new):
                yield {"op": "replace", "path": pointer(path), "value": new}
            case InObject(removed=removed, added=added, inside=inside):
                for key in removed:
                    yield {"op": "remove", "path": pointer((*path, key))}
                for key, new in added.items():
                    yield {"op": "add", "path": pointer((*path, key)), "value": new}
                waiting += [(below, (*path, key), value[key]) for key, below in inside.items()]
            case InList(moved=moved) if len(moved) * len(value) > MOST_EFFORT:
                yield {"op": "replace", "path": pointer(path), "value": apply(found, value)}
            case InList(inside=inside):
                yield from _in_list(found, path, len(value))
                # The list has its new order now.
                waiting += [(below, (*path, new), value[before]) for before, new, below in inside]


def _in_list(found: InList, path: Path, size: int) -> Iterator[Operation]:
    """Give removals from behind, then moves, then additions, the last two in the new order.

    A moved item goes right behind the one that is before it in the new list, of those that are
    there: so each is at its place as soon as all that move or come have theirs.
    """
    gone = sorted((index for index, _ in found.removed), reverse=True)
    for index in gone:
        yield {"op": "remove", "path": pointer((*path, index))}
    added = dict(found.added)
    moved = {new: before for before, new in found.moved}
    if moved:
        yield from _moves(moved, added, set(gone), path, size)
    for place, value in sorted(added.items()):
        yield {"op": "add", "path": pointer((*path, place)), "value": value}


def _moves(
    moved: dict[int, int], added: Container[int], gone: set[int], path: Path, size: int
) -> Iterator[Operation]:
    """Give the moves; what stands in the list is followed by its old places."""
    standing = [index for index in range(size) if index not in gone]
    away = set(moved.values())
    staying = iter([index for index in standing if index not in away])
    before: int | None = None
    left, place = len(moved), 0
    while left:
        if place not in added:
            index = moved.get(place)
            if index is None:
                index = next(staying)
            else:
                left -= 1
                origin = standing.index(index)
                del standing[origin]
                target = 0 if before is None else standing.index(before) + 1
                standing.insert(target, index)
                if origin != target:
                    yield {
                        "op": "move",
                        "from": pointer((*path, origin)),
                        "path": pointer((*path, target)),
                    }
            before = index
        place += 1
