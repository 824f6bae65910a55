"""The end of a file of lines: what is written there, and what a crash has left of it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence

import msgspec

from tt_debugger.core.recording.entries import Entry, encoded
from tt_debugger.storage.publishing import read

PIECE = 1 << 16
"""Bytes that are read at once, from the end on; more would be slower, as memory comes anew."""
TOGETHER = 1 << 18
"""Bytes of several entries that are synced at once, at most; a single entry may be longer."""

_passed_over = msgspec.json.Decoder(msgspec.Raw).decode


def line_of(entry: Entry) -> bytes:
    """Give the line of an entry, with its end."""
    return encoded(entry) + b"\n"


def groups_of(entries: Sequence[Entry], there: Container[str]) -> Iterator[tuple[set[str], bytes]]:
    """Give the ids and the lines of entries that are not there, as they are synced together."""
    ids: set[str] = set()
    lines: list[bytes] = []
    size = 0
    for entry in entries:
        if entry.id in there:
            continue
        line = line_of(entry)
        if lines and size + len(line) > TOGETHER:
            yield ids, b"".join(lines)
            ids, lines, size = set[str](), [], 0
        ids.add(entry.id)
        lines.append(line)
        size += len(line)
    if lines:
        yield ids, b"".join(lines)


def lines_from_end(file: int, size: int) -> Iterator[tuple[bytes, bool]]:
    """Give the lines behind the header, the last one first, and whether each has its end.

    Raises OSError.
    """
    place, is_whole = size, False
    parts: list[bytes] = []
    """Those of the line that was not read to its beginning yet, the last one first."""
    while place > 0:
        length = min(PIECE, place)
        place -= length
        piece = read(file, place, length)
        if b"\n" not in piece:
            parts.append(piece)
            continue
        first, *lines = piece.split(b"\n")
        parts.append(lines.pop())
        for each in (b"".join(reversed(parts)), *reversed(lines)):
            if each or is_whole:
                yield each, is_whole
            is_whole = True
        parts = [first]
    # What is left is the header.


def whole_size(file: int, size: int) -> int:
    """Give the size of a file without what stands behind its last entry. Raises OSError.

    A line without its end was never acknowledged, even where it is an entry; neither were lines
    behind the last entry that are no JSON, nor any behind one with a hole.
    """
    end = _before_hole(file, size)
    for line, is_whole in lines_from_end(file, end):
        if is_whole and _is_json(line):
            # It may be somebody else's, or that of a newer version.
            return end
        end -= len(line) + is_whole
    return end


def _is_json(line: bytes) -> bool:
    """Tell whether a line is one JSON value; of a large one nothing is made meanwhile."""
    try:
        _passed_over(line)
    except RecursionError:
        return True
    except msgspec.DecodeError:
        return False
    return True


def _before_hole(file: int, size: int) -> int:
    """Give where the first line begins that has a hole; the size where there is none.

    Of lines that are synced together a disk may have the last ones and not the first: there are
    zeros then, which no JSON has. Of those that were synced nothing turns to zeros.
    """
    for start in range(max(0, size - TOGETHER), size, PIECE):
        hole = read(file, start, min(PIECE, size - start)).find(0)
        if hole >= 0:
            line, is_whole = next(lines_from_end(file, start + hole), (b"", True))
            return start + hole - (0 if is_whole else len(line))
    return size
