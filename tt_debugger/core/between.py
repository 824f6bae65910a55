"""The changes that lead from one state to another, where only the states were recorded.

They are the smallest that make sense: what is equal is left alone, an object is changed key by
key, a list that grew is appended to, and of a list that changed otherwise only the middle between
its equal ends is replaced. They are no diff to be read: nothing is matched by likeness.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.paths import ROOT, Path

_encode = msgspec.json.Encoder().encode


def changes_between(old: State, new: State) -> tuple[Change, ...]:
    """Give changes that, folded onto one state, make it the other; none where they are equal."""
    if not _are_alike(old, new):
        return () if is_same(old, new) else (Snapshot(new),)
    changes: list[Change] = []
    waiting: list[tuple[Path, Any, Any]] = [(ROOT, old, new)]
    while waiting:
        path, before, after = waiting.pop()
        if before is after:
            continue
        if isinstance(before, dict):
            waiting += _in_objects(path, cast("dict[str, Any]", before), after, changes)
        else:
            waiting += _in_lists(path, before, after, changes)
    return tuple(changes)


def keys_between(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[str, ...]:
    """Give the keys of two objects that have other values in one, or are in one of them alone."""
    unset = msgspec.UNSET
    return tuple(
        key
        for key in {**before, **after}
        if not is_same(before.get(key, unset), after.get(key, unset))
    )


def is_same(one: Any, other: Any) -> bool:
    """Tell whether two values are the same JSON: True, 1 and 1.0 are three values, not one."""
    if one is other:
        return True
    if type(one) is not type(other) or one != other:
        return False
    if isinstance(one, (str, int)):
        return True
    return _have_one_text(one, other) or _have_the_same_parts(one, other)


def _have_one_text(one: Any, other: Any) -> bool:
    """Tell whether equal values are written alike, which most that are the same are."""
    try:
        return _encode(one) == _encode(other)
    except (TypeError, ValueError, OverflowError):
        return False


def _have_the_same_parts(one: Any, other: Any) -> bool:
    """Tell whether all parts of equal values are of one type."""
    pairs: list[tuple[Any, Any]] = [(one, other)]
    while pairs:
        one, other = pairs.pop()
        # Zero has a sign.
        if type(one) is not type(other) or (isinstance(one, float) and str(one) != str(other)):
            return False
        if isinstance(one, dict):
            pairs += [(value, other[key]) for key, value in cast("dict[str, Any]", one).items()]
        elif isinstance(one, list):
            pairs += zip(cast("list[Any]", one), other, strict=True)
    return True


def _are_alike(one: Any, other: Any) -> bool:
    """Tell whether two values are both objects or both lists."""
    return type(one) is type(other) and isinstance(one, (dict, list))


def _in_objects(
    path: Path, before: dict[str, Any], after: dict[str, Any], changes: list[Change]
) -> list[tuple[Path, Any, Any]]:
    """Add the changes to the keys themselves; give the values to look into."""
    changes += [Drop((*path, key)) for key in before if key not in after]
    inside: list[tuple[Path, Any, Any]] = []
    for key, value in after.items():
        if key in before and _are_alike(before[key], value):
            inside.append(((*path, key), before[key], value))
        elif key not in before or not is_same(before[key], value):
            changes.append(Put((*path, key), value))
    return inside[::-1]


def _in_lists(
    path: Path, before: list[Any], after: list[Any], changes: list[Change]
) -> list[tuple[Path, Any, Any]]:
    """Add the changes to the items themselves; give the values to look into."""
    if len(before) == len(after):
        inside: list[tuple[Path, Any, Any]] = []
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            if _are_alike(old, new):
                inside.append(((*path, index), old, new))
            elif not is_same(old, new):
                changes.append(Put((*path, index), new))
        return inside[::-1]
    shorter = min(len(before), len(after))
    begin = _equal_at_begin(before, after, shorter)
    if begin == len(before):
        changes += [Append(path, value) for value in after[begin:]]
        return []
    end = _equal_at_begin(before[::-1], after[::-1], shorter - begin)
    values = tuple(after[begin : len(after) - end])
    changes.append(Splice(path, begin, len(before) - end - begin, values))
    return []


def _equal_at_begin(one: list[Any], other: list[Any], most: int) -> int:
    for index in range(most):
        if not is_same(one[index], other[index]):
            return index
    return most
