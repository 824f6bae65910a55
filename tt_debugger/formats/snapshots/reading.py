"""Reading states: each one a checkpoint that hangs on the one it names, or on the one before.

Several sessions may be written to one place. A reading is of one of them; a state that names no
session belongs to that of the state before.
"""

from __future__ import annotations

from typing import Any, ClassVar

from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.model import Extent, Session, SessionId
from tt_debugger.core.placed import finding_at
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.shared.document import Document
from tt_debugger.formats.shared.document_file import DocumentReading
from tt_debugger.formats.shared.hanging import hung
from tt_debugger.formats.shared.reading import Place
from tt_debugger.formats.shared.states import Schema, StateSaid, drift, said_of

FORMAT = "snapshots"
_HINT = "an agent that reads only one of the two versions cannot resume across this point"


class SnapshotReading(DocumentReading):
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
        self.take_said(said_of(record), place)

    def take_said(self, said: StateSaid, place: Place, name: str | None = None) -> None:
        """Take what a state says; the name is used where it has no id."""
        self._current = SessionId(said.session or self._current)
        self.names.pop(self._current, None)
        self.names[self._current] = None
        if self._current != self.session_id:
            return
        if not said.has_parent_key:
            self.unplaced.append(len(self.heads))
        self.schemas.append(said.schema)
        self.title = said.title or self.title
        self.add(said.head, self._own_id(said), said.parent, place, said.time, name)

    def read_document(self, whole: Document) -> None:
        """Take a file that is one state, or a list of them."""
        self.findings += whole.findings
        for piece in whole.pieces():
            element = self.element_of(piece)
            if element is not None:
                self.take(element.value, element.place)

    def _own_id(self, said: StateSaid) -> object:
        """Give the id of a state; one that all have is that of something else."""
        own = said.own_id
        if self._is_id_of_all or said.has_parent_key or own is None:
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
        before = self.heads.not_gap_before
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            hung(linked.parents, ((row, before(row)) for row in self.unplaced)),
            active=self.last_row,
            title=self.title,
            extent=extent,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Say where the version of the schema is another than that of the parent."""
        found: list[Finding] = []
        for row, after in enumerate(self.schemas):
            parent = session.parents[row]
            before = None if parent == NO_ROW else self.schemas[parent]
            what = drift(before, after) if before is not None and after is not None else None
            if what is not None:
                found.append(finding_at(session, row, Code.SCHEMA_DRIFT, what, _HINT))
        return found
