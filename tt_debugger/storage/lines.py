"""Complete lines by offset.

A line ends at the newline byte and nowhere else: other Unicode line ends occur inside strings.
What stands after the last newline is not yet a line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tt_debugger.storage.files import RegularFile

CHUNK = 1 << 20
"""Bytes that are read at once."""
FIRST_CHUNK = 1 << 16
"""Bytes that are read first: often a line or two are all that is asked for."""
LONGEST = 64 << 20
"""Bytes of the longest line that is kept; a longer one is passed over without being held.

No less than `CHUNK`."""


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


class Block(NamedTuple):
    """Whole lines that follow each other: the number and offset of the first, and the texts.

    `end` is the offset after the last; `is_ascii` tells that all of them are.
    """

    number: int
    offset: int
    end: int
    lines: list[bytes]
    is_ascii: bool

    def each(self) -> Iterator[Line]:
        """Give the lines one by one."""
        offset = self.offset
        for number, data in enumerate(self.lines, self.number):
            yield Line(number, offset, len(data) + 1, data, is_whole=True)
            offset += len(data) + 1


def blocks(
    file: RegularFile, offset: int = 0, number: int = 1, end: int | None = None
) -> Iterator[Block | Line]:
    """Go over the lines from an offset, at which the line with this number begins, to an end.

    That is where the file ends now, if no other is given: what a writer adds meanwhile is left.
    Lines come in blocks, but for one that is too long to be kept and for what follows the last
    newline.
    """
    begin, held, size_held = offset, list[bytes](), 0
    place, end = offset, file.size() if end is None else end
    most = min(FIRST_CHUNK, CHUNK)
    while place < end:
        stored = min(file.data_after(place), end)
        if stored - place > LONGEST:
            # A hole is a line of NUL bytes, too long to be kept, and to be read at all.
            held, size_held, place = [], size_held + stored - place, stored
            continue
        chunk = file.read(place, min(most, end - place))
        if not chunk:
            break
        most = CHUNK
        place += len(chunk)
        *whole, rest = chunk.split(b"\n")
        if not whole:
            held, size_held = _hold(held, size_held, rest)
            continue
        is_ascii = chunk.isascii() and all(map(bytes.isascii, held))
        if size_held:
            held, size_held = _hold(held, size_held, whole[0])
            if size_held > LONGEST:
                yield Line(number, begin, size_held + 1, b"", is_whole=True)
                number, begin = number + 1, begin + size_held + 1
                del whole[0]
            else:
                whole[0] = b"".join(held)
        if whole:
            yield Block(number, begin, place - len(rest), whole, is_ascii)
        number, begin = number + len(whole), place - len(rest)
        held, size_held = [rest], len(rest)
    if size_held:
        yield Line(number, begin, size_held, _text(held, size_held), is_whole=False)


def lines(file: RegularFile, offset: int = 0, number: int = 1) -> Iterator[Line]:
    """Go over the lines from an offset, at which the line with this number begins, one by one."""
    for block in blocks(file, offset, number):
        if isinstance(block, Block):
            yield from block.each()
        else:
            yield block


def _hold(held: list[bytes], size: int, part: bytes) -> tuple[list[bytes], int]:
    """Add a part to the line that is being gathered, letting go of one that is too long."""
    size += len(part)
    if size > LONGEST:
        return [], size
    held.append(part)
    return held, size


def _text(held: list[bytes], size: int) -> bytes:
    return b"" if size > LONGEST else b"".join(held)
