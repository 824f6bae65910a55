"""Records of no known format: as much of a tree, of messages and of time as they themselves tell.

Their names of ids and parents are a `Dialect`. A record that tells neither stands where it is: it
hangs on the record before it, and so does every record of a file that is a plain list.
"""

from __future__ import annotations

from array import array
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Extent, Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Rules, Step
from tt_debugger.core.tree import Linked
from tt_debugger.formats.shared.context import MESSAGES
from tt_debugger.formats.shared.dialect import LINEAR, Dialect
from tt_debugger.formats.shared.jsonl import JsonlFile, may_be_named
from tt_debugger.formats.shared.message_heads import head_of, message_in, record_head, time_in
from tt_debugger.formats.shared.promises import (
    answered_in,
    called_in,
    idempotency_key,
    intended,
    open_intents,
    sequence_breaks,
    sequence_name,
    unmatched_results,
)
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.store import Cursor, Loaded


class LooseSession(msgspec.Struct, frozen=True):
    """What replay and following need to know of a file."""

    dialect: Dialect
    has_messages: bool


class _Notes(TypedDict):
    """What reading such a file keeps in mind."""

    dialect: Dialect
    has_messages: bool
    unplaced: list[int]
    calls: list[tuple[str, int]]
    results: list[tuple[str, int]]
    sequence: str | None
    numbers: list[tuple[int, int | None]]
    intents: dict[str, tuple[int, str]]


class LooseReading(Reading):
    """A file of any records, read one by one."""

    agent: ClassVar[str] = "the agent"
    kept: ClassVar[Any] = _Notes
    format: ClassVar[str]

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.dialect = LINEAR
        """Under which names records have their ids and parents: to be told by the store."""
        self.has_messages = False
        self.unplaced: list[int] = []
        """Rows that hang on the record before them."""
        self.calls: list[tuple[str, int]] = []
        self.results: list[tuple[str, int]] = []
        self.sequence: str | None = None
        self.numbers: list[tuple[int, int | None]] = []
        self.intents: dict[str, tuple[int, str]] = {}

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a record as a checkpoint."""
        row = len(self.heads)
        message = message_in(record)
        if message is None:
            head = record_head(record)
        else:
            self.has_messages = True
            head, parts = head_of(message)
            self.calls += ((name, row) for name in called_in(parts))
            self.results += ((name, row) for name in answered_in(parts))
        self._take_promises(record, row)
        if not self.dialect.is_placed(record):
            self.unplaced.append(row)
        own_id, parent = self.dialect.own_id(record), self.dialect.parent_of(record)
        self.add(head, own_id, parent, place, time_in(record))

    def _take_promises(self, record: dict[str, Any], row: int) -> None:
        self.sequence = self.sequence or sequence_name(record)
        if self.sequence is not None:
            number = record.get(self.sequence)
            is_number = sequence_name({self.sequence: number}) is not None
            self.numbers.append((row, number if is_number else None))
        step = intended(record)
        if step is not None:
            name, is_intended = step
            self.intents.pop(name, None)
            if is_intended:
                self.intents[name] = (row, idempotency_key(record))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last record of the file is the active leaf."""
        active = self.heads.not_gap_before(len(self.heads))
        return Session(
            self.session_id,
            self.format,
            self.heads,
            linked.ids,
            self._parents(linked),
            active=None if active < 0 else active,
            extent=extent,
            own=self.facts(),
        )

    def facts(self) -> LooseSession:
        """Give what replay and following need to know of the file."""
        return LooseSession(self.dialect, self.has_messages)

    def _parents(self, linked: Linked) -> array[int]:
        # No cycle comes of this: what hangs here has no id by which another could hang on it, or
        # hangs with all others in the order of the file.
        parents = linked.parents[:]
        for row in self.unplaced:
            parents[row] = self.heads.not_gap_before(row)
        return parents

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: what one record promises and others break."""
        return [
            *unmatched_results(session, self.calls, self.results),
            *sequence_breaks(session, self.sequence or "", self.numbers),
            *open_intents(session, self.intents),
        ]


class LooseRules:
    """The record itself, and the messages that were said on the way to it."""

    def start(self, session: Session) -> tuple[State, None]:
        """Give the state before the first record."""
        facts: LooseSession = session.own
        state: dict[str, Any] = {"record": None}
        if facts.has_messages:
            state["messages"] = []
        return state, None

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Add what the record says, and put it in the place of the one before."""
        record = as_map(body)
        changes: list[Change] = []
        message = message_in(record)
        if message is not None:
            changes.append(Append(MESSAGES, message))
        changes.append(Put(("record",), record))
        return Step(tuple(changes), memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: what an unknown agent mends is unknown too."""
        return Resumed(replay.state(row))


class LooseFile(JsonlFile):
    """A JSONL file of records of no known format."""

    reading: ClassVar[type[LooseReading]]  # pyright: ignore[reportIncompatibleVariableOverride] - narrower, and never written

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return LooseRules()

    def follow(self, since: Cursor) -> Loaded:
        """Read on; from the beginning where the file's beginning tells its dialect otherwise."""
        loaded = super().follow(since)
        facts: LooseSession = loaded.session.own
        return loaded if self._dialect() == facts.dialect else self.load(loaded.session.id)

    def _dialect(self) -> Dialect:
        """Give the dialect of the file, as its beginning tells it: here that of a plain list."""
        return LINEAR

    def _new_reading(self) -> LooseReading:
        reading = self.reading(self.location)
        reading.dialect = self._dialect()
        return reading

    def _is_of(self, session: Session, row: int, record: dict[str, Any]) -> bool:
        facts: LooseSession = session.own
        return may_be_named(session.ids[row], facts.dialect.own_id(record))
