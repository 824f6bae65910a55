"""Reading: from lines to checkpoints, with gaps for what is no record and findings for both.

Each format has a `Reading` of its own: it is told each record in file order, adds a checkpoint
for it, and keeps what its rules need.
"""

from __future__ import annotations

import copy
import json
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import Any, ClassVar, Self

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import Extent, Head, Heads, Kind, Session, SessionId
from tt_debugger.core.tree import NO_ROW, Link, Linked, link
from tt_debugger.formats.shared.records import Leniency, Record, Refused, records, too_deep
from tt_debugger.storage.lines import LONGEST, Line

BYTE_ORDER_MARK = b"\xef\xbb\xbf"

_CODES = {
    Leniency.BAD_UTF8: Code.BAD_UTF8,
    Leniency.LONE_SURROGATE: Code.LONE_SURROGATE,
    Leniency.ODD_NUMBER: Code.ODD_NUMBER,
    Leniency.RAW_CONTROL: Code.BAD_UTF8,
}


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


class Reading(ABC):
    """What was read of one file so far; each format keeps its own beside this."""

    agent: ClassVar[str]
    verdicts: ClassVar[Mapping[Code, Verdict]] = {}
    line_ends: ClassVar[bytes] = b""
    """Bytes that end a line for the agent, beside the newline."""

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
            self.note(_CODES[leniency], str(leniency), place)
        self.take(piece.value, place)

    def read_tail(self, tail: Line) -> None:
        """Take what follows the last newline: whole records count, a torn one is not there yet."""
        skipped = self.skipped
        self.read(tail)
        if self.skipped == skipped and tail.data.strip():
            last = self.links[-1].offset if self.links else None
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
            self._gap = place
        self.note(Code.UNREADABLE, f"not readable: {why}", place, hint=hint)

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
        found = [*self.findings, *linked.findings, *self.findings_of(session)]
        found = [self._placed(each, session) for each in self._judged(found)]
        found.sort(key=lambda each: (each.line or 0, each.offset or 0))
        whole = msgspec.structs.replace(session, findings=tuple(found))
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

    def _placed(self, each: Finding, session: Session) -> Finding:
        """Give a finding with the checkpoint in whose bytes it is, by its id in the session."""
        if each.offset is None:
            return each
        row = bisect_right(self.links, each.offset, key=lambda link: link.offset or 0) - 1
        if row < 0:
            return each
        head = session.heads[row]
        is_within = each.offset < (head.offset or 0) + (head.length or 0)
        name = session.ids[row] if is_within else None
        return msgspec.structs.replace(each, checkpoint=name)


def lost_history(session: Session, links: list[Link], agent: str) -> list[Finding]:
    """Say what the agent drops without a word: all before a root whose parent is missing."""
    if session.active is None:
        return []
    root = session.active
    while session.parents[root] != NO_ROW:
        root = session.parents[root]
    parent = links[root].parent
    if parent is None or not root:
        return []
    is_cut_from_cycle = isinstance(parent, str) and parent in session.rows
    if is_cut_from_cycle:
        return []
    head = session.heads[root]
    return [
        finding(
            Code.AGENT_LOSES,
            f"{agent} starts the context at {session.ids[root]} and sends nothing of what"
            f" stands before it (rows 1 to {root})",
            hint="its parent is missing; the earlier checkpoints are shown as their own tree",
            line=head.line,
            offset=head.offset,
        )
    ]


def _is_json(data: bytes, pieces: Sequence[Record | Refused]) -> bool:
    """Tell whether a parser that forgives nothing reads the line, as one value."""
    piece = pieces[0]
    if len(pieces) == 1 and isinstance(piece, Record) and not piece.forgiven:
        return True
    return len(pieces) == 1 and _strict_value(data) is not msgspec.UNSET


def _strict_value(data: bytes) -> object:
    """Give what JSON.parse reads of a line, UNSET where it drops it.

    Bytes that are no UTF-8 and numbers of any size are none of its concern.
    """
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
