"""Weight: when a state is written whole, so that restoring it costs little more than reading it.

What was only added since the last snapshot would have to be read as a part of the state anyway;
but each entry costs something beside. What was changed otherwise is read for nothing: its bytes
are the weight. Once they are more than half of what the state has, the state is written.
"""

from __future__ import annotations

from collections.abc import Iterable

from tt_debugger.core.changes import Append
from tt_debugger.core.recording.entries import Entry, Snapshotted, changes_of, encoded

LEAST = 256 << 10
"""Bytes that are read for nothing before a state is written whole, however small it is."""
OVERHEAD = 6 << 10
"""Bytes of a state that could be read in the time that an entry takes beside what it adds, about.

Measured: an entry takes about 25 µs, and a megabyte of JSON 4 ms.
"""


class Weight:
    """What is read for nothing on a branch since its last snapshot, and the size of that."""

    def __init__(self) -> None:
        self._last: Snapshotted | None = None
        self._whole: int | None = 0
        """The bytes of the last snapshot; None where nobody has asked yet."""
        self._added = 0
        self._for_nothing = 0

    def take(self, entry: Entry) -> None:
        """Count an entry of the branch."""
        if isinstance(entry, Snapshotted):
            self._last, self._whole = entry, None
            self._added = self._for_nothing = 0
            return
        size = len(encoded(entry))
        self._for_nothing += OVERHEAD
        if all(isinstance(each, Append) for each in changes_of(entry)):
            self._added += size
        else:
            self._for_nothing += size

    def take_all(self, path: Iterable[Entry]) -> None:
        """Count the entries of a branch, from its snapshot on."""
        for each in path:
            self.take(each)

    @property
    def is_due(self) -> bool:
        """Whether the state is to be written whole now."""
        if self._for_nothing <= LEAST:
            return False
        if self._whole is None and self._last is not None:
            # Only now is it large enough to matter.
            self._whole, self._last = len(encoded(self._last)), None
        return self._for_nothing > ((self._whole or 0) + self._added) // 2
