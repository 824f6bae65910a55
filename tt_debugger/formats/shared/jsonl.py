"""JSONL sessions: a file with one record a line, read once and then followed as it grows.

What the lines mean is the business of a format's `Reading`; here are the file, its bodies by
offset, and following.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Head, Heads, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.collection import no_collection
from tt_debugger.formats.shared.index import LAYOUT, CachedIndex, blocks_of, parts_of
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Reading
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.storage.compressed import opened
from tt_debugger.storage.index_cache import Entry, FileSeen, keep, look_at, may_keep, recall
from tt_debugger.storage.lines import LONGEST, Block, Line, blocks, lines
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tt_debugger.storage.files import RegularFile

FINGERPRINT = 4096
LARGE = 8 << 20
"""Bytes of a file of which the end is worth being shown before all of it is read."""
TAIL = 1 << 18
"""Bytes of that end."""
ATTEMPTS = 3
"""How often a file is read that is cut again and again while it is read."""
READ_TOGETHER = 1 << 20
"""Bytes of neighbouring records that are read at once."""
READ_OVER = 1 << 14
"""Bytes between two records that are rather read over than left out."""

_decode = msgspec.json.Decoder().decode
_NAMED_BY_LINE = re.compile(r"L\d+(\.\d+)?'*\Z")


class _Position(msgspec.Struct, frozen=True):
    """A cursor of a JSONL file: what was read up to the last newline, and how to know it again.

    The fingerprint is of all that was read, a torn end included: it may be written anew in place.
    """

    reading: Callable[[], Reading]
    offset: int
    number: int
    fingerprint: str
    size: int
    session: Session
    seen: FileSeen
    of_lines: str
    """The fingerprint of the whole lines alone: it stays when a torn end is written anew."""
    kept_waiting: int | None = None
    """Rows that were not described yet in what is kept of the file, None if nothing good is."""


class JsonlFile(ABC):
    """A store that is one JSONL file with one session."""

    format: ClassVar[str]
    about: ClassVar[str]
    reading: ClassVar[type[Reading]]
    id_key: ClassVar[str] = "id"
    """The key under which a record has its id."""

    def __init__(self, location: str) -> None:
        self.location = location
        self._file = opened(location)
        self._entries: list[Entry] = []
        """What sessions that were given out may still ask."""
        self._is_drained = False
        """Whether nothing more is expected of a file that another took the place of."""

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
        reading = self._new_reading()
        if not reading.has_session_id:
            for line in lines(self._file):
                reading.read(line)
                if reading.has_session_id:
                    break
        return (reading.session_id,)

    @abstractmethod
    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules of the format."""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read the index of the whole file, or what is kept of it and what was added since."""
        seen = look_at(self._file)
        kept = self._recalled()
        if kept is None:
            return self._read_on(self._new_reading(), 0, 1, progress, seen)
        if kept.size < seen.size:
            return self._read_on(kept.reading().copied(), kept.size, kept.number, progress, seen)
        fingerprint = self._fingerprint(kept.size)
        position = _Position(
            kept.reading,
            kept.size,
            kept.number,
            fingerprint,
            kept.size,
            kept.session,
            seen,
            fingerprint,
            kept.session.heads.waiting() if kept.is_quick else None,
        )
        progress(kept.size, kept.size)
        return Loaded(kept.session, Cursor(position))

    def tail(self) -> Session | None:
        """Give the records at the end of a large file, as if they followed its first line."""
        size = self._file.size()
        if size < LARGE:
            return None
        reading = self._new_reading()
        first = next(lines(self._file), None)
        if first is None:
            return None
        reading.read(first)
        if len(reading.heads) or reading.has_open_gap:
            # No header, which says how to read the others.
            reading = self._new_reading()
        length, begin = TAIL, 0
        while not begin and length <= LARGE:
            # Not the line end of the last line, behind which nothing stands.
            begin = self._file.read(size - length, length).find(b"\n", 0, length - 1) + 1
            length *= 2
        if not begin:
            return None
        begin += size - length // 2
        tail = None
        for part in blocks(self._file, begin, first.number + 1, size):
            if isinstance(part, Block):
                reading.read_block(part)
            elif part.is_whole:
                reading.read(part)
            else:
                tail = part
        return _with_tail(reading, tail, size)

    def _recalled(self) -> CachedIndex | None:
        """Give what is kept of the file, if it is good for anything."""
        entry = recall(self._file, self._kind) if self._may_keep() else None
        if entry is None:
            return None
        try:
            kept = CachedIndex(entry, self._new_reading())
        except (ValueError, LookupError, msgspec.MsgspecError, CannotReadError):
            entry.close()
            return None
        self._entries.append(entry)
        return kept

    def remember(self, loaded: Loaded) -> bool:
        """Keep the index of the file, so that it opens at once the next time.

        Tells whether more is kept now than before. What ends in a torn line is not kept.
        """
        position, session = loaded.cursor.position, loaded.session
        if not isinstance(position, _Position) or not self._may_keep():
            return False
        if not position.seen.size == position.size == position.offset:
            return False
        reading = position.reading()
        if reading.heads is not session.heads or session.heads.waiting() == position.kept_waiting:
            return False
        parts = parts_of(reading, session, position.number)
        if not keep(self._file, self._kind, position.seen, parts, blocks_of(session)):
            return False
        kept = recall(self._file, self._kind)
        if kept is not None:
            # What the rows say can be asked of the entry now.
            session.heads.unload(kept.block)
            self._entries.append(kept)
        return True

    def _may_keep(self) -> bool:
        return self._reading_class().kept is not None and may_keep(self._file)

    @property
    def _kind(self) -> str:
        return f"{self.format} {LAYOUT}"

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor; from the beginning if the file was cut or replaced.

        What was still written to a file before another took its place is given first.
        """
        self._go_to_current(since)
        return self._followed(since)

    def _go_to_current(self, since: Cursor) -> None:
        """Open the file that took the place of this one, once this one is read to its end."""
        if not self._file.is_current():
            self._is_drained = self._is_drained or not self._has_grown(since.position)
            if self._is_drained:
                self._reopen()
            self._is_drained = True

    def _followed(self, since: Cursor) -> Loaded:
        """Read on in the file that is open."""
        position: _Position = since.position
        loaded = unchanged = Loaded(position.session, since)
        for _ in range(ATTEMPTS):
            if self._is_as_read(position):
                return unchanged
            loaded = self._read_since(position)
            if loaded.cursor.position.fingerprint:
                break
        return loaded

    def _read_since(self, position: _Position) -> Loaded:
        """Read what stands behind the whole lines of a position, all if those are others now."""
        if self._fingerprint(position.offset) == position.of_lines:
            is_torn_end_kept = self._fingerprint(position.size) == position.fingerprint
            reading = position.reading().copied()
            rows = None if is_torn_end_kept else len(reading.heads)
            loaded = self._read_on(reading, position.offset, position.number, unheard)
            # It may have been cut while it was read.
            if self._fingerprint(position.offset) == position.of_lines:
                return msgspec.structs.replace(loaded, kept=rows)
        loaded = self._read_on(self._new_reading(), 0, 1, unheard)
        return msgspec.structs.replace(loaded, kept=0)

    def _is_as_read(self, position: _Position) -> bool:
        is_as_long = self._file.size() == position.size
        return is_as_long and self._fingerprint(position.size) == position.fingerprint

    def _has_grown(self, position: _Position) -> bool:
        """Tell whether there is more in the file, behind what was read of it."""
        is_longer = self._file.size() > position.size
        return is_longer and self._fingerprint(position.size) == position.fingerprint

    def _reading_class(self) -> type[Reading]:
        """Give what reads the file; where that is large it is imported here, not to be told by."""
        return self.reading

    def _new_reading(self) -> Reading:
        reading = self._reading_class()(self.location)
        reading.heads.describe = self._described
        return reading

    def _reopen(self) -> None:
        try:
            old, self._file = self._file, opened(self.location)
        except CannotReadError:
            # Between unlink and rename there is no file; the old one is still what there was.
            return
        self._is_drained = False
        old.close()

    def _read_on(
        self,
        reading: Reading,
        offset: int,
        number: int,
        progress: Progress,
        seen: FileSeen | None = None,
    ) -> Loaded:
        seen = seen or look_at(self._file)
        size, tail = self._file.size(), None
        before = self._fingerprint(size)
        with no_collection():
            for part in blocks(self._file, offset, number, size):
                if isinstance(part, Block):
                    reading.read_block(part)
                    offset, number = part.end, number + len(part.lines)
                elif part.is_whole:
                    reading.read(part)
                    offset, number = offset + part.length, number + 1
                else:
                    tail = part
                    break
                progress(min(offset, size), size)
        progress(min(offset, size), size)
        size = offset + (tail.length if tail else 0)
        session = _with_tail(reading, tail, size)
        after = self._fingerprint(size)
        position = _Position(
            lambda: reading,
            offset,
            number,
            # That of no file: what was cut while it was read is read once more.
            after if after == before else "",
            size,
            session,
            seen,
            self._fingerprint(offset) if tail else after,
        )
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

        The body of a row that was written in several records is the list of them. Raises
        CannotReadError where the file no longer holds them.
        """
        heads = session.heads
        # The lines of a gap are no records one by one, but together they can look like one.
        records = sorted({row for row in rows if not heads.is_gap(row)})
        found = {
            row: self._body(session, row, pieces)
            for row, pieces in self._records_of(heads, records)
        }
        return [found.get(row) for row in rows]

    def _described(self, heads: Heads, rows: Sequence[int]) -> Iterator[Head]:
        """Give the heads of rows that were read plainly, from the records that stand there now."""
        plainly = self._reading_class().plainly
        for _, pieces in self._records_of(heads, rows):
            written = [_decoded(each) for each in pieces]
            if plainly is None or not all(written):
                raise _changed()
            try:
                yield plainly.describe(written if len(written) > 1 else written[0])
            except (KeyError, TypeError):
                raise _changed() from None

    def _records_of(self, heads: Heads, rows: Sequence[int]) -> Iterator[tuple[int, list[bytes]]]:
        """Give rows with the bytes of their records; what stands close together is read at once.

        Raises CannotReadError where the file has become shorter.
        """
        window = _Window(self._file)
        for place, row in enumerate(rows):
            spans = _spans_of(heads, row)
            if not window.holds(spans[0]):
                window.move(spans[0], (_spans_of(heads, each)[0] for each in rows[place + 1 :]))
            yield row, [window.bytes_at(each) for each in spans]

    def _body(self, session: Session, row: int, records: Sequence[bytes]) -> Body:
        found = [_first_record(each) for each in records]
        written = [each for each in found if each is not None]
        # A row has the id of the last record that it was written in.
        if len(written) < len(found) or not self._is_of(session, row, written[-1]):
            raise _changed()
        return written if len(written) > 1 else written[0]

    def _is_of(self, session: Session, row: int, record: dict[str, Any]) -> bool:
        """Tell whether a row may have been made of a record: whether that would give its id."""
        name, own = session.ids[row], record.get(self.id_key)
        # A format may name by its line what has an id.
        return may_be_named(name, own) or may_be_named(name, None)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record, its line end included; of a long gap the first ones.

        Of a row that was written in several records those of all. Raises CannotReadError where
        the file has become shorter.
        """
        first, *parts = _spans_of(session.heads, row)
        if session.heads.is_gap(row):
            first = (first[0], min(first[1], LONGEST))
        return b"".join(self._read(*each) for each in (first, *parts))

    def run(self, session: Session, first: int, last: int) -> bytes:
        """Give the bytes from the record of one row to the end of that of a later one.

        Records of these rows that stand elsewhere follow. Raises CannotReadError where the file
        has become shorter.
        """
        heads = session.heads
        begin = heads.offset(first) or 0
        end = (heads.offset(last) or 0) + (heads.length(last) or 0)
        rows = range(first, last + 1) if heads.parts else ()
        elsewhere = [
            self._read(part.offset, part.length)
            for row in rows
            for part in heads.parts.get(row, ())
            if not begin <= part.offset < end
        ]
        return b"".join((self._read(begin, end - begin), *elsewhere))

    def _read(self, offset: int, length: int) -> bytes:
        data = self._file.read(offset, length)
        if len(data) < length:
            raise _changed()
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()
        for entry in self._entries:
            entry.close()


_Place = tuple[int, int]
"""The offset and the length of a record."""


def _spans_of(heads: Heads, row: int) -> list[_Place]:
    """Give where the records of a row stand."""
    first = (heads.offset(row) or 0, heads.length(row) or 0)
    return [first, *((part.offset, part.length) for part in heads.parts.get(row, ()))]


class _Window:
    """A part of a file that is at hand."""

    def __init__(self, file: RegularFile) -> None:
        self._file = file
        self._begin = 0
        self._data = b""

    def holds(self, place: _Place) -> bool:
        """Tell whether a record is in it."""
        offset, length = place
        return self._begin <= offset and offset + length <= self._begin + len(self._data)

    def move(self, place: _Place, following: Iterable[_Place]) -> None:
        """Read a record, and with it what follows not far behind."""
        begin, end = place[0], place[0] + place[1]
        for offset, length in following:
            is_near = end <= offset <= end + READ_OVER
            if not is_near or offset + length - begin > READ_TOGETHER:
                break
            end = offset + length
        self._begin, self._data = begin, self._file.read(begin, end - begin)
        if len(self._data) < end - begin:
            raise _changed()

    def bytes_at(self, place: _Place) -> bytes:
        """Give the bytes of a record, read by itself where it is not in the window."""
        if not self.holds(place):
            other = _Window(self._file)
            other.move(place, ())
            return other.bytes_at(place)
        begin = place[0] - self._begin
        return self._data[begin : begin + place[1]]


def _with_tail(reading: Reading, tail: Line | None, size: int) -> Session:
    """Finish on a copy where something may still change: a gap that may grow, a line's start."""
    if tail is None and not reading.has_open_gap:
        return reading.finished(size)
    reading = reading.copied()
    if tail is not None:
        reading.read_tail(tail)
    return reading.finished(size)


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        return as_map(_decode(data))
    except msgspec.DecodeError:
        # A number that is kept as text stands in what the quick way leaves unread.
        return _first_record(data)


def _first_record(data: bytes) -> dict[str, Any] | None:
    for piece in records(data.removeprefix(BYTE_ORDER_MARK)) if data.strip() else ():
        if isinstance(piece, Record):
            return as_map(piece.value)
    return None


def may_be_named(name: str, own: object) -> bool:
    """Tell whether a checkpoint may have this name if its record has this id of its own.

    A record without an id is named by its line; one that shares its id has its line behind it.
    """
    if isinstance(own, str) and own:
        return name == own or name.startswith(f"{own}@")
    return _NAMED_BY_LINE.match(name) is not None


def _changed() -> CannotReadError:
    return CannotReadError("the file changed since it was read", "open it again")


@lru_cache(1)
def first_records(probe: Probe) -> tuple[dict[str, Any], ...]:
    """Give the records that a probe sees, to be read only; a line that its end cuts is left out.

    Every format asks for them.
    """
    whole = probe.head.removeprefix(BYTE_ORDER_MARK).split(b"\n")
    if len(probe.head) < probe.size:
        whole = whole[:-1]
    lines = (line for line in whole if line.strip())
    pieces = (piece for line in lines for piece in records(line))
    return tuple(piece.value for piece in pieces if isinstance(piece, Record))
