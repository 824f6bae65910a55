"""The difference of two states: what differs, at which place, and how much was masked.

What is one object on both sides, or equal, is passed over, and lists are aligned before their
items are looked into. So the cost grows with what differs, not with the states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from operator import itemgetter
from typing import Any, cast

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.diff.align import Alignment, Pair, aligned
from tt_debugger.core.diff.edits import Difference, InList, InObject, Replaced
from tt_debugger.core.diff.items import (
    LEVELS,
    LIKENESS,
    STRICT_LEVELS,
    are_one_kind,
    results_of_pairs,
)
from tt_debugger.core.diff.masks import DEEPEST, UNMASKED, mask_of

LONGEST_RUN = 24
"""Pairs that are compared at once."""


class Diff(msgspec.Struct, frozen=True):
    """What differs between two values, None where nothing does.

    `masked` counts by the name of the mask what differs and is not told.
    """

    difference: Difference | None
    masked: Mapping[str, int]

    @property
    def equal(self) -> bool:
        """Whether nothing differs but what is masked."""
        return self.difference is None


def diff(old: State, new: State, *, mask: bool = True) -> Diff:
    """Give the difference of two states; without masks, the old one and it give the new one."""
    differing = _Differing(mask=mask)
    return Diff(differing.of(old, new, DEEPEST), dict(differing.masked))


class _Differing:
    """One comparison, with what it has masked so far."""

    def __init__(self, *, mask: bool) -> None:
        self.masked: Counter[str] = Counter()
        self._masks = mask
        self._levels = LEVELS if mask else STRICT_LEVELS

    def of(self, old: Any, new: Any, levels: int) -> Difference | None:
        """Give the difference of two values; so many levels down they are compared as a whole."""
        if is_same(old, new):
            return None
        if type(old) is not type(new) or not isinstance(old, (dict, list)) or not levels:
            return Replaced(old, new)
        if isinstance(old, dict):
            return self._of_objects(cast("dict[str, Any]", old), new, levels)
        return self._of_lists(cast("list[Any]", old), new, levels)

    def _of_objects(
        self, old: dict[str, Any], new: dict[str, Any], levels: int
    ) -> Difference | None:
        removed: dict[str, Any] = {}
        inside: dict[str, Difference] = {}
        for key, value in old.items():
            after = new.get(key, msgspec.UNSET)
            if value is after or self._is_masked(key, value, after):
                continue
            if after is msgspec.UNSET:
                removed[key] = value
                continue
            masks, self._masks = self._masks, self._masks and key not in UNMASKED
            below = self.of(value, after, levels - 1)
            self._masks = masks
            if below is not None:
                inside[key] = below
        added = {
            key: value
            for key, value in new.items()
            if key not in old and not self._is_masked(key, msgspec.UNSET, value)
        }
        return InObject(removed, added, inside) if removed or added or inside else None

    def _is_masked(self, key: str, old: Any, new: Any) -> bool:
        mask = mask_of(key, old, new) if self._masks else None
        if mask is None:
            return False
        if not is_same(old, new):
            self.masked[mask.name] += 1
        return True

    def _of_lists(self, old: list[Any], new: list[Any], levels: int) -> Difference | None:
        if len(old) == len(new) == 1 and are_one_kind(old[0], new[0]):
            below = self.of(old[0], new[0], levels - 1)
            return None if below is None else InList((), (), (), ((0, 0, below),))
        alignment = aligned(old, new, self._levels, LIKENESS)
        followers = results_of_pairs(alignment, old, new)
        if followers:
            alignment = alignment.joined(followers)
        inside: list[tuple[int, int, Difference]] = []
        for one, other in _unequal(alignment, old, new):
            below = self.of(old[one], new[other], levels - 1)
            if below is not None:
                inside.append((one, other, below))
        removed = tuple((place, old[place]) for place in alignment.removed)
        added = tuple((place, new[place]) for place in alignment.added)
        if not (removed or added or alignment.moved or inside):
            return None
        inside.sort(key=itemgetter(1))
        return InList(removed, added, alignment.moved, tuple(inside))


def _unequal(alignment: Alignment, old: list[Any], new: list[Any]) -> Iterator[Pair]:
    """Give the pairs that may differ. Runs of others are told apart as a whole, by their JSON."""
    for begin, new_begin, count in _runs(alignment):
        if not _have_one_json(old[begin : begin + count], new[new_begin : new_begin + count]):
            for step in range(count):
                one, other = begin + step, new_begin + step
                if not _have_one_json(old[one], new[other]):
                    yield one, other
    yield from (pair for pair in alignment.moved if pair not in alignment.equal)


def _runs(alignment: Alignment) -> Iterator[tuple[int, int, int]]:
    """Give pairs that may differ in runs that go on by one on both sides: begins and length."""
    begin = new_begin = count = 0
    equal = alignment.equal
    for pair in alignment.kept:
        one, other = pair
        if one - begin == other - new_begin == count < LONGEST_RUN and pair not in equal:
            count += 1
            continue
        if count:
            yield begin, new_begin, count
        begin, new_begin, count = one, other, int(pair not in equal)
    if count:
        yield begin, new_begin, count


def _have_one_json(one: Any, other: Any) -> bool:
    """Tell whether two values are surely the same; those that are no JSON may be."""
    try:
        return _encode(one) == _encode(other)
    except (TypeError, ValueError, OverflowError, RecursionError):
        return False


_encode = msgspec.json.Encoder().encode
