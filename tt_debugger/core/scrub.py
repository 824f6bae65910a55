"""The scrubber's numbers: all rows of a session in as many columns as there is room for.

What depends on the session alone is found once (`scrub_index`). A width then costs a few looks a
column (`columns_of`): marks are one byte a row, so that a column finds its own by a search of
bytes, and sizes have the largest of each block beside them.
"""

from __future__ import annotations

import enum
from array import array
from collections.abc import Sequence
from itertools import chain

import msgspec

from tt_debugger.core.model import (
    BY_USER,
    FAILED,
    KIND_BITS,
    KIND_NUMBERS,
    LABELLED,
    Kind,
    Session,
)

BLOCK = 64
"""Rows whose largest context is kept; a column then reads at most two blocks row by row."""


class MarkKind(enum.IntEnum):
    """What a mark tells of, the most telling first. 0 is free for a row without one."""

    ERROR = 1
    COMPACTION = 2
    INTERRUPT = 3
    LABEL = 4
    FORK = 5
    USER = 6


class Mark(msgspec.Struct, frozen=True, gc=False):
    """The most telling thing of a row."""

    kind: MarkKind
    row: int


class Column(msgspec.Struct, frozen=True):
    """One column: the rows from `first` to `last`, both included."""

    first: int
    last: int
    size: int
    """The largest context in it, 0 where none is known."""
    is_active: bool
    """Whether any of its rows is on the active path."""
    mark: Mark | None
    """The most telling of its marks. A row that is several columns wide has its own in one."""


class ScrubIndex(msgspec.Struct, frozen=True, eq=False):
    """What all widths of a scrubber share."""

    session: Session
    marks: bytes
    """The mark of each row, 0 for none."""
    block_sizes: Sequence[int]
    """The largest context of each block of rows."""
    largest: int
    """The largest context of all, 0 where none is known."""

    def __len__(self) -> int:
        return len(self.marks)


def scrub_index(session: Session) -> ScrubIndex:
    """Give what columns are made from; looks at each row once."""
    sizes = session.context_sizes
    blocks = array("q", (max(sizes[at : at + BLOCK]) for at in range(0, len(sizes), BLOCK)))
    return ScrubIndex(session, bytes(_marks(session)), blocks, max(blocks, default=0))


def _marks(session: Session) -> bytearray:
    marks = bytearray(session.traits.translate(_MARKS_OF_TRAITS))
    for row in session.tree.forks():
        if not marks[row] or marks[row] > MarkKind.FORK:
            marks[row] = MarkKind.FORK
    return marks


def _mark_of_traits(traits: int) -> int:
    """Give the mark of a row with these traits, 0 for none."""
    kind = traits & KIND_BITS
    if traits & FAILED or kind in _ERRORS:
        return MarkKind.ERROR
    if kind == KIND_NUMBERS[Kind.COMPACTION]:
        return MarkKind.COMPACTION
    if kind == KIND_NUMBERS[Kind.INTERRUPT]:
        return MarkKind.INTERRUPT
    if traits & LABELLED:
        return MarkKind.LABEL
    return MarkKind.USER if traits & BY_USER and kind not in _TOOLS else 0


_ERRORS = {KIND_NUMBERS[Kind.GAP], KIND_NUMBERS[Kind.UNREADABLE]}
_TOOLS = {KIND_NUMBERS[Kind.TOOL_CALL], KIND_NUMBERS[Kind.TOOL_RESULT]}
_MARKS_OF_TRAITS = bytes(map(_mark_of_traits, range(256)))


def columns_of(index: ScrubIndex, width: int) -> tuple[Column, ...]:
    """Give `width` columns that hold all rows in storage order; none where there are no rows.

    With fewer rows than columns each row is several columns wide, so that the width is used.
    """
    rows = len(index)
    if not rows:
        return ()
    on_active_path = index.session.on_active_path
    columns: list[Column] = []
    for place in range(width):
        first = place * rows // width
        behind = max((place + 1) * rows // width, first + 1)
        mark = _most_telling(index, first, behind)
        if mark is not None and column_of(mark.row, rows, width) != place:
            mark = None
        size = _largest(index, first, behind)
        is_active = on_active_path.find(1, first, behind) >= 0
        columns.append(Column(first, behind - 1, size, is_active, mark))
    return tuple(columns)


def column_of(row: int, rows: int, width: int) -> int:
    """Give the column that holds a row, the middle one where several do."""
    last = ((row + 1) * width - 1) // rows
    first = min(-(-row * width // rows), last)
    return (first + last) // 2


def mark_of(index: ScrubIndex, row: int) -> Mark | None:
    """Give the mark of a row."""
    kind = index.marks[row]
    return Mark(MarkKind(kind), row) if kind else None


def mark_beside(index: ScrubIndex, row: int, step: int) -> Mark | None:
    """Give the next mark behind a row, or with a negative step the one before it."""
    if step < 0:
        found = max(index.marks.rfind(kind, 0, row) for kind in MarkKind)
    else:
        places = (index.marks.find(kind, row + 1) for kind in MarkKind)
        found = min((place for place in places if place >= 0), default=-1)
    return mark_of(index, found) if found >= 0 else None


def _most_telling(index: ScrubIndex, first: int, behind: int) -> Mark | None:
    for kind in MarkKind:
        row = index.marks.find(kind, first, behind)
        if row >= 0:
            return Mark(kind, row)
    return None


def _largest(index: ScrubIndex, first: int, behind: int) -> int:
    sizes = index.session.context_sizes
    block, block_behind = -(-first // BLOCK), behind // BLOCK
    if block >= block_behind:
        return max(sizes[first:behind])
    before, after = sizes[first : block * BLOCK], sizes[block_behind * BLOCK : behind]
    return max(chain(before, index.block_sizes[block:block_behind], after))
