"""The store of a family: threads as sessions, wherever they are kept.

A thread is a session, and so is each namespace in it, by the name `thread|namespace`. The index of
a session is its rows without their bodies; a state is made of a body, of the writes under it, and
of what the thread tells of its graph.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import partial
from itertools import groupby, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import KIND_NUMBERS, Head, Heads, Kind, Session, SessionId
from tt_debugger.core.refs import quoted
from tt_debugger.core.replay import Body, Replay
from tt_debugger.core.tree import NO_ROW, Links, link
from tt_debugger.errors import CannotReadError, UnsupportedError
from tt_debugger.formats.shared.collection import no_collection
from tt_debugger.formats.shared.langgraph.deltas import after
from tt_debugger.formats.shared.langgraph.facts import Facts, facts_of
from tt_debugger.formats.shared.langgraph.heads import head_at
from tt_debugger.formats.shared.langgraph.held import Held
from tt_debugger.formats.shared.langgraph.metadata import (
    NONE,
    Metadata,
    metadata_of,
    origin_of,
    whole,
)
from tt_debugger.formats.shared.langgraph.moments import (
    MOST_DISTANT_FUTURE,
    MOST_DISTANT_PAST,
    moment_of_id,
)
from tt_debugger.formats.shared.langgraph.rules import ThreadRules
from tt_debugger.formats.shared.langgraph.serde import KEY, Lost, Serde, opcodes
from tt_debugger.formats.shared.langgraph.state import state_of
from tt_debugger.formats.shared.langgraph.tasks import in_order, tasks_under
from tt_debugger.formats.shared.langgraph.threads import (
    TakesForks,
    TellsTree,
    Threads,
    WriteRow,
)
from tt_debugger.formats.shared.transcript import no_session
from tt_debugger.storage.tables import Value
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.changes import Change, State
    from tt_debugger.core.fork.plan import Draft, Plan

MOST_NAMED = 20
"""Sessions that are offered for the beginning of a name."""
MOST_NAMESPACES = 1000
"""Namespaces of a thread that are asked where they were started."""
MOST_LEAVES = 64
"""Leaves of which is learned what sets off which node, the newest ones."""
OTHER_ROWS = 32
"""Checkpoints of the original that are asked for what a fork does not tell."""
OTHER_THREADS = 16
"""Threads of the store that are asked where a thread itself does not tell enough."""
AHEAD = 64
"""Rows that are read at once where one after the other is asked for, at first."""
MOST_AHEAD = 1024
AHEAD_BYTES = 4 << 20
"""Bytes of the states that are read at once where more and more rows are."""
MOST_CHECKED = 256
"""Rows of a session whose bodies are all tried as it is read."""
_encode = msgspec.msgpack.encode
_STEPS = range(-(2**62), 2**62)
_OPCODES = 12
_checkpoint_of = itemgetter(0)
_NO_WRITES: list[WriteRow] = []
_TEXT = frozenset((str,))
_PARENT = frozenset((str, type(None)))
_SUPER_STEP = KIND_NUMBERS[Kind.SUPER_STEP]


class Own(msgspec.Struct, frozen=True):
    """What is kept of a session for its states: where its rows are, and its delta channels.

    `odd` has by row the ids that are shown as another: those that are no text, or there twice.
    """

    thread: str
    namespace: str
    deltas: tuple[str, ...]
    odd: dict[int, Value]


class _Position(msgspec.Struct, frozen=True):
    """A cursor: the session, the rows that it was read from, and how these were."""

    session: Session
    threads: Threads
    stamps: Sequence[int] | None


class _Ahead(msgspec.Struct):
    """The states that were read at once, and which of them was asked for last."""

    session: Session
    last: int = NO_ROW
    count: int = 0
    known: dict[int, Body] = msgspec.field(default_factory=dict[int, Body])

    def following(self) -> int:
        """Give how many rows to read next: twice as many, unless their states are long."""
        if self.last not in self.known:
            return AHEAD
        try:
            size = len(_encode(self.known[self.last]))
        except (ValueError, OverflowError, RecursionError):
            # Numbers and texts that it has no form for: nothing is said of their size.
            return AHEAD
        return max(1, min(2 * max(self.count, AHEAD // 2), MOST_AHEAD, AHEAD_BYTES // size))


class _Rows(Heads):
    """The heads of rows that have neither lines nor bytes; times and steps are told when asked.

    A row that is described has its step from then on. Where the steps of many are asked for,
    those of all rows are.
    """

    _ask_all: Callable[[], Mapping[int, int]] | None = None
    _asked = 0
    _ids: Sequence[str] = ()

    def fill(self, ids: Sequence[str], steps: Callable[[], Mapping[int, int]]) -> None:
        """Add rows that are described later."""
        count = len(ids)
        nowhere = array("q", (_NOWHERE,)) * count
        kinds = bytes((_SUPER_STEP,)) * count
        self.extend(kinds, (), range(_NOWHERE, _NOWHERE + count), nowhere, nowhere)
        self._ask_all = steps
        self._ids = ids
        self._column = lambda _: array("d", map(moment_of_id, ids)).tobytes()
        del self._times

    def time(self, row: int) -> float | None:
        """Give the time of a row; those of all rows are worked out when a column is needed."""
        if "_times" in vars(self) or not 0 <= row < len(self._ids):
            return super().time(row)
        moment = moment_of_id(self._ids[row])
        return moment if MOST_DISTANT_PAST <= moment < MOST_DISTANT_FUTURE else None

    def tell_step(self, row: int, step: object) -> None:
        """Say the step of a row, if it is one."""
        if type(step) is int and step in _STEPS:
            self._steps[row] = step

    def step(self, row: int) -> int | None:
        """Give the step of a row."""
        if self._waiting[row] and self._ask_all is not None:
            self._asked += 1
            if self._asked > MOST_ASKED:
                self._know_steps()
            else:
                self._described(row)
        return super().step(row)

    def copy(self) -> Heads:
        """Give columns that can grow apart from these."""
        self._know_steps()
        return super().copy()

    def columns(self) -> dict[str, bytes]:
        """Give the columns that `restored` takes."""
        self._know_steps()
        return super().columns()

    def take_in(self, progress: Callable[[int, int], None] | None = None) -> None:
        """Take in all that would be asked of a store later, so that it can be closed."""
        self._know_steps()
        super().take_in(progress)

    def _know_steps(self) -> None:
        ask, self._ask_all = self._ask_all, None
        if ask is not None:
            self._steps.update(ask())


MOST_ASKED = 32
"""Rows whose steps are asked for one by one."""
_NOWHERE = -(2**63)
"""What `Heads` has for a place that is not there."""


class LangGraphStore(ABC):
    """A place with threads; a format says how they are reached."""

    format: ClassVar[str]
    about: ClassVar[str]
    verified: ClassVar[str]
    keeps_calls_whole: ClassVar[bool] = False
    """A call that waits for its result is a state like any other: the node is next."""

    def __init__(self, location: str) -> None:
        self.location = location
        key = os.environ.get(KEY)
        self._serde = Serde(key.encode() if key else None)
        self._threads = self.threads_at(location, self._serde)
        # Rows are described by whoever draws them, while another thread may follow.
        self._lock = threading.RLock()
        self._facts: tuple[Session, Facts] | None = None
        self._ahead: _Ahead | None = None
        self._guesses: tuple[Session, dict[int, dict[str, Any]]] | None = None

    @classmethod
    @abstractmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether the location is of this format."""

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the location. Raises CannotReadError."""
        return cls(location)

    @classmethod
    @abstractmethod
    def threads_at(cls, location: str, serde: Serde) -> Threads:
        """Give the threads at a location. Raises CannotReadError."""

    def sessions(self) -> Sequence[SessionId]:
        """Give the ids of the threads that were written to last, the newest last."""
        with self._lock:
            self._renew()
            found = self._threads.newest()
            if not found:
                self._refuse_if_damaged()
            return [SessionId(each) for each in found]

    def sessions_named(self, beginning: str) -> Sequence[SessionId]:
        """Give the ids that are or begin with a text: threads, and namespaces of threads."""
        threads = self._threads
        found = dict.fromkeys(threads.beginning_with(beginning, MOST_NAMED))
        for thread, namespace in _splits(beginning):
            if thread in threads.beginning_with(thread, 1):
                names = (each for each in threads.namespaces(thread) if each)
                begun = [each for each in names if each.startswith(namespace)]
                begun.sort(key=lambda each: each != namespace)
                found |= dict.fromkeys(f"{thread}|{each}" for each in begun[:MOST_NAMED])
        return [SessionId(each) for each in found]

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the index of a thread, or of a namespace in one."""
        with self._lock, no_collection():
            self._renew()
            thread, namespace = self._named(session)
            return self._read(session, thread, namespace, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read anew where anything was written; what cannot be read now is as it was."""
        position: _Position = since.position
        try:
            with self._lock:
                return self._followed(position, since)
        except CannotReadError:
            return Loaded(position.session, since)

    def _followed(self, position: _Position, since: Cursor) -> Loaded:
        before, now = position.session, self._threads.renewed()
        if now is position.threads and not now.is_live:
            return Loaded(before, since)
        own: Own = before.own
        old = position.stamps
        if old is None and position.threads is self._threads:
            old = position.threads.stamps(own.thread, own.namespace)
        self._take(now)
        stamps = now.stamps(own.thread, own.namespace)
        if old is not None and list(old) == list(stamps):
            again = _Position(before, now, stamps if now.is_live else None)
            return Loaded(before, Cursor(again))
        if not stamps:
            sessions = self.sessions()
            if not sessions:
                raise no_session(self.location, before.id)
            return self.load(sessions[-1])
        loaded = self._read(before.id, own.thread, own.namespace, unheard)
        return Loaded(loaded.session, loaded.cursor, _kept(before, loaded.session, old, stamps))

    def watched(self) -> Sequence[str]:
        """Give the paths whose change may mean news."""
        return self._threads.watched()

    def rules(self, session: Session, *, uncompacted: bool = False) -> ThreadRules:
        """Give the rules: a state is recorded whole."""
        return ThreadRules()

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the states of some rows, in the order asked for."""
        if len(rows) == 1:
            with self._lock:
                return [self._one(session, rows[0])]
        wanted = sorted(set(rows))
        found: dict[int, Body] = {}
        with self._lock, no_collection():
            for first, last in _runs(wanted):
                found |= self._states(session, first, last)
        return [found[row] for row in rows]

    def raw(self, session: Session, row: int) -> bytes:
        """Give what a row and the writes under it were read to, as JSON."""
        own: Own = session.own
        key = own.odd.get(row, session.ids[row])
        with self._lock:
            passed = _passed(session, row)
            kind, data = self._threads.stored(own.thread, own.namespace, key, passed)
            held, metadata, writes = self._held(session, row, row)[row]
        body = (
            held.opaque | {"why": held.why}
            if isinstance(held, Lost)
            else self._whole(held, kind, data)
        )
        told = {
            "thread_id": own.thread,
            "checkpoint_ns": own.namespace,
            "checkpoint_id": key if isinstance(key, str) else str(key),
            "type": kind,
            "checkpoint": body,
            "metadata": whole(metadata),
            "writes": [self._written(each) for each in writes],
        }
        if kind == "pickle" and isinstance(data, bytes):
            told["opcodes"] = opcodes(data, _OPCODES)
        return msgspec.json.encode(told)

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of a namespace: it is in the same place."""
        return f"{self.location}#{quoted(name)}:"

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says to the messages of a graph."""
        from tt_debugger.formats.shared.langgraph.fork_told import message

        return message(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give all that a fork would write: a checkpoint with what was edited."""
        from tt_debugger.formats.shared.langgraph.forking import Ground, drafted

        session, threads = replay.session, self._threads
        if not isinstance(threads, TakesForks):
            raise UnsupportedError(f"ttdbg cannot fork sessions of {self.about}")
        own: Own = session.own

        def held(row: int) -> tuple[Held | Lost, Sequence[WriteRow]]:
            body, _, writes = self._held(session, row, row)[row]
            return body, writes

        with self._lock:
            ground = Ground(
                session=session,
                threads=threads,
                serde=self._serde,
                facts=self._facts_of(session),
                learned=partial(self._alone, own),
                thread=own.thread,
                namespace=own.namespace,
                deltas=own.deltas,
                held=held,
            )
            return drafted(ground, plan)

    def close(self) -> None:
        """Let go of what is open."""
        self._threads.close()

    def _renew(self) -> None:
        self._take(self._threads.renewed())

    def _take(self, threads: Threads) -> None:
        """Answer from these threads from now on."""
        old, self._threads = self._threads, threads
        if old is not threads:
            self._facts = self._ahead = self._guesses = None
            old.close()

    def _named(self, session: str) -> tuple[str, str]:
        """Give the thread and the namespace of a session. Raises CannotReadError for none."""
        for thread, namespace in ((session, ""), *_splits(session)):
            if any(True for _ in self._threads.index(thread, namespace, most=1)):
                return thread, namespace
        # A thread of which only graphs inside it have checkpoints is one too.
        if self._threads.namespaces(session):
            return session, ""
        self._refuse_if_damaged()
        raise no_session(self.location, session)

    def _refuse_if_damaged(self) -> None:
        """Say why there may be nothing where nothing was found. Raises CannotReadError."""
        why = [each for each in self._threads.findings() if each.code is Code.UNREADABLE]
        if why:
            raise CannotReadError(f"cannot read {self.location}: {why[0].message}")

    def _read(self, name: str, thread: str, namespace: str, progress: Progress) -> Loaded:
        threads = self._threads
        stamps = threads.stamps(thread, namespace) if threads.is_live else None
        if isinstance(threads, TellsTree):
            rows = list(threads.tree(thread, namespace))
        else:
            rows = [(own, above, kind) for own, above, _, kind in threads.index(thread, namespace)]
        own_ids, above, kinds = (list(map(itemgetter(place), rows)) for place in range(3))
        linked = link(_links_of(own_ids, above))
        heads = _Rows()
        heads.fill(linked.ids, partial(self._steps, thread, namespace, own_ids))
        odd: dict[int, Value] = {}
        if linked.ids != own_ids:
            pairs = zip(own_ids, linked.ids, strict=True)
            odd = {row: own for row, (own, shown) in enumerate(pairs) if own != shown}
        session = Session(
            SessionId(name),
            self.format,
            heads,
            linked.ids,
            linked.parents,
            active=len(rows) - 1 if rows else None,
            own=Own(thread, namespace, (), odd),
        )
        deltas = self._delta_channels(session)
        own = Own(thread, namespace, deltas, odd)
        session = msgspec.structs.replace(session, own=own)
        found = [*threads.findings(), *linked.findings, *map(_guess, deltas)]
        started = self._started(session)
        found += self._found_sealed(session, kinds)
        if 0 < len(rows) <= MOST_CHECKED:
            found += self._found_in_bodies(session, 0, len(rows) - 1)
        # The rows and their tree are those of the session that the findings are in.
        whole_session = msgspec.structs.replace(
            session, findings=tuple(found), subsessions=started
        )
        vars(whole_session).update(vars(session))
        heads.describe = _Describe(self, whole_session)
        progress(len(rows), len(rows))
        return Loaded(whole_session, Cursor(_Position(whole_session, threads, stamps)))

    def _steps(self, thread: str, namespace: str, ids: Sequence[Value]) -> Mapping[int, int]:
        """Give the step of each row that says it; rows that came since are passed over."""
        steps: dict[int, int] = {}
        row = 0
        with self._lock:
            index = list(self._threads.index(thread, namespace))
        for own, _, metadata, _ in index:
            if row == len(ids):
                break
            if own != ids[row]:
                continue
            about = metadata_of(metadata) or NONE
            if type(about.step) is int and about.step in _STEPS:
                steps[row] = about.step
            row += 1
        return steps

    def _delta_channels(self, session: Session) -> tuple[str, ...]:
        """Give the channels of which the leaves count what was written to them."""
        names: dict[str, None] = {}
        for row in session.tree.leaves()[-MOST_LEAVES:]:
            for _, metadata in self._rows_of(session, row, row):
                about = metadata_of(metadata) or NONE
                names |= dict.fromkeys(as_map(about.counters_since_delta_snapshot))
        return tuple(names)

    def _rows_of(self, session: Session, first: int, last: int) -> list[tuple[Held | Lost, Value]]:
        """Give the bodies and the metadata of rows that follow each other."""
        own: Own = session.own
        keys, passed = _keys(session, first, last), _passed(session, first)
        return self._threads.checkpoints(own.thread, own.namespace, keys, passed)

    def examined(self, session: Session) -> Iterator[Finding]:
        """Read all bodies of a session; say which are not decoded, where its findings do not."""
        count = len(session)
        for first in range(0, count if count > MOST_CHECKED else 0, AHEAD):
            with self._lock:
                found = list(self._found_in_bodies(session, first, min(first + AHEAD, count) - 1))
            yield from found

    def _found_in_bodies(self, session: Session, first: int, last: int) -> Iterator[Finding]:
        """Say which rows should have been decodable, and are not."""
        found = self._rows_of(session, first, last)
        for name, (held, metadata) in zip(session.ids[first : last + 1], found, strict=True):
            if isinstance(held, Lost):
                if not _is_sealed(held.opaque["$opaque"]):
                    yield finding(
                        Code.UNREADABLE,
                        f"the body of a checkpoint is not decoded: {held.why}",
                        hint="its values are shown as their size and hash",
                        checkpoint=name,
                    )
            elif held.flaw is not None:
                what = f"the body of a checkpoint is not sound: {held.flaw}"
                hint = "what runs next may be more than is shown"
                yield finding(Code.WRONG_TYPE, what, hint=hint, checkpoint=name)
            if metadata_of(metadata) is None:
                what = "the metadata is no JSON object"
                yield finding(Code.WRONG_TYPE, what, checkpoint=name)

    def _found_sealed(self, session: Session, kinds: Sequence[Value]) -> Iterator[Finding]:
        """Say which bodies are not decoded for what they are, by the first of each kind."""
        for kind in sorted(each for each in set(kinds) if isinstance(each, str)):
            if not _is_sealed(kind):
                continue
            first = kinds.index(kind)
            held, _ = self._rows_of(session, first, first)[0]
            if isinstance(held, Lost):
                count = kinds.count(kind)
                what = (
                    f"{count} {'checkpoint is' if count == 1 else 'checkpoints are'} not decoded"
                )
                yield finding(
                    Code.OPAQUE,
                    f"{what} ({kind:.40}): {held.why}",
                    hint="the values are shown as their size and hash; the tree is whole",
                    checkpoint=session.ids[first],
                )

    def _started(self, session: Session) -> dict[int, tuple[str, ...]]:
        """Give the namespaces that were started from each row, by the names of their sessions."""
        own: Own = session.own
        started: dict[int, list[str]] = {}
        for each in self._threads.namespaces(own.thread)[:MOST_NAMESPACES]:
            if not _is_inside(each, own.namespace):
                continue
            # One that has no task in its name goes on with each call, from other checkpoints.
            most = 1 if ":" in each.rpartition("|")[2] else None
            index = self._threads.index(own.thread, each, most=most)
            above = {
                _started_at(metadata_of(row[2]) or NONE, own.namespace): None for row in index
            }
            for name in above:
                row = None if name is None else session.row_of(name)
                if row is not None:
                    started.setdefault(row, []).append(f"{own.thread}|{each}")
        return {row: tuple(names) for row, names in started.items()}

    def _one(self, session: Session, row: int) -> Body:
        """Give the state of one row; those after it too, where one after the other is asked."""
        ahead = self._ahead
        if ahead is None or ahead.session is not session:
            ahead = self._ahead = _Ahead(session)
        if row not in ahead.known:
            ahead.count = ahead.following() if row == ahead.last + 1 else AHEAD * (not row) or 1
            end = min(row + ahead.count, len(session)) - 1
            with no_collection():
                ahead.known = self._states(session, row, end)
        ahead.last = row
        return ahead.known[row]

    def _states(self, session: Session, first: int, last: int) -> dict[int, Body]:
        """Give the states of rows that follow each other."""
        own: Own = session.own
        facts = self._facts_of(session)
        keys = _keys(session, first, last)
        held = self._rows_of(session, first, last)
        writes = self._threads.writes(own.thread, own.namespace, keys[0], keys[-1], values=True)
        tasks = tasks_under(writes, self._serde.value)
        guessed = self._guessed(session, first, last) if own.deltas else {}
        return {
            row: state_of(body, whole(metadata), tasks.get(key, []), facts, guessed.get(row))
            for row, key, (body, metadata) in zip(range(first, last + 1), keys, held, strict=True)
        }

    def _held(
        self, session: Session, first: int, last: int
    ) -> dict[int, tuple[Held | Lost, Value, list[WriteRow]]]:
        """Give of rows that follow each other the body, the metadata and the writes under it."""
        own: Own = session.own
        keys = _keys(session, first, last)
        held = self._rows_of(session, first, last)
        found = self._threads.writes(own.thread, own.namespace, keys[0], keys[-1], values=True)
        writes = {key: in_order(list(group)) for key, group in groupby(found, _checkpoint_of)}
        return {
            row: (body, metadata, writes.get(key, _NO_WRITES))
            for row, key, (body, metadata) in zip(range(first, last + 1), keys, held, strict=True)
        }

    def _facts_of(self, session: Session) -> Facts:
        """Learn what the leaves tell; each has seen what any row above it has."""
        if self._facts is not None and self._facts[0] is session:
            return self._facts[1]
        leaves = session.tree.leaves()[-MOST_LEAVES:]
        bodies = [self._rows_of(session, row, row)[0][0] for row in leaves]
        mine = [each for each in bodies if isinstance(each, Held)]
        facts = facts_of(mine)
        if facts.needs_others and mine:
            _, first = self._rows_of(session, 0, 0)[0]
            facts = self._learned(session.own, mine[-1], facts, origin_of(whole(first)))
        self._facts = session, facts
        return facts

    def _learned(self, own: Own, last: Held, facts: Facts, origin: str | None) -> Facts:
        """Learn from other threads what one does not tell: of a fork, from its original alone."""
        if origin is not None:
            # Its newest may be another fork, which knows no more than this one.
            theirs = facts_of(self._newest_in(origin, own, OTHER_ROWS))
            if theirs.triggered or theirs.is_functional:
                return msgspec.structs.replace(
                    facts,
                    triggered=theirs.triggered | facts.triggered,
                    is_functional=theirs.is_functional or facts.is_functional,
                )
        others = facts_of(self._newest_of_others(own, last.versions.keys()))
        return msgspec.structs.replace(facts, triggered=others.triggered | facts.triggered)

    def _alone(self, own: Own, held: Held) -> Facts:
        """Give what would be known of the graph in a fork that has this checkpoint alone."""
        facts = facts_of([held])
        return self._learned(own, held, facts, own.thread) if facts.needs_others else facts

    def _newest_of_others(self, own: Own, names: AbstractSet[str]) -> Iterator[Held]:
        """Give what other threads hold last, if by its channels it may be of the same graph."""
        for thread in self._threads.newest()[-OTHER_THREADS:]:
            for held in self._newest_in(thread, own, 1):
                theirs = held.versions.keys()
                if names <= theirs or names >= theirs:
                    yield held

    def _newest_in(self, thread: str, own: Own, most: int) -> Iterator[Held]:
        """Go over the newest checkpoints of a thread, as far as they are decoded."""
        index = self._threads.index(thread, own.namespace, most=most, descending=True)
        keys = [row[0] for row in index][::-1]
        found = self._threads.checkpoints(thread, own.namespace, keys) if keys else ()
        for held, _ in found:
            if isinstance(held, Held):
                yield held

    def _guessed(
        self,
        session: Session,
        first: int,
        last: int,
    ) -> dict[int, dict[str, Any]]:
        """Give for rows the values of their delta channels, as far as they do not hold them."""
        own: Own = session.own
        if self._guesses is None or self._guesses[0] is not session:
            self._guesses = session, {}
        known = self._guesses[1]
        at_hand = self._held(session, first, last)

        def at(row: int) -> tuple[Held | Lost, Value, list[WriteRow]]:
            if row not in at_hand:
                at_hand.update(self._held(session, max(row - AHEAD, 0), row))
            return at_hand[row]

        guessed: dict[int, dict[str, Any]] = {}
        for row in range(first, last + 1):
            path: list[int] = []
            for above in session.tree.ancestors(row):
                if above in known:
                    break
                path.append(above)
                body = at(above)[0]
                if all(name in _channels(body) for name in own.deltas):
                    break
            for each in reversed(path):
                parent = session.parents[each]
                known[each] = self._delta_values(
                    own.deltas,
                    at(each)[0],
                    {} if parent == NO_ROW else known.get(parent, {}),
                    [] if parent == NO_ROW else at(parent)[2],
                )
            body = at(row)[0]
            if not isinstance(body, Lost):
                channels = _channels(body)
                guessed[row] = {
                    name: value for name, value in known[row].items() if name not in channels
                }
        return guessed

    def _delta_values(
        self,
        names: Sequence[str],
        body: Held | Lost,
        before: Mapping[str, Any],
        writes: Sequence[WriteRow],
    ) -> dict[str, Any]:
        channels = _channels(body)
        values: dict[str, Any] = {}
        for name in names:
            if name in channels:
                values[name] = channels[name]
                continue
            written = [self._serde.value(each[5], each[6]) for each in writes if each[4] == name]
            value = after(before.get(name, msgspec.UNSET), written)
            if value is not msgspec.UNSET:
                values[name] = value
        return values

    def _whole(self, held: Held, kind: str | None, data: Value) -> Any:
        """Give all that a body holds, where it is one value; else what is made of it."""
        if data is None:
            return msgspec.structs.asdict(held)
        return self._serde.value(kind, data)

    def _written(self, row: WriteRow) -> dict[str, Any]:
        _, task, path, place, channel, kind, value = row
        plain = {"task_id": task, "task_path": path, "idx": place, "channel": channel}
        told = {
            key: each if not isinstance(each, bytes) else str(each) for key, each in plain.items()
        }
        return {**told, "type": kind, "value": self._serde.value(kind, value)}


class _Describe:
    """Describes rows of a session by their states."""

    def __init__(self, store: LangGraphStore, session: Session) -> None:
        self._store = store
        self._session = session

    def __call__(self, heads: Heads, rows: Sequence[int], /) -> Iterator[Head]:
        """Give the heads of some rows."""
        parents = self._session.parents
        wanted = sorted({*rows, *(parents[row] for row in rows)} - {NO_ROW})
        states = dict(zip(wanted, self._store.bodies(self._session, wanted), strict=True))
        for row in rows:
            state = states[row]
            if isinstance(heads, _Rows):
                heads.tell_step(row, as_map(state["metadata"]).get("step"))
            yield head_at(state, states.get(parents[row]))


def _links_of(ids: list[Value], above: list[Value]) -> Links:
    links = Links()
    parents = [each or None for each in above] if "" in above else above
    if (
        _TEXT.issuperset(map(type, ids))
        and "" not in ids
        and _PARENT.issuperset(map(type, parents))
    ):
        links.extend(ids, parents)  # pyright: ignore[reportArgumentType] - looked at above
        return links
    for place, (own, parent) in enumerate(zip(ids, parents, strict=True), 1):
        links.append(own, parent or None, f"{place}")
    return links


def _guess(channel: str) -> Finding:
    return finding(
        Code.GUESSED,
        f"the values of the delta channel {channel!r:.60} are a guess: most checkpoints do not"
        " hold it, and the code that puts it together is not in the store",
        hint="lists are appended to, messages of one id replace each other",
    )


def _is_sealed(kind: Value) -> bool:
    """Tell whether a body of this type is whole, but may not be decoded."""
    return isinstance(kind, str) and (kind == "pickle" or "+" in kind)


def _keys(session: Session, first: int, last: int) -> list[Value]:
    own: Own = session.own
    if not own.odd:
        return list(session.ids[first : last + 1])
    return [own.odd.get(row, session.ids[row]) for row in range(first, last + 1)]


def _passed(session: Session, first: int) -> int:
    """Give how many rows before this one have the same id in the store."""
    odd = session.own.odd
    row = first - 1
    while odd and row >= 0 and row in odd and odd[row] == odd.get(first, session.ids[first]):
        row -= 1
    return first - 1 - row


def _channels(body: Held | Lost) -> dict[str, Any]:
    return {} if isinstance(body, Lost) else body.channel_values


def _runs(rows: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Give ascending rows as runs of rows that follow each other."""
    if not rows:
        return
    first = rows[0]
    for before, row in pairwise(rows):
        if row != before + 1:
            yield first, before
            first = row
    yield first, rows[-1]


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Give the ways in which a text may be a thread and a namespace in it."""
    for place, character in enumerate(name):
        if character == "|" and place:
            yield name[:place], name[place + 1 :]


def _is_inside(namespace: str, outer: str) -> bool:
    """Tell by its name whether a namespace is that of a graph that stands in another one."""
    own = [each.partition(":") for each in namespace.split("|")] if namespace else []
    above = [each.partition(":") for each in outer.split("|")] if outer else []
    return len(own) == len(above) + 1 and all(
        one[0] == other[0] and (one[2] == other[2] or not one[2] or not other[2])
        for one, other in zip(above, own, strict=False)
    )


def _started_at(about: Metadata, outer: str) -> str | None:
    """Give the checkpoint of a namespace from which a graph inside it was started."""
    found = as_map(about.parents).get(outer)
    return found if isinstance(found, str) else None


def _kept(before: Session, now: Session, old: Sequence[int] | None, stamps: Sequence[int]) -> int:
    """Give how many rows of a session, from the first on, are in another as they were."""
    count = 0
    for mine, theirs in zip(old or (), stamps, strict=False):
        is_there = count < min(len(before), len(now))
        if not is_there or mine != theirs or before.parents[count] != now.parents[count]:
            break
        count += 1
    return count
