"""Messages: what is sent to a model and comes back, as OpenAI and Anthropic write it.

A file is one JSON value (a request, an answer, a list of messages or of conversations) or has one
such value, or one message, on each line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.messages.conversation import LISTS, is_conversation
from tt_debugger.formats.messages.reading import MessagesReading, is_named
from tt_debugger.formats.messages.replay import MessagesRules
from tt_debugger.formats.shared.dialect import tree_dialect
from tt_debugger.formats.shared.document import Document, Element, document
from tt_debugger.formats.shared.document_file import DocumentFile
from tt_debugger.formats.shared.jsonl import first_records
from tt_debugger.formats.shared.message_heads import is_message
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK, Reading
from tt_debugger.formats.shared.spread import is_spread, whole_lines
from tt_debugger.formats.shared.transcript_json import members
from tt_debugger.storage.lines import lines
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan


class Messages(DocumentFile):
    """A file of messages."""

    format: ClassVar[str] = "messages"
    about: ClassVar[str] = "messages as OpenAI and Anthropic write them (JSON, JSONL)"
    verified: ClassVar[str] = "the published APIs"
    keeps_calls_whole: ClassVar[bool] = True
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

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: the messages up to its point.

        Raises UnsupportedError for settings that a request does not have.
        """
        from tt_debugger.formats.messages.fork import around, draft

        heads = replay.session.heads
        data, begin = self._value_of(heads.line(plan.row) or 1)
        return draft(self, around(data, begin, heads.offset(plan.row) or 0), replay, plan)

    def _value_of(self, number: int) -> tuple[bytes, int]:
        """Give the file if it is one JSON value, else a line of it, and where that begins."""
        if self.is_document():
            return document(self._file).data, 0
        for line in lines(self._file):
            if line.number == number:
                return line.data, line.offset
        raise CannotReadError("the file changed since it was read", "open it again")

    def _begins_document(self, head: bytes) -> bool:
        return is_spread(head)

    def _new_reading(self) -> MessagesReading:
        return MessagesReading(self.location)

    def _is_of(self, session: Session, row: int, record: dict[str, Any]) -> bool:
        parent = session.parents[row]
        above = "" if parent == NO_ROW else session.ids[parent]
        return is_named(session.ids[row], above, record)


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
        value = head[member.value : member.end]
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
