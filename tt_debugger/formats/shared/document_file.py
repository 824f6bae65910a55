"""Files that are one JSON value, or have one on each line.

Which of both is told by their first lines, and looked at again only where the file has changed.
Lines are followed as they are added; one value is read anew where any byte of it is another.
"""

from __future__ import annotations

import hashlib
from abc import abstractmethod

import msgspec

from tt_debugger.core.model import Session, SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.document import Document, Element, Lost, document, findings_on
from tt_debugger.formats.shared.jsonl import JsonlFile
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.index_cache import FileSeen, look_at
from tt_debugger.storage.lines import lines
from tt_debugger.store import Cursor, Loaded, Progress, unheard


class DocumentReading(Reading):
    """A reading of lines, or of the pieces of a document."""

    @abstractmethod
    def read_document(self, whole: Document) -> None:
        """Take a file that is one JSON value."""

    def element_of(self, piece: Element | Lost) -> Element | None:
        """Say what is wrong with a piece, and give it if it is an element.

        What is lost becomes a gap, but for the end of a list that may still be being written.
        """
        if isinstance(piece, Lost) and piece.place.is_whole and piece.place.length:
            self._skip(piece.place, piece.why)
            return None
        self.end_gap()
        self.findings += findings_on(piece)
        if isinstance(piece, Element):
            return piece
        self.lose(piece.place.length)
        return None

    def lose(self, length: int) -> None:
        """Count bytes that are shown by no checkpoint."""
        self.skipped += length


class _Whole(msgspec.Struct, frozen=True):
    """A cursor of a file that is one JSON value: what was read, by its digest."""

    digest: bytes
    session: Session
    seen: FileSeen


class DocumentFile(JsonlFile):
    """A store that is one file, with one JSON value or with one on each line."""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read all that there is."""
        seen = look_at(self._file)
        if not self.is_document():
            return _seen_as(seen, super().load(session, progress))
        loaded = self._read_document(document(self._file), seen)
        progress(seen.size, seen.size)
        return loaded

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor; from the beginning what is one JSON value and has changed."""
        if not isinstance(since.position, _Whole):
            self._go_to_current(since)
        elif not self._file.is_current():
            self._reopen()
        position, seen = since.position, look_at(self._file)
        if position.seen.is_same(seen):
            return Loaded(position.session, since)
        was_document = isinstance(position, _Whole)
        if not self.is_document():
            if was_document:
                return self.load(position.session.id)
            return _seen_as(seen, self._followed(since))
        try:
            whole = document(self._file)
        except CannotReadError:
            # It is being written anew where it stands: what was there is what there is.
            return Loaded(position.session, since)
        if was_document and _digest(whole) == position.digest:
            return _seen_as(seen, Loaded(position.session, since))
        return self._read_document(whole, seen)

    def is_document(self) -> bool:
        """Tell whether the file is one JSON value now."""
        return self._begins_document(_first_lines(self._file))

    @abstractmethod
    def _begins_document(self, head: bytes) -> bool:
        """Tell by its first two lines that are not blank whether a file is one JSON value."""

    @abstractmethod
    def _new_reading(self) -> DocumentReading: ...

    def _read_document(self, whole: Document, seen: FileSeen) -> Loaded:
        reading = self._new_reading()
        reading.read_document(whole)
        session = reading.finished(whole.size)
        return Loaded(session, Cursor(_Whole(_digest(whole), session, seen)))


def _seen_as(seen: FileSeen, loaded: Loaded) -> Loaded:
    """Let the cursor tell how the file looked before it was told what it is."""
    position = msgspec.structs.replace(loaded.cursor.position, seen=seen)
    return msgspec.structs.replace(loaded, cursor=Cursor(position))


def _digest(whole: Document) -> bytes:
    return hashlib.sha256(whole.data).digest()


def _first_lines(file: RegularFile) -> bytes:
    first: list[bytes] = []
    for line in lines(file):
        first += [line.data] if line.data.strip() else []
        if len(first) == 2:  # noqa: PLR2004 - a second line tells
            break
    return b"\n".join(first)
