"""JSONL sessions: one record a line, read once from the start and then followed as it grows.

A format gives a `Reading`: it is told each record in file order and keeps what its rules need.
`JsonlFile` does the rest: lines, gaps, torn tails, bodies by offset, following.
"""

from __future__ import annotations

import copy
import gc
import hashlib
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.model import Extent, Head, Heads, Kind, Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.tree import Link, Linked, link
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.records import Leniency, Record, Refused, records
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import LONGEST, Line, lines
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard

if TYPE_CHECKING:
    from collections.abc import Generator

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
FINGERPRINT = 4096
PROGRESS_EVERY = 1024

_CODES = {
    Leniency.BAD_UTF8: Code.BAD_UTF8,
    Leniency.LONE_SURROGATE: Code.LONE_SURROGATE,
    Leniency.ODD_NUMBER: Code.ODD_NUMBER,
    Leniency.RAW_CONTROL: Code.BAD_UTF8,
}


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a record stands; `part` counts the records of one line from 1."""

    line: int
    part: int
    offset: int
    length: int
    is_whole: bool = True

    @property
    def name(self) -> str:
        """The id to use where the record has none."""
        return f"L{self.line}" if self.part == 1 else f"L{self.line}.{self.part}"


class Reading(ABC):
    """What was read of one file so far; each format keeps its own beside this."""

    loss: ClassVar[str | None] = None
    """What the agent makes of a line that is no record."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.heads = Heads()
        self.links: list[Link] = []
        self.findings: list[Finding] = []
        self.skipped = 0
        self._gap: Place | None = None

    @abstractmethod
    def take(self, record: dict[str, Any], place: Place) -> None:
        """Interpret one record: add a checkpoint, or remember it as a header."""

    @abstractmethod
    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session as far as it was read."""

    def add(
        self, head: Head, own_id: object, parent: object, place: Place, time: float | None = None
    ) -> None:
        """Add a checkpoint whose record stands at a place."""
        # Spelled out: every record passes here, and `replace` costs three times as much.
        self.heads.append(
            Head(
                head.kind,
                head.role,
                head.name,
                head.summary,
                time,
                head.step,
                place.line,
                place.offset,
                place.length,
                head.usage,
                head.failed,
            )
        )
        self.links.append(Link(own_id, parent, place.name, place.line, place.offset))

    def note(
        self, code: Code, message: str, place: Place, *, hint: str | None = None, **more: Any
    ) -> None:
        """Add a finding about the record at a place."""
        self.findings.append(
            finding(code, message, hint=hint, line=place.line, offset=place.offset, **more)
        )

    def read(self, line: Line) -> None:
        """Take all that stands on a line."""
        data = line.data
        if line.number == 1 and data.startswith(BYTE_ORDER_MARK):
            data = data[len(BYTE_ORDER_MARK) :]
            self.found_byte_order_mark()
        margin = len(line.data) - len(data)
        if not data.strip():
            if line.length > LONGEST:
                self._skip(_place(line), f"the line is longer than {LONGEST >> 20} MiB")
            return
        pieces = records(data)
        for part, piece in enumerate(pieces, 1):
            begin = 0 if part == 1 else piece.begin + margin
            end = line.length if part == len(pieces) else piece.end + margin
            place = Place(line.number, part, line.offset + begin, end - begin, line.is_whole)
            if part > 1 and isinstance(piece, Record) and not self.ends_line(data[piece.begin]):
                self.found_further_record(place)
            self._read_piece(piece, place)

    def ends_line(self, _byte: int) -> bool:
        """Tell whether a byte between two records ends a line for this agent too."""
        return False

    def _read_piece(self, piece: Record | Refused, place: Place) -> None:
        if isinstance(piece, Refused):
            self._skip(place, piece.why)
            return
        self.end_gap()
        for leniency in piece.forgiven:
            self.note(_CODES[leniency], str(leniency), place)
        self.take(piece.value, place)

    def found_byte_order_mark(self) -> None:
        """Note that the file begins with a byte order mark."""
        self.findings.append(
            finding(
                Code.BYTE_ORDER_MARK, "the file begins with a byte order mark", line=1, offset=0
            )
        )

    def found_further_record(self, place: Place) -> None:
        """Note that a record was glued behind another on one line."""
        self.note(
            Code.SEVERAL_ON_LINE,
            "a further record on the line of another was recovered",
            place,
            hint="two writers, or a torn write; most agents lose the whole line",
        )

    def found_unreadable(self, place: Place, why: str) -> None:
        """Note that some bytes are no record; they belong to the gap that is open."""
        gap = _gap_id(self._gap or place)
        self.note(Code.UNREADABLE, f"not readable: {why}", place, hint=self.loss, checkpoint=gap)

    def found_torn_tail(self, place: Place) -> None:
        """Note that the last line is cut off."""
        self.note(
            Code.TORN_TAIL,
            f"the last line is not complete ({place.length} bytes)",
            place,
            hint="it may still be being written; if not, its writer crashed",
        )

    def found_no_final_newline(self, place: Place) -> None:
        """Note that the last record has no line end."""
        self.note(Code.NO_FINAL_NEWLINE, "the last record has no line end", place)

    def lost_history(self, session: Session, agent: str) -> list[Finding]:
        """Say what the agent drops without a word: all before a root whose parent is missing."""
        if not session.active_path:
            return []
        root = session.active_path[0]
        parent = self.links[root].parent
        is_cut_from_cycle = isinstance(parent, str) and parent in session.rows
        if parent is None or is_cut_from_cycle or not root:
            return []
        head = session.heads[root]
        return [
            finding(
                Code.AGENT_LOSES,
                f"{agent} starts the context at {session.ids[root]} and sends nothing of the"
                f" {root} checkpoints before it",
                hint="its parent is missing; the earlier checkpoints are shown as their own tree",
                line=head.line,
                offset=head.offset,
                checkpoint=session.ids[root],
            )
        ]

    def _skip(self, place: Place, why: str) -> None:
        """Count bytes that are no record; those that follow each other are one gap."""
        if not place.is_whole:
            self.end_gap()
            self.skipped += place.length
            self.found_torn_tail(place)
            return
        gap = self._gap
        if gap is not None and gap.offset + gap.length == place.offset:
            self._gap = msgspec.structs.replace(gap, length=gap.length + place.length)
        else:
            self.end_gap()
            self._gap = place
        self.found_unreadable(place, why)

    def end_gap(self) -> None:
        """Make the gap that is open, if any, a checkpoint of its own."""
        gap, self._gap = self._gap, None
        if gap is None:
            return
        self.skipped += gap.length
        head = Head(Kind.GAP, summary=f"{gap.length} bytes that are no record", failed=True)
        self.add(head, None, None, gap)
        # Not an id of its own: whatever record has that id, or names it as parent, means another.
        self.links[-1] = Link(None, None, _gap_id(gap), gap.line, gap.offset)

    @property
    def has_open_gap(self) -> bool:
        """Whether unreadable bytes may still continue."""
        return self._gap is not None

    def copied(self) -> Self:
        """Give a copy that can be read on without touching this one."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (list, dict, set, Heads)):
                setattr(twin, name, value.copy())
        return twin

    def finished(self, size: int) -> Session:
        """Give the session of a file of this size."""
        self.end_gap()
        linked = link(self.links)
        session = self.session(linked, Extent(size - self.skipped, self.skipped))
        findings = sorted(session.findings, key=lambda each: (each.line or 0, each.offset or 0))
        return msgspec.structs.replace(session, findings=tuple(findings))


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
        """Give the one session's id: the name of the file without its ending."""
        return (SessionId(PurePath(self.location).stem),)

    @abstractmethod
    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules of the format."""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:  # noqa: ARG002
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
            for line in lines(self._file, offset, number):
                if not line.is_whole:
                    tail = line
                    break
                reading.read(line)
                offset, number = line.offset + line.length, line.number + 1
                if number % PROGRESS_EVERY == 0:
                    progress(offset, size)
        progress(offset, size)
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
        """Decode the records of some rows; a gap has the body None."""
        kind = session.heads.kind
        # The lines of a gap are no records one by one, but together they can look like one.
        return [None if kind(row) is Kind.GAP else _body(self.raw(session, row)) for row in rows]

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record, its line end included."""
        head = session.heads[row]
        return self._file.read(head.offset or 0, head.length or 0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _with_tail(reading: Reading, tail: Line | None, size: int) -> Session:
    """Finish on a copy where something may still change: a gap that may grow, a line's start."""
    if tail is None and not reading.has_open_gap:
        return reading.finished(size)
    reading = reading.copied()
    if tail is not None:
        read_tail(reading, tail)
    return reading.finished(size)


def read_tail(reading: Reading, tail: Line) -> None:
    """Take what follows the last newline: whole records count, a torn one is not yet there."""
    skipped = reading.skipped
    reading.read(tail)
    if reading.skipped == skipped and tail.data.strip():
        reading.found_no_final_newline(_place(tail))


def refusals(linked: Linked, reasons: Mapping[Code, str]) -> list[Finding]:
    """Say that the agent refuses the session, for each finding of these codes."""
    return [
        finding(
            Code.AGENT_REFUSES,
            each.message,
            hint=reasons[each.code],
            line=each.line,
            offset=each.offset,
            checkpoint=each.checkpoint,
        )
        for each in linked.findings
        if each.code in reasons
    ]


def resolved_labels(
    labels: Sequence[tuple[object, object, Place]], linked: Linked
) -> tuple[dict[int, str], list[Finding]]:
    """Give the label of each labelled row: the last one counts, an empty one clears."""
    rows = {name: row for row, name in enumerate(linked.ids)}
    given: dict[int, str] = {}
    findings: list[Finding] = []
    for target, label, place in labels:
        row = rows.get(target) if isinstance(target, str) else None
        if row is None:
            message = f"a label names {target!r:.60}, which is not in this session"
            findings.append(
                finding(Code.LABEL_TARGET, message, line=place.line, offset=place.offset)
            )
        elif label and isinstance(label, str):
            given[row] = label
        else:
            given.pop(row, None)
    return given, findings


def _place(line: Line) -> Place:
    return Place(line.number, 1, line.offset, line.length, line.is_whole)


def _gap_id(place: Place) -> str:
    return f"gap@{place.line}" if place.part == 1 else f"gap@{place.line}.{place.part}"


def _body(data: bytes) -> Body:
    for piece in records(data.removeprefix(BYTE_ORDER_MARK)) if data.strip() else ():
        if isinstance(piece, Record):
            return piece.value
    return None


def first_records(probe: Probe) -> list[dict[str, Any]]:
    """Give the records that a probe sees; a line that its end cuts is left out.

    Raises CannotReadError for UTF-16, which no agent writes and no JSON reader takes as lines.
    """
    if probe.head[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        raise CannotReadError(
            f"cannot read {probe.location}: it is UTF-16, not UTF-8",
            "convert it first, for example with iconv -f UTF-16 -t UTF-8",
        )
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
