"""Holding: at which checkpoints of a session a condition holds, found in one walk over its tree.

Each row is asked once. A condition of single checkpoints needs no path, so that one can begin
anywhere. Any other is followed: what it has in mind where a branch leaves a path is copied, so
that the rows above are shared. Where it stays true, it is told where it becomes so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import overload

import msgspec

from tt_debugger.core.changes import Change, LiveState
from tt_debugger.core.conditions import At, Condition, FollowingCondition
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body
from tt_debugger.core.search import Found, Hit
from tt_debugger.core.tree import NO_ROW

BATCH_ROWS = 256

ChangesAlong = Callable[[Sequence[int]], Iterator[tuple[Change, ...]]]
"""Gives the changes of rows of which each is the parent of the next."""
BodyOf = Callable[[int], Body]


class Occasions(msgspec.Struct, frozen=True):
    """A condition as something to look for; with `is_each` wherever it holds.

    Else one that stays true is found where it becomes true, and again after it was false.
    """

    condition: Condition
    is_each: bool = False

    @property
    def text(self) -> str:
        """What was asked."""
        return self.condition.text

    @property
    def begins_anywhere(self) -> bool:
        """Whether they can be looked for from any row on, without those above it."""
        return self.condition.is_of_checkpoints


def occasions(
    session: Session,
    sought: Occasions,
    start: int,
    changes_along: ChangesAlong,
    body: BodyOf,
) -> Iterator[Found]:
    """Find where a condition holds, a batch at a time; one of checkpoints from a row on.

    What is found is the summary of a row.
    """
    if sought.condition.is_of_checkpoints:
        yield from _one_by_one(session, sought.condition, start, changes_along, body)
    else:
        yield from _Walk(session, sought, changes_along, body).found()


def _one_by_one(
    session: Session,
    condition: Condition,
    start: int,
    changes_along: ChangesAlong,
    body: BodyOf,
) -> Iterator[Found]:
    size, done = len(session), 0
    for begin, end in ((start, size), (0, start)):
        for rows in _batches(range(begin, end)):
            asked = ((row, _Changes(row, changes_along)) for row in rows)
            hits = [
                _hit(session, row)
                for row, changes in asked
                if condition.holds(At(session, row, changes, None, partial(body, row)))
            ]
            done += len(rows)
            yield Found(tuple(hits), done, size, is_indexed=True)


class _Changes(Sequence[Change]):
    """What a row did, read when somebody looks: most conditions know from the index."""

    def __init__(self, row: int, changes_along: ChangesAlong) -> None:
        self._row = row
        self._changes_along = changes_along

    @cached_property
    def _known(self) -> tuple[Change, ...]:
        return next(self._changes_along((self._row,)))

    def __len__(self) -> int:
        return len(self._known)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self._known[index]

    def __iter__(self) -> Iterator[Change]:
        return iter(self._known)


def _runs(session: Session, rows: Sequence[int]) -> Iterator[Sequence[int]]:
    """Part rows into runs in which each is the parent of the next."""
    parents, begin = session.parents, 0
    for place, (before, row) in enumerate(pairwise(rows), 1):
        if parents[row] != before:
            yield rows[begin:place]
            begin = place
    if begin < len(rows):
        yield rows[begin:]


def _batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[begin : begin + BATCH_ROWS] for begin in range(0, len(rows), BATCH_ROWS))


def _hit(session: Session, row: int) -> Hit:
    head = session.heads[row]
    return Hit(row, "", head.summary or head.name or str(head.kind), "")


class _Tip(msgspec.Struct):
    """How far one way down the tree is: the state there, and what the condition has in mind."""

    live: LiveState
    following: FollowingCondition
    held: bool = False

    def parted(self) -> _Tip:
        """Give another one at the same place; the state of both is written to by neither."""
        state = self.live.value
        self.live = LiveState(state)
        return _Tip(LiveState(state), self.following.copied(), self.held)


class _Walk:
    """A walk over the whole tree, each row after its parent, in storage order where it can be."""

    def __init__(
        self, session: Session, sought: Occasions, changes_along: ChangesAlong, body: BodyOf
    ) -> None:
        self._session = session
        self._condition = sought.condition
        self._is_each = sought.is_each or sought.condition.happens
        self._changes_along = changes_along
        self._body = body
        tree = session.tree
        is_in_order = tree.has_parents_first
        order = range(len(session)) if is_in_order else tree.parents_first()
        self._order: Sequence[int] = order
        self._is_in_order = is_in_order
        self._awaited = Counter(session.parents[run[0]] for run in _runs(session, order))
        """How many runs are yet to begin below a row."""
        self._tips: dict[int, _Tip] = {}

    def found(self) -> Iterator[Found]:
        """Walk, and tell in batches."""
        size, done = len(self._session), 0
        for run in _runs(self._session, self._order):
            tip = self._tip_above(run[0])
            for rows in _batches(run):
                hits = tuple(self._down(rows, tip))
                done += len(rows)
                # Only rows in storage order are counted from the first.
                told = done if self._is_in_order or done == size else 0
                yield Found(hits, told, size, is_indexed=True)

    def _tip_above(self, row: int) -> _Tip:
        """Give where a run goes on from; the last that does takes what is there itself."""
        parent = self._session.parents[row]
        if parent == NO_ROW:
            return _Tip(LiveState({}), self._condition.following())
        self._awaited[parent] -= 1
        return self._tips[parent].parted() if self._awaited[parent] else self._tips.pop(parent)

    def _down(self, rows: Sequence[int], tip: _Tip) -> Iterator[Hit]:
        held = tip.held
        for row in self._steps(rows, tip):
            if tip.held and (self._is_each or not held):
                yield _hit(self._session, row)
            held = tip.held
            if self._awaited.get(row):
                self._tips[row] = tip.parted()

    def _steps(self, rows: Sequence[int], tip: _Tip) -> Iterator[int]:
        """Go down some rows, each the parent of the next; the tip is told each."""
        condition, session = self._condition, self._session
        if condition.needs_state:
            along = self._changes_along(rows)
        else:
            along = (_Changes(row, self._changes_along) for row in rows)
        for row, changes in zip(rows, along, strict=True):
            if condition.needs_state:
                tip.live.apply(changes)
            at = At(session, row, changes, tip.live.value, partial(self._body, row))
            tip.held = tip.following.holds(at)
            yield row
