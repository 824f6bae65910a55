"""Mentions: which of many texts have a word, found by one search through all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import accumulate

_BETWEEN = b"\0"


class Mentions:
    """Texts that are searched for words, none of which has a NUL."""

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.texts = texts
        # To begin a search takes longer than to go on over a short text.
        self._joined = _BETWEEN.join(texts)
        self._ends = list(accumulate(len(each) + len(_BETWEEN) for each in texts))

    def of(self, words: Iterable[bytes]) -> set[int]:
        """Give the places of the texts that have one of some words."""
        found: set[int] = set()
        for word in words:
            position = self._joined.find(word)
            while position >= 0:
                place = bisect_right(self._ends, position)
                found.add(place)
                position = self._joined.find(word, self._ends[place])
        return found
