"""A cache of decoded bodies, bounded by the bytes of their records."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence

from tt_debugger.core.replay import Body

MOST_BYTES = 4 << 20
"""Bytes of the records whose bodies are kept; decoded they take several times as much."""


class BodyCache:
    """Decoded bodies by row, the least recently used let go first; bounded by their bytes."""

    def __init__(
        self, decode: Callable[[Sequence[int]], list[Body]], size_of: Callable[[int], int]
    ) -> None:
        self._decode = decode
        self._size_of = size_of
        self._kept: OrderedDict[int, Body] = OrderedDict()
        self._bytes = 0

    def __call__(self, rows: Sequence[int]) -> list[Body]:
        """Give the bodies of some rows, those that are not known decoded at once."""
        missing = [row for row in dict.fromkeys(rows) if row not in self._kept]
        self._kept.update(zip(missing, self._decode(missing), strict=True))
        self._bytes += sum(map(self._size_of, missing))
        found = [self._kept[row] for row in rows]
        for row in rows:
            self._kept.move_to_end(row)
        while self._bytes > MOST_BYTES and self._kept:
            row, _ = self._kept.popitem(last=False)
            self._bytes -= self._size_of(row)
        return found

    def clear(self) -> None:
        """Let go of all of them."""
        self._kept.clear()
        self._bytes = 0
