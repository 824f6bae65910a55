"""Recordings kept entry by entry, in a row or an item each, by whatever a server or file has.

An entry is read without its state where it is a snapshot; that is asked for when it is wanted.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Head, Kind, Session, SessionId
from tt_debugger.core.recording.entries import SCHEMA_VERSION
from tt_debugger.core.recording.entries import Entry as Recorded
from tt_debugger.core.replay import Body, Replay, Rules
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.recording.effects import Word, note_effects, open_effects
from tt_debugger.formats.shared.recording.heads import TYPES, entry_head
from tt_debugger.formats.shared.recording.rules import RecordingRules, flaws_along
from tt_debugger.formats.shared.tables.documents import Document, document_of
from tt_debugger.formats.shared.transcript import (
    Entries,
    Entry,
    LostFile,
    Transcript,
    TranscriptStore,
)
from tt_debugger.storage.tables import Value
from tt_debugger.store import Cursor, Loaded, Progress, unheard

SHORT = 500
"""Entries of a session of which all are looked at as it is loaded, their states too."""


class RecordedEntries(TranscriptStore):
    """A store whose sessions are recordings; a format says how their entries are reached."""

    @abstractmethod
    def state(self, session: Session, row: int) -> Document:
        """Read the state of a snapshot; where there is none it says why, and in what place."""

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read a session; of a short one say all that is wrong with it."""
        return self._told_whole(super().load(session, progress))

    def follow(self, since: Cursor) -> Loaded:
        """Read again where anything looks otherwise."""
        loaded = super().follow(since)
        if loaded.session is since.position.session:
            return loaded
        return self._told_whole(loaded)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each entry says itself what it does."""
        return RecordingRules(uncompacted=uncompacted)

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Give the entries of some rows, a snapshot with its state."""
        bodies = super().bodies(session, rows)
        entries = entries_of(session)
        for place, (row, body) in enumerate(zip(rows, bodies, strict=True)):
            if _is_snapshot(entries[row]):
                state = self.state(session, row)
                bodies[place] = body if state.why else {**body, "state": state.value}
        return bodies

    def examined(self, session: Session) -> Iterator[Finding]:
        """Read all entries and states, and say what is wrong that the findings do not say yet."""
        if len(session) > SHORT:
            yield from self._flaws(session)

    def _told_whole(self, loaded: Loaded) -> Loaded:
        """Say which effects stay open, and of a short session all that does not replay."""
        session = loaded.session
        words = dict[str, Word]()
        for row, entry in enumerate(entries_of(session)):
            if isinstance(entry, Entry):
                note_effects(words, row, entry.body)
        told = [*open_effects(session, words)]
        if len(session) <= SHORT:
            told += self._flaws(session)
        if not told:
            return loaded
        session = msgspec.structs.replace(session, findings=(*session.findings, *told))
        position = msgspec.structs.replace(loaded.cursor.position, session=session)
        return Loaded(session, Cursor(position), loaded.kept)

    def _flaws(self, session: Session) -> Iterator[Finding]:
        for row, entry in enumerate(entries_of(session)):
            state = self.state(session, row) if _is_snapshot(entry) else Document({})
            name = session.ids[row]
            if state.why:
                hint = "the recorder does not go on from here"
                yield finding(Code.UNREADABLE, state.why, hint=hint, checkpoint=name)
            for each in state.told:
                yield msgspec.structs.replace(each, checkpoint=name)
        bodies = partial(self.bodies, session)
        yield from flaws_along(Replay(session, self.rules(session), bodies))


def entries_of(session: Session) -> Sequence[Entry | LostFile | None]:
    """Give the entry of each row."""
    own: Entries = session.own
    return own.entries


def header_in(value: Value, where: str) -> tuple[Mapping[str, Any], list[Finding]]:
    """Give what a header says, and what is wrong with it."""
    read = document_of(value)
    told = list(read.told)
    if read.why:
        told.append(finding(Code.HEADER, f"{where}: {read.why}"))
    version = read.value.get("schema_version")
    if isinstance(version, int) and version > SCHEMA_VERSION:
        what = f"the recording is of version {version}; {SCHEMA_VERSION} is known"
        told.append(finding(Code.NEWER_VERSION, what, hint="a newer ttdbg reads all of it"))
    return read.value, told


def entry_in(
    value: Value,
    where: str,
    name: str,
    number: int | None,
    *,
    own_id: object = None,
    parent: object = None,
) -> Entry:
    """Give the entry that a value holds as JSON, under a name for where it has none.

    `own_id` and `parent` are what else is known of it, where it does not tell.
    """
    read = document_of(value)
    body, told = read.value, list(read.told)
    if read.why:
        head = Head(Kind.UNREADABLE, None, "unreadable", summary_line(read.why), failed=True)
        hint = "the entry is shown as one that does nothing; its bytes are kept"
        told.append(finding(Code.UNREADABLE, f"{where}: {read.why}", hint=hint))
    else:
        head = entry_head(body)
        told += _oddities(body)
        own_id, parent = body.get("id", own_id), body.get("parent", parent)
    return Entry(
        head=msgspec.structs.replace(head, step=number),
        body=body,
        own_id=own_id,
        name=name,
        parent=parent,
        time=head.time,
        findings=tuple(told),
    )


def _oddities(body: Mapping[str, Any]) -> Iterator[Finding]:
    """Say where an entry is not known, or not of the form of its type."""
    kind = body.get("type")
    if not isinstance(kind, str) or kind not in TYPES:
        what = f"the entry type {kind!r:.60} is not known"
        hint = "kept as custom; a newer recorder may have written it"
        yield finding(Code.UNKNOWN_RECORD, what, hint=hint)
        return
    try:
        msgspec.convert(body, Recorded)
    except msgspec.ValidationError as error:
        what = f"the entry is not of the form of its type: {summary_line(str(error))}"
        hint = "the recorder does not go on from here; it is read as far as it goes"
        yield finding(Code.WRONG_TYPE, what, hint=hint)


def transcript_of(
    name: str, entries: Sequence[Entry], header: Mapping[str, Any], told: Sequence[Finding]
) -> Transcript:
    """Give a session of all its entries, in the order in which they were written."""
    labelled = _labelled(entries)
    return Transcript(
        id=name,
        pieces=labelled,
        title=text_or_none(header.get("title")),
        active=_active(labelled),
        findings=tuple(told),
    )


def _labelled(entries: Sequence[Entry]) -> list[Entry]:
    """Give the entries with their labels: the last one that was given counts, None clears it."""
    places = {each.own_id: place for place, each in enumerate(entries) if _is_id(each.own_id)}
    made = list(entries)
    for place, each in enumerate(entries):
        if each.body.get("type") != "label":
            continue
        target, label = each.body.get("target"), text_or_none(each.body.get("label"))
        if _is_id(target) and target in places:
            named = places[target]
            made[named] = msgspec.structs.replace(made[named], label=label or None)
        else:
            told = finding(
                Code.LABEL_TARGET, f"a label names {target!r:.60}, which is not in this session"
            )
            made[place] = msgspec.structs.replace(made[place], findings=(*each.findings, told))
    return made


def _active(entries: Sequence[Entry]) -> int | None:
    """Give where the recorder goes on: of a label what it stands on, as it moves nothing."""
    if not entries:
        return None
    places = {each.own_id: place for place, each in enumerate(entries) if _is_id(each.own_id)}
    place = len(entries) - 1
    while entries[place].body.get("type") == "label":
        above = entries[place].parent
        before = places.get(above) if _is_id(above) else None
        if before is None or before >= place:
            break
        place = before
    return place


def _is_id(value: object) -> bool:
    return isinstance(value, str)


def _is_snapshot(entry: Entry | LostFile | None) -> bool:
    return isinstance(entry, Entry) and entry.body.get("type") == "snapshot"
