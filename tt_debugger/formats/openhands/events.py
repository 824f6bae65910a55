"""Events of OpenHands, each with what it does to the context that it hangs on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.core.text import summary_line
from tt_debugger.formats.openhands.messages import message_of
from tt_debugger.formats.shared.context import Spine
from tt_debugger.formats.shared.message_heads import head_of, record_head, time_in
from tt_debugger.formats.shared.transcript import Entry, Told
from tt_debugger.formats.shared.transcript_files import FileRead, of_file

_MOST_FORGOTTEN = 1 << 20


class _Said(msgspec.Struct, frozen=True):
    """A message in the context, and the events that gave it."""

    events: frozenset[str]
    message: dict[str, Any]
    answer: str | None = None
    """The id of the answer of the model that it is, or is a part of."""


class Events:
    """Makes entries of events, one after the other, each given the context that it hangs on."""

    def __init__(self) -> None:
        self.places: dict[str, int] = {}
        """The place of each event by its id."""
        self._contexts: list[Spine | None] = []

    def taken(self, file: FileRead) -> Entry:
        """Give the entry of the next event."""
        event: dict[str, Any] = file.value
        own = event.get("id")
        name = own if isinstance(own, str) and own else str(own) if isinstance(own, int) else ""
        parent = event.get("parent_id", msgspec.UNSET)
        context = self._context_at(parent)
        head, told, context = _read_event(event, name, context)
        self._contexts.append(context)
        if name:
            self.places[name] = len(self._contexts) - 1
        entry = Entry(
            head=head,
            body=event,
            told=told,
            own_id=own if isinstance(own, str) else None,
            name=name,
            parent=parent,
            time=time_in(event),
        )
        return of_file(file, entry)

    def _context_at(self, parent: object) -> Spine | None:
        if parent is msgspec.UNSET:
            return self._contexts[-1] if self._contexts else None
        place = self.places.get(parent) if isinstance(parent, str) else None
        return None if place is None else self._contexts[place]


_Read = tuple[Head, Told, Spine | None]


def _read_event(event: dict[str, Any], name: str, context: Spine | None) -> _Read:
    """Give the head of an event, what it does, and the context after it."""
    forgotten = _forgotten(event)
    if forgotten is not None:
        return _condensed(event, forgotten, context)
    message, answer = message_of(event)
    if message is None:
        return _other_head(event), Told((), _settings(event)), context
    head = _head(event, message)
    last: _Said | None = None if context is None else context.item
    if context is not None and last is not None and answer and last.answer == answer:
        # Calls that are made at once are events of their own, but one message.
        calls = [*as_list(last.message.get("tool_calls")), *as_list(message.get("tool_calls"))]
        joined = {**last.message, "tool_calls": calls}
        said = _Said(last.events | {name}, joined, answer)
        told = Told((joined,), at=context.length - 1)
        return head, told, Spine.added(context.before, said)
    said = _Said(frozenset((name,)), message, answer)
    return head, Told((message,), _settings(event)), Spine.added(context, said)


def _forgotten(event: Mapping[str, Any]) -> frozenset[str] | None:
    """Give the events that a condensation takes out of the context, None where it is none."""
    args = as_map(event.get("args"))
    if event.get("kind") == "Condensation":
        args = event
    elif event.get("action") != "condensation":
        return None
    listed = as_list(args.get("forgotten_event_ids"))
    begin, end = args.get("forgotten_events_start_id"), args.get("forgotten_events_end_id")
    if isinstance(begin, int) and isinstance(end, int) and 0 <= end - begin < _MOST_FORGOTTEN:
        listed = list(range(begin, end + 1))
    return frozenset(str(each) for each in listed)


def _condensed(
    event: Mapping[str, Any], forgotten: frozenset[str], context: Spine | None
) -> _Read:
    args = event if event.get("kind") == "Condensation" else as_map(event.get("args"))
    kept = [each for each in Spine.items(context) if not each.events <= forgotten]
    summary, offset = text_or_none(args.get("summary")), args.get("summary_offset")
    added: list[Any] = []
    if summary:
        place = offset if isinstance(offset, int) and 0 <= offset <= len(kept) else len(kept)
        message = {"role": "user", "content": summary}
        kept.insert(place, _Said(frozenset(), message))
        added.append(message)
    name = f"{len(forgotten)} events forgotten"
    head = Head(Kind.COMPACTION, None, "condensed", summary_line(summary or name))
    messages = tuple(each.message for each in kept)
    return head, Told(messages, clears=True, added=tuple(added)), Spine.of(kept)


def _head(event: Mapping[str, Any], message: dict[str, Any]) -> Head:
    """Give the head of a message; a command that ended with a code of its own failed."""
    head, _ = head_of(message)
    code = as_map(event.get("observation")).get("exit_code")
    failed = head.failed or (isinstance(code, int) and code > 0)
    return msgspec.structs.replace(head, failed=failed)


def _other_head(event: dict[str, Any]) -> Head:
    kinds = (text_or_none(event.get(key)) for key in ("kind", "action", "observation"))
    name = next((each for each in kinds if each), "event").removesuffix("Event") or "event"
    said = next(_tellings(event), "")
    is_error = name in {"ConversationError", "error"}
    settings = _settings(event)
    kind = Kind.SETTING if settings else Kind.CUSTOM
    name = next(iter(settings), name)
    if not said:
        said = record_head(event).summary
    return Head(kind, _role(event), summary_line(name, 40), summary_line(said), failed=is_error)


def _tellings(event: Mapping[str, Any]) -> Iterator[str]:
    layers = (event, as_map(event.get("args")), as_map(event.get("extras")))
    for layer in layers:
        for key in ("message", "detail", "content", "agent_state", "value"):
            said = layer.get(key)
            if isinstance(said, str) and said:
                yield said


def _role(event: Mapping[str, Any]) -> Role | None:
    return Role.USER if event.get("source") == "user" else None


def _settings(event: Mapping[str, Any]) -> dict[str, Any]:
    """Give what an event says of how the conversation stands."""
    if event.get("kind") == "ConversationStateUpdateEvent":
        key, value = text_or_none(event.get("key")), event.get("value")
        is_status = key in {"execution_status", "agent_status"} and isinstance(value, str)
        return {"status": value} if is_status else {}
    if event.get("observation") == "agent_state_changed":
        state = as_map(event.get("extras")).get("agent_state")
        return {"status": state} if isinstance(state, str) else {}
    return {}
