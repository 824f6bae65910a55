"""Messages: what is sent to a model and comes back, as OpenAI and Anthropic write it.

A file is one JSON value (a request, an answer, a list of messages or of conversations) or has one
such value, or one message, on each line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.model import Session, SessionId
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.messages.conversation import LISTS, is_conversation, members
from tt_debugger.formats.messages.reading import MessagesReading, is_named
from tt_debugger.formats.messages.replay import MessagesRules
from tt_debugger.formats.shared.dialect import tree_dialect
from tt_debugger.formats.shared.document import Document, Element, document
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.message_heads import is_message
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Reading
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.formats.shared.spread import is_spread, whole_lines
from tt_debugger.storage.lines import lines
from tt_debugger.store import Cursor, Loaded, Match, Probe, Progress, unheard


class _Whole(msgspec.Struct, frozen=True):
    """A cursor of a file that is one JSON value: what was read, and how to know it again."""

    fingerprint: str
    session: Session


class Messages(JsonlFile):
    """A file of messages."""

    format: ClassVar[str] = "messages"
    about: ClassVar[str] = "messages as OpenAI and Anthropic write them (JSON, JSONL)"
    reading: ClassVar[type[Reading]] = MessagesReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its values: each is a message or holds messages, nothing more."""
        values = list(_values(probe))
        if not values or tree_dialect(values) is not None:
            return None
        conversations = sum(map(is_conversation, values))
        if not all(is_message(each) or is_conversation(each) for each in values):
            return None
        if conversations:
            return Match(60, f"{conversations} of {len(values)} values hold messages")
        return Match(60, f"{len(values)} messages, each with a role or the type of an item")

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return MessagesRules()

    def tail(self) -> Session | None:
        """Give nothing: what is said at the end has no name without what was said before."""
        return None

    def load(self, session: SessionId, progress: Progress = unheard) -> Loaded:
        """Read all messages."""
        if not self._is_spread():
            return super().load(session, progress)
        loaded = self._read_document()
        size = self._file.size()
        progress(size, size)
        return loaded

    def follow(self, since: Cursor) -> Loaded:
        """Read on from a cursor; from the beginning what is one JSON value and has changed."""
        if not self._file.is_current():
            self._reopen()
        was_spread = isinstance(since.position, _Whole)
        if was_spread != self._is_spread():
            return self.load(self.sessions()[-1])
        if not was_spread:
            return super().follow(since)
        position: _Whole = since.position
        if self._fingerprint(self._file.size()) == position.fingerprint:
            return Loaded(position.session, since)
        return self._read_document()

    def _is_spread(self) -> bool:
        first: list[bytes] = []
        for line in lines(self._file):
            first += [line.data] if line.data.strip() else []
            if len(first) == 2:  # noqa: PLR2004 - a second line tells
                break
        return is_spread(b"\n".join(first))

    def _read_document(self) -> Loaded:
        whole = document(self._file)
        reading = MessagesReading(self.location)
        reading.read_document(whole)
        session = reading.finished(whole.size)
        return Loaded(session, Cursor(_Whole(self._fingerprint(whole.size), session)))

    def bodies(self, session: Session, rows: Sequence[int]) -> list[Body]:
        """Decode some messages; a gap has the body None.

        Raises CannotReadError where the file no longer holds them.
        """
        is_gap = session.heads.is_gap
        return [None if is_gap(row) else self._message(session, row) for row in rows]

    def _message(self, session: Session, row: int) -> dict[str, Any]:
        data = self.raw(session, row).removeprefix(BYTE_ORDER_MARK)
        parent = session.parents[row]
        above = "" if parent == NO_ROW else session.ids[parent]
        for piece in records(data) if data.strip() else ():
            if isinstance(piece, Record) and is_named(session.ids[row], above, piece.value):
                return piece.value
        raise CannotReadError("the file changed since it was read", "open it again")


def _values(probe: Probe) -> Iterator[dict[str, Any]]:
    """Give the objects that a probe sees: of the file, of its list, or of its lines."""
    head = probe.head.removeprefix(BYTE_ORDER_MARK)
    if not is_spread(head):
        yield from first_records(probe)
        for line in whole_lines(probe):
            if line.lstrip()[:1] == b"[":
                yield from _elements(line)
        return
    if head.lstrip()[:1] == b"[":
        yield from _elements(head)
        return
    # Of an object that the probe cuts, what is whole of its lists.
    found: dict[str, Any] = {}
    for member in members(head):
        value = head[member.begin : member.end]
        if member.key in LISTS:
            found[member.key] = (
                list(_elements(value)) if value[:1] == b"[" else value.decode(errors="replace")
            )
        else:
            found[member.key] = None
    if found:
        yield found


def _elements(data: bytes) -> Iterator[dict[str, Any]]:
    for piece in Document(data, is_array=True, findings=()).pieces():
        if isinstance(piece, Element):
            yield piece.value


STORE = Messages
