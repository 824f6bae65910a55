"""Growth: what of a session still stands in what it has become, and need not be worked out anew.

A session that is being written only grows, as a rule. But a record may change what an earlier one
is called or hangs on, the end of a file may be written anew, and a document is written whole each
time: so the rows that both have in common are found by looking at them.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress, count
from operator import ne
from typing import Any

import msgspec

from tt_debugger.core.model import Kind, Role, Session

LATE = 256
"""Rows before the end that are compared whole; if one differs, all are."""


def rows_kept(before: Session, after: Session, at_most: int | None = None) -> int:
    """Give how many rows, from the first, are the same checkpoints in both sessions.

    The last of the earlier session may have got its line end. `at_most` so many are known to be.
    """
    most = min(len(before), len(after))
    if at_most is not None:
        most = min(most, at_most)
    kept = _alike(before.ids, after.ids, most)
    kept = _alike(before.parents, after.parents, kept)
    late = range(max(kept - LATE, 0), kept)
    if _same_heads(before, after, late) < kept:
        kept = _same_heads(before, after, range(kept))
    return kept


def carry_over(before: Session, after: Session) -> None:
    """Let a session that only grew have what was worked out of the rows it had before."""
    size, known = len(before), vars(before)
    if "rows" in known and "rows" not in vars(after):
        rows = before.rows | dict(zip(after.ids[size:], range(size, len(after)), strict=True))
        vars(after)["rows"] = rows
    if "context_sizes" in known and "context_sizes" not in vars(after):
        sizes = before.context_sizes[:]
        for row in range(size, len(after)):
            parent = after.parents[row]
            if parent >= row:
                return
            told = _context_told(after, row)
            sizes.append(told if told is not None else sizes[parent] if parent >= 0 else 0)
        vars(after)["context_sizes"] = sizes


def nearest_row(before: Session, after: Session, row: int) -> int:
    """Give the row in a session for one in what it was before: that of its id, or nearly.

    Else the row of its nearest ancestor that is still there, else the last one as far down.
    """
    names = (before.ids[each] for each in before.tree.ancestors(row))
    found = (after.rows[name] for name in names if name in after.rows)
    return next(found, min(row, len(after) - 1))


def _alike(some: Sequence[Any], others: Sequence[Any], most: int) -> int:
    """Give how many of the first items are equal."""
    if some[:most] == others[:most]:
        return most
    return next(compress(count(), map(ne, some, others)), most)


def _same_heads(before: Session, after: Session, rows: range) -> int:
    """Give the first of some rows whose heads differ, else the row behind them."""
    last = len(before) - 1
    for row in rows:
        one, other = before.heads[row], after.heads[row]
        if row == last and one.kind is not Kind.GAP:
            one = msgspec.structs.replace(one, length=other.length)
        if one != other:
            return row
    return rows.stop


def _context_told(session: Session, row: int) -> int | None:
    """Give the size of the context that a row itself tells, None if it does not."""
    head = session.heads[row]
    if head.kind is Kind.COMPACTION:
        return 0
    if head.role is not Role.ASSISTANT or head.usage is None:
        return None
    return head.usage.context or None
