"""What a bisect knows of rows, as signs and words beside them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tt_debugger.core.bisect import Stand, Verdict

SIGNS = {Stand.GOOD: "-", Stand.BAD: "+", Stand.LEFT: "?"}
STYLES = {Stand.GOOD: "good", Stand.BAD: "bad", Stand.LEFT: "accent"}
"""The sign and the style of what is known of a row; the signs are the keys that tell it."""


class Words(msgspec.Struct, frozen=True):
    """What the two verdicts are called, and the first row of those that are bad."""

    good: str
    bad: str
    first: str


BY_HAND = Words("good", "bad", "first bad")
BY_CONDITION = Words("not", "holds", "first to hold")


class Judged(msgspec.Struct, frozen=True, eq=False):
    """What is known of the rows of a session."""

    stands: bytes
    """What is known of each row, as `core.bisect.stands` gives it."""
    verdicts: Mapping[int, Verdict]
    """What was told of rows."""
    asked: int | None
    """The row to be tested."""
    found: int | None
    """The first bad row, once it is known."""
    left: int
    """How many rows may still be the first bad one."""
    words: Words = BY_HAND

    def stand(self, first: int, last: int) -> Stand | None:
        """Give what is known of rows from one to another: the most telling, None for nothing."""
        for stand in (Stand.LEFT, Stand.BAD, Stand.GOOD):
            if self.stands.find(stand, first, last + 1) >= 0:
                return stand
        return None

    def flag(self, row: int) -> tuple[str, str] | None:
        """Give what stands beside a row, with its style; None where nothing is known of it."""
        if row == self.found:
            return f"+ {self.words.first} ", STYLES[Stand.BAD]
        if row in self.verdicts:
            return self._told(self.verdicts[row])
        if row == self.asked:
            return "? to test ", STYLES[Stand.LEFT]
        stand = self.stand(row, row)
        if stand is None or stand is Stand.LEFT:
            return None
        return f"{SIGNS[stand]} ", STYLES[stand]

    def word(self, stand: Stand) -> str:
        """Give the word for what is known of rows."""
        words = self.words
        return {
            Stand.GOOD: words.good,
            Stand.BAD: words.bad,
            Stand.LEFT: f"{self.left:,} left",
        }[stand]

    def _told(self, verdict: Verdict) -> tuple[str, str]:
        match verdict:
            case Verdict.GOOD:
                return f"- {self.words.good} ", STYLES[Stand.GOOD]
            case Verdict.BAD:
                return f"+ {self.words.bad} ", STYLES[Stand.BAD]
            case Verdict.SKIP:
                return "0 skipped ", "dim"
