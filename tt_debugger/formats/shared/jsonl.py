"""JSONL sessions: a file with one record a line, read once and then followed as it grows.

What the lines mean is the business of a format's `Reading`; here are the file, its bodies by
offset, and following.
"""

from __future__ import annotations

import gc
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import contextmanager
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Kind, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Reading
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import Line, lines
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

FINGERPRINT = 4096
PROGRESS_EVERY = 1024

_NAMED_BY_LINE = re.compile(r"L\d+(\.\d+)?'*\Z")


class _Position(msgspec.Struct, frozen=True):
    """A cursor of a JSONL file: what was read up to the last newline, and how to know it again.

    The fingerprint is of all that was read, a torn end included: it may be written anew in place.
    """

    reading: Reading
    offset: int
    number: int
    fingerprint: str
    size: int
    session: Session


class JsonlFile(ABC):
    """A store that is one JSONL file with one session."""

    format: ClassVar[str]
    about: ClassVar[str]
    reading: ClassVar[type[Reading]]
    id_key: ClassVar[str] = "id"
    """The key under which a record has its id."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._file = RegularFile(location)

    @classmethod
    @abstractmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell whether the file is of this format."""

    @classmethod
    def open(cls, location: str) -> Self:
        """Open the file. Raises CannotReadError."""
        return cls(location)

    def sessions(self) -> Sequence[SessionId]:
        """Give the one session's id, reading no further than to where it stands."""
        reading = self.reading(self.location)
        if not reading.has_session_id:
            for line in self._lines_there():
                reading.read(line)
                if reading.has_session_id:
                    break
        return (reading.session_id,)

    @abstractmethod
    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules of the format."""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the index of the whole file."""
        return self._read_on(self.reading(self.location), 0, 1, progress)

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor; from the beginning if the file was cut or replaced."""
        position: _Position = since.position
        if not self._file.is_current():
            self._reopen()
        if self._fingerprint(position.size) != position.fingerprint:
            return self._read_on(self.reading(self.location), 0, 1, unheard)
        if self._file.size() == position.size:
            return Loaded(position.session, since)
        return self._read_on(position.reading.copied(), position.offset, position.number, unheard)

    def _lines_there(self, offset: int = 0, number: int = 1) -> Iterator[Line]:
        """Go over the lines that begin before the end that the file has now.

        A writer may be faster than this reader; what it adds is for `follow`.
        """
        size = self._file.size()
        return takewhile(lambda line: line.offset < size, lines(self._file, offset, number))

    def _reopen(self) -> None:
        try:
            old, self._file = self._file, RegularFile(self.location)
        except CannotReadError:
            # Between unlink and rename there is no file; the old one is still what there was.
            return
        old.close()

    def _read_on(self, reading: Reading, offset: int, number: int, progress: Progress) -> Loaded:
        size, tail = self._file.size(), None
        with _no_collection():
            for line in self._lines_there(offset, number):
                if not line.is_whole:
                    tail = line
                    break
                reading.read(line)
                offset, number = line.offset + line.length, line.number + 1
                if number % PROGRESS_EVERY == 0:
                    progress(min(offset, size), size)
        progress(min(offset, size), size)
        size = offset + (tail.length if tail else 0)
        session = _with_tail(reading, tail, size)
        position = _Position(reading, offset, number, self._fingerprint(size), size, session)
        return Loaded(session, Cursor(position))

    def _fingerprint(self, offset: int) -> str:
        """Give a digest of the first bytes and of those before an offset.

        A file that was cut and grew again keeps its inode and may pass its old size, so neither
        tells that it is another file.
        """
        digest = hashlib.sha256(self._file.read(0, min(offset, FINGERPRINT)))
        digest.update(self._file.read(max(0, offset - FINGERPRINT), min(offset, FINGERPRINT)))
        return digest.hexdigest()

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode the records of some rows; a gap has the body None.

        Raises CannotReadError where the file no longer holds them.
        """
        kind = session.heads.kind
        # The lines of a gap are no records one by one, but together they can look like one.
        return [None if kind(row) is Kind.GAP else self._body(session, row) for row in rows]

    def _body(self, session: Session, row: int) -> dict[str, Any]:
        body = _first_record(self.raw(session, row))
        if body is None or not _may_be_named(session.ids[row], body.get(self.id_key)):
            raise _changed()
        return body

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record, its line end included.

        Raises CannotReadError where the file has become shorter.
        """
        head = session.heads[row]
        length = head.length or 0
        data = self._file.read(head.offset or 0, length)
        if len(data) < length:
            raise _changed()
        return data

    def run(self, session: Session, first: int, last: int) -> bytes:
        """Give the bytes from the record of one row to the end of that of a later one.

        Raises CannotReadError where the file has become shorter.
        """
        begin, end = session.heads[first].offset or 0, session.heads[last]
        length = (end.offset or 0) + (end.length or 0) - begin
        data = self._file.read(begin, length)
        if len(data) < length:
            raise _changed()
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _with_tail(reading: Reading, tail: Line | None, size: int) -> Session:
    """Finish on a copy where something may still change: a gap that may grow, a line's start."""
    if tail is None and not reading.has_open_gap:
        return reading.finished(size)
    reading = reading.copied()
    if tail is not None:
        reading.read_tail(tail)
    return reading.finished(size)


def _first_record(data: bytes) -> dict[str, Any] | None:
    for piece in records(data.removeprefix(BYTE_ORDER_MARK)) if data.strip() else ():
        if isinstance(piece, Record):
            return as_map(piece.value)
    return None


def _may_be_named(name: str, own: object) -> bool:
    """Tell whether a checkpoint may have this name if its record has this id of its own.

    A record without an id is named by its line; one that shares its id has its line behind it.
    """
    is_own = isinstance(own, str) and (name == own or name.startswith(f"{own}@"))
    return is_own or _NAMED_BY_LINE.match(name) is not None


def _changed() -> CannotReadError:
    return CannotReadError("the file changed since it was read", "open it again")


def first_records(probe: Probe) -> list[dict[str, Any]]:
    """Give the records that a probe sees; a line that its end cuts is left out."""
    whole = probe.head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if len(probe.head) < probe.size:
        whole = whole[:-1]
    found: list[dict[str, Any]] = []
    for line in whole:
        if line.strip():
            found += [each.value for each in records(line) if isinstance(each, Record)]
    return found


@contextmanager
def _no_collection() -> Generator[None]:
    """Hold the garbage collector: with many objects alive it costs several times the work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
