"""Spending: how the cost of a session grew, or its tokens where no cost was recorded.

It grows with the time of the checkpoints, or with their rows where times are missing.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

import msgspec

from tt_debugger.core.model import Session


class Spending(msgspec.Struct, frozen=True):
    """What was spent up to each of some places, in order: times in seconds, or rows."""

    places: Sequence[float]
    sums: Sequence[float]
    is_cost: bool
    """Whether dollars are counted, else tokens."""
    is_timed: bool
    """Whether the places are times, else rows."""

    @property
    def total(self) -> float:
        """All that was spent."""
        return self.sums[-1]

    def columns(self, width: int) -> list[float]:
        """Give what was spent by the end of each of so many stretches of the same length."""
        begin, end = self.places[0], self.places[-1]
        ends = (begin + (end - begin) * (column + 1) / width for column in range(width - 1))
        found = [self.sums[bisect_right(self.places, each) - 1] for each in ends]
        # Rounding could leave the last place out.
        return [*found, self.total] if width > 0 else []


def spending_of(session: Session) -> Spending | None:
    """Give how the cost of a session grew, None where nothing is known of it."""
    used = [(row, each) for row, each in enumerate(session.heads.usages()) if each is not None]
    is_cost = any(each.cost for _, each in used)
    spent = [(row, each.cost if is_cost else each.context) for row, each in used]
    spent = [(row, amount) for row, amount in spent if amount]
    if not spent:
        return None
    times = [session.heads.time(row) for row, _ in spent]
    timed = [time for time in times if time is not None]
    is_timed = len(timed) == len(spent)
    places = timed if is_timed else [float(row) for row, _ in spent]
    in_order = sorted(zip(places, (amount for _, amount in spent), strict=True))
    return Spending(
        array("d", (place for place, _ in in_order)),
        array("d", accumulate(amount for _, amount in in_order)),
        is_cost,
        is_timed,
    )
