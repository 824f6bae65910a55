"""Bundles: what ttdbg itself wrote for a bug report, opened as the session that it is about."""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from tt_debugger.core.bundle import MARK, PART, VERSION, BundleHead, Entry, Shape, TellsFinding
from tt_debugger.core.bundle import changes_of as changes_of_entry
from tt_debugger.core.changes import State
from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Head, Kind, Role, Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Rules, Step
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.shared.context import MESSAGES
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.message_heads import head_of
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.store import Match, Probe

_UNTOLD = Head(Kind.CUSTOM)


class BundleReading(Reading):
    """A bundle, read line by line."""

    agent: ClassVar[str] = "ttdbg"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.head = BundleHead(0)
        self.labels: dict[int, str] = {}
        self.about: dict[str, int] = {}
        """The rows of the points that the bundle is about."""
        self.entries: dict[int, tuple[Entry, Place]] = {}
        """What each row did, without the values, and where it says so."""

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take the head, a checkpoint, or one of the other parts, which are no checkpoints."""
        if MARK in record:
            self.take_aside("head", place)
            self._take_head(record, place)
        elif PART not in record or "id" in record:
            self._take_entry(record, place)
        else:
            self.take_aside(f"{record[PART]}", place)

    def _take_head(self, record: dict[str, Any], place: Place) -> None:
        try:
            head = msgspec.convert(record, BundleHead)
        except msgspec.ValidationError as error:
            self.note(Code.HEADER, f"the head of the bundle cannot be read: {error}", place)
            return
        if self.head.ttdbg_bundle or len(self.heads):
            self.note(Code.HEADER, "a further head of a bundle is not used", place)
            return
        if head.ttdbg_bundle > VERSION:
            self.note(
                Code.NEWER_VERSION,
                f"a bundle of version {head.ttdbg_bundle}, and this ttdbg knows up to {VERSION}",
                place,
                hint="a newer ttdbg reads all of it",
            )
        self.head = head
        self._repeat(head.findings, place)

    def _take_entry(self, record: dict[str, Any], place: Place) -> None:
        row = len(self.heads)
        try:
            entry = msgspec.convert(record, Entry)
        except msgspec.ValidationError as error:
            is_other = not isinstance(record.get("id"), str)
            code = Code.UNKNOWN_RECORD if is_other else Code.WRONG_TYPE
            self.note(code, f"not a checkpoint of a bundle: {error}", place)
            self.add(_UNTOLD, record.get("id"), record.get("parent"), place)
            return
        for point, is_it in (("A", entry.is_a), ("B", entry.is_b)):
            if is_it:
                self.about[point] = row
                self.labels[row] = point
        if entry.label:
            self.labels[row] = entry.label
        self.entries[row] = (_without_values(entry), place)
        self.add(_head_of(entry), entry.id, entry.parent, place, entry.time)
        self._repeat(entry.findings, place)

    def _repeat(self, findings: tuple[TellsFinding, ...], place: Place) -> None:
        """Tell again what was found in the session that the bundle was made of."""
        for each in findings:
            message = each.message
            try:
                code, severity = Code(each.code), Severity(each.severity)
            except ValueError:
                code, severity = Code.UNKNOWN_RECORD, None
                told = f"a finding {each.code} ({each.severity}) that this ttdbg does not know"
                message = f"{told}: {message}"
            self.note(code, message, place, hint=each.hint, severity=severity)

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the point that the bundle is about is the active leaf."""
        points = tuple(self.about[point] for point in ("A", "B") if point in self.about)
        return Session(
            self.session_id,
            Bundle.format,
            self.heads,
            linked.ids,
            linked.parents,
            self.labels,
            active=self.about.get("B", self.about.get("A", self.last_row)),
            title=self.head.title,
            cwd=self.head.cwd,
            extent=extent,
            compared=(points[0], points[1]) if len(points) > 1 else None,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole shows: entries that do not fit the state before them."""
        count = len(self.findings)
        shapes: dict[int, Shape] = {NO_ROW: {}}
        for row in session.tree.parents_first():
            shape = shapes[session.parents[row]]
            if row in self.entries:
                entry, place = self.entries[row]
                _, shape, fits = changes_of_entry(entry, shape)
                if not fits:
                    why = "what the checkpoint did does not fit the state before it"
                    self.note(Code.BROKEN_SEQUENCE, why, place, hint="lines are missing before it")
            shapes[row] = shape
        found = self.findings[count:]
        del self.findings[count:]
        return found


class BundleRules:
    """What each entry says that it did; the memo is the shape of the state."""

    def start(self, session: Session) -> tuple[State, Shape]:
        """Give the empty state."""
        return {}, {}

    def step(self, session: Session, row: int, body: Body, memo: Shape, bodies: Bodies) -> Step:
        """Give the changes of an entry, as far as they fit."""
        try:
            entry = msgspec.convert(body, Entry)
        except msgspec.ValidationError:
            return Step((), memo)
        changes, shape, _ = changes_of_entry(entry, memo)
        return Step(changes, shape)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: no agent goes on from a bundle."""
        return Resumed(replay.state(row))


class Bundle(JsonlFile):
    """A bundle."""

    format: ClassVar[str] = "bundle"
    about: ClassVar[str] = "bundles that `ttdbg export --bundle` writes for bug reports"
    verified: ClassVar[str] = "written by ttdbg itself"
    reading: ClassVar[type[Reading]] = BundleReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a bundle by its head."""
        if any(isinstance(each.get(MARK), int) for each in first_records(probe)):
            return Match(99, "it has the head of a bundle")
        return None

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: what was compacted away is told by none of its states."""
        return BundleRules()


def _head_of(entry: Entry) -> Head:
    role, summary = text_or_none(entry.role), entry.summary
    messages = [as_map(each) for each in entry.insert.get(MESSAGES[-1], ())]
    if not summary and messages:
        # Of what was said a bundle tells no summary: that would be cut before it was redacted.
        summary = head_of(messages[-1])[0].summary
    return Head(
        Kind(entry.kind) if entry.kind in _KINDS else Kind.CUSTOM,
        Role(role) if role in _ROLES else None,
        entry.name,
        summary,
        step=entry.step,
        usage=entry.usage,
        failed=entry.failed,
    )


def _without_values(entry: Entry) -> Entry:
    """Give what an entry did with only so much of its values as tells the shape of the state."""
    return Entry(
        entry.id,
        state=None if entry.state is None else _shaped(entry.state),
        put=_shaped(entry.put),
        drop=entry.drop,
        at=entry.at,
        insert={key: [None] * len(values) for key, values in entry.insert.items()},
    )


def _shaped(values: dict[str, Any]) -> dict[str, Any]:
    return {
        key: [None] * len(as_list(value)) if isinstance(value, list) else None
        for key, value in values.items()
    }


_KINDS = frozenset(map(str, Kind)) - {Kind.GAP, Kind.UNREADABLE}
_ROLES = frozenset(map(str, Role))
STORE = Bundle
