"""Reading a recording: a header, and entries of which each hangs on its parent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar, TypedDict

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Extent, Session, SessionId
from tt_debugger.core.placed import finding_at
from tt_debugger.core.recording.entries import SCHEMA_VERSION, Entry
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.shared.labels import Label, labels_on_nothing, resolved_labels
from tt_debugger.formats.shared.reading import Place, PlainEntry, Plainly, Reading, Verdict
from tt_debugger.formats.shared.recording import (
    TYPES,
    PlainEffect,
    PlainSnapshot,
    Word,
    entry_head,
    note_effects,
    open_effects,
    plain_entry,
    time_of,
)
from tt_debugger.storage.lines import Line

FORMAT = "recording"
_DROPS = "the recorder drops it when it goes on: it was never said to be written"
_VERDICTS = {
    Code.TORN_TAIL: Verdict(_DROPS, Severity.NOTE),
    Code.NO_FINAL_NEWLINE: Verdict(_DROPS),
}


class RecordingSession(msgspec.Struct, frozen=True):
    """What a fork needs to know of a file: its header, and which rows speak of effects."""

    header: Mapping[str, Any]
    effects: tuple[int, ...]


class _Formed(msgspec.Struct):
    # msgspec works out what a struct needs once, but a union anew each time.
    entry: Entry


class _Notes(TypedDict):
    """What reading a recording keeps in mind."""

    header: dict[str, Any] | None
    labels: list[Label]
    label_rows: set[int]
    effects: dict[str, Word]
    effect_rows: list[int]
    snapshots: set[int]


class RecordingReading(Reading):
    """A recording, read entry by entry."""

    plainly: ClassVar[Plainly | None] = Plainly(plain_entry, entry_head)
    kept: ClassVar[Any] = _Notes
    agent: ClassVar[str] = "The recorder"
    verdicts: ClassVar[Mapping[Code, Verdict]] = _VERDICTS

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.header: dict[str, Any] | None = None
        self.labels: list[Label] = []
        self.label_rows: set[int] = set()
        self.effects: dict[str, Word] = {}
        self.effect_rows: list[int] = []
        self.snapshots: set[int] = set()

    @property
    def session_id(self) -> SessionId:
        """The id in the header; without one, the name of the file."""
        own = text_or_none((self.header or {}).get("session_id"))
        return SessionId(own) if own else super().session_id

    @property
    def has_session_id(self) -> bool:
        """Whether the header was read: whatever follows it is none."""
        return self.header is not None

    @property
    def reads_plainly(self) -> bool:
        """Whether there was a header: an entry before it makes a finding."""
        return self.header is not None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take the header, or an entry as a checkpoint."""
        kind = record.get("type")
        if kind == "recording":
            self._take_header(record, place)
            return
        if self.header is None and not len(self.heads):
            self.note(Code.HEADER, "the file begins without the header of a recording", place)
        row = len(self.heads)
        if not isinstance(kind, str) or kind not in TYPES:
            self.note(
                Code.UNKNOWN_RECORD,
                f"the entry type {kind!r:.60} is not known",
                place,
                hint="kept as custom; a newer recorder may have written it",
            )
        else:
            self._check_form(record, place)
        if kind == "label":
            self.labels.append(Label(record.get("target"), record.get("label"), place))
            self.label_rows.add(row)
        elif kind in ("effect", "snapshot"):
            self._note_effects(row, record)
            if kind == "snapshot":
                self.snapshots.add(row)
        self.add(
            entry_head(record), record.get("id"), record.get("parent"), place, time_of(record)
        )

    def took(self, run: Sequence[PlainEntry]) -> None:
        """Hear of effects and snapshots among the entries that were added the quick way."""
        for row, entry in enumerate(run, len(self.heads) - len(run)):
            if isinstance(entry, PlainEffect):
                told = {"type": "effect", "key": entry.key, "phase": entry.phase}
                self._note_effects(row, told)
            elif isinstance(entry, PlainSnapshot):
                self.snapshots.add(row)
                told = [{"key": each.key, "status": each.status} for each in entry.effects]
                self._note_effects(row, {"effects": told})

    def read_tail(self, tail: Line) -> None:
        """Take what follows the last newline; zeros are what a crash leaves of a write."""
        if not tail.data or tail.data.strip(b"\0"):
            super().read_tail(tail)
            return
        self.end_gap()
        self.skipped += tail.length
        self.note(
            Code.TORN_TAIL,
            f"the file ends in {tail.length:,} zero bytes: a write that a crash cut off",
            Place(tail.number, 1, tail.offset, tail.length, tail.is_whole),
        )

    def _take_header(self, record: dict[str, Any], place: Place) -> None:
        self.take_aside("recording", place)
        if self.header is not None:
            self.note(Code.HEADER, "a second header is ignored", place)
            return
        self.header = record
        if len(self.heads):
            self.note(Code.HEADER, "the header is not the first record", place)
        version = record.get("schema_version", SCHEMA_VERSION)
        if type(version) is not int:
            self.note(Code.WRONG_TYPE, "the schema_version of the header is no number", place)
        elif version > SCHEMA_VERSION:
            self.note(
                Code.NEWER_VERSION,
                f"the format is of version {version}; read as version {SCHEMA_VERSION}",
                place,
                hint="an update of ttdbg may know it",
            )

    def _check_form(self, record: dict[str, Any], place: Place) -> None:
        """Say where an entry is not as the recorder reads it."""
        try:
            msgspec.convert({"entry": record}, _Formed)
        except msgspec.ValidationError as error:
            self.note(
                Code.WRONG_TYPE,
                f"the entry is not of the form of its type: {_told(error)}",
                place,
                hint="the recorder passes over it; here it is read as far as it goes",
            )

    def _note_effects(self, row: int, entry: Mapping[str, Any]) -> None:
        if entry.get("type") == "effect" or entry.get("effects"):
            self.effect_rows.append(row)
            note_effects(self.effects, row, entry)

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the recorder goes on from the last entry, past labels."""
        header = self.header or {}
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            resolved_labels(self.labels, linked.ids),
            self._active(linked.parents),
            text_or_none(header.get("title")),
            forked_from=text_or_none(as_map(header.get("continues")).get("location")),
            extent=extent,
            own=self.facts(),
        )

    def facts(self) -> RecordingSession:
        """Give what a fork needs to know of the file."""
        return RecordingSession(self.header or {}, tuple(self.effect_rows))

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: labels on nothing, effects that stay open."""
        return [
            *labels_on_nothing(self.labels, session),
            *self._not_restored(session),
            *open_effects(session, self.effects),
        ]

    def _not_restored(self, session: Session) -> Iterator[Finding]:
        """Say where the recorder has nothing to begin the last state from."""
        if session.active is None:
            return
        root = NO_ROW
        for root in session.tree.ancestors(session.active):
            if root in self.snapshots:
                return
        if root == 0 and self.links.parent(root) is not None:
            # What leads to it may not have been read.
            return
        yield finding_at(
            session,
            session.active,
            Code.AGENT_REFUSES,
            f"no snapshot leads to {session.ids[session.active]}, the last entry",
            "the recorder does not go on from here: fork the session, and go on from the fork",
        )

    def _active(self, parents: Sequence[int]) -> int | None:
        """Give the last entry; of a label what it stands on, as it marks and moves nothing."""
        row = self.last_row
        while row is not None and row in self.label_rows and parents[row] != NO_ROW:
            row = parents[row]
        return row


def _told(error: msgspec.ValidationError) -> str:
    return summary_line(str(error).replace("$.entry", "$"))
