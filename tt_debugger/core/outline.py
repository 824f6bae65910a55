"""The outline of a session: which rows are shown, in which order, and where a hidden one went.

A hidden row is left out, and what hangs on it hangs on its nearest visible ancestor instead.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import msgspec

from tt_debugger.core.lanes import LaneRow, lay_out
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW


class Outline(msgspec.Struct, frozen=True, eq=False):
    """The visible rows of a session from top to bottom."""

    rows: Sequence[int]
    """The row on each line."""
    lanes: Sequence[LaneRow]
    """How the row on each line is drawn."""
    places: Sequence[int]
    """For each row of the session its line, else that of its nearest visible ancestor, else -1."""


def outline(session: Session, shows: Callable[[int], bool] | None = None) -> Outline:
    """Give the outline of the rows that `shows` is true of; without it, of all."""
    rows: list[int] = []
    above: list[int] = []
    places: array[int] = array("q", [NO_ROW]) * len(session)
    parents = session.parents
    for row in session.tree.parents_first():
        parent = parents[row]
        place = NO_ROW if parent == NO_ROW else places[parent]
        if shows is None or shows(row):
            above.append(place)
            place = len(rows)
            rows.append(row)
        places[row] = place
    on_active_path = session.on_active_path
    return Outline(rows, lay_out(above, bytes(on_active_path[row] for row in rows)), places)
