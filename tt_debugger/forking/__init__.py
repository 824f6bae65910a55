"""Forking: from a point and some edits to a new branch on the disk, and back again.

A plan becomes a draft, the draft is read back before anything is written where it belongs, then
its writes are made in order, all of them or none. Every fork is noted in the operation log, by
which it can be undone.
"""

from tt_debugger.forking.drafting import (
    Drafted,
    Standing,
    Wish,
    composed,
    composing,
    drafted,
    ref_of,
    rehearsed,
    standing,
)
from tt_debugger.forking.undoing import undo, what_went
from tt_debugger.forking.writing import forked

__all__ = (
    "Drafted",
    "Standing",
    "Wish",
    "composed",
    "composing",
    "drafted",
    "forked",
    "ref_of",
    "rehearsed",
    "standing",
    "undo",
    "what_went",
)
