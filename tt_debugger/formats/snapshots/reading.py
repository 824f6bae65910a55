"""Reading states: each one a checkpoint that hangs on the one it names, or on the one before.

Several sessions may be written to one place. A reading is of one of them; a state that names no
session belongs to that of the state before.
"""

from __future__ import annotations

from array import array
from typing import Any, ClassVar

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Extent, Session, SessionId
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.shared.document import Document, Lost
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.formats.shared.records import CODES
from tt_debugger.formats.snapshots.states import (
    Schema,
    drift,
    has_parent_key,
    head_of,
    own_id_of,
    parent_of,
    schema_of,
    session_of,
    time_of,
    title_of,
)

FORMAT = "snapshots"
_HINT = "an agent that reads only one of the two versions cannot resume across this point"


class SnapshotReading(Reading):
    """The states of one session."""

    agent: ClassVar[str] = "the agent"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.wanted: SessionId | None = None
        self.title: str | None = None
        self.unplaced: list[int] = []
        """Rows that hang on the row before them."""
        self.schemas: list[Schema | None] = []
        self.names: dict[SessionId, None] = {}
        """The sessions that were met, the one that was written to last at the end."""
        self._current = super().session_id
        self._said_id: object = None
        self._is_id_of_all = False

    @property
    def session_id(self) -> SessionId:
        """The session that is read: where states name none, that of the file's name."""
        return super().session_id if self.wanted is None else self.wanted

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a state, if it is of the session that is read."""
        self.take_named(record, place, None)

    def take_named(self, record: dict[str, Any], place: Place, name: str | None) -> None:
        """Take a state that has a name of its own, to use where it has no id."""
        self._current = SessionId(session_of(record) or self._current)
        self.names.pop(self._current, None)
        self.names[self._current] = None
        if self._current != self.session_id:
            return
        if not has_parent_key(record):
            self.unplaced.append(len(self.heads))
        self.schemas.append(schema_of(record))
        self.title = title_of(record) or self.title
        self.add(
            head_of(record), self._own_id(record), parent_of(record), place, time_of(record), name
        )

    def read_document(self, whole: Document) -> None:
        """Take a file that is one state, or a list of them."""
        self.findings += whole.findings
        for piece in whole.pieces():
            place = piece.place
            if isinstance(piece, Lost):
                self._lose(place, piece.why)
                continue
            self.end_gap()
            for leniency in piece.forgiven:
                self.note(CODES[leniency], str(leniency), place)
            self.take(piece.value, place)

    def _lose(self, place: Place, why: str) -> None:
        if place.is_whole:
            self._skip(place, why)
            return
        self.end_gap()
        self.lose(place.length)
        self.note(
            Code.TORN_TAIL,
            f"the list has no end: {why}",
            place,
            hint="it may still be being written; if not, its writer crashed",
        )

    def lose(self, length: int) -> None:
        """Count bytes that are no state."""
        self.skipped += length

    def _own_id(self, record: dict[str, Any]) -> object:
        """Give the id of a state; one that all have is that of something else."""
        own = own_id_of(record)
        if self._is_id_of_all or has_parent_key(record) or own is None:
            return None if self._is_id_of_all and own == self._said_id else own
        self._is_id_of_all = own == self._said_id
        self._said_id = own
        return None if self._is_id_of_all else own

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping what is kept for each row in step."""
        super().end_gap()
        self.schemas += [None] * (len(self.heads) - len(self.schemas))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last state is the active leaf."""
        active = self._state_before(len(self.heads))
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            self._parents(linked.parents),
            active=None if active == NO_ROW else active,
            title=self.title,
            extent=extent,
        )

    def _parents(self, linked: array[int]) -> array[int]:
        """Let what names no parent hang on the state before, unless that hangs on it."""
        parents = linked[:]
        has_forward = any(parent > row for row, parent in enumerate(parents))
        for row in self.unplaced:
            before = self._state_before(row)
            if not (has_forward and _is_above(parents, row, before)):
                parents[row] = before
        return parents

    def _state_before(self, row: int) -> int:
        row -= 1
        while row >= 0 and self.heads.is_gap(row):
            row -= 1
        return row

    def findings_of(self, session: Session) -> list[Finding]:
        """Say where the version of the schema is another than that of the parent."""
        found: list[Finding] = []
        for row, after in enumerate(self.schemas):
            parent = session.parents[row]
            before = None if parent == NO_ROW else self.schemas[parent]
            what = drift(before, after) if before is not None and after is not None else None
            if what is not None:
                head = self.heads[row]
                found.append(
                    finding(
                        Code.SCHEMA_DRIFT,
                        what,
                        hint=_HINT,
                        line=head.line,
                        offset=head.offset,
                        checkpoint=session.ids[row],
                    )
                )
        return found


def _is_above(parents: array[int], row: int, below: int) -> bool:
    """Tell whether a row is another or above it."""
    while below not in {NO_ROW, row}:
        below = parents[below]
    return below == row
