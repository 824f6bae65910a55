"""Hanging: rows that name no parent, and are let hang on another."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

from tt_debugger.core.tree import NO_ROW


def hung(linked: array[int], rows: Iterable[tuple[int, int]]) -> array[int]:
    """Give the parents with some rows hung on others, unless these hang on them."""
    parents = linked[:]
    has_forward = any(parent > row for row, parent in enumerate(parents))
    for row, parent in rows:
        if not (has_forward and _is_above(parents, row, parent)):
            parents[row] = parent
    return parents


def _is_above(parents: array[int], row: int, below: int) -> bool:
    """Tell whether a row is another or above it."""
    while below not in {NO_ROW, row}:
        below = parents[below]
    return below == row
