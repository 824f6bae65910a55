"""Forks of conversations: the messages up to a point, in the form in which they stand.

That is a request or an answer with its settings, a list, or a message on each line. What is kept
of it keeps its bytes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.transcripts import Added, Kept, Left, Part, Rewritten, parts_of
from tt_debugger.core.fork.writes import How, NewFile, Record
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.messages.conversation import (
    LISTS,
    holds_messages,
    is_conversation,
    lists_in,
)
from tt_debugger.formats.messages.reading import MessagesReading
from tt_debugger.formats.shared.document import Document, Element
from tt_debugger.formats.shared.fork_documents import fork_name, lost_told, read_back
from tt_debugger.formats.shared.fork_files import (
    WITHOUT_IN_PLACE,
    Holds,
    as_line,
    place_for,
)
from tt_debugger.formats.shared.json_text import spread, with_value, written
from tt_debugger.formats.shared.message_heads import is_message
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.records import Refused, records
from tt_debugger.formats.shared.spread import is_spread

_AROUND = BYTE_ORDER_MARK + b" \t\r\n"
_HOLE = b'"\\u0000ttdbg\\u0000"'
"""A text that stands where the messages are to stand: nobody else writes one so."""
_ONE: dict[str, Any] = {"messages": [{"role": "user", "content": ""}]}


class Around(NamedTuple):
    """What a message stands in, from a place of the file on: an object, a list, or a line."""

    data: bytes
    value: dict[str, Any] | None = None
    """The object; None for a list, or for a message that stands alone."""


def draft(store: Holds, around: Around, replay: Replay, plan: Plan) -> Draft:
    """Give what a fork of a conversation would write. Raises UnsupportedError, UsageError."""
    if plan.in_place:
        raise UnsupportedError(
            "messages cannot be forked within their file: nothing in it names a branch",
            WITHOUT_IN_PLACE,
        )
    session = replay.session
    found = (_record(store, session, each) for each in parts_of(replay, plan))
    messages = [each for each in found if each is not None]
    if not messages or not plan.wanted.get("messages"):
        raise UsageError("a conversation without a message is none")
    records = _framed(around, messages, plan)
    path = place_for(store.location, fork_name(store.location, plan.fresh), plan.target)
    data = b"".join(each.data for each in records)
    made = read_back(MessagesReading(path), data, is_document=is_spread(data))
    return Draft(
        writes=(NewFile(path, tuple(records)),),
        location=path,
        session=made.id,
        point=made.ids[made.active or 0],
        resume_command=_use(path, around),
        notes=lost_told(session, plan.row),
    )


def around(data: bytes, begin: int, place: int) -> Around:
    """Give what the message at a place of a file stands in.

    `data` is the whole file if that is one JSON value, else a line, which begins at a place.
    """
    bare = data.lstrip(BYTE_ORDER_MARK + b" \t\r\n")
    offset = place - begin - (len(data) - len(bare))
    for first, end, value in _objects_in(bare):
        if first <= offset < end and is_conversation(value):
            return Around(bare[first:end].strip(), value)
    return Around(bare.strip() if bare[:1] == b"[" else b"")


def _objects_in(data: bytes) -> Iterator[tuple[int, int, dict[str, Any]]]:
    """Give the objects of a list, or those that stand there alone, with their places."""
    if data[:1] == b"[":
        for piece in Document(data, is_array=True, findings=()).pieces():
            if isinstance(piece, Element):
                yield piece.place.offset, piece.place.offset + piece.place.length, piece.value
        return
    for found in records(data):
        if not isinstance(found, Refused):
            yield found.begin, found.end, found.value


def _record(store: Holds, session: Session, part: Part) -> Record | None:
    """Give a message of the fork, None for one that was taken away."""
    match part:
        case Kept(row=row):
            return Record(store.raw(session, row).strip(_AROUND), How.KEPT, row)
        case Rewritten(row=row, messages=messages):
            before = store.bodies(session, (row,))[0]
            raw = store.raw(session, row).strip(_AROUND)
            return Record(with_value(raw, before, _checked(messages[0])), How.CHANGED, row)
        case Added(message=message):
            return Record(written(_checked(message)), How.ADDED)
        case Left():
            return None


def _checked(message: Any) -> Any:
    if not is_message(as_map(message)):
        raise UnsupportedError(
            "what would stand among the messages is none",
            "a message has a role and a content, or it is an item of the Responses interface",
        )
    return message


def _framed(around: Around, messages: Sequence[Record], plan: Plan) -> list[Record]:
    """Give the messages as what they stood in."""
    if around.value is None:
        for key in other_edits(plan):
            raise UnsupportedError(
                f"there is no place for {key} beside messages that stand alone",
                "only a request has settings",
            )
    if not around.data:
        return [msgspec.structs.replace(each, data=_one_line(each.data)) for each in messages]
    before, listed, after = b"", around.data, b""
    if around.value is not None:
        before, listed, after = _request(around.data, around.value, plan)
    first, last = spread(listed)
    framed: list[Record] = []
    for place, each in enumerate(messages):
        begin = b"," + first if place else before + b"[" + first
        end = b"" if place < len(messages) - 1 else last + b"]" + after + b"\n"
        framed.append(msgspec.structs.replace(each, data=begin + each.data + end))
    return framed


def _request(data: bytes, value: dict[str, Any], plan: Plan) -> tuple[bytes, bytes, bytes]:
    """Give what stands before the list of messages of a request, that list, and what follows.

    What is asked and what was answered become one list, as the next request has it.
    """
    held = [key for key in LISTS if holds_messages(value.get(key))]
    key, others = held[0], held[1:]
    wanted = {name: each for name, each in value.items() if name not in others}
    for name, each in other_edits(plan).items():
        if each is msgspec.UNSET:
            wanted.pop(name, None)
        else:
            wanted[name] = each
    if not is_conversation(wanted):
        name = next(name for name in other_edits(plan) if not is_conversation({**_ONE, name: 0}))
        raise UnsupportedError(f"a request has no key {name}", "an edit of what it has may do")
    place = lists_in(data, value)[0]
    listed = data[place.value : place.end]
    text = with_value(data, value, {**wanted, key: msgspec.Raw(_HOLE)})
    before, _, after = text.partition(_HOLE)
    return before, listed, after


def _one_line(data: bytes) -> bytes:
    """Give a message that may be spread over lines as a line."""
    if b"\n" in data.strip(_AROUND):
        try:
            data = msgspec.json.format(data, indent=-1)
        except msgspec.DecodeError:
            data = data.replace(b"\n", b" ")
    return as_line(data)


def _use(path: str, around: Around) -> str:
    """Say how a program takes the messages from the fork: no agent is known that does."""
    if not around.data:
        return f"messages = [json.loads(line) for line in open({path!r})]"
    if around.value is None:
        return f"messages = json.load(open({path!r}))"
    key = next(key for key in LISTS if holds_messages(around.value.get(key)))
    return f"messages = json.load(open({path!r}))[{key!r}]"
