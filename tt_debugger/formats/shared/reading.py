"""Reading: from lines to checkpoints, with gaps for what is no record and findings for both.

Each format has a `Reading` of its own: it is told each record in file order, adds a checkpoint
for it, and keeps what its rules need.
"""

from __future__ import annotations

import copy
import json
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import accumulate, compress
from operator import attrgetter
from pathlib import PurePath
from typing import Annotated, Any, ClassVar, Protocol, Self, cast

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import Aside, Extent, Head, Heads, Kind, Session, SessionId
from tt_debugger.core.placed import finding_at
from tt_debugger.core.tree import NO_ROW, Linked, Links, link
from tt_debugger.formats.shared.records import (
    CODES,
    DEEPEST,
    Record,
    Refused,
    openings,
    records,
    too_deep,
)
from tt_debugger.storage.lines import LONGEST, Block, Line

MOST_TOLD = 64
"""Unreadable lines in a row that are told of one by one; of more, the others together."""
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where a record stands; `part` counts the records of one line from 1.

    `is_json` is False where a parser that forgives nothing, such as JSON.parse, would drop the
    line: the agent itself may never have seen the record.
    """

    line: int
    part: int
    offset: int
    length: int
    is_whole: bool = True
    is_json: bool = True

    @property
    def name(self) -> str:
        """The id to use where the record has none."""
        return f"L{self.line}" if self.part == 1 else f"L{self.line}.{self.part}"


class Verdict(msgspec.Struct, frozen=True):
    """What findings of one code mean for the agent that wrote the file.

    `hint` and `severity` take the place of the general ones. `refuses` says that for such a
    finding the agent does not open the session at all; it becomes a finding of its own.
    """

    hint: str | None = None
    severity: Severity | None = None
    refuses: str | None = None


Name = Annotated[str, msgspec.Meta(min_length=1)]
"""An id that is text and not empty."""


class PlainEntry(Protocol):
    """What the index needs to know at once of an entry in the common shape."""

    kind: ClassVar[int]
    """The number of its kind (see `KIND_NUMBERS`), as far as its type tells it."""

    @property
    def own_id(self) -> Name:
        """The id of the entry."""
        ...

    @property
    def parent(self) -> Name | None:
        """The id that it names as its parent."""
        ...

    @property
    def time(self) -> datetime | None:
        """When it was written."""
        ...


class Plainly(msgspec.Struct, frozen=True):
    """How a format reads entries of its common shape: quickly, leaving what they say for later.

    `entry` decodes a line into a `PlainEntry`, or raises a DecodeError where it is of another
    shape, or would make a finding; `describe` gives the head of a whole record, or of the list
    of records that a row was written in. What an entry holds besides is not looked into: numbers
    kept as text and keys given twice are found there by an `Examination`.
    """

    entry: Callable[[bytes], PlainEntry]
    describe: Callable[[Any], Head]


class _Notes(msgspec.Struct, frozen=True):
    findings: list[Finding]
    asides: list[Aside]
    skipped: int
    gap: Place | None
    gap_lines: int
    gap_rest: Place | None


class Reading(ABC):
    """What was read of one file so far; each format keeps its own beside this."""

    plainly: ClassVar[Plainly | None] = None
    kept: ClassVar[Any] = None
    """The attributes of its own that a format keeps in mind, as a TypedDict.

    Of a format that does not say no index is kept.
    """

    agent: ClassVar[str]
    verdicts: ClassVar[Mapping[Code, Verdict]] = {}
    line_ends: ClassVar[bytes] = b""
    """Bytes that end a line for the agent, beside the newline."""

    def __init__(self, location: str) -> None:
        self.location = location
        self.heads = Heads()
        self.links = Links()
        self.findings: list[Finding] = []
        self.asides: list[Aside] = []
        self.skipped = 0
        self._gap: Place | None = None
        self._gap_lines = 0
        self._gap_rest: Place | None = None
        """Where those lines of a gap begin that are told of together."""

    @abstractmethod
    def take(self, record: dict[str, Any], place: Place) -> None:
        """Interpret one record: add a checkpoint, or remember it as a header."""

    def take_other(self, value: object, place: Place) -> str | None:
        """Hear of a line that is no record, and give a hint for its finding.

        The value is what the line holds for a parser that forgives nothing, UNSET where it is
        no JSON.
        """
        return None

    @abstractmethod
    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session as far as it was read, without findings."""

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows."""
        return lost_history(session, self.links, self.agent)

    @property
    def session_id(self) -> SessionId:
        """The id of the session: the name of the file without its ending."""
        return SessionId(PurePath(self.location).stem)

    @property
    def has_session_id(self) -> bool:
        """Whether nothing that follows can change the id of the session."""
        return True

    @property
    def last_row(self) -> int | None:
        """The last row that is no gap, where most agents go on; None where there is none."""
        row = self.heads.not_gap_before(len(self.heads))
        return None if row == NO_ROW else row

    def add(
        self,
        head: Head,
        own_id: object,
        parent: object,
        place: Place,
        time: float | None = None,
        name: str | None = None,
    ) -> None:
        """Add a checkpoint whose record stands at a place, which names it if it has no id."""
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
        self.links.append(own_id, parent, name or place.name)

    def take_aside(self, name: str, place: Place) -> None:
        """Keep a record that is no checkpoint, under what it is called."""
        row = len(self.heads) - 1
        self.asides.append(Aside(row, name, place.line, place.offset, place.length))

    def note(
        self, code: Code, message: str, place: Place, *, hint: str | None = None, **more: Any
    ) -> None:
        """Add a finding about the record at a place."""
        self.findings.append(
            finding(code, message, hint=hint, line=place.line, offset=place.offset, **more)
        )

    @property
    def reads_plainly(self) -> bool:
        """Whether an entry of the common shape means now what it means by itself."""
        return True

    def read_block(self, block: Block) -> None:
        """Take whole lines: quickly those of the common shape, one by one all others."""
        if self.plainly is None:
            for line in block.each():
                self.read(line)
            return
        entries = _plain_entries(self.plainly, block)
        sizes = [len(line) + 1 for line in block.lines]
        offsets = list(accumulate(sizes, initial=block.offset))
        begin = 0
        for end in (*(place for place, entry in enumerate(entries) if entry is None), len(sizes)):
            if begin < end and not self.reads_plainly:
                # Whether it does may be told by the line before.
                self._read_lines(block, offsets, range(begin, begin + 1))
                begin += 1
            if begin < end and self.reads_plainly:
                places = slice(begin, end)
                run = cast("list[PlainEntry]", entries[places])
                self._take_run(run, block.number + begin, offsets[places], sizes[places])
                begin = end
            self._read_lines(block, offsets, range(begin, min(end + 1, len(sizes))))
            begin = end + 1

    def _read_lines(self, block: Block, offsets: Sequence[int], places: Iterable[int]) -> None:
        for place in places:
            data = block.lines[place]
            if not data and block.number + place > 1:
                continue
            self.read(
                Line(block.number + place, offsets[place], len(data) + 1, data, is_whole=True)
            )

    def _take_run(
        self,
        run: Sequence[PlainEntry],
        number: int,
        offsets: Sequence[int],
        sizes: Sequence[int],
    ) -> None:
        """Add the checkpoints of entries that stand on lines that follow each other."""
        self.end_gap()
        self.heads.extend(
            bytes([entry.kind for entry in run]),
            _seconds_of_each([entry.time for entry in run]),
            range(number, number + len(run)),
            offsets,
            sizes,
        )
        self.links.extend([entry.own_id for entry in run], [entry.parent for entry in run])
        self.took(run)

    def took(self, run: Sequence[PlainEntry]) -> None:  # noqa: B027 - most need not hear
        """Hear which entries were added the quick way."""

    def read(self, line: Line) -> None:
        """Take all that stands on a line."""
        data = line.data
        if line.number == 1 and data.startswith(BYTE_ORDER_MARK):
            data = data[len(BYTE_ORDER_MARK) :]
            self.note(Code.BYTE_ORDER_MARK, "the file begins with a byte order mark", _place(line))
        margin = len(line.data) - len(data)
        if not data.strip():
            if line.length > LONGEST:
                why = f"the line is longer than {LONGEST >> 20} MiB"
                self._skip(_place(line), why, self._own_limit)
            return
        pieces = records(data)
        is_json = _is_json(data, pieces)
        for part, piece in enumerate(pieces, 1):
            begin = 0 if part == 1 else piece.begin + margin
            end = line.length if part == len(pieces) else piece.end + margin
            place = Place(
                line.number, part, line.offset + begin, end - begin, line.is_whole, is_json
            )
            if part > 1 and isinstance(piece, Record) and data[piece.begin] not in self.line_ends:
                self.note(
                    Code.SEVERAL_ON_LINE,
                    "a further record on the line of another was recovered",
                    place,
                    hint="two writers, or a torn write; most agents lose the whole line",
                )
            if isinstance(piece, Refused):
                self._skip(place, piece.why, self._hint_on(data, place))
            else:
                self._read_record(piece, place)

    def _hint_on(self, data: bytes, place: Place) -> str | None:
        if too_deep(data):
            return self._own_limit
        return self.take_other(_strict_value(data) if place.is_json else msgspec.UNSET, place)

    @property
    def _own_limit(self) -> str:
        return f"this limit is that of ttdbg; {self.agent} may read the line"

    def _read_record(self, piece: Record, place: Place) -> None:
        self.end_gap()
        for leniency in piece.forgiven:
            self.note(CODES[leniency], str(leniency), place)
        self.take(piece.value, place)

    def read_tail(self, tail: Line) -> None:
        """Take what follows the last newline: whole records count, a torn one is not there yet."""
        skipped = self.skipped
        self.read(tail)
        if self.skipped == skipped and tail.data.strip():
            last = self.heads.offset(len(self.heads) - 1) if len(self.heads) else None
            place = _place(tail)
            if last is not None and last > place.offset:
                place = msgspec.structs.replace(place, offset=last)
            self.note(Code.NO_FINAL_NEWLINE, "the last record has no line end", place)

    def _skip(self, place: Place, why: str, hint: str | None = None) -> None:
        """Count bytes that are no record; those that follow each other are one gap."""
        if not place.is_whole:
            self.end_gap()
            self.skipped += place.length
            self.note(
                Code.TORN_TAIL,
                f"the last line is not complete ({place.length} bytes)",
                place,
                hint="it may still be being written; if not, its writer crashed",
            )
            return
        gap = self._gap
        if gap is not None and gap.offset + gap.length == place.offset:
            self._gap = msgspec.structs.replace(gap, length=gap.length + place.length)
        else:
            self.end_gap()
            self._gap, self._gap_lines, self._gap_rest = place, 0, None
        self._gap_lines += 1
        if self._gap_lines <= MOST_TOLD:
            self.note(Code.UNREADABLE, f"not readable: {why}", place, hint=hint)
        elif self._gap_rest is None:
            self._gap_rest = place

    def end_gap(self) -> None:
        """Make the gap that is open, if any, a checkpoint of its own."""
        gap, self._gap = self._gap, None
        if gap is None:
            return
        if self._gap_rest is not None:
            rest = self._gap_lines - MOST_TOLD
            self.note(Code.UNREADABLE, f"not readable: {rest:,} more lines", self._gap_rest)
        self.skipped += gap.length
        head = Head(Kind.GAP, summary=f"{gap.length} bytes that are no record", failed=True)
        # Not an id of its own: whatever record has that id, or names it as parent, means another.
        self.add(head, None, None, gap, name=_gap_id(gap))

    @property
    def has_open_gap(self) -> bool:
        """Whether unreadable bytes may still continue."""
        return self._gap is not None

    def facts(self) -> Any:
        """Give what replay needs to know of the file; it becomes `own` of the session."""
        return None

    def notes(self) -> bytes:
        """Give what is kept in mind beside heads and links, for `take_notes`."""
        own = {name: getattr(self, name) for name in self._kept_names()}
        notes = _Notes(
            self.findings,
            self.asides,
            self.skipped,
            self._gap,
            self._gap_lines,
            self._gap_rest,
        )
        return msgspec.msgpack.encode((notes, own))

    def take_notes(self, data: bytes | memoryview) -> None:
        """Keep in mind what another reading of the same file did.

        Raises msgspec.MsgspecError where it is none of that.
        """
        notes, raw = msgspec.msgpack.decode(data, type=tuple[_Notes, msgspec.Raw])
        own = msgspec.msgpack.decode(raw, type=self.kept)
        self.findings, self.asides = notes.findings, notes.asides
        self.skipped, self._gap = notes.skipped, notes.gap
        self._gap_lines, self._gap_rest = notes.gap_lines, notes.gap_rest
        for name in self._kept_names():
            setattr(self, name, own[name])

    def _kept_names(self) -> Iterable[str]:
        return getattr(self.kept, "__annotations__", ())

    def copied(self) -> Self:
        """Give a copy that can be read on without touching this one."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, (list, dict, set, Heads, Links)):
                setattr(twin, name, value.copy())
        return twin

    def finished(self, size: int) -> Session:
        """Give the session of a file of this size."""
        self.end_gap()
        linked = link(self.links, self._place_of)
        session = self.session(linked, Extent(size - self.skipped, self.skipped))
        found = [*self.findings, *linked.findings, *self.findings_of(session)]
        found = [self._placed(each, session) for each in self._judged(found)]
        found.sort(key=lambda each: (each.line or 0, each.offset or 0))
        whole = msgspec.structs.replace(session, findings=tuple(found), asides=self.asides)
        # The tree and what else was derived from the rows holds for the same rows.
        vars(whole).update(vars(session))
        return whole

    def _judged(self, found: Iterable[Finding]) -> list[Finding]:
        """Say what each finding means for the agent, and for which of them it refuses all."""
        judged: list[Finding] = []
        refusals: list[Finding] = []
        for each in found:
            verdict = self.verdicts.get(each.code)
            if verdict is None:
                judged.append(each)
                continue
            hint = verdict.hint or each.hint
            severity = verdict.severity or each.severity
            judged.append(msgspec.structs.replace(each, hint=hint, severity=severity))
            if verdict.refuses is not None:
                refusals.append(
                    finding(
                        Code.AGENT_REFUSES, verdict.refuses, line=each.line, offset=each.offset
                    )
                )
        return judged + refusals

    def _place_of(self, row: int) -> tuple[int | None, int | None]:
        return self.heads.line(row), self.heads.offset(row)

    def _row_at(self, offset: int) -> int:
        """Give the last row that begins at an offset or before it, NO_ROW if none does."""
        return self.heads.row_at(offset)

    def _placed(self, each: Finding, session: Session) -> Finding:
        """Give a finding with the checkpoint in whose bytes it is, by its id in the session."""
        if each.offset is None or each.checkpoint is not None:
            return each
        row = self._row_at(each.offset)
        if row == NO_ROW:
            return each
        begin, length = self.heads.offset(row) or 0, self.heads.length(row) or 0
        is_within = each.offset < begin + length
        name = session.ids[row] if is_within else None
        return msgspec.structs.replace(each, checkpoint=name)


def lost_history(session: Session, links: Links, agent: str) -> list[Finding]:
    """Say what the agent drops without a word: all before a root whose parent is missing."""
    if session.active is None:
        return []
    root = session.tree.root_of(session.active)
    parent = links.parent(root)
    if parent is None or not root:
        return []
    is_cut_from_cycle = isinstance(parent, str) and bool(session.rows_of((parent,)))
    return [] if is_cut_from_cycle else [lost_before(session, root, agent)]


def lost_before(session: Session, root: int, agent: str) -> Finding:
    """Say that the agent sends nothing of what stands before a root whose parent is missing."""
    return finding_at(
        session,
        root,
        Code.AGENT_LOSES,
        f"{agent} starts the context at {session.ids[root]} and sends nothing of what"
        f" stands before it (rows 1 to {root})",
        "its parent is missing; the earlier checkpoints are shown as their own tree",
    )


def moment_of(text: str) -> float | None:
    """Give the seconds since 1970 of an ISO time, UTC where it names no zone, else None."""
    try:
        moment = msgspec.convert(text, datetime)
    except msgspec.ValidationError:
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            return None
    try:
        return _seconds_of(moment)
    except OverflowError:
        return None


_zone_of = attrgetter("tzinfo")


def _seconds_of(moment: datetime) -> float:
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


def _seconds_of_each(moments: Sequence[datetime | None]) -> list[float]:
    """Give the seconds since 1970 of moments, NaN where there is none."""
    known = [moment for moment in moments if moment is not None]
    if len(known) == len(moments) and all(map(_zone_of, known)):
        return list(map(datetime.timestamp, known))
    return [math.nan if moment is None else _seconds_of(moment) for moment in moments]


def _plain_entries(plainly: Plainly, block: Block) -> list[PlainEntry | None]:
    """Give the entry of each line of a block, None for one that is not of the common shape."""
    entries: list[PlainEntry | None] = []
    # To fail costs more than all else: of what a crash left there can be a million lines.
    likely = [line[:1] == b"{" for line in block.lines]
    lines = compress(block.lines, likely)
    wanted = sum(likely)
    while len(entries) < wanted:
        # Several times as quick as to try each line; what was decoded before an error is kept.
        with suppress(msgspec.DecodeError, RecursionError):
            entries.extend(map(plainly.entry, lines))
            break
        entries.append(None)
    if wanted < len(likely):
        found = iter(entries)
        entries = [next(found) if is_likely else None for is_likely in likely]
    deep = {
        line for line in block.lines if len(line) >= _LEAST_TOO_DEEP and openings(line) > DEEPEST
    }
    if deep:
        entries = [
            None if line in deep else entry
            for line, entry in zip(block.lines, entries, strict=True)
        ]
    if not block.is_ascii:
        for place, line in enumerate(block.lines):
            if not (line.isascii() or _is_utf8(line)):
                entries[place] = None
    return entries


_LEAST_TOO_DEEP = 2 * (DEEPEST + 1)
"""Bytes of the shortest line that is nested too deep and whole."""


def _is_utf8(line: bytes) -> bool:
    try:
        line.decode()
    except UnicodeDecodeError:
        return False
    return True


def _is_json(data: bytes, pieces: Sequence[Record | Refused]) -> bool:
    """Tell whether a parser that forgives nothing reads the line, as one value."""
    piece = pieces[0]
    if len(pieces) == 1 and isinstance(piece, Record) and not piece.forgiven:
        return True
    return len(pieces) == 1 and _strict_value(data) is not msgspec.UNSET


_JSON_SPACE = b" \t\r\n"
_JSON_BEGINNINGS = frozenset(bytes((byte,)) for byte in b'{["-0123456789tfn')


def _strict_value(data: bytes) -> object:
    """Give what JSON.parse reads of a line, UNSET where it drops it.

    Bytes that are no UTF-8 and numbers of any size are none of its concern.
    """
    if data.strip(_JSON_SPACE)[:1] not in _JSON_BEGINNINGS:
        # To fail takes ten times as long.
        return msgspec.UNSET
    try:
        return json.loads(
            data.decode(errors="replace"), parse_constant=_no_constant, parse_int=float
        )
    except (ValueError, RecursionError):
        return msgspec.UNSET


def _no_constant(name: str) -> None:
    message = f"{name} is no JSON"
    raise ValueError(message)


def _place(line: Line) -> Place:
    return Place(line.number, 1, line.offset, line.length, line.is_whole)


def _gap_id(place: Place) -> str:
    return f"gap@{place.line}" if place.part == 1 else f"gap@{place.line}.{place.part}"
