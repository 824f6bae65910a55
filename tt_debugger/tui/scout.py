"""The scout: looks for sessions in threads, and posts what it found and read.

What it posts says which search it belongs to, so that a screen that began another one drops it.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import partial
from itertools import islice
from threading import Event
from time import monotonic

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.listed import Spot
from tt_debugger.core.listing import Entry, Key
from tt_debugger.core.model import Session
from tt_debugger.core.outline import outline
from tt_debugger.core.search import Query
from tt_debugger.debugger import Debugger
from tt_debugger.discovery import (
    READ_AT_ONCE,
    Discovery,
    Left,
    Read,
    read_with_newest,
    session_of,
)
from tt_debugger.discovery.sieve import may_hold
from tt_debugger.errors import TtdbgError
from tt_debugger.store import Progress
from tt_debugger.views.listing import Tail

POST_EVERY = 0.15
"""Seconds between two posts of what was found: each costs the screen a new order of all."""
FIRST_POST = 64
"""Sessions that are posted as soon as there are so many: more than one sees at once."""
UNSEEN = 0.25
"""Seconds after which one looks on, even if the first sessions were not painted."""
POST_OF_ALL = 64
"""The part of all entries that one post has at least, so that many do not cost their square."""
KEPT_CHECKPOINTS = 200_000
"""Checkpoints of the sessions that are kept for the preview."""
LAST_LINES = 40
SAVE_EVERY = 5.0
"""Seconds after which what was read is written down, should the reading go on."""
SPOTS = 3
"""Places in a session at which a text is shown."""


class Found(Message):
    """More sessions were found; `is_all` with the last of them."""

    def __init__(self, search: int, entries: Sequence[Entry], left: Left, *, is_all: bool) -> None:
        super().__init__()
        self.search = search
        self.entries = entries
        self.left = left
        self.is_all = is_all


class FactsRead(Message):
    """The indexes of some files were read: so many of all that are read by themselves."""

    def __init__(self, search: int, read: Sequence[Read], left: Left, done: int, of: int) -> None:
        super().__init__()
        self.search = search
        self.read = read
        self.left = left
        self.done = done
        self.of = of


class FileRead(Message):
    """The index of a file was read that is too big to be read by itself."""

    def __init__(self, search: int, read: Read) -> None:
        super().__init__()
        self.search = search
        self.read = read


class TextFound(Message):
    """A text was looked for in so many of all sessions; these hold it, each at these places."""

    def __init__(
        self,
        query: Query,
        found: Sequence[tuple[Spot, ...]],
        done: int,
        of: int,
        *,
        unread: int,
    ) -> None:
        super().__init__()
        self.query = query
        self.found = found
        self.done = done
        self.of = of
        self.unread = unread
        """How many sessions could not be read."""


class SearchFailed(Message):
    """Nothing can be found at the location."""

    def __init__(self, search: int, error: TtdbgError) -> None:
        super().__init__()
        self.search = search
        self.error = error


class Previewing(Message):
    """So much of a session was read for its preview, in percent."""

    def __init__(self, key: Key, percent: int) -> None:
        super().__init__()
        self.key = key
        self.percent = percent


class Previewed(Message):
    """The end of a session, or the sentence that says why it cannot be read."""

    def __init__(self, key: Key, end: Tail | str) -> None:
        super().__init__()
        self.key = key
        self.end = end


class _NoLongerWantedError(TtdbgError):
    """The work was cancelled while it was done."""


class Scout:
    """Finds the sessions at a location for a screen, and reads what they are about."""

    def __init__(self, screen: Screen[None], location: str) -> None:
        self._screen = screen
        self._location = location
        self._search = 0
        self._discovery = Discovery(location)
        self._tails: OrderedDict[tuple[Key, int, float], Tail] = OrderedDict()
        self._is_left = Event()
        self._is_seen = Event()

    def be_seen(self) -> None:
        """Hear that the first sessions are painted."""
        self._is_seen.set()

    def find(self) -> int:
        """Begin to look from anew; gives the number of this search."""
        self._search += 1
        self._begin("find", self._find, self._search)
        return self._search

    def preview(self, entry: Entry) -> None:
        """Begin to read the end of a session; drops what was asked for before."""
        self._begin("preview", self._preview, self._search, entry)

    def look_for(self, query: Query, entries: Sequence[Entry]) -> None:
        """Begin to look for a text in sessions; an earlier search ends."""
        self._begin("text", self._look_for, query, entries)

    def forget(self) -> None:
        """End the search for a text."""
        self._screen.workers.cancel_group(self._screen, "text")

    def known_end(self, entry: Entry) -> Tail | None:
        """Give the end of a session that is still kept."""
        return self._tails.get(entry.version)

    def stop(self) -> None:
        """Begin nothing more, and end soon what was begun: the screen is being left."""
        self._is_left.set()
        self._is_seen.set()

    def _begin(self, group: str, work: Callable[..., None], *arguments: object) -> None:
        self._screen.run_worker(
            partial(work, *arguments), thread=True, group=group, exclusive=True
        )

    def _find(self, search: int) -> None:
        try:
            self._read(search, self._found(search))
        except _NoLongerWantedError:
            return
        except TtdbgError as error:
            self._screen.post_message(SearchFailed(search, error))

    def _found(self, search: int) -> list[Entry]:
        ask = self._still_wanted()
        discovery = self._discovery = Discovery(self._location)
        found: list[Entry] = []
        posted, due = 0, monotonic() + UNSEEN
        for entry in discovery:
            ask(0, 0)
            if entry is not None:
                found.append(entry)
            is_due = monotonic() > due and (len(found) - posted) * POST_OF_ALL >= len(found)
            if is_due or (not posted and len(found) == FIRST_POST):
                new, is_first = found[posted:], not posted
                self._screen.post_message(Found(search, new, discovery.left, is_all=False))
                if is_first:
                    # To look on would take turns from the thread that paints them.
                    self._is_seen.wait(UNSEEN)
                posted, due = len(found), monotonic() + POST_EVERY
        self._screen.post_message(Found(search, found[posted:], discovery.left, is_all=True))
        return found

    def _read(self, search: int, found: Sequence[Entry]) -> None:
        ask, discovery = self._still_wanted(), self._discovery
        small = [each for each in found if each.size <= READ_AT_ONCE and each.facts is None]
        small.sort(key=lambda each: -each.modified)
        waiting: list[Read] = []
        due, saved = monotonic() + POST_EVERY, monotonic()
        try:
            for done, entry in enumerate(small, 1):
                ask(0, 0)
                waiting.append(discovery.read(entry, ask))
                if monotonic() > due and len(waiting) * POST_OF_ALL >= len(small):
                    self._tell_read(search, waiting, done, len(small))
                    waiting, due = [], monotonic() + POST_EVERY
                if monotonic() > saved + SAVE_EVERY:
                    discovery.save()
                    saved = monotonic()
        finally:
            discovery.save()
        self._tell_read(search, waiting, len(small), len(small))

    def _tell_read(self, search: int, read: Sequence[Read], done: int, of: int) -> None:
        self._screen.post_message(FactsRead(search, read, self._discovery.left, done, of))

    def _look_for(self, query: Query, entries: Sequence[Entry]) -> None:
        ask = self._still_wanted()
        found: list[tuple[Spot, ...]] = []
        unread, due = 0, monotonic() + POST_EVERY
        try:
            for done, entry in enumerate(entries, 1):
                ask(0, 0)
                try:
                    spots = self._spots(query, entry, ask)
                except _NoLongerWantedError:
                    raise
                except TtdbgError:
                    unread, spots = unread + 1, ()
                if spots:
                    found.append(spots)
                if monotonic() > due or done == len(entries):
                    answer = TextFound(query, found, done, len(entries), unread=unread)
                    self._screen.post_message(answer)
                    found, due = [], monotonic() + POST_EVERY
        except _NoLongerWantedError:
            return

    def _spots(self, query: Query, entry: Entry, ask: Progress) -> tuple[Spot, ...]:
        """Give the first places in a session at which a text stands."""
        if not may_hold(entry, query):
            return ()
        with Debugger.open(entry.location, entry.session, ask) as debugger:
            heads, hits = debugger.session.heads, debugger.search(query)
            each_hit = (hit for found in hits for hit in found.hits)
            return tuple(
                Spot(
                    entry,
                    debugger.session.ids[hit.row],
                    str(heads.role(hit.row) or heads.kind(hit.row)),
                    hit,
                )
                for hit in islice(each_hit, SPOTS)
            )

    def _preview(self, search: int, entry: Entry) -> None:
        ask = self._still_wanted()
        # As with looking on: the list comes first.
        self._is_seen.wait(UNSEEN)
        last = -1

        def progress(done: int, of: int) -> None:
            nonlocal last
            ask(done, of)
            percent = done * 100 // of if of else 100
            if percent != last:
                last = percent
                self._screen.post_message(Previewing(entry.key, percent))

        try:
            session = None
            if entry.facts is None and entry.size > READ_AT_ONCE:
                answer, session = read_with_newest(entry, progress)
                self._discovery.learn(answer)
                self._discovery.save()
                self._screen.post_message(FileRead(search, answer))
            end = _tail(session_of(entry, progress) if session is None else session)
        except _NoLongerWantedError:
            return
        except TtdbgError as error:
            self._screen.post_message(Previewed(entry.key, error.message))
            return
        self._keep(entry, end)
        self._screen.post_message(Previewed(entry.key, end))

    def _keep(self, entry: Entry, end: Tail) -> None:
        """Keep the end of a session; of too many checkpoints, let go of those kept first."""
        kept = OrderedDict(self._tails)
        kept[entry.version] = end
        while (
            len(kept) > 1 and sum(len(each.session) for each in kept.values()) > KEPT_CHECKPOINTS
        ):
            kept.popitem(last=False)
        self._tails = kept

    def _still_wanted(self) -> Callable[[int, int], None]:
        """Give a progress that ends the work once its answer is no longer wanted."""
        worker = get_current_worker()

        def heard(_done: int, _of: int) -> None:
            if self._is_left.is_set() or worker.is_cancelled:
                raise _NoLongerWantedError("the screen was left")

        return heard


def _tail(session: Session) -> Tail:
    """Give the end of a session; what drawing needs is worked out here, in the thread."""
    _ = session.context_sizes
    shown = outline(session)
    places = range(max(len(shown) - LAST_LINES, 0), len(shown))
    lines = [(shown.fold_at(each) or shown.row_at(each), shown.lanes[each]) for each in places]
    return Tail(session, lines)
