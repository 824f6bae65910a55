"""Tracks: where a watched value changed on the way to one leaf, and what it was from there on.

A walk over a branch is made once; what is then asked at each key is a search in its stops. Rows
are found by their depth, as on a path each is one deeper than the one before, wherever they stand
in the file. A value is kept in few words: a live one is another by the next step.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from math import isfinite
from typing import Any, NamedTuple

import msgspec

from tt_debugger.core.json import as_list
from tt_debugger.core.model import Session
from tt_debugger.core.scrub import Column, column_of
from tt_debugger.core.tree import NO_ROW

EXACT = 1 << 53
"""Up to here a whole number is the same as a float."""


class Stop(NamedTuple):
    """A row at which a value changed: how deep it is, and the value from there on.

    `said` is the value in few words, None where there is none any more; `number` is the value
    where it is a number, a truth as 1 or 0, or how long a list is.
    """

    row: int
    depth: int
    said: str | None
    number: float | None = None

    @property
    def is_there(self) -> bool:
        """Whether there is a value from here on."""
        return self.said is not None


class Track(msgspec.Struct, frozen=True, eq=False):
    """The stops of a watched value on the way from the root to a leaf, the first one first."""

    leaf: int
    stops: tuple[Stop, ...]
    rewrites: frozenset[int] = frozenset()
    """Rows that wrote the value it had."""
    own_from: int = 0
    """The depth from which on a row of the path is on the branch of this leaf."""
    happens: bool = False
    """Whether it is something that happens at a row, and does not stay."""

    def at(self, depth: int) -> Stop | None:
        """Give the stop whose value holds at a depth, None above the first one.

        What happens holds nowhere but where it does.
        """
        stop = self.since(depth)
        return None if stop is None or (self.happens and stop.depth < depth) else stop

    def since(self, depth: int) -> Stop | None:
        """Give the last change at a depth or above it."""
        place = bisect_right(self.stops, depth, key=_depth) - 1
        return None if place < 0 else self.stops[place]

    def last(self, depth: int) -> Stop | None:
        """Give the last change above a depth."""
        return self.since(depth - 1)

    def next(self, depth: int) -> Stop | None:
        """Give the first change below a depth."""
        place = bisect_right(self.stops, depth, key=_depth)
        return self.stops[place] if place < len(self.stops) else None

    @property
    def scale(self) -> tuple[float, float] | None:
        """The least and the largest value, None where they are no numbers or all the same."""
        numbers = [each.number for each in self.stops if each.is_there]
        known = [each for each in numbers if each is not None]
        if len(known) < len(numbers) or not known or min(known) == max(known):
            return None
        return min(known), max(known)

    def holds(self, session: Session, row: int) -> bool:
        """Tell whether a row is on the way to the leaf."""
        size = len(session)
        return row < size and self.leaf < size and session.tree.is_ancestor(row, self.leaf)

    def goes_on_from(self, session: Session, row: int) -> bool:
        """Tell whether the branch that a row is on ends at the leaf."""
        return self.holds(session, row) and session.tree.depth(row) >= self.own_from


def track_of(
    session: Session,
    leaf: int,
    stops: Iterable[Stop],
    rewrites: Iterable[int] = (),
    *,
    happens: bool = False,
) -> Track:
    """Give the track of a leaf; looks at each fork of the session once."""
    own_from = _own_from(session, leaf)
    return Track(leaf, tuple(stops), frozenset(rewrites), own_from, happens)


def _own_from(session: Session, leaf: int) -> int:
    """Give the depth below the last fork where the way to a leaf is not that of the heirs."""
    tree, end, own_from = session.tree, session.tree.depth(leaf), 0
    for fork in tree.forks():
        depth = tree.depth(fork) + 1
        if own_from < depth <= end and tree.is_ancestor(fork, leaf):
            taken = tree.ancestor_at(leaf, depth)
            own_from = own_from if taken == session.heir(fork) else depth
    return own_from


def number_of(value: Any) -> float | None:
    """Give a value as a number to draw, of a list how long it is; None for what is neither."""
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, list):
        return float(len(as_list(value)))
    return float(max(min(value, EXACT), -EXACT)) if isinstance(value, int) else None


class Drawn(NamedTuple):
    """What a track has in one column of the scrubber.

    `level` is the value between the least, 0, and the largest, 1; None where it has no scale.
    """

    is_there: bool
    changes: bool
    level: float | None = None


def drawn_columns(
    track: Track, session: Session, columns: Sequence[Column]
) -> tuple[Drawn | None, ...]:
    """Give what to draw of a track in each column; None where no row is on its path."""
    stretches = sorted(session.tree.stretches_above(track.leaf))
    scale, rows, width = track.scale, len(session), len(columns)
    drawn = [_drawn(track, session, each, stretches, scale) for each in columns]
    for place, each in enumerate(drawn if rows < width else ()):
        # A row that is several columns wide has its change in one.
        if each is not None and column_of(columns[place].first, rows, width) != place:
            drawn[place] = each._replace(changes=False)
    return tuple(drawn)


def _drawn(
    track: Track,
    session: Session,
    column: Column,
    stretches: Sequence[tuple[int, int]],
    scale: tuple[float, float] | None,
) -> Drawn | None:
    first = bisect_right(stretches, (column.first, column.first)) - 1
    last = bisect_right(stretches, (column.last + 1, NO_ROW)) - 1
    spans = [
        (max(begin, column.first), min(end - 1, column.last))
        for begin, end in stretches[max(first, 0) : last + 1]
        if begin <= column.last and end > column.first
    ]
    if not spans:
        return None
    depth_of = session.tree.depth
    changes = any(_has_stop(track, depth_of(begin), depth_of(end)) for begin, end in spans)
    stop = track.at(depth_of(spans[-1][1]))
    is_there = stop is not None and stop.is_there
    if stop is None or stop.number is None or scale is None:
        return Drawn(is_there, changes)
    low, high = scale
    return Drawn(is_there, changes, (stop.number - low) / (high - low))


def _has_stop(track: Track, first: int, last: int) -> bool:
    stop = track.since(last)
    return stop is not None and stop.depth >= first


def _depth(stop: Stop) -> int:
    return stop.depth
