"""Reading a Pi file: which record is a header, an entry, or something that Pi does not know."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import KIND_NUMBERS, Extent, Head, Kind, Session, SessionId, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import Linked
from tt_debugger.formats.shared.context import kept_entries_missing
from tt_debugger.formats.shared.labels import Label, labels_on_nothing, resolved_labels
from tt_debugger.formats.shared.pi_messages import (
    branch_summary_line,
    message_head,
    usage_of,
)
from tt_debugger.formats.shared.reading import (
    Name,
    Place,
    PlainEntry,
    Plainly,
    Reading,
    Verdict,
    moment_of,
)

FORMAT = "pi"
NEWEST_VERSION = 3

_VERDICTS = {
    Code.TORN_TAIL: Verdict(
        "it may still be being written; Pi skips it in silence, and Pi 0.73 glues its next entry"
        " to it and loses that too"
    ),
    Code.BYTE_ORDER_MARK: Verdict(
        "remove the first three bytes",
        refuses="Pi 1.6 does not open a file that begins with a byte order mark; Pi 0.73 does",
    ),
    Code.CYCLE: Verdict(
        refuses="the parents go in a circle: Pi 1.6 stops with an error, Pi 0.73 never ends",
    ),
}

_SKIPPED = "Pi skips this line in silence; what hangs on it becomes a new root"
_TAKEN = "Pi takes this for an entry without an id; as the last line it leaves the context empty"


class PiSession(msgspec.Struct, frozen=True):
    """What replay needs to know of a file: its version; for version 1, its entries by index."""

    version: int
    titles: tuple[tuple[int, str | None], ...]
    """The rows that set the session's name, and the name. Pi takes the latest in the file."""
    entry_names: tuple[str | None, ...]
    has_edits: bool = False
    """Whether any entry edits another, before or after it."""

    def title_at(self, row: int) -> str | None:
        """Give the session's name when the entry of a row was written."""
        place = bisect_right(self.titles, row, key=itemgetter(0))
        return self.titles[place - 1][1] if place else None


class _Entry(
    msgspec.Struct,
    gc=False,
    tag_field="type",
    rename={"own_id": "id", "parent": "parentId", "time": "timestamp"},
):
    """An entry of which the index needs to know no more at once."""

    kind: ClassVar[int]
    own_id: Name
    parent: Name | None = None
    time: datetime | None = None


class _Message(msgspec.Struct, gc=False):
    """A message of any content: it need only be an object."""


class _MessageEntry(_Entry, gc=False, kw_only=True, tag="message"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.MESSAGE]
    message: _Message


class _CustomMessage(_Entry, gc=False, tag="custom_message"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.MESSAGE]


class _ModelChange(_Entry, gc=False, tag="model_change"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.MODEL_CHANGE]


class _ThinkingChange(_Entry, gc=False, tag="thinking_level_change"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.SETTING]


class _BranchSummary(_Entry, gc=False, tag="branch_summary"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.BRANCH_SUMMARY]


class _Custom(_Entry, gc=False, tag="custom"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.CUSTOM]


class _Usage(_Entry, gc=False, tag="usage"):
    kind: ClassVar[int] = KIND_NUMBERS[Kind.CUSTOM]


_decode_entry = msgspec.json.Decoder(
    _MessageEntry
    | _CustomMessage
    | _ModelChange
    | _ThinkingChange
    | _BranchSummary
    | _Custom
    | _Usage
).decode


def entry_head(entry: dict[str, Any]) -> Head:
    """Give the head of an entry of a type that Pi knows."""
    return _HEADS[entry["type"]](entry)


class _Notes(TypedDict):
    """What reading a Pi file keeps in mind."""

    header: dict[str, Any] | None
    version: int
    labels: list[Label]
    titles: list[tuple[int, str | None]]
    taken: int
    entry_names: list[str | None]
    compactions: list[tuple[int, dict[str, Any]]]
    has_edits: bool
    passed_over: set[int]
    passed_line: int


class PiReading(Reading):
    """A Pi file, read entry by entry."""

    plainly: ClassVar[Plainly | None] = Plainly(_decode_entry, entry_head)
    kept: ClassVar[Any] = _Notes
    agent: ClassVar[str] = "Pi"
    verdicts: ClassVar[Mapping[Code, Verdict]] = _VERDICTS

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.header: dict[str, Any] | None = None
        self.version = 1
        self.labels: list[Label] = []
        self.titles: list[tuple[int, str | None]] = []
        self.taken = 0
        self.entry_names: list[str | None] = []
        self.compactions: list[tuple[int, dict[str, Any]]] = []
        self.has_edits = False
        self.passed_over: set[int] = set()
        self.passed_line = 0

    @property
    def session_id(self) -> SessionId:
        """The id in the first header; without one, the name of the file."""
        own = text_or_none((self.header or {}).get("id"))
        return SessionId(own) if own else super().session_id

    @property
    def has_session_id(self) -> bool:
        """Whether the header was read: whatever follows it is none."""
        return self.header is not None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a header, or an entry as a checkpoint."""
        is_header = record.get("type") == "session"
        if place.is_json:
            self._check_first(place, is_header=is_header and isinstance(record.get("id"), str))
        else:
            self._pass_over(place)
        if is_header:
            self._take_header(record, place)
            return
        first_version = self.is_first_version
        # For Pi an empty id names nothing, and an empty parent is none.
        own_id = place.name if first_version else _none_if_empty(record.get("id"))
        parent = _none_if_empty(record.get("parentId"))
        if first_version:
            parent = next((name for name in reversed(self.entry_names) if name), None)
        head = self._head(record, place)
        self.add(head, own_id, parent, place, _seconds(record.get("timestamp")))
        if place.is_json:
            self._count(place.name if first_version else None)
        else:
            self.passed_over.add(len(self.links) - 1)

    def take_other(self, value: object, place: Place) -> str:
        """Count a line that Pi takes for an entry: all JSON but what is false in JavaScript."""
        if value is msgspec.UNSET or (not value and not isinstance(value, list)):
            return _SKIPPED
        self._check_first(place, is_header=False)
        self._count(None)
        return _TAKEN

    @property
    def is_first_version(self) -> bool:
        """Whether entries have no ids, but hang on each other in order."""
        return self.version == 1 and self.header is not None

    @property
    def reads_plainly(self) -> bool:
        """Whether an entry of the common shape means now what it means by itself."""
        return self.taken > 0 and not self.is_first_version

    def took(self, run: Sequence[PlainEntry]) -> None:
        """Count the entries that were added the quick way."""
        self.taken += len(run)

    def _count(self, name: str | None) -> None:
        """Count a line that Pi takes for an entry; in version 1 it names others by that count."""
        self.taken += 1
        if self.is_first_version:
            self.entry_names.append(name)

    def _check_first(self, place: Place, *, is_header: bool) -> None:
        """Say that Pi refuses a file in which the first that it can read is no header."""
        if self.taken or is_header:
            return
        self.note(
            Code.AGENT_REFUSES,
            "the first record is no session header with an id",
            place,
            hint="Pi 1.6 does not open this file; Pi 0.73 would overwrite it by an empty one",
        )

    def _pass_over(self, place: Place) -> None:
        if place.line == self.passed_line:
            return
        self.passed_line = place.line
        self.note(
            Code.AGENT_LOSES,
            "this line is no JSON for Pi, which passes over it",
            place,
            hint="for Pi, what hangs on it starts a new root; here it stays joined",
        )

    def _take_header(self, record: dict[str, Any], place: Place) -> None:
        self.take_aside("session", place)
        is_first = not self.taken
        if place.is_json:
            self._count(None)
        if self.header is not None:
            self.note(
                Code.HEADER,
                "a second session header is ignored, as Pi does",
                place,
                severity=Severity.NOTE,
            )
            return
        self.header = record
        self.version = _version(record.get("version"))
        if self.is_first_version:
            self.entry_names = [None] * self.taken
        if self.version > NEWEST_VERSION:
            self.note(
                Code.NEWER_VERSION,
                f"the format version is {self.version}; read as version {NEWEST_VERSION}",
                place,
                hint="an update of ttdbg may know it",
            )
        if not is_first:
            self.note(Code.HEADER, "the session header is not the first record", place)

    def _head(self, record: dict[str, Any], place: Place) -> Head:
        kind = record.get("type")
        make = _HEADS.get(kind) if isinstance(kind, str) else None
        if not isinstance(kind, str):
            self.note(Code.WRONG_TYPE, "the entry has no type", place, hint="shown as unreadable")
            head = Head(Kind.UNREADABLE, name="unreadable", summary=_keys(record), failed=True)
        elif make is None:
            self.note(
                Code.UNKNOWN_RECORD,
                f"the entry type {kind!r} is not known",
                place,
                hint="kept as custom; Pi walks through it and sends nothing of it",
            )
            head = Head(Kind.CUSTOM, name=kind, summary=_keys(record))
        elif kind == "message" and not isinstance(record.get("message"), dict):
            self.note(Code.WRONG_TYPE, "the message is not an object", place)
            head = Head(Kind.UNREADABLE, name="message", summary=_keys(record), failed=True)
        else:
            head = make(record)
        if kind == "label":
            self.labels.append(Label(record.get("targetId"), record.get("label"), place))
        elif kind == "session_info":
            self.titles.append((len(self.heads), title(record)))
        elif kind == "context_edit":
            self.has_edits = True
        elif kind == "compaction":
            kept = {key: record.get(key) for key in ("firstKeptEntryId", "firstKeptEntryIndex")}
            self.compactions.append((len(self.heads), kept))
        return head

    def facts(self) -> PiSession:
        """Give what replay needs to know of the file."""
        names = tuple(self.entry_names)
        return PiSession(self.version, tuple(self.titles), names, self.has_edits)

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last entry of the file is the active leaf."""
        header = self.header or {}
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            resolved_labels(self.labels, linked.ids),
            _last_entry(self),
            self.titles[-1][1] if self.titles else None,
            text_or_none(header.get("cwd")),
            _forked_from(header),
            extent,
            own=self.facts(),
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: labels and compactions that name nothing."""
        kept = ((row, first_kept(session, entry)) for row, entry in self.compactions)
        return [
            *labels_on_nothing(self.labels, session),
            *super().findings_of(session),
            *kept_entries_missing(session, kept, self.agent),
        ]


def _last_entry(reading: PiReading) -> int | None:
    """Give the last entry that Pi reads; where it reads none, the last one that there is."""
    last = None
    for row in range(len(reading.links) - 1, -1, -1):
        if reading.heads.is_gap(row):
            continue
        if row not in reading.passed_over:
            return row
        last = row if last is None else last
    return last


def _none_if_empty(name: object) -> object:
    return None if name == "" else name


def _version(value: object) -> int:
    """Give the version that a header names; Pi compares it as a number, whatever its type."""
    if not isinstance(value, (int, float, str)):
        return 1 if value is None else NEWEST_VERSION
    try:
        return max(1, int(float(value or 1)))
    except (ValueError, OverflowError):
        return NEWEST_VERSION


def first_kept(session: Session, entry: Mapping[str, Any]) -> object:
    """Give the id of the first entry that a compaction keeps: in version 1 by its index."""
    facts: PiSession = session.own
    index = entry.get("firstKeptEntryIndex")
    if facts.version != 1 or not isinstance(index, int):
        return entry.get("firstKeptEntryId")
    names = facts.entry_names
    return (names[index] if 0 <= index < len(names) else None) or index


def _forked_from(header: Mapping[str, Any]) -> str | None:
    return text_or_none(header.get("parentSession")) or text_or_none(header.get("branchedFrom"))


def _keys(record: Mapping[str, Any]) -> str:
    return summary_line(" ".join(record))


def title(record: Mapping[str, Any]) -> str | None:
    """Give the name in a `session_info`, trimmed; an empty one clears it."""
    name = record.get("name")
    return (name.strip() or None) if isinstance(name, str) else None


def _seconds(value: Any) -> float | None:
    """Give the seconds of an ISO time, None for anything else."""
    return moment_of(value) if isinstance(value, str) else None


def milliseconds(value: Any) -> int | None:
    """Give the milliseconds since 1970 of an ISO time, None for anything else."""
    seconds = _seconds(value)
    return None if seconds is None else round(seconds * 1000)


def usage_in(entry: Mapping[str, Any]) -> Usage | None:
    """Give what an entry says that it used."""
    match entry.get("type"):
        case "message":
            message = as_map(entry.get("message"))
            is_counted = message.get("role") in ("assistant", "toolResult")
            return usage_of(message.get("usage")) if is_counted else None
        case "compaction" | "branch_summary" | "usage":
            return usage_of(entry.get("usage"))
        case _:
            return None


def _compaction_head(entry: Mapping[str, Any]) -> Head:
    summary = summary_line(text_or_none(entry.get("summary")) or "")
    return Head(Kind.COMPACTION, None, "compact", summary, usage=usage_of(entry.get("usage")))


def _branch_summary_head(entry: Mapping[str, Any]) -> Head:
    summary = branch_summary_line(entry.get("summary"))
    return Head(Kind.BRANCH_SUMMARY, None, "branch", summary, usage=usage_of(entry.get("usage")))


def _context_edit_head(entry: Mapping[str, Any]) -> Head:
    what = "removes" if entry.get("replacement") is None else "replaces the content of"
    return Head(Kind.CUSTOM, None, "edit", f"{what} {entry.get('targetId')}")


def _label_head(entry: Mapping[str, Any]) -> Head:
    label = text_or_none(entry.get("label"))
    what = (
        f"{label} on {entry.get('targetId')}" if label else f"cleared on {entry.get('targetId')}"
    )
    return Head(Kind.LABEL, None, "label", summary_line(what))


def _model_head(entry: Mapping[str, Any]) -> Head:
    return Head(
        Kind.MODEL_CHANGE,
        None,
        "model",
        summary_line(f"{entry.get('provider')}/{entry.get('modelId')}"),
    )


_HEADS: dict[str, Callable[[dict[str, Any]], Head]] = {
    "message": lambda entry: message_head(as_map(entry.get("message"))),
    "custom_message": lambda entry: message_head({**entry, "role": "custom"}),
    "model_change": _model_head,
    "thinking_level_change": lambda entry: Head(
        Kind.SETTING, None, "thinking", summary_line(str(entry.get("thinkingLevel")))
    ),
    "compaction": _compaction_head,
    "branch_summary": _branch_summary_head,
    "label": _label_head,
    "session_info": lambda entry: Head(Kind.SETTING, None, "title", title(entry) or ""),
    "custom": lambda entry: Head(
        Kind.CUSTOM, None, text_or_none(entry.get("customType")) or "custom", _data_summary(entry)
    ),
    "usage": lambda entry: Head(
        Kind.CUSTOM,
        None,
        "usage",
        summary_line(str(entry.get("kind") or "")),
        usage=usage_of(entry.get("usage")),
    ),
    "context_edit": _context_edit_head,
}


def _data_summary(entry: Mapping[str, Any]) -> str:
    data = entry.get("data")
    return "" if data is None else summary_line(msgspec.json.encode(data).decode())
