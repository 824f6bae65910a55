"""The journey: where one has been in a session, and the way back, as in a browser."""

from __future__ import annotations

import msgspec

MOST_STOPS = 1000
"""Rows that are remembered in each direction; the farthest are forgotten first."""


class Journey(msgspec.Struct, frozen=True):
    """The row one is at, those before it (the latest last), and those one came back from."""

    here: int | None = None
    behind: tuple[int, ...] = ()
    ahead: tuple[int, ...] = ()

    def visit(self, row: int) -> Journey:
        """Give the journey after going to a row: what lay ahead is dropped.

        A visit to where one is already changes nothing.
        """
        if row == self.here:
            return self
        behind = self.behind if self.here is None else (*self.behind, self.here)
        return Journey(row, behind[-MOST_STOPS:])

    @property
    def can_go_back(self) -> bool:
        """Whether there was a row before."""
        return bool(self.behind)

    @property
    def can_go_forward(self) -> bool:
        """Whether one came back from a row."""
        return bool(self.ahead)

    def back(self) -> Journey:
        """Give the journey one stop earlier, the same where there is none."""
        if self.here is None or not self.behind:
            return self
        *behind, row = self.behind
        return Journey(row, tuple(behind), (self.here, *self.ahead)[:MOST_STOPS])

    def forward(self) -> Journey:
        """Give the journey one stop later, the same where there is none."""
        if self.here is None or not self.ahead:
            return self
        row, *ahead = self.ahead
        return Journey(row, (*self.behind, self.here)[-MOST_STOPS:], tuple(ahead))
