"""The log in memory: nothing of it stays when its process ends.

To be asked questions it is written to a file of its own for as long as it is open, as `ttdbg`
reads files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

from tt_debugger.core.recording.entries import Entry, Header, encoded, encoded_header
from tt_debugger.errors import CannotWriteError
from tt_debugger.record.backends.options import Options


class MemoryLog:
    """A log that is a list."""

    durability = "nothing outlives the process"

    def __init__(self) -> None:
        self.header: Header | None = None
        self._entries: list[Entry] = []
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._told = 0

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Make a log that has nothing in it yet."""
        return cls()

    @property
    def location(self) -> str:
        """A file with all that is in the log now; it goes with the log."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="ttdbg-memory-")
        path = Path(self._folder.name) / "memory.jsonl"
        with path.open("ab") as file:
            if not file.tell() and self.header is not None:
                file.write(encoded_header(self.header) + b"\n")
            file.writelines(encoded(each) + b"\n" for each in self._entries[self._told :])
        self._told = len(self._entries)
        return str(path)

    def begin(self, header: Header) -> None:
        """Begin the log. Raises CannotWriteError where it was begun."""
        if self.header is not None:
            raise CannotWriteError("this log was begun already", "append to it")
        self.header = header

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries from the end on."""
        return reversed(self._entries)

    def append(self, entries: Sequence[Entry]) -> None:
        """Add the entries."""
        self._entries += entries

    def close(self) -> None:
        """Remove the file that was made for questions."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
