"""The difference of two states: what differs, at which place, and how much was masked.

What is one object on both sides, or equal, is passed over, and lists are aligned before their
items are looked into. So the cost grows with what differs, not with the states.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from operator import itemgetter
from typing import Any, cast

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.diff.align import Level, Likeness, aligned
from tt_debugger.core.diff.edits import Difference, InList, InObject, Replaced
from tt_debugger.core.diff.likeness import common_words
from tt_debugger.core.diff.masks import DEEPEST, UNMASKED, bare, mask_of
from tt_debugger.core.diff.meaning import aspects
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import calls_in, results_in


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
        self._levels = _LEVELS if mask else _LEVELS[:2]

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
        alignment = aligned(old, new, self._levels, _LIKENESS)
        pairs = sorted((*alignment.kept, *alignment.moved), key=itemgetter(1))
        here, there = {one for one, _ in pairs}, {other for _, other in pairs}
        inside: list[tuple[int, int, Difference]] = []
        for pair in pairs:
            if pair in alignment.equal:
                continue
            one, other = pair
            below = self.of(old[one], new[other], levels - 1)
            if below is not None:
                inside.append((one, other, below))
        removed = tuple((place, each) for place, each in enumerate(old) if place not in here)
        added = tuple((place, each) for place, each in enumerate(new) if place not in there)
        if not (removed or added or alignment.moved or inside):
            return None
        return InList(removed, added, alignment.moved, tuple(inside))


_encode = msgspec.json.Encoder(order="deterministic").encode
_OWN_IDS = ("id", "uuid")
_ID_KEYS = (*_OWN_IDS, "toolCallId", "tool_call_id", "tool_use_id", "call_id")
_BRIEF = 12_000
"""Characters of an item that its likeness is told from."""


def _ids(items: Sequence[Any]) -> list[Hashable]:
    """Give what each item is called: its first id, with its type where several share one."""
    records = list(map(as_map, items))
    used = set[str]().union(*records)
    found: list[Hashable] = [None] * len(items)
    for key in filter(used.__contains__, _ID_KEYS):
        for place, record in enumerate(records):
            value = record.get(key)
            if value and found[place] is None and isinstance(value, (str, int)):
                own = key in _OWN_IDS
                found[place] = value if own else (key, value, _word(record.get("type")))
    return found


def _word(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _texts(items: Sequence[Any]) -> list[Hashable]:
    """Give each item as JSON."""
    return [_text(each) for each in items]


def _bare_texts(items: Sequence[Any]) -> list[Hashable]:
    """Give each item as JSON without what is masked; one that is nothing else has no key."""
    return [_text(kept) if (kept := bare(each)) or not each else None for each in items]


def _text(value: Any) -> bytes | None:
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # A number beyond 64 bit, a lone surrogate: matched by likeness, if at all.
        return None


def _kind(item: Any) -> Hashable:
    """Give what two items must have in common to stand for each other."""
    if not isinstance(item, dict):
        return isinstance(item, list)
    record = cast("dict[str, Any]", item)
    return tuple(_word(record.get(key)) for key in ("role", "type", "toolName", "name", "tool"))


def _score(one: Any, other: Any) -> float:
    """Tell how alike two items of a kind are.

    Scalars of one type in one place are alike enough; two messages that call the same tools, or
    answer them, are, whatever they say.
    """
    if not isinstance(one, (dict, list)):
        are_texts = isinstance(one, str) and isinstance(other, str)
        return _LEAST + common_words(one, other) if are_texts else _LEAST
    words = common_words(_brief(one), _brief(other))
    return min(words + _LEAST, 1.0) if _tools(one) and _tools(one) == _tools(other) else words


def _brief(item: Any) -> str:
    if isinstance(as_map(item).get("role"), str):
        return "\n".join(each.text for each in aspects(item))[:_BRIEF]
    return (_text(bare(item)) or b"").decode()[:_BRIEF]


def _tools(item: Any) -> tuple[str, ...]:
    if isinstance(as_map(item).get("role"), str):
        return (
            *(each.name for each in calls_in(item)),
            *(each.name or "?" for each in results_in(item)),
        )
    return ()


_LEAST = 0.35
_LIKENESS = Likeness(_kind, _score, _LEAST)
_LEVELS = (Level(_ids), Level(_texts, tells_all=True), Level(_bare_texts))
