"""Records of no known format: as much of a tree, of messages and of time as they themselves tell.

Their names of ids and parents are a `Dialect`. A record that tells neither stands where it is: it
hangs on the record before it, and so does every record of a file that is a plain list.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.changes import Append, Change, Put, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import Call, Result
from tt_debugger.core.model import Extent, Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Rules, Step
from tt_debugger.core.tree import Linked
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.context import MESSAGES
from tt_debugger.formats.shared.dialect import LINEAR, Dialect
from tt_debugger.formats.shared.jsonl import JsonlFile
from tt_debugger.formats.shared.message_heads import head_of, message_in, record_head, time_in
from tt_debugger.formats.shared.promises import (
    idempotency_key,
    intended,
    open_intents,
    sequence_breaks,
    sequence_name,
    unmatched_results,
)
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place, Reading
from tt_debugger.formats.shared.records import Record, records
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
        self.dialect = self.dialect_of(location)
        self.has_messages = False
        self.unplaced: list[int] = []
        """Rows that hang on the record before them."""
        self.calls: list[tuple[str, int]] = []
        self.results: list[tuple[str, int]] = []
        self.sequence: str | None = None
        self.numbers: list[tuple[int, int | None]] = []
        self.intents: dict[str, tuple[int, str]] = {}

    @classmethod
    def dialect_of(cls, location: str) -> Dialect:
        """Give the dialect of the file, as its beginning tells it: here that of a plain list."""
        return LINEAR

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a record as a checkpoint."""
        row = len(self.heads)
        message = message_in(record)
        if message is None:
            head = record_head(record)
        else:
            self.has_messages = True
            head, parts = head_of(message)
            for part in parts:
                if isinstance(part, Call) and part.id is not None:
                    self.calls.append((part.id, row))
                elif isinstance(part, Result) and part.call is not None:
                    self.results.append((part.call, row))
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
        active = self._record_before(len(self.heads))
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
            parents[row] = self._record_before(row)
        return parents

    def _record_before(self, row: int) -> int:
        row -= 1
        while row >= 0 and self.heads.is_gap(row):
            row -= 1
        return row

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
        with suppress(CannotReadError):
            if self.reading.dialect_of(self.location) != facts.dialect:
                return self.load(loaded.session.id)
        return loaded

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode the records of some rows; a gap has the body None.

        Raises CannotReadError where the file no longer holds them.
        """
        is_gap = session.heads.is_gap
        return [None if is_gap(row) else self._record(session, row) for row in rows]

    def _record(self, session: Session, row: int) -> dict[str, Any]:
        facts: LooseSession = session.own
        data = self.raw(session, row).removeprefix(BYTE_ORDER_MARK)
        for piece in records(data) if data.strip() else ():
            if isinstance(piece, Record) and _may_be(piece.value, session.ids[row], facts.dialect):
                return piece.value
        raise CannotReadError("the file changed since it was read", "open it again")


def _may_be(record: dict[str, Any], name: str, dialect: Dialect) -> bool:
    """Tell whether a checkpoint of this name may have been made of a record."""
    own = dialect.own_id(record)
    is_own = isinstance(own, str) and (name == own or name.startswith(f"{own}@"))
    return is_own or (not isinstance(own, str) and name.startswith("L"))
