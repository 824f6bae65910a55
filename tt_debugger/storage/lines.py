"""Complete lines by offset.

A line ends at the newline byte and nowhere else: other Unicode line ends occur inside strings.
What stands after the last newline is not yet a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tt_debugger.storage.files import RegularFile

CHUNK = 1 << 20
LONGEST = 64 << 20
"""Bytes of the longest line that is kept; a longer one is passed over without being held."""


class Line(NamedTuple):
    """One line: its number from 1, its place in bytes (line end included), and its text.

    `data` has no line end and is empty where the line is longer than `LONGEST`; `is_whole` is
    False for what follows the last newline.
    """

    number: int
    offset: int
    length: int
    data: bytes
    is_whole: bool


def lines(file: RegularFile, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """Go over the lines from an offset, at which the line with this number begins."""
    begin, held, size_held = offset, [b""], 0
    place = offset
    while chunk := file.read(place, CHUNK):
        place += len(chunk)
        first, *rest = chunk.split(b"\n")
        held, size_held = _hold(held, size_held, first)
        for after in rest:
            length = size_held + 1
            yield Line(number, begin, length, _text(held, size_held), is_whole=True)
            number += 1
            begin += length
            held, size_held = [after], len(after)
    if size_held:
        yield Line(number, begin, size_held, _text(held, size_held), is_whole=False)


def _hold(held: list[bytes], size: int, part: bytes) -> tuple[list[bytes], int]:
    """Add a part to the line that is being gathered, letting go of one that is too long."""
    size += len(part)
    if size > LONGEST:
        return [], size
    held.append(part)
    return held, size


def _text(held: list[bytes], size: int) -> bytes:
    return b"" if size > LONGEST else b"".join(held)
