"""Reading messages: each one a checkpoint that hangs on the one said before it.

A message is named by what it says and by all that was said before: the first 12 hex digits of
the SHA-256 of the id of its parent (nothing for a first message) and its canonical JSON, which
is UTF-8 with sorted keys and no white space. So conversations that begin alike are one tree.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.model import Extent, Session
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.messages.conversation import (
    is_conversation,
    lists_in,
    settings_of,
)
from tt_debugger.formats.shared.document import Document, Element, Lost
from tt_debugger.formats.shared.document_file import DocumentReading
from tt_debugger.formats.shared.message_heads import head_of, is_message, record_head, time_in
from tt_debugger.formats.shared.promises import answered_in, called_in, unmatched_results
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Place
from tt_debugger.storage.lines import Line

FORMAT = "messages"
_SHOWN_DIGITS = 12
_AT_BEGIN = Place(1, 1, 0, 0, is_whole=False)


class MessagesSession(msgspec.Struct, frozen=True):
    """What replay needs to know: beside which settings each message stood, and which are none."""

    settings: list[dict[str, Any]]
    beside: list[int]
    """For each row the place of its settings."""
    others: set[int]
    """Rows of records that are no messages."""


class MessagesReading(DocumentReading):
    """Messages, a line each or as lists of them."""

    agent: ClassVar[str] = "the agent"

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.rows: dict[bytes, int] = {}
        """The row of each message by its digest."""
        self.names: list[str] = []
        """The id of each row, empty for a gap."""
        self.settings: list[dict[str, Any]] = [{}]
        self.settings_places: dict[bytes, int] = {}
        self.beside: list[int] = []
        self.others: set[int] = set()
        self.last: int | None = None
        """The row of the message that was read last."""
        self.last_alone: int | None = None
        """The row of the last message that stood on a line of its own."""
        self.calls: list[tuple[str, int]] = []
        self.results: list[tuple[str, int]] = []
        self._ordered: list[int] = []
        self._line: Line | None = None
        """The line that is being read."""

    def read(self, line: Line) -> None:
        """Take all that stands on a line; a list of messages is a conversation."""
        self._line = line
        if not self._read_list(line):
            super().read(line)
        self._line = None

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a conversation, or a message that goes on from the one on a line before."""
        line = self._line
        if line is not None and is_conversation(record):
            begin = place.offset - line.offset
            self._take_conversation(record, line.data[begin : begin + place.length], place)
        else:
            self.last_alone = self._take_message(record, self.last_alone, place, 0)

    def read_document(self, whole: Document) -> None:
        """Take a file that is one conversation, or a list of messages or of conversations."""
        self.findings += whole.findings
        self._take_pieces(whole, whole.pieces(), None, 0)

    def _read_list(self, line: Line) -> bool:
        """Take a line that is a list of messages; tell whether it is one."""
        data = line.data.removeprefix(BYTE_ORDER_MARK) if line.number == 1 else line.data
        if data.lstrip(b" \t")[:1] != b"[":
            return False
        listed = Document(data, is_array=True, findings=())
        pieces = list(listed.pieces())
        if not any(isinstance(each, Element) and is_message(each.value) for each in pieces):
            return False
        margin = len(line.data) - len(data)
        start = Place(line.number, 1, line.offset + margin, len(data), is_whole=line.is_whole)
        if margin:
            place = msgspec.structs.replace(start, offset=line.offset)
            self.note(Code.BYTE_ORDER_MARK, "the file begins with a byte order mark", place)
        self._take_pieces(listed, pieces, None, 0, start)
        return True

    def _take_conversation(self, value: dict[str, Any], data: bytes, place: Place) -> None:
        """Take the lists of messages of a request or an answer, each going on from the other."""
        beside = self._settings_place(settings_of(value))
        row: int | None = None
        for member in lists_in(data, value):
            start = msgspec.structs.replace(
                place,
                line=place.line + data.count(b"\n", 0, member.value),
                offset=place.offset + member.value,
            )
            listed = Document(data[member.value : member.end], is_array=True, findings=())
            row = self._take_pieces(listed, listed.pieces(), row, beside, start)

    def _take_pieces(
        self,
        listed: Document,
        pieces: Iterable[Element | Lost],
        row: int | None,
        beside: int,
        start: Place = _AT_BEGIN,
    ) -> int | None:
        """Take messages that follow each other in a list that starts at a place.

        Gives the row of the last one.
        """
        for piece in pieces:
            element = self.element_of(_shifted(piece, start))
            if element is None:
                continue
            if is_conversation(element.value):
                begin = piece.place.offset
                data = listed.data[begin : begin + piece.place.length]
                self._take_conversation(element.value, data, element.place)
            else:
                row = self._take_message(element.value, row, element.place, beside)
        return row

    def _take_message(
        self, value: dict[str, Any], parent: int | None, place: Place, beside: int
    ) -> int:
        """Add a message below another; give its row, which it may have had before."""
        above = "" if parent is None else self.names[parent]
        digest = message_digest(above, value)
        known = self.rows.get(digest)
        if known is None:
            known = self.rows[digest] = len(self.heads)
            self._add(value, digest.hex()[:_SHOWN_DIGITS], above or None, place)
            self.beside.append(beside)
        self.last = known
        return known

    def _add(self, value: dict[str, Any], name: str, parent: str | None, place: Place) -> None:
        row = len(self.heads)
        self.names.append(name)
        if is_message(value):
            head, parts = head_of(value)
            self.calls += ((each, row) for each in called_in(parts))
            self.results += ((each, row) for each in answered_in(parts))
        else:
            head = record_head(value)
            self.others.add(row)
        self.add(head, name, parent, place, time_in(value))

    def _settings_place(self, settings: dict[str, Any]) -> int:
        key = msgspec.json.encode(settings, order="sorted")
        place = self.settings_places.setdefault(key, len(self.settings))
        if place == len(self.settings):
            self.settings.append(settings)
        return place

    def end_gap(self) -> None:
        """Make an open gap a checkpoint, keeping what is kept for each row in step."""
        super().end_gap()
        missing = len(self.heads) - len(self.names)
        self.names += [""] * missing
        self.beside += [0] * missing

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session; the last message of the last conversation is the active leaf."""
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            linked.parents,
            active=self.last,
            extent=extent,
            own=MessagesSession(self.settings, self.beside, self.others),
        )

    def _row_at(self, offset: int) -> int:
        """Give the last row that begins there or before: an answer may stand before a question."""
        rows = self._in_file_order()
        place = bisect_right(rows, offset, key=self._begin_of) - 1
        return rows[place] if place >= 0 else NO_ROW

    def _in_file_order(self) -> list[int]:
        """Give all rows in the order in which they stand in the file."""
        if len(self._ordered) != len(self.heads):
            self._ordered = sorted(range(len(self.heads)), key=self._begin_of)
        return self._ordered

    def _begin_of(self, row: int) -> int:
        return self.heads.offset(row) or 0

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows: results that answer no call."""
        return list(unmatched_results(session, self.calls, self.results))


def message_digest(parent: str, value: object) -> bytes:
    """Give the digest that a message is named by, below the message with this id."""
    return hashlib.sha256(parent.encode() + msgspec.json.encode(value, order="sorted")).digest()


def is_named(name: str, parent: str, value: object) -> bool:
    """Tell whether this is the message with this id below that with the other."""
    return name.startswith(message_digest(parent, value).hex()[:_SHOWN_DIGITS])


def _shifted(piece: Element | Lost, start: Place) -> Element | Lost:
    """Give a piece of a list that starts at a place, with its own place in the file.

    On a whole line what is lost is not still being written, but a list without an end has none.
    """
    place = piece.place
    shifted = msgspec.structs.replace(
        place,
        line=place.line + start.line - 1,
        offset=place.offset + start.offset,
        is_whole=place.is_whole or (start.is_whole and place.length > 0),
    )
    return msgspec.structs.replace(piece, place=shifted)
