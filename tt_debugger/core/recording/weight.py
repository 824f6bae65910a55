"""Weight: when a state is written whole, so that restoring it costs little more than reading it.

What was only added since the last snapshot would have to be read as a part of the state anyway;
but each entry costs something beside. What was changed otherwise is read for nothing. Once that
is more than the state has, the state is written; and, if there is some of it, at a clean end.
"""

from __future__ import annotations

import msgspec

from tt_debugger.core.changes import Append, State
from tt_debugger.core.recording.entries import Changed, EffectNoted, Entry, Snapshotted, encoded

LEAST = 512 << 10
"""Bytes that are read for nothing before a state is written whole, however small it is."""
OVERHEAD = 2 << 10
"""Bytes of a state that could be read in the time that an entry takes beside what it adds.

Measured: an entry takes about 12 µs, and a megabyte of JSON 3 ms; written whole as often as that
says, a log of a growing conversation would be mostly whole states. So it is less than half.
"""
GROWTH = 1.5
"""By how much a state that only grows must have grown: all whole states together are then no more
than three times the last one."""
WORTH_CLOSING = 128 << 10
"""Bytes that are read for nothing from which a state is written whole when its log is closed."""

_encode = msgspec.json.Encoder().encode


class Weight:
    """What is read for nothing on a branch since its last snapshot."""

    def __init__(self) -> None:
        self._last: Snapshotted | None = None
        self._entries = 0
        self._rewritten = 0
        """Bytes of entries that did not only add something."""
        self._again = LEAST
        """What must be read for nothing before the size of the state is looked at again."""

    def take(self, entry: Entry) -> None:
        """Count an entry of the branch."""
        if isinstance(entry, Snapshotted):
            self._last, self._entries, self._rewritten, self._again = entry, 0, 0, LEAST
            return
        self._entries += 1
        if isinstance(entry, (Changed, EffectNoted)) and not all(
            isinstance(each, Append) for each in entry.changes
        ):
            self._rewritten += len(encoded(entry))

    def is_due(self, state: State) -> bool:
        """Tell whether the state is to be written whole now."""
        if self._for_nothing <= self._again:
            return False
        size = max(LEAST, len(_encode(state)))
        self._again = self._for_nothing + size // 2
        if self._rewritten > size:
            return True
        return self._for_nothing > size and self._has_grown(size)

    @property
    def is_worth_closing(self) -> bool:
        """Whether whoever opens the log again is spared something by a state written whole."""
        return self._for_nothing > WORTH_CLOSING

    @property
    def _for_nothing(self) -> int:
        return self._entries * OVERHEAD + self._rewritten

    def _has_grown(self, size: int) -> bool:
        last = None if self._last is None else self._last.state
        return size >= GROWTH * len(_encode(last))
