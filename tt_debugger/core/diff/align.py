"""Alignment: which items of two lists are the same, or stand for each other.

Items are matched by keys, the surest first; what has no equal is matched by likeness between two
that have. Matches that cross others are moves. All is near to linear but for small gaps: equal
ends are cut off, items that are unique on both sides are anchors (patience), and only what lies
between two anchors is handed to a longest common subsequence.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from itertools import chain, islice
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
LONG = 512
"""Items of a list from which on what is near is looked at first."""
NEAR = 8
"""Items on both sides that are stepped over to find equal ones."""
SURE = 4
"""Equal items in a row that are no chance."""
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

    `removed` and `added` are the places of what has no partner. `equal` are pairs that were found
    to be equal; of the others nothing is known.
    """

    kept: tuple[Pair, ...]
    moved: tuple[Pair, ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]
    equal: frozenset[Pair]

    def joined(self, more: Sequence[Pair]) -> Alignment:
        """Give the alignment with more pairs, of items that had no partner."""
        kept, moved = _split_by_order(sorted((*self.kept, *self.moved, *more)))
        olds, news = _places_of(more)
        return Alignment(
            tuple(kept),
            tuple(moved),
            tuple(place for place in self.removed if place not in olds),
            tuple(place for place in self.added if place not in news),
            self.equal,
        )


def aligned(
    old: Sequence[Any], new: Sequence[Any], levels: Sequence[Level], likeness: Likeness
) -> Alignment:
    """Give which items of two lists belong together: by keys, level by level, then by likeness."""
    aligning = _Aligning(old, new)
    for level in levels:
        aligning.match(level)
    aligning.match_by_likeness(likeness)
    return aligning.alignment()


_Gap = tuple[Sequence[int], Sequence[int]]
"""The places in both lists of what has no partner yet, between two that have."""


class _Aligning:
    """Two lists, of which fewer and fewer items have no partner."""

    def __init__(self, old: Sequence[Any], new: Sequence[Any]) -> None:
        self._old, self._new = old, new
        self._kept, gap = _same_objects_at_ends(old, new)
        self._equal = set(self._kept)
        self._moved: list[Pair] = []
        self._gaps: list[_Gap] = [gap]

    def match(self, level: Level) -> None:
        """Match items of equal keys: in order within the gaps, then wherever they stand."""
        if not self._are_both_waiting():
            return
        olds, news = self._waiting()
        old_keys = dict(zip(olds, level.keys([self._old[each] for each in olds]), strict=True))
        new_keys = dict(zip(news, level.keys([self._new[each] for each in news]), strict=True))
        found = self._match_in_gaps(
            lambda olds, news: matched_in_order(
                [old_keys[each] for each in olds], [new_keys[each] for each in news]
            )
        )
        found += self._match_across(old_keys, new_keys)
        if level.tells_all:
            self._equal.update(found)

    def match_by_likeness(self, likeness: Likeness) -> None:
        """Match items within the gaps by how alike they are."""
        self._match_in_gaps(
            lambda olds, news: matched_by_likeness(
                [self._old[each] for each in olds], [self._new[each] for each in news], likeness
            )
        )

    def alignment(self) -> Alignment:
        """Give what belongs together now."""
        removed, added = self._waiting()
        return Alignment(
            tuple(sorted(self._kept)),
            tuple(sorted(self._moved)),
            tuple(removed),
            tuple(added),
            frozenset(self._equal),
        )

    def _are_both_waiting(self) -> bool:
        return any(olds for olds, _ in self._gaps) and any(news for _, news in self._gaps)

    def _waiting(self) -> tuple[list[int], list[int]]:
        return (
            list(chain.from_iterable(olds for olds, _ in self._gaps)),
            list(chain.from_iterable(news for _, news in self._gaps)),
        )

    def _match_in_gaps(
        self, matched: Callable[[Sequence[int], Sequence[int]], list[Pair]]
    ) -> list[Pair]:
        """Match items of each gap, which falls into smaller ones; give the new pairs."""
        found: list[Pair] = []
        gaps: list[_Gap] = []
        for olds, news in self._gaps:
            if not olds or not news:
                gaps.append((olds, news))
                continue
            pairs = matched(olds, news)
            found += [(olds[one], news[other]) for one, other in pairs]
            gaps += (
                (olds[rows.start : rows.stop], news[columns.start : columns.stop])
                for rows, columns in _between(pairs, len(olds), len(news))
            )
        self._gaps = gaps
        self._kept += found
        return found

    def _match_across(
        self, old_keys: Mapping[int, Hashable], new_keys: Mapping[int, Hashable]
    ) -> list[Pair]:
        """Match what is unique on both sides though other pairs stand between: it has moved."""
        if not self._are_both_waiting():
            return []
        olds, news = self._waiting()
        unique = unique_in_both(
            [old_keys[each] for each in olds], [new_keys[each] for each in news]
        )
        found = [(olds[one], news[other]) for one, other in unique]
        taken_old, taken_new = _places_of(found)
        if found:
            self._gaps = [
                (
                    [each for each in olds if each not in taken_old],
                    [each for each in news if each not in taken_new],
                )
                for olds, news in self._gaps
            ]
        self._moved += found
        return found


def matched_in_order(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Give pairs of equal items in one order on both sides; None equals nothing."""
    pairs, begins = _matched_nearby(old, new) if len(old) > LONG else ([], (0, 0))
    waiting = [(begins[0], len(old), begins[1], len(new))]
    while waiting:
        begin, end, new_begin, new_end = waiting.pop()
        equal = _equal_from(old, new, begin, new_begin, min(end - begin, new_end - new_begin))
        pairs += equal
        begin, new_begin = begin + len(equal), new_begin + len(equal)
        while begin < end and new_begin < new_end:
            key = old[end - 1]
            if key is None or key != new[new_end - 1]:
                break
            end, new_end = end - 1, new_end - 1
            pairs.append((end, new_end))
        if begin == end or new_begin == new_end:
            continue
        unique = unique_in_both(old[begin:end], new[new_begin:new_end])
        anchors = _increasing([(begin + one, new_begin + other) for one, other in unique])
        if 2 * len(anchors) < _most_common(old[begin:end], new[new_begin:new_end]):
            # What is unique says little where most is said again and again.
            longest = _longest_common(old, new, (begin, end), (new_begin, new_end))
            if longest or not anchors:
                pairs += longest
                continue
        if not anchors:
            continue
        pairs += anchors
        for rows, columns in _between(anchors, end, new_end, begin, new_begin):
            if rows and columns:
                waiting.append((rows.start, rows.stop, columns.start, columns.stop))
    pairs.sort()
    return pairs


def _matched_nearby(old: Sequence[Hashable], new: Sequence[Hashable]) -> tuple[list[Pair], Pair]:
    """Give pairs from the beginning on as far as little differs at once, and where that ends.

    Of long lists most is equal; to count what is unique in all of it takes several times as long.
    """
    pairs: list[Pair] = []
    begin = new_begin = 0
    end, new_end = len(old), len(new)
    while True:
        equal = _equal_from(old, new, begin, new_begin, min(end - begin, new_end - new_begin))
        pairs += equal
        begin, new_begin = begin + len(equal), new_begin + len(equal)
        place = _next_equal(old, new, begin, new_begin)
        if place is None:
            return pairs, (begin, new_begin)
        begin, new_begin = place


def _equal_from(
    old: Sequence[Hashable], new: Sequence[Hashable], begin: int, new_begin: int, most: int
) -> list[Pair]:
    """Give the pairs of equal items from two places on, as far as there are any."""
    pairs: list[Pair] = []
    for step in range(most):
        key = old[begin + step]
        if key is None or key != new[new_begin + step]:
            break
        pairs.append((begin + step, new_begin + step))
    return pairs


def _next_equal(
    old: Sequence[Hashable], new: Sequence[Hashable], begin: int, new_begin: int
) -> Pair | None:
    """Give the nearest places from which on several items are equal, None where none are near."""
    for steps in range(1, NEAR + 1):
        for one in range(begin, begin + steps + 1):
            other = new_begin + steps - (one - begin)
            ahead = old[one : one + SURE]
            if ahead == new[other : other + SURE] and len(ahead) == SURE and None not in ahead:
                return one, other
    return None


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


def unique_in_both(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Give the pairs of items that stand at one place only on either side."""
    counts, new_counts = Counter(old), Counter(new)
    once = {key for key, count in counts.items() if count == 1 and new_counts[key] == 1} - {None}
    if not once:
        return []
    places = {key: place for place, key in enumerate(new) if key in once}
    return [(place, places[key]) for place, key in enumerate(old) if key in once]


def _same_objects_at_ends(old: Sequence[Any], new: Sequence[Any]) -> tuple[list[Pair], _Gap]:
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
    return pairs, (range(begin, len(old) - end), range(begin, len(new) - end))


def _places_of(pairs: Sequence[Pair]) -> tuple[set[int], set[int]]:
    return {one for one, _ in pairs}, {other for _, other in pairs}


def _between(
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


def _most_common(old: Sequence[Hashable], new: Sequence[Hashable]) -> int:
    """Give how many items could be matched if order were no matter."""
    common = Counter(old) & Counter(new)
    return common.total() - common[None]


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
