"""A session of Gemini CLI as old versions wrote it: one object with all its messages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import ClassVar

from tt_debugger.core.json import as_list, text_or_none
from tt_debugger.core.model import SessionId
from tt_debugger.formats.gemini.messages import (
    METADATA,
    head_of_record,
    is_message,
    messages_of,
    settings_of,
)
from tt_debugger.formats.gemini.reading import FORMAT
from tt_debugger.formats.shared.document import Element, Lost
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entry,
    Piece,
    Told,
    Transcript,
    other_entry,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import ObjectRead, keys_seen, read_object
from tt_debugger.store import Match, Probe


class GeminiDocument(TranscriptFile):
    """The messages in one document."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = ""

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a document by its keys."""
        if set(keys_seen(probe)) >= METADATA:
            return Match(92, "a document with sessionId, projectHash and startTime")
        return None

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the messages in their order."""
        read = read_object(data, ("messages",))
        title = text_or_none(read.members.get("summary"))
        directories = as_list(read.members.get("directories"))
        cwd = text_or_none(directories[0]) if directories else None
        name = text_or_none(read.members.get("sessionId"))
        return Transcript(
            id=name or PurePath(self.location).stem,
            pieces=list(_pieces(read)),
            size=len(data),
            start={"title": title, "cwd": cwd},
            title=title,
            cwd=cwd,
            findings=read.findings,
        )


def _pieces(read: ObjectRead) -> Iterator[Piece]:
    yield from (Beside(key, place) for key, place in read.places.items())
    found = sorted((*read.pieces("messages"), *read.lost), key=lambda each: each.place.offset)
    yield from map(_entry, found)


def _entry(piece: Element | Lost) -> Piece:
    if isinstance(piece, Lost):
        return piece
    record = piece.value
    if not is_message(record):
        return other_entry(record, piece.place)
    return Entry(
        head=head_of_record(record),
        body=record,
        told=Told(tuple(messages_of(record)), settings_of(record)),
        own_id=record["id"],
        time=time_in(record),
        place=piece.place,
    )
