"""Making a session of a transcript: ids, parents, gaps, asides, findings and extent."""

from __future__ import annotations

from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Extent, Head, Kind, Session, SessionId
from tt_debugger.core.tree import Linked
from tt_debugger.formats.shared.document import Lost, findings_on
from tt_debugger.formats.shared.hanging import hung
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.formats.shared.start import start_state
from tt_debugger.formats.shared.transcript_entries import (
    Beside,
    Entries,
    Entry,
    LostFile,
    Piece,
    Transcript,
    other_entry,
)


class TranscriptReading(Reading):
    """Makes a session of a transcript."""

    agent: ClassVar[str] = "the agent"

    def __init__(self, location: str, format_name: str, transcript: Transcript) -> None:
        super().__init__(location)
        self._format = format_name
        self._transcript = transcript
        self._entries: list[Entry | LostFile | None] = []
        self._rows: list[int] = []
        """The row of each entry."""
        self._hung: list[tuple[int, int]] = []
        """Rows that name no parent, each with the row that it hangs on."""
        self._labels: dict[int, str] = {}
        self._subsessions: dict[int, tuple[str, ...]] = {}
        self._told: list[tuple[int, Finding]] = []
        """What is wrong with a row."""
        self.findings += transcript.findings

    @property
    def session_id(self) -> SessionId:
        """The id that the transcript says."""
        return SessionId(self._transcript.id)

    def made(self) -> Session:
        """Give the session of all pieces."""
        for piece in self._transcript.pieces:
            self._take_piece(piece)
        return self.finished(self._transcript.size or 0)

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a record that nobody has read into an entry."""
        self._take_entry(other_entry(record, place))

    def _take_piece(self, piece: Piece) -> None:
        if isinstance(piece, Lost) and piece.place.is_whole and piece.place.length:
            self._skip(piece.place, piece.why)
            return
        self.end_gap()
        match piece:
            case Entry():
                self._take_entry(piece)
            case Beside(name, place):
                self.take_aside(name, place)
            case Lost(place):
                # The end of a document that may still be being written.
                self.findings += findings_on(piece)
                self.skipped += place.length
            case LostFile():
                self._take_lost_file(piece)

    def _take_entry(self, entry: Entry) -> None:
        row = len(self.heads)
        here = None if entry.file else entry.place
        name = entry.name or (here.name if here else f"{row + 1}")
        parent = entry.parent
        if entry.above is not None:
            self._hung.append((row, self._rows[entry.above]))
            parent = None
        elif parent is msgspec.UNSET:
            self._hung.append((row, self.heads.not_gap_before(row)))
            parent = None
        self._rows.append(row)
        self._entries.append(entry)
        if entry.label is not None:
            self._labels[row] = entry.label
        if entry.subsessions:
            self._subsessions[row] = entry.subsessions
        self._told += ((row, each) for each in entry.findings)
        self.heads.append(
            msgspec.structs.replace(
                entry.head,
                time=entry.time,
                line=here.line if here else None,
                offset=here.offset if here else None,
                length=entry.place.length if entry.place else None,
            )
        )
        self.links.append(entry.own_id, parent, name)

    def _take_lost_file(self, lost: LostFile) -> None:
        row = len(self.heads)
        said = f"{lost.file}: {lost.why}"
        self.heads.append(Head(Kind.GAP, summary=said, length=lost.size, failed=True))
        self.links.append(None, None, f"gap@{PurePath(lost.file).stem}")
        self._entries.append(lost)
        self._told.append((row, finding(Code.UNREADABLE, said)))
        self.skipped += lost.size

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping what is kept for each row in step."""
        super().end_gap()
        self._entries += [None] * (len(self.heads) - len(self._entries))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last entry is the active leaf unless another is said."""
        made = self._transcript
        active = self._rows[made.active] if made.active is not None and self._rows else None
        return Session(
            self.session_id,
            self._format,
            self.heads,
            linked.ids,
            hung(linked.parents, self._hung),
            labels=self._labels,
            subsessions=self._subsessions,
            active=self.last_row if active is None else active,
            title=made.title,
            cwd=made.cwd,
            forked_from=made.forked_from,
            extent=None if made.size is None else extent,
            own=Entries({**start_state(), **made.start}, self._entries),
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Say what is wrong with the entries, each with its place."""
        return [
            msgspec.structs.replace(
                each,
                line=session.heads.line(row),
                offset=session.heads.offset(row),
                checkpoint=session.ids[row],
            )
            for row, each in self._told
        ]
