"""The probe: one look at a location, shared by all formats that are asked about it."""

from __future__ import annotations

from pathlib import PurePath

from tt_debugger.storage.files import HEAD, RegularFile
from tt_debugger.storage.lines import LONGEST
from tt_debugger.store import Probe


def probe(location: str) -> Probe:
    """Look at a location once. Raises CannotReadError where it is not a readable file."""
    file = RegularFile(location)
    try:
        return Probe(location, PurePath(location).name, _head(file), file.size())
    finally:
        file.close()


def _head(file: RegularFile) -> bytes:
    """Give the first bytes, and on to the end of the first line that is not blank."""
    length = HEAD
    while True:
        head = file.read(0, length)
        blank = len(head) - len(head.lstrip())
        end = head.find(b"\n", blank) + 1
        if end:
            return head[: max(end, HEAD)]
        if len(head) < length or length >= LONGEST:
            return head
        length = min(2 * length, LONGEST)
