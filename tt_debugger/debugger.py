"""One opened session with its caches: it answers every question that CLI, TUI and API ask.

There is no algorithm in here: the answers come from `core`, the bytes from a store.
"""

from __future__ import annotations

import threading
from collections import defaultdict, deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import msgspec

from tt_debugger.core.body_cache import BodyCache
from tt_debugger.core.changes import Change, State
from tt_debugger.core.completion import Completer
from tt_debugger.core.diff.side import Side
from tt_debugger.core.doctor import Examination
from tt_debugger.core.findings import Finding
from tt_debugger.core.growth import carry_over, rows_kept
from tt_debugger.core.inspection import Inspection, exchanges_at
from tt_debugger.core.messages import messages_in
from tt_debugger.core.model import Kind, Session, SessionId
from tt_debugger.core.paths import value_at
from tt_debugger.core.refs import Fragment, Point, Resolver, quoted
from tt_debugger.core.replay import BATCH, Body, Replay, Resumed
from tt_debugger.core.search import BATCH_BYTES, Found, Query, Regex, scan
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import (
    CannotReadError,
    UnknownRefError,
    UnsupportedError,
    UsageError,
    outside_errors,
)
from tt_debugger.formats.shared.records import flaws
from tt_debugger.opening import format_of, opened
from tt_debugger.storage import servers
from tt_debugger.storage.files import HEAD
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.marks import Marks
from tt_debugger.storage.probe import probe
from tt_debugger.storage.stdin import STDIN
from tt_debugger.store import (
    Contiguous,
    Examines,
    Follows,
    Forks,
    HasSubsessions,
    HasWatched,
    Loaded,
    Progress,
    Remembers,
    Store,
    unheard,
)

if TYPE_CHECKING:
    from tt_debugger.core.answers import Answers
    from tt_debugger.core.blame import Blamed, StateBlame
    from tt_debugger.core.conditions import Condition
    from tt_debugger.core.first_said import FirstSaid, Sought
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.history import Moment, Watched
    from tt_debugger.core.holding import Occasions, Rows
    from tt_debugger.core.paths import Path as Place
    from tt_debugger.core.touches import Touches

LARGEST_RUN = 4 << 20
"""Bytes of neighbouring records that are searched as one."""
FAR = 4096
"""Steps on a path that take so long that one would rather see its end first."""
WALKED = 512
"""Rows of a long walk that are asked for at once, while others wait."""
SIZE_UNTOLD = 4096
"""Bytes that a record is taken to have where its store does not tell."""


class Grown(msgspec.Struct, frozen=True):
    """That a session has changed: what it was before, and how many of its rows still stand.

    `is_anew` says that its file was cut or replaced.
    """

    before: Session
    kept: int
    is_anew: bool


class Debugger:
    """An opened session. Its answers may be asked for from any thread, one at a time."""

    def __init__(self, store: Store | None, loaded: Loaded, location: str) -> None:
        self.location = location
        self.others: tuple[SessionId, ...] = ()
        """The sessions of the location among which this one was taken for the newest."""
        self.is_one_of_several = False
        """Whether the location has other sessions too."""
        self._store = store
        self._lock = threading.RLock()
        self._bodies = BodyCache(self._decode, self._size_of)
        self._replays: dict[bool, Replay] = {}
        self._touches: Touches | None = None
        self._touching = threading.RLock()
        """Held as long as the touches are asked or are made to grow."""
        self._rows_touched = 0
        """Rows that still are what they were when the touches were made."""
        self._adopt(loaded)

    @classmethod
    def open(
        cls, location: str, session: str | None = None, progress: Progress = unheard
    ) -> Debugger:
        """Open a location and load a session: the one named, else the newest.

        Raises CannotReadError, or UnknownRefError for a session that is not there.
        """
        location = servers.admitted(location)
        store, loaded, others = opened(location, session, progress)
        debugger = cls(store, loaded, location)
        debugger.others = () if session is not None else others
        debugger.is_one_of_several = bool(others)
        return debugger

    @property
    def can_follow(self) -> bool:
        """Whether what is written to the location can be read as it comes."""
        is_file = self.location != STDIN
        return is_file and (self._store is None or isinstance(self._store, Follows))

    @property
    def watched(self) -> tuple[str, ...]:
        """The paths whose change may mean that there is more; of a folder all that is in it."""
        if isinstance(self._store, HasWatched):
            return tuple(self._store.watched())
        return () if self.location == STDIN else (self.location,)

    def follow(self) -> Grown | None:
        """Read what was added since; None for nothing new.

        To be asked until that is the answer: a file that another took the place of is read to its
        end first.
        """
        with self._gate():
            before, loaded = self.session, self._followed()
            if not (len(loaded.session) or len(before)):
                # Nobody is told that nothing became nothing; what took its place may hold more.
                self._adopt(loaded)
                before, loaded = self.session, self._followed()
            session = loaded.session
            if session is before:
                return None
            if not (len(session) or len(before)):
                self._adopt(loaded)
                return None
            try:
                kept = rows_kept(before, session, loaded.kept)
            except CannotReadError:
                # What the rows before said is not there to be compared any more.
                kept = 0
            if kept == len(before):
                carry_over(before, session)
            self._adopt(loaded, kept)
            return Grown(before, kept, is_anew=loaded.kept == 0)

    def _followed(self) -> Loaded:
        """Give the session as it is now; what another format reads by now, by that."""
        loaded = self._loaded
        if isinstance(self._store, Follows):
            loaded = self._store.follow(loaded.cursor)
            if loaded.session is self.session or not self._is_of_other_format(loaded):
                return loaded
        elif self._store is not None:
            return loaded
        try:
            store, loaded, self.others = opened(self.location, None, unheard)
        except CannotReadError:
            # Its first line is still being written.
            return loaded
        self._store, old = store, self._store
        if old is not None:
            old.close()
        return msgspec.structs.replace(loaded, kept=0)

    def _is_of_other_format(self, loaded: Loaded) -> bool:
        """Tell whether the beginning of what is there now is that of another format."""
        extent = self.session.extent
        if self._store is None or (loaded.kept != 0 and (extent is None or extent.size >= HEAD)):
            return False
        try:
            found = format_of(probe(self.location))
        except CannotReadError:
            return False
        return found is None or found.format != self._store.format

    def describe(self, progress: Progress = unheard) -> None:
        """Find out what every row says, where that is not known yet; progress is told rows."""
        with outside_errors(self.session.format or "blank"):
            self.session.heads.describe_all(progress)

    def remember(self) -> None:
        """Keep what was read, so that the location opens at once the next time.

        Others may ask meanwhile: what is kept does not change any more.
        """
        if isinstance(self._store, Remembers):
            with outside_errors(self.session.format or "blank"):
                self._store.remember(self._loaded)

    def _adopt(self, loaded: Loaded, kept: int = 0) -> None:
        """Answer for this session from now on, with what is known of the rows it kept."""
        self._loaded = loaded
        self.session = loaded.session
        self._marks = Marks(self.location, self.session.id)
        self._resolver = Resolver(self.session, self._marks)
        self._findings: dict[str | None, list[Finding]] = defaultdict(list)
        for each in self.session.findings:
            self._findings[each.checkpoint].append(each)
        self._bodies.clear()
        self._rows_touched = min(self._rows_touched, kept)
        known, self._replays = self._replays, {}
        # Not of what was cut or replaced: the rules may be those of another format.
        if kept:
            self._replays = {each: known[each].extended(self.session, kept) for each in known}

    @property
    def resolver(self) -> Resolver:
        """Finds rows by refs."""
        return self._resolver

    def completer(self) -> Completer:
        """Give what completes refs of the session as it is now; to make it takes a while."""
        return Completer(self.session, self._resolver, self._marks)

    def row(self, point: Point) -> int:
        """Give the row that a point names."""
        with self._lock:
            return self._resolver.row(point)

    def point(self, fragment: Fragment) -> int:
        """Give the row of the one point that a fragment names, the active leaf if it names none.

        Raises UsageError for a range.
        """
        if fragment.is_range:
            raise UsageError("one point is asked for, not a range", "name one of its ends")
        point = fragment.points[0] if fragment.points else Point(None, "@")
        try:
            return self.row(point)
        except UnknownRefError as error:
            if point.key is None and point.value in map(quoted, (*self.others, self.session.id)):
                hint = f"that is a session: {self.location}#{point.value}:"
                raise UnknownRefError(error.message, hint) from error
            raise

    @property
    def marks(self) -> dict[str, str]:
        """The marks of the session, from name to checkpoint id."""
        with self._lock:
            return dict(self._marks)

    def set_mark(self, name: str, row: int) -> None:
        """Give a checkpoint a name. Raises CannotWriteError where it cannot be kept."""
        with self._lock:
            self._marks.put(name, self.session.ids[row])

    def drop_mark(self, name: str) -> None:
        """Forget a name. Raises CannotWriteError."""
        with self._lock:
            self._marks.drop(name)

    def search(
        self, query: Query | Regex, start: int = 0, session: Session | None = None
    ) -> Iterator[Found]:
        """Look for a query in all rows, from one on around the session, a batch at a time.

        Between two batches others may ask; the session may be what it was before it grew. Raises
        CannotReadError where the file has changed.
        """
        session = session or self.session

        def records(rows: Sequence[int]) -> list[bytes | None]:
            with self._gate():
                return self._records(session, rows)

        def bodies(rows: Sequence[int]) -> list[Body]:
            with self._gate():
                return [] if self._store is None else self._store.bodies(session, rows)

        def run(first: int, last: int) -> bytes | None:
            with self._gate():
                return self._run(session, first, last)

        return scan(session, query, start, records, bodies, run)

    def occasions(
        self, sought: Occasions, start: int = 0, session: Session | None = None
    ) -> Iterator[Found]:
        """Find where a condition holds, a batch at a time; one of checkpoints from a row on.

        Between two batches others may ask; the session may be what it was before it grew. Raises
        CannotReadError where the file has changed.
        """
        # Only who asks for a condition pays for the import.
        from tt_debugger.core.holding import occasions

        return occasions(self._rows(session or self.session), sought, start)

    def body(self, row: int) -> Body:
        """Give the record of a checkpoint as it was decoded."""
        with self._gate():
            return self._bodies((row,))[0]

    def changes(self, row: int, *, uncompacted: bool = False) -> tuple[Change, ...]:
        """Give what a checkpoint did to the state."""
        with self._gate():
            return self._replay(uncompacted=uncompacted).changes(row)

    def state(self, row: int, *, uncompacted: bool = False) -> State:
        """Give the recorded state at a checkpoint; to be read only."""
        with self._gate():
            return self._replay(uncompacted=uncompacted).state(row)

    def recent(self, row: int, count: int) -> list[Any]:
        """Give the last messages of the state at a checkpoint, however long the path to it."""
        with self._gate():
            return self._replay().recent(row, count)

    def is_far(self, row: int) -> bool:
        """Tell whether the state at a row takes a long walk: nothing near it is known."""
        if self._store is None or self.session.tree.depth(row) < FAR:
            return False
        with self._gate():
            knows, parent = self._replay().knows, self.session.parents[row]
            return not (knows(row) or knows(parent))

    def resumed(self, row: int) -> Resumed:
        """Give what the agent would load and send if it went on from a checkpoint."""
        with self._gate():
            return self._replay().resumed(row)

    @property
    def can_fork(self) -> bool:
        """Whether the format can write a branch of its own."""
        return isinstance(self._store, Forks)

    def safe_row(self, row: int, *, for_another_agent: bool = False) -> int:
        """Give the row from which a fork can go on: the one asked for, or the nearest that can.

        Raises UnsupportedError where the format cannot be forked, UsageError for no such row.
        """
        from tt_debugger.core.fork.cuts import safe_row
        from tt_debugger.core.fork.talk import messages_of

        with self._gate():
            if self.session.heads.kind(row) in (Kind.GAP, Kind.UNREADABLE):
                raise UsageError("nothing is known there from which a fork could go on")
            # Another agent is given what is said alone, so its calls must be whole.
            if not (for_another_agent or self._forks().keeps_calls_whole):
                return row
            return safe_row(
                self.session, row, lambda each: messages_of(self.state(each)), self.messages_at
            )

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds to a state what the user says. Raises UnsupportedError."""
        with self._gate():
            return self._forks().message(state, text, time)

    def draft(self, plan: Plan) -> Draft:
        """Give all that a fork would write.

        Raises UnsupportedError for what the format cannot hold, UsageError for what is wrong.
        """
        from tt_debugger.core.fork.cuts import refuse_parted

        with self._gate():
            if self._forks().keeps_calls_whole:
                refuse_parted(plan)
            return self._forks().draft(self._replay(), plan)

    def _forks(self) -> Forks:
        if isinstance(self._store, Forks):
            return self._store
        raise UnsupportedError(
            f"ttdbg cannot fork sessions of the format {self.session.format or 'blank'}",
            "`ttdbg formats` tells which formats it can",
        )

    def raw(self, row: int) -> bytes:
        """Give the bytes of a checkpoint's record."""
        with self._gate():
            return b"" if self._store is None else self._store.raw(self.session, row)

    def subsessions(self, row: int) -> dict[str, str | None]:
        """Give where the sessions are that a checkpoint started, by their names.

        None for one that is not there, or that the format cannot find.
        """
        names = self.session.subsessions.get(row, ())
        with self._gate():
            store = self._store
            finds = store.subsession if isinstance(store, HasSubsessions) else _found_nowhere
            return {name: finds(self.session, name) for name in names}

    def inspect(self, row: int, *, uncompacted: bool = False) -> Inspection:
        """Give all that is known of a checkpoint."""
        with self._gate():
            parent = self.session.parents[row]
            return Inspection(
                self.session,
                row,
                self.changes(row, uncompacted=uncompacted),
                None if parent == NO_ROW else self.state(parent, uncompacted=uncompacted),
                self.state(row, uncompacted=uncompacted),
                self.raw(row),
                self.findings_at(row),
                exchanges_at(
                    self.session, row, partial(self.messages_at, uncompacted=uncompacted)
                ),
            )

    def messages_at(self, row: int, *, uncompacted: bool = False) -> list[dict[str, Any]]:
        """Give the messages that a checkpoint put into the state, none where it is unreadable.

        What is wrong with it is told where one asks for its changes.
        """
        try:
            return messages_in(self.changes(row, uncompacted=uncompacted))
        except CannotReadError:
            return []

    def changes_along(
        self, path: Sequence[int], *, uncompacted: bool = False
    ) -> Iterator[tuple[Change, ...]]:
        """Give the changes of rows of which each is the parent of the next, in one walk.

        Others may ask meanwhile.
        """
        for begin in range(0, len(path), BATCH):
            with self._gate():
                replay = self._replay(uncompacted=uncompacted)
                found = list(replay.changes_along(path[begin : begin + BATCH]))
            yield from found

    def history(self, row: int, watched: Watched) -> Iterator[Moment]:
        """Give the moments of a watched value from the root to a row, whose values are live.

        Others may ask meanwhile.
        """
        from tt_debugger.core.history import history

        path = self.session.tree.path_to(row)
        return history(path, self.changes_along(path), watched)

    def touches(self, progress: Progress = unheard) -> Touches:
        """Give which rows wrote what; the first time that takes a walk over the whole session.

        Others may ask meanwhile. Progress is told rows.
        """
        from tt_debugger.core.touches import Touches

        with self._touching:
            if self._touches is None:
                self._touches = Touches(self.session, self._readable_along, self.state)
            while not self._touches.is_of(self.session):
                with self._lock:
                    session, kept = self.session, self._rows_touched
                    self._rows_touched = len(session)
                self._touches.take_in(session, kept, progress)
            return self._touches

    def last_change(self, row: int, path: Place) -> int | None:
        """Give the last row on the path to a row at which a value changed or was written again."""
        with self._touching:
            return self.touches().last(row, path)

    def next_change(self, row: int, path: Place) -> int | None:
        """Give the first row at which a value changes or is written again, on down the branch."""
        with self._touching:
            return self.touches().next(row, path)

    def blame(self, row: int, paths: Iterable[Place] | None = None) -> list[Blamed]:
        """Give who last wrote each leaf of the state at a checkpoint, or what is at some paths.

        A few paths are looked up, the whole state takes a walk to it. Of a path where nothing
        ever was nothing is given.
        """
        from tt_debugger.core.blame import Glance

        if paths is None:
            return list(self.state_blame(row).leaves())
        with self._touching:
            glance = Glance(self.touches(), self._readable_changes_of, self.state)
            found = [glance.of(row, path) for path in paths]
        return [each for each in found if each is not None]

    def state_blame(self, row: int) -> StateBlame:
        """Give who last wrote what in the state at a checkpoint, by a walk to it.

        Others may ask meanwhile.
        """
        from tt_debugger.core.blame import StateBlame

        path = self.session.tree.path_to(row)
        return StateBlame(self.session, path, self._far_along(path))

    def first_said(self, row: int, path: Place) -> list[tuple[Sought, FirstSaid | None]]:
        """Give the texts in what is at a path of a state, and where each was first said before.

        Raises KeyError where the state has no such place, UsageError where it holds too many.
        Others may ask meanwhile.
        """
        from tt_debugger.core.first_said import MOST_SOUGHT, Sought, first_said, texts_in

        texts = list(islice(texts_in(value_at(self.state(row), path), path), MOST_SOUGHT + 1))
        if len(texts) > MOST_SOUGHT:
            raise UsageError(
                f"more than {MOST_SOUGHT:,} texts stand there, too many to follow each back",
                "name less, such as a single message",
            )
        found = self.blame(row, dict.fromkeys(place for place, _ in texts))
        writers = {each.path: each.row if each.said is None else each.said for each in found}
        sought = [Sought(place, text, writers[place]) for place, text in texts]
        rows = self.session.tree.path_to(row)
        said = first_said(sought, rows, self._readable_along(rows))
        return list(zip(sought, said, strict=True))

    def _far_along(self, path: Sequence[int]) -> Iterator[tuple[Change, ...]]:
        """Give the changes of a long run of rows, more of them at once: nobody asks for one.

        Others may ask meanwhile.
        """
        for begin in range(0, len(path), WALKED):
            with self._gate():
                found = list(self._replay().changes_along(path[begin : begin + WALKED]))
            yield from found

    def _readable_changes_of(self, row: int) -> tuple[Change, ...]:
        return self._readable_changes((row,))[0]

    def _readable_along(self, path: Sequence[int]) -> Iterator[tuple[Change, ...]]:
        """Give the changes of rows, each the parent of the next, as far as they can be read."""
        for begin in range(0, len(path), WALKED):
            rows = path[begin : begin + WALKED]
            try:
                yield from self._far_along(rows)
            except CannotReadError:
                yield from self._readable_changes(rows)

    def holds(self, condition: Condition, row: int) -> bool:
        """Tell whether a condition holds at a checkpoint, in its recorded state."""
        changes = self.changes(row) if condition.needs_changes else ()
        state = self.state(row) if condition.needs_state else None
        return condition.holds(self._rows(self.session).at(row, changes, state))

    def following(self, condition: Condition, path: Sequence[int]) -> Iterator[bool]:
        """Tell of each row of a path that begins at a root whether a condition holds there.

        Others may ask meanwhile.
        """
        from tt_debugger.core.holding import holding_along

        return holding_along(self._rows(self.session), condition, path)

    def unmet(self, condition: Condition, path: Sequence[int] | None = None) -> tuple[str, ...]:
        """Say why a condition holds nowhere: on a path that begins at a root, else in the session.

        What none of the checkpoints there has of what it asks for is told; of another reason
        nothing is.
        """
        from tt_debugger.core.conditions.unmet import Unmet
        from tt_debugger.core.holding import Occasions

        unmet, session = Unmet(condition), self.session
        if not unmet.sees_anything or not len(session):
            return ()
        if path is None:
            deque(self.occasions(Occasions(unmet.looking)), 0)
            last = len(session) - 1 if session.active is None else session.active
        else:
            deque(self.following(unmet.looking, path), 0)
            last = path[-1]
        return unmet.reasons(self.state(last))

    def answers(self, progress: Progress = unheard) -> Answers:
        """Give the tool calls of the session, what came of them, and the model of each answer.

        Every body is decoded, as far as they can be read. Progress is told rows. Raises
        CannotReadError where the file is cut or replaced meanwhile.
        """
        # Only who asks for them pays for the import.
        from tt_debugger.core.answers import answers_of
        from tt_debugger.core.runs import runs

        session = self.session

        def read() -> Iterator[tuple[int, tuple[Change, ...] | None]]:
            done = 0
            for run in runs(session, session.order):
                for begin in range(0, len(run), BATCH):
                    rows = run[begin : begin + BATCH]
                    if not self._still_has(session, rows[-1]):
                        raise CannotReadError(f"{self.location} was written anew meanwhile")
                    yield from zip(rows, self._changes_or_none(rows), strict=True)
                    done += len(rows)
                    progress(done, len(session))

        return answers_of(session, read())

    def _still_has(self, session: Session, row: int) -> bool:
        """Tell whether a row is what it was in a session that may have grown since."""
        now = self.session
        is_there = now is session or row < len(now)
        return is_there and now.ids[row] == session.ids[row]

    def _readable_changes(self, rows: Sequence[int]) -> list[tuple[Change, ...]]:
        """Give the changes of a short run of rows, none for those that cannot be read."""
        return [each or () for each in self._changes_or_none(rows)]

    def _changes_or_none(self, rows: Sequence[int]) -> list[tuple[Change, ...] | None]:
        """Give the changes of a short run of rows, None for each that cannot be read."""
        with suppress(CannotReadError):
            return [*self.changes_along(rows)]
        found: list[tuple[Change, ...] | None] = [None] * len(rows)
        for place, row in enumerate(rows):
            with suppress(CannotReadError):
                found[place] = self.changes(row)
        return found

    def side(self, row: int, *, uncompacted: bool = False) -> Side:
        """Give a checkpoint as one side of a comparison."""
        return Side(
            self.ref(row),
            self.session,
            row,
            self.state(row, uncompacted=uncompacted),
            partial(self.changes_along, uncompacted=uncompacted),
            partial(self.state, uncompacted=uncompacted),
        )

    def ref(self, row: int) -> str:
        """Give a location with the ref of a checkpoint, complete enough to open it again."""
        session = f"{quoted(self.session.id)}:" if self.is_one_of_several else ""
        return f"{self.location}#{session}{quoted(self.session.ids[row])}"

    def examined(self, progress: Progress = unheard) -> tuple[Finding, ...]:
        """Decode every body; give all findings, with those that only bodies show."""
        session = self.session
        examination = Examination(session, self.raw, flaws, self.changes)
        for done, row in enumerate(session.order, 1):
            examination.look_at(row)
            progress(done, len(session))
        if isinstance(self._store, Examines):
            with self._gate():
                examination.add(self._store.examined(session))
        return examination.findings()

    def findings_at(self, row: int) -> tuple[Finding, ...]:
        """Give the findings about a checkpoint itself."""
        return tuple(self._findings.get(self.session.ids[row], ()))

    def findings_on_path(self, row: int) -> tuple[Finding, ...]:
        """Give the findings about a checkpoint or any of its ancestors."""
        path = {self.session.ids[each] for each in self.session.tree.ancestors(row)}
        return tuple(each for each in self.session.findings if each.checkpoint in path)

    def close(self) -> None:
        """Let go of the store, once nobody reads from it."""
        with self._lock:
            if self._store is not None:
                self._store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, error: type[BaseException] | None, *_: object) -> None:
        try:
            if error is None:
                self.remember()
        finally:
            self.close()

    @contextmanager
    def _gate(self) -> Generator[None]:
        """Let one question at a time through to store and rules, and name what they raise."""
        with self._lock, outside_errors(self.session.format or "blank"):
            yield

    def _replay(self, *, uncompacted: bool = False) -> Replay:
        if self._store is None:
            raise UnknownRefError("the session has no checkpoints")
        known = self._replays.get(uncompacted)
        if known is None:
            rules = self._store.rules(self.session, uncompacted=uncompacted)
            known = self._replays[uncompacted] = Replay(self.session, rules, self._bodies)
        return known

    def _records(self, session: Session, rows: Sequence[int]) -> list[bytes | None]:
        """Give the records of the first of some rows, None where they are no JSON text."""
        if self._store is None or session.extent is None:
            return [None] * len(rows)
        records: list[bytes | None] = []
        size = 0
        for row in rows:
            record = None if _is_long_gap(session, row) else self._store.raw(session, row)
            records.append(record)
            size += len(record or b"")
            if size >= BATCH_BYTES:
                break
        return records

    def _rows(self, session: Session) -> Rows:
        """Give the rows of the session, or of what it was, for conditions to be asked of."""
        # Only who asks for a condition pays for the import.
        from tt_debugger.core.holding import Rows

        return Rows(session, self.changes_along, self.body, partial(self._may_say, session))

    def _may_say(self, session: Session, row: int, query: Query) -> bool:
        """Tell whether a text may be in a record; of one that is no JSON text it may."""
        if self._store is None or session.extent is None or session.heads.is_gap(row):
            return True
        with self._gate():
            record = self._store.raw(session, row)
        return not record.startswith(b"{") or query.may_be_in(record)

    def _run(self, session: Session, first: int, last: int) -> bytes | None:
        """Give the bytes of the records of neighbouring rows, None where they are no small run."""
        heads = session.heads
        begin, end = heads.offset(first), heads.offset(last)
        if not isinstance(self._store, Contiguous) or begin is None or end is None:
            return None
        if end + (heads.length(last) or 0) - begin > LARGEST_RUN:
            return None
        return self._store.run(session, first, last)

    def _size_of(self, row: int) -> int:
        return self.session.heads.length(row) or SIZE_UNTOLD

    def _decode(self, rows: Sequence[int]) -> list[Body]:
        return [] if self._store is None else self._store.bodies(self.session, rows)


def _found_nowhere(_session: Session, _name: str) -> None:
    """Find no session: the format knows of none."""


def _is_long_gap(session: Session, row: int) -> bool:
    """Tell whether a row is a gap of more bytes than a line that is read may have."""
    is_gap = session.heads.is_gap(row)
    return is_gap and (session.heads.length(row) or 0) > LONGEST
