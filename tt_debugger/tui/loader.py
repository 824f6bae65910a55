"""The loader: the only place of the UI that waits. It works in threads and posts what it found.

An answer carries its question, so that the screen can drop one it no longer wants. Around the
row that was asked for, the neighbours are read ahead, so that stepping is answered at once.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from itertools import islice
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.completion import Completer
from tt_debugger.core.filters import Chosen, Filter, Where
from tt_debugger.core.folds import Folding
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.outline import Outline, outline
from tt_debugger.core.refs import Fragment, Point
from tt_debugger.core.scrub import ScrubIndex, scrub_index
from tt_debugger.core.search import Found, Hit, Query
from tt_debugger.core.tree import NO_ROW
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, TtdbgError
from tt_debugger.opening import split_location, tail_of
from tt_debugger.storage.watch import Watch, written_at
from tt_debugger.tui.sparing import spare, spare_no_longer, sparingly

if TYPE_CHECKING:
    from tt_debugger.core.fork.made import Made
    from tt_debugger.core.holding import Occasions
    from tt_debugger.tui.bisecting import Question
    from tt_debugger.tui.blamer import Blamer
    from tt_debugger.tui.comparer import Comparer
    from tt_debugger.tui.exporter import Exporter
    from tt_debugger.tui.forker import Forker
    from tt_debugger.tui.tallier import Tallier
    from tt_debugger.tui.tracker import Tracker
    from tt_debugger.views.palette import Glyphs, Palette

IMPORTED_AHEAD = (
    "tt_debugger.tui.screens.compare",
    "tt_debugger.tui.screens.export",
    "tt_debugger.tui.screens.fork",
)
"""Screens that are imported as soon as the first rows are painted."""
AHEAD = 16
"""Rows that are read ahead on both sides of the cursor, as soon as half of them are not known."""
AFTER_PAINTING = 0.03
"""Seconds after which a step is painted."""
UNSEEN = 0.25
"""Seconds after which a session is read on, even if its glimpse was not painted."""
COMPLETED_AHEAD = 50_000
"""Rows up to which refs are made completable before anybody asks for it."""
GLIMPSED = 3
"""Messages that are shown before a state that takes a while."""
READ_PERCENT = 30
"""How much of the work is done, in percent, when the places of all records are known."""
FRESH = 600.0
"""Seconds for which a session that was written to is taken for one that is being written."""
KEPT = 256
"""Inspections that are kept: each has lists as long as its path is deep."""
KEPT_BYTES = 32 << 20
"""Bytes of records whose inspections are kept."""


Sought: TypeAlias = "Query | Occasions"
"""What one may search for: a text, or where a condition holds."""


class Opening(Message):
    """So much of the location was read, in percent."""

    def __init__(self, percent: int) -> None:
        super().__init__()
        self.percent = percent


class Outlined(Message):
    """The lines to show, and the row to put the cursor on, or on what stands for it."""

    def __init__(self, outline: Outline, row: int) -> None:
        super().__init__()
        self.outline = outline
        self.row = row


class Glimpsed(Message):
    """The newest checkpoints, while the others are read; the rows are those of the tail alone."""

    def __init__(self, tail: Session, outlined: Outlined) -> None:
        super().__init__()
        self.tail = tail
        self.outlined = outlined


class Opened(Message):
    """The session is there, with what to show of it and the row to begin at."""

    def __init__(
        self,
        session: Session,
        outlined: Outlined,
        scrubbed: ScrubIndex,
        marks: Mapping[str, str],
    ) -> None:
        super().__init__()
        self.session = session
        self.outlined = outlined
        self.scrubbed = scrubbed
        self.marks = marks


class MayHaveGrown(Message):
    """What the location holds may have changed."""

    def can_replace(self, message: Message) -> bool:
        """Take the place of an older hint."""
        return isinstance(message, MayHaveGrown)


class Regrown(Message):
    """What the session has become since it was shown, to be shown in place of it.

    `kept` of its rows are as they were; `is_anew` says that its file was cut or replaced.
    """

    def __init__(self, opened: Opened, kept: int, *, is_anew: bool) -> None:
        super().__init__()
        self.opened = opened
        self.kept = kept
        self.is_anew = is_anew


class Unchanged(Message):
    """The session is still what is shown; an error says why more is not known."""

    def __init__(self, error: TtdbgError | None = None) -> None:
        super().__init__()
        self.error = error


class OpenFailed(Message):
    """The location cannot be opened."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class RowInspected(Message):
    """A row that was asked for was read."""

    def __init__(self, inspection: Inspection) -> None:
        super().__init__()
        self.inspection = inspection


class RowGlimpsed(Message):
    """The last messages at a row whose state takes a while."""

    def __init__(self, row: int, messages: tuple[Any, ...]) -> None:
        super().__init__()
        self.row = row
        self.messages = messages


class InspectFailed(Message):
    """A row that was asked for cannot be read."""

    def __init__(self, row: int, error: TtdbgError) -> None:
        super().__init__()
        self.row = row
        self.error = error


class Searched(Message):
    """A search has come so far."""

    def __init__(self, sought: Sought, found: Found) -> None:
        super().__init__()
        self.sought = sought
        self.found = found


class Selected(Message):
    """It is known which rows a condition shows, or why that cannot be told."""

    def __init__(self, condition: str, where: Where | TtdbgError) -> None:
        super().__init__()
        self.condition = condition
        self.where = where


class Completes(Message):
    """Refs can be completed now."""

    def __init__(self, completer: Completer) -> None:
        super().__init__()
        self.completer = completer


class Marked(Message):
    """A row has a mark; these are all marks now, from name to checkpoint id."""

    def __init__(self, name: str, row: int, marks: Mapping[str, str]) -> None:
        super().__init__()
        self.name = name
        self.row = row
        self.marks = marks


class Subsession(NamedTuple):
    """A session that a row started: its name, where it is, and its row if it is in this one.

    Without a location it is not there.
    """

    name: str
    location: str | None
    fragment: Fragment = Fragment()
    row: int | None = None


class SubsessionsFound(Message):
    """The sessions that a row started, its commits, or what made it were looked for."""

    def __init__(self, row: int, found: Sequence[Subsession]) -> None:
        super().__init__()
        self.row = row
        self.found = found


class ForksFound(Message):
    """The forks that were made of the session are known, by the checkpoint they begin at."""

    def __init__(self, forks: Mapping[str, Sequence[Made]]) -> None:
        super().__init__()
        self.forks = forks


class Failed(Message):
    """Something that was asked for could not be done."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class _NoLongerWantedError(TtdbgError):
    """The work was cancelled while it was done."""


class Loader:
    """Opens one location for a screen and reads its checkpoints."""

    def __init__(self, screen: Screen[Any], location: str, fragment: Fragment) -> None:
        self._screen = screen
        self._location = location
        self._fragment = fragment
        self._debugger: Debugger | None = None
        self._known: OrderedDict[int, Inspection] = OrderedDict()
        self._known_bytes = 0
        self._keeping = Lock()
        self._read_ahead_from: int | None = None
        """The row around which reading ahead is due."""
        self._is_left = Event()
        self._answered = asyncio.Event()
        self._glimpse_is_seen = Event()
        self._watch: Watch | None = None
        self._written = 0.0
        """When the session was written to, as far as it is seen, in seconds since 1970."""
        self._kept: int | None = None
        """How many rows that the screen shows still stand; None if it shows the newest session."""
        self._is_anew = False
        self._is_reading_on = False
        self._rests_until = 0.0
        """When it is time to read on again: what takes long is not to take all the time."""

    def open(self, chosen: Chosen, folding: Folding, row: int | None) -> None:
        """Begin to open the location, at a row, or where the fragment says."""
        self._loop = asyncio.get_running_loop()
        self._begin("open", self._open, chosen, folding, row)

    def _begin(
        self, group: str, work: Callable[..., None], *arguments: object, is_exclusive: bool = True
    ) -> None:
        """Begin work in a thread; what is still at work in the group gives up."""
        self._screen.run_worker(
            sparingly(partial(work, *arguments)),
            thread=True,
            group=group,
            exclusive=is_exclusive,
        )

    async def answers_within(self, seconds: float) -> bool:
        """Tell whether there is something to show before so many seconds are over."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._answered.wait(), seconds)
        return self._answered.is_set()

    def read_on(self) -> None:
        """Read what the glimpse left out, now that it is painted."""
        self._glimpse_is_seen.set()

    def prepare(self) -> None:
        """Begin what is of use only later; not before the first rows are painted."""
        if not self._is_left.is_set():
            self._begin("prepare", self._prepare)

    @property
    def can_follow(self) -> bool:
        """Whether there is a session, and one that can be followed."""
        return self._debugger is not None and self._debugger.can_follow

    @property
    def is_one_of_several(self) -> bool:
        """Whether the location has other sessions too."""
        return self._debugger is not None and self._debugger.is_one_of_several

    def is_fresh(self) -> bool:
        """Tell whether the session was written to not long ago."""
        return 0 <= time.time() - self._written < FRESH

    def watch(self) -> None:
        """Begin to tell the screen when there may be more."""
        debugger = self._debugger
        if self._watch is None and debugger is not None and not self._is_left.is_set():
            self._watch = Watch(*debugger.watched)
            Thread(target=self._tell_of_changes, args=(self._watch,), daemon=True).start()

    def unwatch(self) -> None:
        """Tell it no longer."""
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.stop()

    def _tell_of_changes(self, watch: Watch) -> None:
        while watch.wait():
            self._written = max(self._written, watch.written)
            self._screen.post_message(MayHaveGrown())

    @property
    def is_reading_on(self) -> bool:
        """Whether what was added is being read, so that there will be an answer."""
        return self._is_reading_on

    def rest(self) -> float:
        """Give the seconds until it is time to read on again."""
        return max(self._rests_until - time.monotonic(), 0)

    def read_more(self, chosen: Chosen, folding: Folding) -> None:
        """Begin to read what was added, and to lay it out; not while that is being done."""
        if not (self._is_reading_on or self._is_left.is_set()):
            self._is_reading_on = True
            self._begin("follow", self._read_more, chosen, folding, is_exclusive=False)

    def done_reading_on(self, *, is_taken: bool) -> None:
        """Hear that the screen has had the answer, and whether it shows it now."""
        self._is_reading_on = False
        if is_taken:
            self._kept, self._is_anew = None, False

    def known(self, row: int) -> Inspection | None:
        """Give what is already read of a row."""
        return self._known.get(row)

    def inspect(self, row: int) -> None:
        """Begin to read a row, then its neighbours; drops what an earlier call had yet to read.

        A row that is read already is answered too: what the screen saw of it may be older.
        """
        # What was to be read ahead would end this.
        self._read_ahead_from = None
        self._begin("inspect", self._inspect, row)

    def read_ahead(self, row: int) -> None:
        """Begin to read the neighbours of a row that is known, where one that is near is not.

        Not at each step, and not before the step is painted: a thread that reads takes its turns
        from the one that paints.
        """
        debugger = self._debugger
        if debugger is None:
            return
        near = islice(_around(row, len(debugger.session)), AHEAD)
        is_due = self._read_ahead_from is not None
        if is_due or not all(each in self._known for each in near):
            self._read_ahead_from = row
        if not is_due and self._read_ahead_from is not None:
            self._screen.set_timer(AFTER_PAINTING, self._read_ahead)

    def _read_ahead(self) -> None:
        row, self._read_ahead_from = self._read_ahead_from, None
        if row is not None and not self._is_left.is_set():
            self._begin("inspect", self._inspect, row)

    def outline(self, chosen: Chosen, folding: Folding, row: int) -> None:
        """Begin to lay out other lines."""
        self._begin("outline", self._outline, chosen, folding, row)

    def comparer(self) -> Callable[[Screen[Any]], Comparer] | None:
        """Give what compares for another screen, None as long as there is no session."""
        # Only who compares pays for the import.
        from tt_debugger.tui.comparer import Comparer

        debugger = self._debugger
        return None if debugger is None else lambda screen: Comparer(screen, debugger)

    def tallier(self) -> Callable[[Screen[Any], Palette, Glyphs], Tallier] | None:
        """Give what works out statistics, None as long as there is no session."""
        from tt_debugger.tui.tallier import Tallier

        debugger = self._debugger
        return None if debugger is None else partial(Tallier, debugger)

    def exporter(self) -> Callable[[Screen[Any]], Exporter] | None:
        """Give what exports for a dialog, None as long as there is no session."""
        from tt_debugger.tui.exporter import Exporter

        debugger = self._debugger
        return None if debugger is None else lambda screen: Exporter(screen, debugger)

    def tracker(self) -> Tracker | None:
        """Give what finds where a watched value changed, None as long as there is no session."""
        # Only who watches something pays for the import.
        from tt_debugger.tui.tracker import Tracker

        debugger = self._debugger
        return None if debugger is None else Tracker(self._screen, debugger)

    def blamer(self) -> Blamer | None:
        """Give what finds out who wrote what of a state, None as long as there is no session."""
        # The first rows of a session need not wait for it.
        from tt_debugger.tui.blamer import Blamer

        debugger = self._debugger
        return None if debugger is None else Blamer(self._screen, debugger)

    @property
    def can_fork(self) -> bool:
        """Whether there is a session of a format that can be forked."""
        return self._debugger is not None and self._debugger.can_fork

    def forker(self) -> Callable[[Screen[Any]], Forker] | None:
        """Give what forks for another screen, None as long as there is no session."""
        from tt_debugger.tui.forker import Forker

        debugger = self._debugger
        return None if debugger is None else lambda screen: Forker(screen, debugger)

    def find_forks(self) -> None:
        """Begin to look which forks were made of the session."""
        self._begin("forks", self._find_forks)

    def complete(self) -> None:
        """Begin to make refs completable."""
        self._begin("complete", self._complete)

    def mark(self, name: str, row: int) -> None:
        """Begin to keep a mark."""
        self._begin("mark", self._mark, name, row, is_exclusive=False)

    def find_subsessions(self, row: int) -> None:
        """Begin to look for the sessions that a row started, its commits, or who made it."""
        self._begin("subsessions", self._find_subsessions, row)

    def select(self, condition: str) -> None:
        """Begin to ask at which rows a condition holds, to show those alone."""
        self._begin("select", self._select, condition)

    def stop_selecting(self) -> None:
        """End that."""
        self._screen.workers.cancel_group(self._screen, "select")

    def search(self, query: Sought, start: int, session: Session, most: int | None = None) -> None:
        """Begin to search from a row on; an earlier search ends.

        With `most` so many rows are searched, and all others taken for searched.
        """
        self._begin("search", self._search, query, start, session, most)

    def bisect(self, question: Question) -> None:
        """Begin to test from where on a condition holds; an earlier test ends."""
        self._begin("bisect", self._bisect, question)

    def stop_bisect(self) -> None:
        """End that."""
        self._screen.workers.cancel_group(self._screen, "bisect")

    def stop_search(self) -> None:
        """End the search."""
        self._screen.workers.cancel_group(self._screen, "search")

    def stop(self) -> None:
        """Begin nothing more, and end soon what was begun: the screen is being left."""
        self._is_left.set()
        self.unwatch()

    def close(self) -> None:
        """Let go of the session; one that is still reading is waited for."""
        self.stop()
        debugger, self._debugger = self._debugger, None
        if debugger is not None:
            debugger.close()
            self._known.clear()
            spare_no_longer()

    def _open(self, chosen: Chosen, folding: Folding, row: int | None) -> None:
        worker = get_current_worker()
        tell = self._teller(lambda: worker.is_cancelled)
        try:
            if row is None and self._fragment == Fragment():
                self._glimpse(chosen, folding)
            debugger = Debugger.open(
                self._location, self._fragment.session, partial(tell, 0, READ_PERCENT)
            )
            try:
                debugger.describe(partial(tell, READ_PERCENT, 100))
                opened = _first_view(debugger, self._fragment, chosen, folding, row)
            except TtdbgError:
                debugger.close()
                raise
        except _NoLongerWantedError:
            return
        except TtdbgError as error:
            self._answer(OpenFailed(error))
            return
        if self._is_left.is_set() or worker.is_cancelled:
            debugger.close()
            return
        self._written = written_at(debugger.watched)
        self._debugger = debugger
        if self._is_left.is_set():
            self.close()
            return
        spare()
        self._answer(opened)

    def _read_more(self, chosen: Chosen, folding: Folding) -> None:
        debugger, began = self._debugger, time.monotonic()
        if debugger is None:
            return
        answer: Message = Unchanged()
        try:
            # A file that was replaced is read to its end before that which took its place.
            while (grown := debugger.follow()) is not None:
                self._kept = grown.kept if self._kept is None else min(self._kept, grown.kept)
                self._is_anew = self._is_anew or grown.is_anew
            if self._kept is not None:
                self._written = time.time()
                answer = self._regrown(debugger, chosen, folding, self._kept)
        except TtdbgError as error:
            answer = Unchanged(error)
        now = time.monotonic()
        self._rests_until = now + (now - began)
        self._screen.post_message(answer)

    def _regrown(self, debugger: Debugger, chosen: Chosen, folding: Folding, kept: int) -> Regrown:
        debugger.describe()
        session = debugger.session
        with self._keeping:
            # What is said of a row may have changed by what was added: a result for its call.
            self._known.clear()
            self._known_bytes = 0
        if self._is_anew:
            # The rows that a person opened and closed are others now.
            folding = Folding(folding.rule)
        chosen = _as_now(debugger, chosen, is_anew=True)
        opened = _shown(debugger, outline(session, chosen, folding), NO_ROW)
        return Regrown(opened, kept, is_anew=self._is_anew)

    def _find_subsessions(self, row: int) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        try:
            places = [*debugger.subsessions(row).items(), *_commits_or_makers(debugger, row)]
            found = [_subsession(debugger, *each) for each in places]
        except TtdbgError as error:
            self._screen.post_message(Failed(error))
            return
        self._screen.post_message(SubsessionsFound(row, found))

    def _prepare(self) -> None:
        debugger = self._debugger
        if debugger is not None:
            from tt_debugger.views.message import warm_up

            warm_up()
            for screen in IMPORTED_AHEAD:
                import_module(screen)
            with suppress(TtdbgError):
                debugger.remember()
            if len(debugger.session) <= COMPLETED_AHEAD:
                self._complete()

    def _find_forks(self) -> None:
        from tt_debugger.tui.undoer import forks_of

        debugger = self._debugger
        if debugger is not None:
            self._screen.post_message(ForksFound(forks_of(debugger)))

    def _answer(self, message: Glimpsed | Opened | OpenFailed) -> None:
        self._screen.post_message(message)
        self._loop.call_soon_threadsafe(self._answered.set)

    def _teller(self, is_cancelled: Callable[[], bool]) -> Callable[[int, int, int, int], None]:
        """Give what tells the screen of progress between two percentages; it ends the work too."""
        told = -1

        def tell(begin: int, end: int, done: int, of: int) -> None:
            nonlocal told
            if self._is_left.is_set() or is_cancelled():
                raise _NoLongerWantedError("the screen was left")
            percent = begin + done * (end - begin) // of if of else end
            if percent != told:
                told = percent
                self._screen.post_message(Opening(percent))

        return tell

    def _glimpse(self, chosen: Chosen, folding: Folding) -> None:
        """Show the newest checkpoints of what takes long to read."""
        try:
            tail = tail_of(self._location)
        except CannotReadError:
            # Whoever writes it may be at work; reading all of it tells if anything is wrong.
            return
        if tail is not None and tail.active is not None:
            lines = outline(tail, chosen, folding)
            self._answer(Glimpsed(tail, Outlined(lines, tail.active)))
            # To read on would take turns from the thread that paints it.
            self._glimpse_is_seen.wait(UNSEEN)

    def _inspect(self, row: int) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        worker = get_current_worker()
        for each in _around(row, len(debugger.session)):
            # Rows that are there no longer are asked for no longer, once the screen knows.
            is_left = self._is_left.is_set() or row >= len(debugger.session)
            if is_left or worker.is_cancelled:
                return
            try:
                if each == row and row not in self._known and debugger.is_far(row):
                    recent = tuple(debugger.recent(row, GLIMPSED))
                    self._screen.post_message(RowGlimpsed(row, recent))
                inspection = self._known.get(each) or debugger.inspect(each)
            except TtdbgError as error:
                if each == row:
                    self._screen.post_message(InspectFailed(row, error))
                continue
            self._keep(inspection)
            if each == row:
                self._screen.post_message(RowInspected(inspection))

    def _outline(self, chosen: Chosen, folding: Folding, row: int) -> None:
        debugger = self._debugger
        if debugger is not None:
            lines = outline(debugger.session, chosen, folding)
            self._screen.post_message(Outlined(lines, row))

    def _complete(self) -> None:
        debugger = self._debugger
        if debugger is not None:
            self._screen.post_message(Completes(debugger.completer()))

    def _mark(self, name: str, row: int) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        try:
            debugger.set_mark(name, row)
        except TtdbgError as error:
            self._screen.post_message(Failed(error))
        else:
            self._screen.post_message(Marked(name, row, debugger.marks))

    def _select(self, condition: str) -> None:
        debugger, worker = self._debugger, get_current_worker()
        if debugger is None:
            return
        where: Where | TtdbgError | None
        try:
            where = _where(debugger, condition, lambda: worker.is_cancelled)
        except TtdbgError as error:
            where = error
        if where is not None and not (self._is_left.is_set() or worker.is_cancelled):
            self._screen.post_message(Selected(condition, where))

    def _search(self, query: Sought, start: int, session: Session, most: int | None) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        worker = get_current_worker()
        try:
            told, is_indexed = -1, False
            for found in _found_in(debugger, query, start, session):
                if self._is_left.is_set() or worker.is_cancelled:
                    return
                if most is not None and found.done >= most:
                    done = Found(found.hits, found.of, found.of, is_indexed=True)
                    self._screen.post_message(Searched(query, done))
                    return
                percent = found.done * 100 // found.of
                # The screen that is told of each batch has no time left for keys.
                if found.hits or percent != told or found.is_indexed != is_indexed:
                    told, is_indexed = percent, found.is_indexed
                    self._screen.post_message(Searched(query, found))
        except TtdbgError as error:
            # What was replaced meanwhile is searched anew.
            if session is debugger.session:
                self._screen.post_message(Failed(error))

    def _bisect(self, question: Question) -> None:
        from tt_debugger.tui.bisecting import answer

        debugger, worker = self._debugger, get_current_worker()
        if debugger is None:
            return

        def is_wanted() -> bool:
            return not (self._is_left.is_set() or worker.is_cancelled)

        message = answer(debugger, question, is_wanted)
        if message is not None and is_wanted():
            self._screen.post_message(message)

    def _keep(self, inspection: Inspection) -> None:
        """Remember an inspection; of too many, let go of those remembered first."""
        with self._keeping:
            if self._debugger is None or inspection.session is not self._debugger.session:
                return
            if inspection.row not in self._known:
                self._known[inspection.row] = inspection
                self._known_bytes += len(inspection.raw)
            self._known.move_to_end(inspection.row)
            while len(self._known) > 1 and (
                self._known_bytes > KEPT_BYTES or len(self._known) > KEPT
            ):
                _, oldest = self._known.popitem(last=False)
                self._known_bytes -= len(oldest.raw)


def _found_in(debugger: Debugger, sought: Sought, start: int, session: Session) -> Iterator[Found]:
    """Give what a search finds, a batch at a time; of a condition the first ones, then a percent.

    The rows at which one holds are drawn as each batch is told.
    """
    if isinstance(sought, Query):
        yield from debugger.search(sought, start, session)
        return
    waiting: list[Hit] = []
    told, is_first = 0, True
    for found in debugger.occasions(sought, start, session):
        waiting += found.hits
        percent = found.done * 100 // found.of
        if percent != told or (waiting and is_first):
            yield msgspec.structs.replace(found, hits=tuple(waiting))
            told, is_first, waiting = percent, is_first and not waiting, []


def _where(debugger: Debugger, condition: str, is_cancelled: Callable[[], bool]) -> Where | None:
    """Give the filter that shows where a condition holds, None if nobody waits for it."""
    # Only who asks for a condition pays for the import.
    from tt_debugger.core.conditions import parse_condition
    from tt_debugger.core.holding import Occasions

    mask = bytearray(len(debugger.session))
    for found in debugger.occasions(Occasions(parse_condition(condition), is_each=True)):
        if is_cancelled():
            return None
        for hit in found.hits:
            mask[hit.row] = 1
    return Where(condition, bytes(mask))


def _as_now(debugger: Debugger, chosen: Chosen, *, is_anew: bool = False) -> Chosen:
    """Give a filter for what the session is now: where a condition holds is asked anew."""
    if not isinstance(chosen, Where):
        return chosen
    if not is_anew and len(chosen.mask) == len(debugger.session):
        return chosen
    return _where(debugger, chosen.condition, lambda: False) or chosen


def _first_view(
    debugger: Debugger, fragment: Fragment, chosen: Chosen, folding: Folding, row: int | None
) -> Opened:
    """Give what the screen shows first.

    A row that was asked for is shown, whatever folds or hides it.
    """
    session, chosen = debugger.session, _as_now(debugger, chosen)
    is_asked_for = row is None and bool(fragment.points)
    if row is None:
        row = 0
        if fragment.points or session.active is not None:
            row = debugger.row(fragment.points[0] if fragment.points else Point(None, "@"))
    lines = outline(session, chosen, folding)
    if is_asked_for and not lines.has_line(row):
        chosen = chosen if lines.mask[row] else Filter.ALL
        lines = outline(session, chosen, folding)
        lines = outline(session, chosen, lines.revealing(row))
    return _shown(debugger, lines, row)


def _shown(debugger: Debugger, lines: Outline, row: int) -> Opened:
    """Give what the screen shows. What it needs later is worked out here, in the thread."""
    session = debugger.session
    _ = session.context_sizes, session.rows
    return Opened(session, Outlined(lines, row), scrub_index(session), debugger.marks)


def _commits_or_makers(debugger: Debugger, row: int) -> list[tuple[str, str | None]]:
    """Give the commits that a row tells of; of a commit the checkpoints that tell of it."""
    # Only who follows a commit pays for the import.
    from tt_debugger.discovery.commits import commits_made, makers_of

    session = debugger.session
    if session.heads.kind(row) is Kind.COMMIT:
        return [*makers_of(session.ids[row], session.heads.time(row), debugger.location)]
    return [*commits_made(debugger.messages_at(row), session, debugger.location)]


def _subsession(debugger: Debugger, name: str, place: str | None) -> Subsession:
    """Tell where a session is that was started: in another file, or in this one."""
    if place is None:
        return Subsession(name, None)
    location, fragment = split_location(place)
    if location != debugger.location or fragment.session is not None:
        return Subsession(name, location, fragment)
    return Subsession(name, location, fragment, debugger.point(fragment))


def _around(row: int, count: int) -> Iterator[int]:
    """Give a row, then its neighbours, nearest first."""
    yield row
    for distance in range(1, AHEAD + 1):
        for each in (row + distance, row - distance):
            if 0 <= each < count:
                yield each
