"""The records of a history on their way into a fork of Codex, and what edits make of them.

What a message says is also shown by events, which Codex writes for its own screen. They are edited
with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.fork.sources import Source
from tt_debugger.core.fork.transcripts import Altered
from tt_debugger.core.fork.writes import How, Record
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.codex.records import (
    COMPACTED,
    EVENT,
    ITEM,
    ITEMS,
    Entry,
    is_prompt,
    message_in,
    replacement_in,
    summary_message,
    texts_in,
)
from tt_debugger.formats.shared.fork_files import line_of

ENDS = ("task_complete", "turn_complete", "turn_aborted")
_BEHIND = frozenset(
    (
        *ENDS,
        "exec_command_end",
        "item_completed",
        "mcp_tool_call_end",
        "patch_apply_end",
        "token_count",
        "token_usage_record",
    )
)
"""Records beside the tree that belong to what stands before them."""
MIRRORS = {"user": "user_message", "assistant": "agent_message"}
"""The events that show on the screen what a message says, by its role."""


class Piece(msgspec.Struct):
    """A record of the history: its row in the file of the plan, what it is, and its envelope."""

    entry: Entry
    fields: dict[str, Any]
    how: How = How.KEPT
    row: int | None = None
    is_row: bool = False
    """Whether it is a checkpoint, of whichever file."""

    @property
    def event(self) -> str | None:
        """What kind of event it is, or record beside the tree."""
        if self.entry.type == EVENT:
            return text_or_none(self.entry.payload.get("type"))
        return None if self.is_row else self.entry.type

    def rewrite(self, payload: dict[str, Any]) -> None:
        """Let it say something else."""
        self.entry = msgspec.structs.replace(self.entry, payload=payload)
        self.fields = {**self.fields, "payload": payload}
        self.how = How.CHANGED

    def record(self) -> Record:
        """Give it as a line."""
        return line_of(self.fields, self.how, self.row)


New = Callable[[str, dict[str, Any]], Piece]
"""Gives a new record of a type with a payload."""


def belongs(piece: Piece, last: Piece | None) -> bool:
    """Tell whether a record beside the tree is of the record before it."""
    item = None if last is None else message_in(last.entry)
    return piece.event in _BEHIND or (item is not None and _shows(piece, item))


def _shows(piece: Piece, item: Mapping[str, Any]) -> bool:
    """Tell whether an event shows what a message says."""
    payload = piece.entry.payload
    is_mirror = piece.event == MIRRORS.get(text_or_none(item.get("role")) or "")
    return is_mirror and payload.get("message") == "".join(texts_in(item))


def mirror(item: Mapping[str, Any]) -> dict[str, Any]:
    """Give the event that shows a message."""
    text = "".join(texts_in(item))
    return {"type": MIRRORS[item["role"]], "message": text}


def found_again(messages: Sequence[Any], pieces: Sequence[Piece]) -> list[Source]:
    """Give the records of a history from other files, found from its end on."""
    found: list[Source] = []
    place = len(pieces)
    for message in reversed(messages):
        at = place - 1
        while at >= 0 and (pieces[at].row is not None or message_in(pieces[at].entry) != message):
            at -= 1
        if at >= 0:
            place = at
        found.append(Source(at, 0))
    return found[::-1]


def with_edits(pieces: Sequence[Piece], changed: Altered, new: New) -> Iterator[Piece]:
    """Give the records as they are wanted."""
    if NO_ROW in changed.rewritten or NO_ROW in changed.added:
        raise UnsupportedError(
            "the message stands in a compaction of another thread, which cannot be edited",
            "edit a later one",
        )
    gone: set[int] = set()
    for place in {**changed.rewritten, **changed.within}:
        messages = changed.rewritten.get(place, {})
        if pieces[place].entry.type == COMPACTED:
            _edit_compaction(pieces[place], messages, changed.within.get(place, ()))
        else:
            gone |= _edit(pieces, place, messages[0])
    waiting = list(_added(changed.added.get(None, ()), new))
    for place, piece in enumerate(pieces):
        if waiting and (piece.is_row or piece.event not in _BEHIND):
            yield from waiting
            waiting = []
        if place not in gone:
            yield piece
        waiting += _added(changed.added.get(place, ()), new)
    yield from waiting


def _added(messages: Iterable[Any], new: New) -> Iterator[Piece]:
    """Give messages as records, and with them what shows them on the screen."""
    for message in messages:
        item = _checked(message)
        yield new(ITEM, item)
        if item.get("role") == "assistant" or is_prompt(item):
            yield new(EVENT, mirror(item))


def _checked(message: Any) -> dict[str, Any]:
    item = as_map(message)
    kind = item.get("type")
    if not isinstance(kind, str) or kind not in ITEMS:
        raise UnsupportedError(
            "a message of Codex is an item with a type, like message or function_call"
        )
    if kind == "message" and not (isinstance(item.get("role"), str) and "content" in item):
        raise UnsupportedError("a message of Codex has a role, and content: a list of blocks")
    return item


def _edit(pieces: Sequence[Piece], place: int, message: Any) -> set[int]:
    """Let a record say something else, or nothing, and all that shows it; give what is gone."""
    old = pieces[place].entry.payload
    text = "".join(texts_in(old))
    told = None if message is None else "".join(texts_in(as_map(message)))
    gone: set[int] = set()
    for at in _around(pieces, place):
        payload = pieces[at].entry.payload
        item = as_map(payload.get("item"))
        if _shows(pieces[at], old):
            key, value = "message", told
        elif pieces[at].event in ENDS and text and payload.get("last_agent_message") == text:
            pieces[at].rewrite({**payload, "last_agent_message": told})
            continue
        elif pieces[at].event == "item_completed" and text and item.get("text") == text:
            key, value = "item", {**item, "text": told}
        else:
            continue
        if told is None:
            gone.add(at)
        else:
            pieces[at].rewrite({**payload, key: value})
    if message is None:
        gone.add(place)
    else:
        pieces[place].rewrite(_checked(message))
    return gone


def _around(pieces: Sequence[Piece], place: int) -> Iterator[int]:
    """Give the places of the records beside the tree next to one, before it and behind it."""
    for way in (range(place - 1, -1, -1), range(place + 1, len(pieces))):
        for at in way:
            if pieces[at].is_row:
                break
            yield at


def _edit_compaction(
    piece: Piece, messages: Mapping[int, Any], added: Sequence[tuple[int, Any]]
) -> None:
    """Let a compaction leave other messages, and more of them."""
    payload = dict(piece.entry.payload)
    left = replacement_in(payload)
    if left is not None:
        wanted: list[Any] = []
        for place, each in enumerate(left):
            wanted += (_checked(message) for at, message in added if at == place)
            wanted.append(messages.get(place, each))
        payload["replacement_history"] = [each for each in wanted if each is not None]
        payload.pop("replacement_history_metadata", None)
    else:
        payload["message"] = "".join(texts_in(as_map(messages.get(0))))
        if added or not is_same(summary_message(payload), messages.get(0)):
            raise UnsupportedError(
                "the summary of this compaction is one text of the user, and stays one",
                "edit its text only",
            )
    piece.rewrite(payload)
