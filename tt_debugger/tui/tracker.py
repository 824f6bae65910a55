"""The tracker: works out in a thread where what is watched changed, and posts what it found.

One thread does one branch after the other; what is asked for anew takes the place of what still
waits, and what is at work goes on if it is still wanted. An answer carries its session and row.
"""

# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false
# Textual leaves the type parameters of `Screen` and `Worker` open.
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from threading import Lock
from typing import Any, TypeVar

import msgspec
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.history import Moment, Watched, history, turns
from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.model import Session
from tt_debugger.core.touches import writes
from tt_debugger.core.tracks import Stop, Track, number_of, track_of
from tt_debugger.core.tree import NO_ROW
from tt_debugger.core.watch import Watch
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.sparing import sparingly
from tt_debugger.views.values import preview
from tt_debugger.views.watched import CELL

MOST_REWRITES = 64
"""Rows that wrote a value as it was, after which its changes are rather found by a walk."""
NEAR = 256
"""Rows below what is known already that are asked for one by one, and not by a walk."""
TOLD_EVERY = 1000
"""Rows after which it is told how far a walk is."""

T = TypeVar("T")


class Asked(msgspec.Struct, frozen=True, eq=False):
    """That the track of a watch is wanted on the branch of a row; `known` are those there are."""

    session: Session
    watch: Watch
    row: int
    known: tuple[Track, ...] = ()

    def is_answered_with(self, other: Asked, leaf: int | None) -> bool:
        """Tell whether the track of another, to this leaf where that is known, is the answer.

        Else it is taken for one where both rows are on one path.
        """
        if (self.session, self.watch.key) != (other.session, other.watch.key):
            return False
        above = self.session.tree.is_ancestor
        if leaf is not None:
            return above(self.row, leaf)
        return above(self.row, other.row) or above(other.row, self.row)


class Tracked(Message):
    """The track is there."""

    def __init__(self, asked: Asked, track: Track) -> None:
        super().__init__()
        self.asked = asked
        self.track = track


class Tracking(Message):
    """So much of the branch is walked, in percent."""

    def __init__(self, asked: Asked, percent: int) -> None:
        super().__init__()
        self.asked = asked
        self.percent = percent

    def can_replace(self, message: Message) -> bool:
        """Take the place of an older figure."""
        return isinstance(message, Tracking)


class TrackFailed(Message):
    """The branch cannot be walked."""

    def __init__(self, asked: Asked, error: TtdbgError) -> None:
        super().__init__()
        self.asked = asked
        self.error = error


class Reached(msgspec.Struct, frozen=True):
    """A row at which a value changed, and what it was and became in few words."""

    row: int
    old: str | None
    new: str | None


class ChangeFound(Message):
    """The last change of a place above a row, or the next one, is found; None where none is."""

    def __init__(self, asked: Asked, step: int, reached: Reached | None) -> None:
        super().__init__()
        self.asked = asked
        self.step = step
        self.reached = reached


class _NoLongerWantedError(Exception):
    """The walk was given up."""


class Tracker:
    """Walks the branches of an open session."""

    def __init__(self, screen: Screen[Any], debugger: Debugger) -> None:
        self._screen = screen
        self._debugger = debugger
        self._lock = Lock()
        self._waiting: list[Asked] = []
        self._doing: Asked | None = None
        self._leaf: int | None = None
        """The leaf that it leads to, once that is known."""
        self._is_given_up = False
        """Whether nobody waits any more for what is at work."""
        self._is_at_work = False

    def want(self, wanted: Sequence[Asked]) -> None:
        """Work these out, the first one first, and nothing else any more."""
        with self._lock:
            self._waiting = [each for each in wanted if not self._is_at(each)]
            self._is_given_up = len(self._waiting) == len(wanted)
            begins = bool(self._waiting) and not self._is_at_work
            self._is_at_work = self._is_at_work or begins
        if begins:
            self._screen.run_worker(sparingly(self._work), thread=True, group="watch")

    def _is_at(self, asked: Asked) -> bool:
        """Tell whether what is at work will answer."""
        return self._doing is not None and asked.is_answered_with(self._doing, self._leaf)

    def find_change(self, asked: Asked, step: int) -> None:
        """Look for the last change of a place, or the next one, without a walk over its branch."""
        work = sparingly(partial(self._find_change, asked, step))
        self._screen.run_worker(work, thread=True, group="change", exclusive=True)

    def _find_change(self, asked: Asked, step: int) -> None:
        worker, told = get_current_worker(), 0

        def tell(done: int, of: int) -> None:
            nonlocal told
            percent = done * 100 // max(of, 1)
            if percent != told:
                told = percent
                if not worker.is_cancelled:
                    self._screen.post_message(Tracking(asked, percent))

        try:
            self._debugger.touches(tell)
            answer = self._change(asked, step)
        except TtdbgError as error:
            self._fail(asked, error)
            return
        self._screen.post_message(answer)

    def _change(self, asked: Asked, step: int) -> ChangeFound | Tracked:
        """Give the change; the whole track where the value was mostly written as it was."""
        debugger, path, row = self._debugger, asked.watch.path or (), asked.row
        parents = asked.session.parents
        for _ in range(MOST_REWRITES):
            above = parents[row]
            if step < 0:
                found = None if above == NO_ROW else debugger.last_change(above, path)
            else:
                found = debugger.next_change(row, path)
            if found is None:
                return ChangeFound(asked, step, None)
            row, above = found, parents[found]
            old = msgspec.UNSET if above == NO_ROW else _value(asked, debugger.state(above))
            new = _value(asked, debugger.state(row))
            if not is_same(old, new):
                return ChangeFound(asked, step, Reached(row, said_of(old), said_of(new)))
        return Tracked(asked, self._track(asked))

    def _work(self) -> None:
        while (asked := self._taken()) is not None:
            try:
                track = self._track(asked)
            except _NoLongerWantedError:
                continue
            except TtdbgError as error:
                self._fail(asked, error)
            else:
                self._screen.post_message(Tracked(asked, track))

    def _taken(self) -> Asked | None:
        """Take the next one to work out; None, and an end, where nothing waits."""
        with self._lock:
            self._doing = self._waiting.pop(0) if self._waiting else None
            self._is_given_up, self._leaf = False, None
            self._is_at_work = self._doing is not None
            return self._doing

    def _fail(self, asked: Asked, error: TtdbgError) -> None:
        # The rows of a session that has changed are others; it is asked for anew.
        if asked.session is self._debugger.session:
            self._screen.post_message(TrackFailed(asked, error))

    def _track(self, asked: Asked) -> Track:
        session, watch = asked.session, asked.watch
        self._give_up_if_stale(asked)
        leaf = leaf_of(session, asked.row)
        if asked is self._doing:
            self._leaf = leaf
        tree, end = session.tree, session.tree.depth(leaf)
        # What is known above is longest where the paths part last.
        parts = [(tree.common_ancestor(each.leaf, leaf), each) for each in asked.known]
        above, near = max(
            ((tree.depth(row), each) for row, each in parts if row != NO_ROW),
            key=lambda each: each[0],
            default=(NO_ROW, None),
        )
        if near is not None and end - above <= NEAR:
            stops, rewrites = self._continued(asked, near, above, leaf)
        else:
            stops, rewrites = self._walked(asked, leaf)
        self._give_up_if_stale(asked)
        return track_of(session, leaf, stops, rewrites, happens=watch.happens)

    def _give_up_if_stale(self, asked: Asked) -> None:
        if self._is_given_up or asked.session is not self._debugger.session:
            raise _NoLongerWantedError

    def _walked(self, asked: Asked, leaf: int) -> tuple[list[Stop], list[int]]:
        """Give stops and rewrites by a walk from the root."""
        session, asks = asked.session, asked.watch.asked
        rows = session.tree.path_to(leaf)
        if isinstance(asks, Watched):
            changes = self._counted(asked, self._debugger.changes_along(rows), len(rows))
            moments = history(rows, changes, asks)
        else:
            truths = self._counted(asked, self._debugger.following(asks, rows), len(rows))
            moments = turns(rows, truths, happens=asked.watch.happens)
        return _stops(session, asked.watch, moments)

    def _counted(self, asked: Asked, steps: Iterable[T], size: int) -> Iterator[T]:
        """Give the steps of a walk, tell how far it is, and end it where nobody waits any more."""
        for done, step in enumerate(steps):
            if done % TOLD_EVERY == 0:
                self._give_up_if_stale(asked)
                if done:
                    self._screen.post_message(Tracking(asked, done * 100 // size))
            yield step

    def _continued(
        self, asked: Asked, known: Track, above: int, leaf: int
    ) -> tuple[list[Stop], list[int]]:
        """Give stops and rewrites of what is known down to a depth, and of the rows below it."""
        tree = asked.session.tree
        depths = range(above + 1, tree.depth(leaf) + 1)
        rows = [tree.ancestor_at(leaf, depth) for depth in depths]
        moments = self._moments(asked, tree.ancestor_at(leaf, above), rows)
        stops, rewrites = _stops(asked.session, asked.watch, moments)
        kept = [each for each in known.stops if each.depth <= above]
        # The other branch wrote on rows of its own.
        old = [row for row in known.rewrites if tree.is_ancestor(row, leaf)]
        return [*kept, *stops], [*old, *rewrites]

    def _moments(self, asked: Asked, above: int, rows: Sequence[int]) -> Iterator[Moment]:
        """Give the moments of rows below one, from the states at them."""
        debugger, asks = self._debugger, asked.watch.asked
        if not isinstance(asks, Watched):
            truths = [debugger.holds(asks, row) for row in (above, *rows)]
            found = turns((above, *rows), truths, happens=asked.watch.happens)
            yield from (each for each in found if each.row != above)
            return
        was = asks.value(debugger.state(above))
        for row, changes in zip(rows, debugger.changes_along(rows), strict=True):
            self._give_up_if_stale(asked)
            value = asks.value(debugger.state(row))
            if not is_same(was, value):
                yield Moment(row, value, is_rewrite=False)
            elif asks.path is not None and value is not msgspec.UNSET:
                before = partial(debugger.state, asked.session.parents[row])
                if writes(changes, asks.path, before):
                    yield Moment(row, value, is_rewrite=True)
            was = value


def _value(asked: Asked, state: State) -> Any:
    asks = asked.watch.asked
    return asks.value(state) if isinstance(asks, Watched) else msgspec.UNSET


def _stops(
    session: Session, watch: Watch, moments: Iterable[Moment]
) -> tuple[list[Stop], list[int]]:
    """Give the stops among some moments, and the rows that wrote what was there."""
    stops: list[Stop] = []
    rewrites: list[int] = []
    depth, is_condition = session.tree.depth, watch.condition is not None
    for moment in moments:
        if moment.is_rewrite:
            rewrites.append(moment.row)
        else:
            said = said_of(moment.value, is_condition=is_condition)
            number = number_of(moment.value)
            stops.append(Stop(moment.row, depth(moment.row), said, number))
    return stops, rewrites


def said_of(value: Any, *, is_condition: bool = False) -> str | None:
    """Give a value in few words, None where there is none."""
    if value is msgspec.UNSET:
        return None
    if is_condition:
        return "yes" if value else "no"
    return preview(value, CELL)
