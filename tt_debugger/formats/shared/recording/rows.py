"""Recordings in tables: their entries are rows of `agent_turns`, in whichever database that is.

What an entry says stands in its payload. The state of a snapshot has a row of its own in
`checkpoints`, and is read when it is asked for. Sessions of several tenants lie side by side.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Session
from tt_debugger.core.recording.naming import session_name
from tt_debugger.core.replay import Replay
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.recording.entries import (
    RecordedEntries,
    entries_of,
    entry_in,
    header_in,
    transcript_of,
)
from tt_debugger.formats.shared.tables.documents import Document, document_of
from tt_debugger.formats.shared.tables.history import text_of
from tt_debugger.formats.shared.transcript import Entry, Transcript
from tt_debugger.formats.shared.transcript_rows import Row
from tt_debugger.storage.tables import Tables, Value
from tt_debugger.store import Match

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan

SESSIONS, TURNS, STATES = "agent_sessions", "agent_turns", "checkpoints"

_KEY = ("tenant", "session_id")
_TOLD = (*_KEY, "turn_number", "checkpoint_id", "parent_id", "kind", "payload")
"""The columns of turns that no other program's table has together."""
_MOST_SESSIONS = 10_000
"""Sessions that are looked for in the turns themselves."""
_LARGEST_STEP = 1 << 62

Key = tuple[Value, Value]
"""A tenant and the id of a session."""


def match_of(tables: Mapping[str, Collection[str]]) -> Match | None:
    """Tell recordings by the columns of their tables."""
    turns, sessions = (set(tables.get(each, ())) for each in (TURNS, SESSIONS))
    if turns.issuperset(_TOLD) and sessions.issuperset((*_KEY, "header")):
        return Match(97, "the tables agent_sessions and agent_turns of a recorder")
    return None


def sessions_in(tables: Tables) -> dict[str, Key]:
    """Give the sessions by their names, the one that was written to last at the end."""
    rows = _Rows(tables)
    begun = rows.of(SESSIONS, _KEY, order=("created_at", *_KEY))
    keys = [(each["tenant"], each["session_id"]) for each in begun]
    # Also those whose row in the table of sessions is lost.
    keys = list(dict.fromkeys((*keys, *islice(_keys_of_turns(rows), _MOST_SESSIONS))))
    keys.sort(key=lambda key: _last_turn(rows, key))
    return {session_name(*map(text_of, key)): key for key in keys}


def transcript_in(tables: Tables, name: str, key: Key) -> Transcript:
    """Give the entries of a session in the order in which they were written."""
    rows = _Rows(tables)
    where = _of_session(key)
    header, told = _header(rows, where)
    columns = ("turn_number", "checkpoint_id", "parent_id", "payload")
    turns = rows.of(TURNS, columns, order=("turn_number",), where=where)
    entries = [_entry(each) for each in turns]
    return transcript_of(name, entries, header, (*told, *rows.told))


class RecordedRows(RecordedEntries):
    """A store whose sessions are recordings in tables; a format says how these are reached."""

    keeps_calls_whole: ClassVar[bool] = False

    @abstractmethod
    def tables(self) -> Tables:
        """Give the tables as they were looked at last."""

    @abstractmethod
    def key(self, session: Session) -> Key:
        """Give the tenant of a session and its id."""

    def state(self, session: Session, row: int) -> Document:
        """Read the state of a snapshot from its row in the table of states."""
        value = self._stored(session, row, STATES, "state_json")
        read = Document({}, "the row is not there") if value is None else document_of(value)
        if not read.why:
            return read
        return Document({}, f"{STATES}/{session.ids[row]}: state_json: {read.why}")

    def raw(self, session: Session, row: int) -> bytes:
        """Give the payload of a row as it is stored, and on a line of its own the state of it.

        Raises CannotReadError where the row is gone.
        """
        payload = self._stored(session, row, TURNS, "payload")
        if payload is None:
            raise CannotReadError(f"cannot read {self.location}: the row is no longer there")
        state = self._stored(session, row, STATES, "state_json")
        return bytes_of(payload) if state is None else bytes_of(payload) + b"\n" + bytes_of(state)

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give the rows that a fork would add: a session of its own, or a branch of this one.

        Raises UnsupportedError, UsageError.
        """
        from tt_debugger.formats.shared.recording.row_forks import Original, draft

        session = replay.session
        newest_first = (self.bodies(session, (row,))[0] for row in reversed(range(len(session))))
        stateless = [each.body for each in entries_of(session) if isinstance(each, Entry)]
        tenant, name = map(text_of, self.key(session))
        original = Original(self.tables(), tenant, name, stateless)
        return draft(original, newest_first, replay, plan)

    def _stored(self, session: Session, row: int, table: str, column: str) -> Value:
        """Give what a column of the row with the id of an entry holds, None for no such row."""
        entry = entries_of(session)[row]
        tenant, name = self.key(session)
        of = "thread_id" if table == STATES else "session_id"
        wanted = entry.name if isinstance(entry, Entry) else None
        where = {"tenant": tenant, of: name, "checkpoint_id": wanted}
        if table not in self.tables().tables:
            return None
        found = self.tables().rows(table, (column,), where=where, most=1)
        return next((value for (value,) in found), None)


class _Rows:
    """Rows by the names of their columns, as far as they can be read; `told` says how far."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self.told: list[Finding] = []

    def of(self, table: str, columns: Sequence[str], **asked: Any) -> Iterator[Row]:
        """Go over the rows of a table, as `storage.tables.Tables` says."""
        if table not in self._tables.tables:
            return
        try:
            for values in self._tables.rows(table, columns, **asked):
                yield dict(zip(columns, values, strict=True))
        except CannotReadError as error:
            what = f"the rows of {table} end here: {error.message}"
            self.told.append(finding(Code.UNREADABLE, what))


def _keys_of_turns(rows: _Rows) -> Iterator[Key]:
    """Give the sessions that have turns, each found behind the one before."""
    before: tuple[Value, ...] = ()
    while found := next(rows.of(TURNS, _KEY, order=_KEY, after=before, most=1), None):
        key = found["tenant"], found["session_id"]
        if key == before or None in key:
            return
        yield key
        before = key


def _of_session(key: Key) -> Mapping[str, Value]:
    return {"tenant": key[0], "session_id": key[1]}


def _last_turn(rows: _Rows, key: Key) -> int:
    asked = {"where": _of_session(key), "order": ("turn_number",), "descending": True, "most": 1}
    last = next(rows.of(TURNS, ("turn_id",), **asked), None)
    number = last and last["turn_id"]
    return number if isinstance(number, int) else 0


def _header(rows: _Rows, where: Mapping[str, Value]) -> tuple[Mapping[str, Any], list[Finding]]:
    """Give what the row of a session says, and what is wrong with it."""
    found = next(rows.of(SESSIONS, ("header",), where=where, most=1), None)
    if found is None:
        return {}, [finding(Code.HEADER, "the session has no row in agent_sessions")]
    return header_in(found["header"], f"{SESSIONS}: header")


def _entry(row: Row) -> Entry:
    """Give the entry of a row; where its payload is none, what the other columns say of it."""
    named, number = row["checkpoint_id"], row["turn_number"]
    entry = entry_in(
        row["payload"],
        f"{TURNS}/{named}: payload",
        text_of(named),
        number if isinstance(number, int) and abs(number) < _LARGEST_STEP else None,
        own_id=named,
        parent=row["parent_id"],
    )
    others = tuple(_differences(entry.body, row))
    return msgspec.structs.replace(entry, findings=(*entry.findings, *others)) if others else entry


def _differences(body: Mapping[str, Any], row: Row) -> Iterator[Finding]:
    """Say where an entry is another than the columns of its row say."""
    for key, column in (("id", "checkpoint_id"), ("parent", "parent_id")):
        if key in body and body[key] != row[column]:
            what = f"the {column} is {row[column]!r:.60}, and the entry says {body[key]!r:.60}"
            yield finding(Code.WRONG_TYPE, what, hint="what the entry itself says counts")
