"""Bisect: the first checkpoint of a path from which on something is wrong, in few tests.

`Bisection` is a value: it is asked for the row to test next, told how that came out, and gives
the next one or the result. It takes for granted that what is bad stays bad on the way down.
`first_bad` takes nothing for granted, and is told each row in order.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from tt_debugger.errors import UsageError


class Verdict(enum.StrEnum):
    """How a test came out."""

    GOOD = "good"
    BAD = "bad"
    SKIP = "skip"
    """It cannot be told here."""


class Found(msgspec.Struct, frozen=True):
    """The first bad row; the one before it is good, if there is one."""

    row: int


class FoundDespiteSkips(msgspec.Struct, frozen=True):
    """The rows of which one is the first bad one: all are skipped but the last, which is bad."""

    candidates: tuple[int, ...]


class NotFound(msgspec.Struct, frozen=True):
    """No row that was tested is bad; the candidates are skipped rows of which one might be."""

    candidates: tuple[int, ...] = ()


Result = Found | FoundDespiteSkips | NotFound


class Bisection(msgspec.Struct, frozen=True):
    """What is known of a path of rows, from the root down."""

    rows: tuple[int, ...]
    told_at: Mapping[int, Verdict] = msgspec.field(default_factory=dict[int, Verdict])
    """What was told of places in the path."""
    good: int = -1
    """The place of the last row that is good; -1 for none: the first bad one is behind it."""
    bad: int = 0
    """The place of the first row that is bad; behind the end of the path for none."""

    @classmethod
    def of(cls, path: Sequence[int]) -> Bisection:
        """Give the search along a path of which nothing is known."""
        return cls(tuple(path), bad=len(path))

    @property
    def verdicts(self) -> dict[int, Verdict]:
        """What was told, by rows."""
        return {self.rows[place]: verdict for place, verdict in self.told_at.items()}

    @property
    def tested(self) -> int:
        """How many rows were told of."""
        return len(self.told_at)

    @property
    def has_bad(self) -> bool:
        """Whether a row is known that is bad."""
        return self.bad < len(self.rows)

    @property
    def left(self) -> Sequence[int]:
        """The rows of which each may still be the first bad one, in the order of the path."""
        return self.rows[self.good + 1 : self.bad + 1]

    @property
    def steps(self) -> int:
        """How many tests it takes at most, if none has to be skipped."""
        count = len(self.left)
        return (count - 1).bit_length() + (not self.has_bad) if count else 0

    @property
    def asked(self) -> int | Result:
        """The row to test next, else the result.

        The end of the path comes first: where that is good there is nothing to look for. Then it
        is the middle of what is left. Each skip leads farther away from there, so that one comes
        out of a long run of rows that cannot be tested; the rows in it have their turn last.
        """
        result = self.result
        if result is not None:
            return result
        between, skipped = self._between, self._skipped
        aim = (self.good + self.bad) // 2 if self.has_bad else self.bad - 1
        far = (1 << min(skipped, len(between).bit_length())) - 1
        is_above = skipped % 2 or not self.has_bad
        away = aim - far if is_above else aim + far
        return self.rows[self._nearest(away if away in between else aim, between)]

    @property
    def result(self) -> Result | None:
        """What was found out; None as long as there is something to test."""
        if self._skipped < len(self._between):
            return None
        left = tuple(self.left)
        if not self.has_bad:
            return NotFound(left)
        return Found(left[0]) if len(left) == 1 else FoundDespiteSkips(left)

    @property
    def _between(self) -> range:
        """The places between what is good and what is bad."""
        return range(self.good + 1, self.bad)

    @property
    def _skipped(self) -> int:
        """How many of them were told of: those can only be skipped."""
        between = self._between
        return sum(place in between for place in self.told_at)

    def _nearest(self, aim: int, between: range) -> int:
        """Give the place nearest to another of which nothing was told; there is one."""
        beside = (each for far in range(len(self.rows)) for each in (aim - far, aim + far))
        return next(each for each in beside if each in between and each not in self.told_at)

    def told(self, row: int, verdict: Verdict) -> Bisection:
        """Give what is known once a test came out so; of a row that was told of, the new counts.

        Raises UsageError where the row is not on the path, or where something bad would come
        before something good.
        """
        try:
            place = self.rows.index(row)
        except ValueError:
            message = f"row {row + 1} is not on the path to row {self.rows[-1] + 1}"
            raise UsageError(message) from None
        told_at = {**self.told_at, place: verdict}
        goods = [place for place, each in told_at.items() if each is Verdict.GOOD]
        bads = [place for place, each in told_at.items() if each is Verdict.BAD]
        good, bad = max(goods, default=-1), min(bads, default=len(self.rows))
        if bad < good:
            raise UsageError(
                f"row {self.rows[bad] + 1} is bad, but row {self.rows[good] + 1} behind it good",
                "what is bad has to stay bad; --scan looks at each row in order",
            )
        return Bisection(self.rows, told_at, good, bad)


def bisected(bisection: Bisection, judge: Callable[[int], Verdict]) -> Iterator[Bisection]:
    """Test row after row until there is a result; gives what is known after each test."""
    while isinstance(row := bisection.asked, int):
        bisection = bisection.told(row, judge(row))
        yield bisection


def first_bad(judged: Iterable[tuple[int, Verdict]]) -> Result:
    """Give the result of looking at rows in order, until one is bad."""
    skipped: list[int] = []
    for row, verdict in judged:
        match verdict:
            case Verdict.BAD:
                return FoundDespiteSkips((*skipped, row)) if skipped else Found(row)
            case Verdict.SKIP:
                skipped.append(row)
            case Verdict.GOOD:
                pass
    return NotFound(tuple(skipped))


def first_row(result: Result) -> int | None:
    """Give the row that a result names: the first that is known to be bad, None for none."""
    match result:
        case Found(row=row):
            return row
        case FoundDespiteSkips(candidates=(*_, row)):
            return row
        case _:
            return None


class Stand(enum.IntEnum):
    """What is known of a row. 0 is free for one that is not on the path."""

    GOOD = 1
    BAD = 2
    LEFT = 3
    """It may be the first bad one."""


def stands(bisection: Bisection, count: int, until: int | None = None) -> bytes:
    """Give what is known of each row of a session, one byte a row.

    Where what is bad does not stay so, it is known to be bad `until` a row, and nothing is known
    of those behind it.
    """
    each_row = bytearray(count)
    begin, end = bisection.good + 1, bisection.bad + 1
    last = len(bisection.rows) if until is None else bisection.rows.index(until) + 1
    for stand, rows in (
        (Stand.GOOD, bisection.rows[:begin]),
        (Stand.LEFT, bisection.rows[begin:end]),
        (Stand.BAD, bisection.rows[end:last]),
    ):
        for row in rows:
            each_row[row] = stand
    return bytes(each_row)
