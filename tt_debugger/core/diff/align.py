"""Alignment: which items of two lists are the same, or stand for each other.

Items are matched by keys, the surest first; what has no equal is matched by likeness between two
that have. Matches that cross others are moves. All is near to linear but for small gaps: equal
ends are cut off, items that are unique on both sides are anchors (patience), and only what lies
between two anchors is handed to a longest common subsequence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence
from itertools import islice
from operator import lt
from typing import Any

import msgspec

Pair = tuple[int, int]
"""The places of two items that belong together, in the old and in the new list."""

Keys = Callable[[Sequence[Any]], Sequence[Hashable]]
"""Gives each item a key, None for one that has none."""


class Level(msgspec.Struct, frozen=True):
    """A way to know items again; `tells_all` where items of one key are equal, not only akin."""

    keys: Keys
    tells_all: bool = False


LARGEST_MATRIX = 1 << 28
"""Bits that a longest common subsequence may take: 32 MiB."""
MOST_COMPARED = 4096
"""Pairs of one gap of which each is compared with each."""


class Likeness(msgspec.Struct, frozen=True):
    """How alike two items are: the `score` is asked only where their `kind` is equal.

    Items below `least` do not belong together.
    """

    kind: Callable[[Any], Hashable]
    score: Callable[[Any, Any], float]
    least: float


class Alignment(msgspec.Struct, frozen=True):
    """Pairs of places, ascending: those in one order on both sides, and those that moved.

    `equal` are those of them that were found to be equal; of the others nothing is known.
    """

    kept: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    equal: frozenset[Pair]

    def joined(self, more: Sequence[Pair]) -> Alignment:
        """Give the alignment with more pairs."""
        kept, moved = _split_by_order(sorted((*self.kept, *self.moved, *more)))
        return Alignment(tuple(kept), tuple(moved), self.equal)


def aligned(
    old: Sequence[Any], new: Sequence[Any], levels: Sequence[Level], likeness: Likeness
) -> Alignment:
    """Give which items of two lists belong together: by keys, level by level, then by likeness."""
    pairs = _same_objects_at_ends(old, new)
    equal = set(pairs)
    for level in levels:
        if len(pairs) == min(len(old), len(new)):
            break
        found = _matched_by_keys(old, new, pairs, level.keys)
        pairs += found
        if level.tells_all:
            equal.update(found)
    kept, moved = _split_by_order(sorted(pairs))
    taken_old, taken_new = _places_of(moved)
    by_likeness: list[Pair] = []
    for rows, columns in _gaps(kept, len(old), len(new)):
        olds = [place for place in rows if place not in taken_old]
        news = [place for place in columns if place not in taken_new]
        if olds and news:
            found = matched_by_likeness(
                [old[each] for each in olds], [new[each] for each in news], likeness
            )
            by_likeness += [(olds[one], news[other]) for one, other in found]
    if by_likeness:
        kept = sorted([*kept, *by_likeness])
    return Alignment(tuple(kept), tuple(moved), frozenset(equal))


def matched_in_order(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Give pairs of equal items in one order on both sides; None equals nothing."""
    pairs: list[Pair] = []
    waiting = [(0, len(old), 0, len(new))]
    while waiting:
        begin, end, new_begin, new_end = waiting.pop()
        while begin < end and new_begin < new_end and _match(old[begin], new[new_begin]):
            pairs.append((begin, new_begin))
            begin, new_begin = begin + 1, new_begin + 1
        while begin < end and new_begin < new_end and _match(old[end - 1], new[new_end - 1]):
            end, new_end = end - 1, new_end - 1
            pairs.append((end, new_end))
        if begin == end or new_begin == new_end:
            continue
        unique = _unique_in_both(old[begin:end], new[new_begin:new_end])
        anchors = _increasing([(begin + one, new_begin + other) for one, other in unique])
        pairs += anchors
        if not anchors:
            pairs += _longest_common(old, new, (begin, end), (new_begin, new_end))
            continue
        for rows, columns in _gaps(anchors, end, new_end, begin, new_begin):
            if rows and columns:
                waiting.append((rows.start, rows.stop, columns.start, columns.stop))
    pairs.sort()
    return pairs


def matched_by_likeness(old: Sequence[Any], new: Sequence[Any], likeness: Likeness) -> list[Pair]:
    """Give pairs of items of one kind that are alike, in order, so that the sum is greatest."""
    old_kinds, new_kinds = list(map(likeness.kind, old)), list(map(likeness.kind, new))
    if len(old) * len(new) > MOST_COMPARED:
        return [
            (one, other)
            for one, other in matched_in_order(old_kinds, new_kinds)
            if likeness.score(old[one], new[other]) >= likeness.least
        ]
    scores = [
        [
            score
            if old_kind == new_kind and (score := likeness.score(one, other)) >= likeness.least
            else 0.0
            for other, new_kind in zip(new, new_kinds, strict=True)
        ]
        for one, old_kind in zip(old, old_kinds, strict=True)
    ]
    return _heaviest(scores)


def _match(one: Hashable, other: Hashable) -> bool:
    return one is not None and one == other


def _same_objects_at_ends(old: Sequence[Any], new: Sequence[Any]) -> list[Pair]:
    """Give the pairs of one object on both sides: states of one session share what is equal."""
    shorter = min(len(old), len(new))
    begin = 0
    while begin < shorter and old[begin] is new[begin]:
        begin += 1
    end = 0
    while end < shorter - begin and old[-1 - end] is new[-1 - end]:
        end += 1
    pairs = [(place, place) for place in range(begin)]
    pairs += [(len(old) - place, len(new) - place) for place in range(end, 0, -1)]
    return pairs


def _matched_by_keys(
    old: Sequence[Any], new: Sequence[Any], pairs: Sequence[Pair], keys: Keys
) -> list[Pair]:
    """Give more pairs: of equal keys in order between those that are known, else moved."""
    taken_old, taken_new = _places_of(pairs)
    old_keys, new_keys = _keys_of_free(old, taken_old, keys), _keys_of_free(new, taken_new, keys)
    found: list[Pair] = []
    for rows, columns in _gaps(_split_by_order(sorted(pairs))[0], len(old), len(new)):
        in_order = matched_in_order(
            old_keys[rows.start : rows.stop], new_keys[columns.start : columns.stop]
        )
        found += [(rows.start + one, columns.start + other) for one, other in in_order]
    for one, other in found:
        old_keys[one] = new_keys[other] = None
    return found + _unique_in_both(old_keys, new_keys)


def _keys_of_free(items: Sequence[Any], taken: set[int], keys: Keys) -> list[Hashable]:
    """Give the key of each item, None for those that have a partner already."""
    if not taken:
        return list(keys(items))
    free = [place for place in range(len(items)) if place not in taken]
    found: list[Hashable] = [None] * len(items)
    for place, key in zip(free, keys([items[each] for each in free]), strict=True):
        found[place] = key
    return found


def _places_of(pairs: Sequence[Pair]) -> tuple[set[int], set[int]]:
    return {one for one, _ in pairs}, {other for _, other in pairs}


def _unique_in_both(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Give the pairs of items that stand at one place only on either side."""
    counts, new_counts = Counter(old), Counter(new)
    once = {key for key, count in counts.items() if count == 1 and new_counts[key] == 1} - {None}
    if not once:
        return []
    places = {key: place for place, key in enumerate(new) if key in once}
    return [(place, places[key]) for place, key in enumerate(old) if key in once]


def _gaps(
    pairs: Sequence[Pair], old_end: int, new_end: int, old_begin: int = 0, new_begin: int = 0
) -> Iterator[tuple[range, range]]:
    """Give the places before, between and behind pairs that ascend on both sides."""
    for old, new in (*pairs, (old_end, new_end)):
        if old > old_begin or new > new_begin:
            yield range(old_begin, old), range(new_begin, new)
        old_begin, new_begin = old + 1, new + 1


def _split_by_order(pairs: list[Pair]) -> tuple[list[Pair], list[Pair]]:
    """Give of pairs that ascend in the old list those that ascend in both, and the others."""
    kept = _increasing(pairs)
    if len(kept) == len(pairs):
        return kept, []
    in_order = set(kept)
    return kept, [each for each in pairs if each not in in_order]


def _increasing(pairs: list[Pair]) -> list[Pair]:
    """Give the longest run of pairs, ascending in the old list, that ascend in the new one too."""
    news = [new for _, new in pairs]
    if all(map(lt, news, islice(news, 1, None))):
        return pairs
    ends: list[int] = []
    """The lowest new place at which a run of each length can end, and the pair there."""
    last: list[int] = []
    before: list[int] = []
    for number, new in enumerate(news):
        length = bisect_left(ends, new)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(new)
            last.append(number)
        else:
            ends[length] = new
            last[length] = number
    run: list[Pair] = []
    number = last[-1]
    while number >= 0:
        run.append(pairs[number])
        number = before[number]
    return run[::-1]


def _longest_common(
    old: Sequence[Hashable], new: Sequence[Hashable], rows: Pair, columns: Pair
) -> list[Pair]:
    """Give the pairs of a longest common subsequence; none where that would take too much."""
    common = {old[place] for place in range(*rows)} & {new[place] for place in range(*columns)}
    common.discard(None)
    here = [place for place in range(*rows) if old[place] in common]
    there = [place for place in range(*columns) if new[place] in common]
    if not common or len(here) * len(there) > LARGEST_MATRIX:
        return []
    from rapidfuzz.distance import LCSseq

    # Numbers, since rapidfuzz takes items for equal whose hashes are.
    numbers = {key: number for number, key in enumerate(common, 1)}
    codes = LCSseq.opcodes(
        [numbers[old[place]] for place in here], [numbers[new[place]] for place in there]
    )
    return [
        (here[code.src_start + each], there[code.dest_start + each])
        for code in codes
        if code.tag == "equal"
        for each in range(code.src_end - code.src_start)
    ]


def _heaviest(scores: list[list[float]]) -> list[Pair]:
    """Give the pairs of rows and columns, ascending on both sides, whose scores sum up highest."""
    width = len(scores[0])
    best = [[0.0] * (width + 1)]
    for row in scores:
        above, line = best[-1], [0.0]
        for place, score in enumerate(row):
            line.append(max(above[place + 1], line[place], above[place] + score if score else 0.0))
        best.append(line)
    pairs: list[Pair] = []
    one, other = len(scores), width
    while one and other:
        if best[one][other] == best[one - 1][other]:
            one -= 1
        elif best[one][other] == best[one][other - 1]:
            other -= 1
        else:
            one, other = one - 1, other - 1
            pairs.append((one, other))
    return pairs[::-1]
