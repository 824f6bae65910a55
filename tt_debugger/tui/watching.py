"""Watching: what is watched in a session, what is known of it, and who waits for more."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator

import msgspec

from tt_debugger.core.history import Watched
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Session
from tt_debugger.core.tracks import Stop, Track
from tt_debugger.core.watch import Watch
from tt_debugger.tui.tracker import (
    Asked,
    ChangeFound,
    Reached,
    Tracked,
    Tracker,
    TrackFailed,
    Tracking,
)
from tt_debugger.views.values import preview
from tt_debugger.views.watched import Seen

KEPT = 256
"""Tracks that are kept, more than there are lines on a screen."""
UNKNOWN = ""


class Leap(msgspec.Struct, frozen=True):
    """Where a jump to a change leads, and how to say so; without a row it leads nowhere."""

    watch: Watch
    start: int
    row: int | None
    said: str


class Watching:
    """The watches of one session; the tracker works for them and tells here what it found."""

    def __init__(self, arrow: str) -> None:
        self._arrow = arrow
        self.watches: tuple[Watch, ...] = ()
        self.chosen: Watch | None = None
        """The one that keys, column and graph go by: the last one that was used."""
        self.shows_column = True
        self.on_missing: Callable[[], None] = _nobody
        """Called when something was looked for that is not known."""
        self._tracker: Tracker | None = None
        self._session: Session | None = None
        self._tracks: OrderedDict[tuple[str, int], Track] = OrderedDict()
        self._percents: dict[str, int] = {}
        self._failed: set[tuple[str, int]] = set()
        self._missing: dict[int, None] = {}
        self._row = 0
        self._awaited: tuple[Watch, int, int] | None = None
        """The watch, the row and the direction of a jump that somebody waits for."""

    def adopt(self, session: Session, tracker: Tracker | None, kept: int = 0) -> None:
        """Work on this session from now on, of which so many rows are as they were."""
        before = self._session
        if before is None or kept < len(before):
            self._tracks.clear()
        self._session, self._tracker = session, tracker
        self._missing.clear()
        self._failed.clear()
        self._percents.clear()
        self._awaited = None

    def toggle(self, watch: Watch) -> bool:
        """Watch something, or no longer if it is watched; tell whether it is now."""
        known = self.known(watch)
        if known is None:
            self.watches = (*self.watches, watch)
            self.chosen = watch
            return True
        self.drop(known)
        return False

    def drop(self, watch: Watch) -> None:
        """Watch something no longer; the one that was taken before it is the chosen one then."""
        self.watches = tuple(each for each in self.watches if each.key != watch.key)
        if self.chosen is not None and self.chosen.key == watch.key:
            self.chosen = self.watches[-1] if self.watches else None
        self._percents.pop(watch.key, None)

    @property
    def texts(self) -> tuple[str, ...]:
        """What makes the same watches again, the chosen one last."""
        chosen = self.chosen
        others = (each.text for each in self.watches if each is not chosen)
        return (*others, *(() if chosen is None else (chosen.text,)))

    def known(self, watch: Watch) -> Watch | None:
        """Give the watch that asks the same, None where nothing does."""
        return next((each for each in self.watches if each.key == watch.key), None)

    @property
    def is_settled(self) -> bool:
        """Whether nothing is waited for that is being looked for."""
        watch = self.chosen
        failed = (watch is None or (watch.key, row) in self._failed for row in self._missing)
        return self._awaited is None and all(failed)

    # What is known

    def track(self, watch: Watch, row: int, *, goes_on: bool = False) -> Track | None:
        """Give a track that a row is on; where the branch goes on is only known of its own."""
        session, found = self._session, None
        if session is None:
            return None
        for key, track in reversed(self._tracks.items()):
            if key[0] != watch.key or not track.holds(session, row):
                continue
            if track.goes_on_from(session, row):
                return track
            found = found or track
        return None if goes_on else found

    def cell(self, row: int) -> tuple[str, bool] | None:
        """Give the chosen value at a row and whether it changed there; None if that is not known.

        What is not known is looked for.
        """
        watch, session = self.chosen, self._session
        if watch is None or session is None:
            return None
        track = self.track(watch, row)
        if track is None:
            if not self._missing:
                self.on_missing()
            self._missing[row] = None
            return None
        depth = session.tree.depth(row)
        return said_at(watch, track, depth) or UNKNOWN, _is_at(track.since(depth), depth)

    def seen(self, row: int, inspection: Inspection | None = None) -> tuple[Seen, ...]:
        """Give each watched value at a row."""
        return tuple(self._seen(each, row, inspection) for each in self.watches)

    def _seen(self, watch: Watch, row: int, inspection: Inspection | None) -> Seen:
        session, track = self._session, self.track(watch, row)
        is_chosen = watch is self.chosen and len(self.watches) > 1
        value = None
        if watch.path is not None and isinstance(watch.asked, Watched) and inspection is not None:
            found = watch.asked.value(inspection.state)
            value = None if found is msgspec.UNSET else preview(found)
        if session is None or track is None:
            return Seen(
                watch.name,
                value,
                percent=self._percents.get(watch.key, 0),
                is_unknown=(watch.key, row) in self._failed,
                happens=watch.happens,
                is_chosen=is_chosen,
                is_place=watch.path is not None,
            )
        depth = session.tree.depth(row)
        last, coming = track.since(depth), None
        before = None if last is None else track.last(last.depth)
        if track.goes_on_from(session, row):
            coming = track.next(depth)
        return Seen(
            watch.name,
            said_at(watch, track, depth) if value is None else value,
            _sign(watch, track, row, last, before),
            _before(watch, last, before),
            None if last is None else last.row,
            0 if last is None else depth - last.depth,
            None if coming is None else coming.row,
            happens=watch.happens,
            is_chosen=is_chosen,
            is_place=watch.path is not None,
        )

    # What is looked for

    def look_at(self, row: int) -> None:
        """Look for what is not known at a row, then at the others that are drawn."""
        self._row = row
        tracker, session = self._tracker, self._session
        if tracker is None or session is None:
            return
        wanted = [
            each
            for each in dict.fromkeys((self.chosen, *self.watches))
            if each is not None and self.track(each, row, goes_on=True) is None
        ]
        asked = [self._asked(session, each, row) for each in wanted]
        asked += self._asked_for_column(session)
        tracker.want([each for each in asked if (each.watch.key, each.row) not in self._failed])

    def _asked_for_column(self, session: Session) -> Iterator[Asked]:
        watch = self.chosen
        if watch is None:
            return
        self._missing = {row: None for row in self._missing if self.track(watch, row) is None}
        yield from (self._asked(session, watch, row) for row in self._missing)

    def forget_missing(self) -> None:
        """Look no longer for what was not known of lines that are drawn no longer."""
        self._missing.clear()

    def _asked(self, session: Session, watch: Watch, row: int) -> Asked:
        known = (track for key, track in self._tracks.items() if key[0] == watch.key)
        return Asked(session, watch, row, tuple(known))

    def hear(self, message: Tracked) -> bool:
        """Hear what was found; tell whether it is of use."""
        asked, track = message.asked, message.track
        if asked.session is not self._session:
            return False
        key = (asked.watch.key, track.leaf)
        self._tracks[key] = track
        self._tracks.move_to_end(key)
        self._percents.pop(asked.watch.key, None)
        while len(self._tracks) > KEPT:
            self._tracks.popitem(last=False)
        return True

    def hear_progress(self, message: Tracking) -> bool:
        """Hear how far a walk is; tell whether that is of use."""
        asked = message.asked
        is_own = asked.session is self._session
        if is_own and self.track(asked.watch, self._row, goes_on=True) is None:
            self._percents[asked.watch.key] = message.percent
            return True
        return False

    def hear_failure(self, message: TrackFailed) -> bool:
        """Hear what cannot be found; it is asked for no more."""
        if message.asked.session is not self._session:
            return False
        self._failed.add((message.asked.watch.key, message.asked.row))
        self._awaited = None
        return True

    # Jumps

    def leap(self, watch: Watch, row: int, step: int) -> Leap | None:
        """Give where the last change above a row is, or the next one; None while it is looked for.

        Then `awaited` gives it once it is there, or `found`.
        """
        session = self._session
        if session is None:
            return None
        self._awaited = None
        track = self.track(watch, row, goes_on=step > 0)
        if track is not None:
            return self._leap(watch, track, session, row, step)
        self._awaited = (watch, row, step)
        self._failed.discard((watch.key, row))
        if self.known(watch) is not None:
            self.look_at(self._row)
        elif self._tracker is not None:
            # No track is kept of what is not watched.
            self._tracker.find_change(self._asked(session, watch, row), step)
        return None

    def awaited(self) -> Leap | None:
        """Give the jump that somebody waits for, if its track is there by now."""
        session = self._session
        if self._awaited is None or session is None:
            return None
        watch, row, step = self._awaited
        track = self.track(watch, row, goes_on=step > 0)
        if track is None:
            return None
        self._awaited = None
        return self._leap(watch, track, session, row, step)

    def _leap(self, watch: Watch, track: Track, session: Session, row: int, step: int) -> Leap:
        depth = session.tree.depth(row)
        stop = track.last(depth) if step < 0 else track.next(depth)
        if stop is None:
            return Leap(watch, row, None, _nowhere(watch, track.since(depth), row, step))
        if watch.happens:
            return Leap(watch, row, stop.row, f"{watch.name}: row {stop.row + 1}")
        before = track.last(stop.depth)
        old = None if before is None else before.said
        return Leap(watch, row, stop.row, self._changed(watch, Reached(stop.row, old, stop.said)))

    def awaits(self, asked: Asked) -> bool:
        """Tell whether somebody waits for a jump by what is being worked out."""
        return self._awaited is not None and self._awaited[0].key == asked.watch.key

    def found(self, message: ChangeFound) -> Leap | None:
        """Hear where a change is; give the jump, if it is still waited for."""
        asked, awaited = message.asked, self._awaited
        if awaited is None or asked.session is not self._session:
            return None
        watch, row, step = awaited
        if (watch.key, row, step) != (asked.watch.key, asked.row, message.step):
            return None
        self._awaited = None
        change = message.reached
        if change is None:
            return Leap(watch, row, None, _nowhere(watch, None, row, step))
        return Leap(watch, row, change.row, self._changed(watch, change))

    def _changed(self, watch: Watch, change: Reached) -> str:
        old, new = _told(watch, change.old), _told(watch, change.new)
        return f"{watch.name}: {old} {self._arrow} {new} at row {change.row + 1}"

    def wait_no_longer(self) -> None:
        """Forget the jump that somebody waited for."""
        self._awaited = None


def _nowhere(watch: Watch, here: Stop | None, row: int, step: int) -> str:
    verb = "happen" if watch.happens else "change"
    if step > 0:
        after = row if here is None else here.row
        return f"{watch.name}: does not {verb} after row {after + 1} on this branch"
    if watch.happens:
        return f"{watch.name}: does not happen before row {row + 1}"
    if here is not None and here.row == row:
        first = "first holds" if watch.condition is not None else "first set"
        return f"{watch.name}: {first} at row {row + 1}"
    no = "not written" if watch.path is not None else "no change"
    return f"{watch.name}: {no} before row {row + 1}"


def _told(watch: Watch, said: str | None) -> str:
    if said is not None:
        return said
    return "not there" if watch.condition is None else "no"


def said_at(watch: Watch, track: Track, depth: int) -> str | None:
    """Give the value at a depth in few words; a condition is false where it never was true."""
    stop = track.at(depth)
    if stop is not None:
        return stop.said
    return "no" if watch.condition is not None and not watch.happens else None


def _is_at(stop: Stop | None, depth: int) -> bool:
    return stop is not None and stop.depth == depth


def _sign(watch: Watch, track: Track, row: int, last: Stop | None, before: Stop | None) -> str:
    """Give how a value changed at a row: + ~ - or = for written anew with the value it had."""
    if last is None or last.row != row:
        return "=" if row in track.rewrites else ""
    if not last.is_there:
        return "-"
    was_there = watch.condition is not None or (before is not None and before.is_there)
    return "~" if was_there else "+"


def _before(watch: Watch, last: Stop | None, before: Stop | None) -> str | None:
    """Give what was there before the last change; a condition is false above the first."""
    if before is not None:
        return before.said
    return "no" if watch.condition is not None and not watch.happens and last is not None else None


def _nobody() -> None:
    """Stand in until somebody draws what is watched."""
