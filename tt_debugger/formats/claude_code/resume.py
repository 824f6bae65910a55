"""Resuming Claude Code: what version 2.1.197 sends of the messages that it loads.

Measured by recording its requests: calls without a result are dropped, results without a call
are dropped, neighbouring messages of the user become one, and what ends with the user gets an
answer. What the agent adds from elsewhere (reminders, attachments, the system prompt) is not in
the file and not in here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.replay import Repair
from tt_debugger.formats.claude_code.entries import blocks_in

NO_CONTENT = "(no content)"
NO_RESPONSE = "No response requested."


def sent(messages: Sequence[Any]) -> tuple[list[Any], list[Repair]]:
    """Give the messages that Claude Code sends for those that it loads, and its repairs."""
    called = set(_ids(messages, "tool_use", "id"))
    answered = set(_ids(messages, "tool_result", "tool_use_id"))
    request = _Request()
    for loaded in map(as_map, messages):
        message, blocks = loaded, as_list(loaded.get("content"))
        kept: list[Any] = []
        for block in blocks:
            if _is_open(as_map(block), called, answered):
                request.drop(as_map(block))
            else:
                kept.append(block)
        if len(kept) < len(blocks):
            if not kept and loaded.get("role") == "assistant":
                continue
            message = {**loaded, "content": kept or NO_CONTENT}
        request.add(message)
    request.close()
    return request.messages, request.repairs


def _ids(messages: Sequence[Any], kind: str, key: str) -> Iterator[object]:
    for message in map(as_map, messages):
        for block in map(as_map, as_list(message.get("content"))):
            if block.get("type") == kind and isinstance(block.get(key), str):
                yield block[key]


def _is_open(block: Mapping[str, Any], called: set[object], answered: set[object]) -> bool:
    """Tell whether a block is a call without a result, or a result without a call."""
    match block.get("type"):
        case "tool_use":
            return text_or_none(block.get("id")) not in answered
        case "tool_result":
            return text_or_none(block.get("tool_use_id")) not in called
        case _:
            return False


class _Request:
    """The messages of a request so far; a drop shows where the next message comes to stand."""

    def __init__(self) -> None:
        self.messages: list[Any] = []
        self.repairs: list[Repair] = []
        self._dropped: list[tuple[str, str]] = []

    def drop(self, block: Mapping[str, Any]) -> None:
        """Hear of a block that is left out."""
        if block.get("type") == "tool_use":
            why = f"the call {block.get('name')} has no result; Claude Code drops it"
            self._dropped.append(("dropped_call", why))
        else:
            why = f"the result of {block.get('tool_use_id')} has no call; Claude Code drops it"
            self._dropped.append(("dropped_result", why))

    def add(self, message: dict[str, Any]) -> None:
        """Add a message, to the one before where both are the user's."""
        before = as_map(self.messages[-1]) if self.messages else {}
        if before.get("role") == message.get("role") == "user":
            self.messages[-1] = _merged(before, message)
            why = "Claude Code sends messages of the user that follow each other as one"
            place = len(self.messages) - 1
            self._tell(place)
            self.repairs.append(Repair(place, "merged_user", why))
        else:
            self._tell(len(self.messages))
            self.messages.append(message)

    def close(self) -> None:
        """Answer what ends with a message of the user."""
        self._tell(len(self.messages))
        if self.messages and as_map(self.messages[-1]).get("role") == "user":
            why = "the last message is the user's; Claude Code answers it itself"
            self.repairs.append(Repair(len(self.messages), "no_response", why))
            block = {"type": "text", "text": NO_RESPONSE}
            self.messages.append({"role": "assistant", "content": [block]})

    def _tell(self, place: int) -> None:
        self.repairs += [Repair(place, kind, why) for kind, why in self._dropped]
        self._dropped.clear()


def _merged(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    blocks, more = [*blocks_in(first.get("content"))], blocks_in(second.get("content"))
    if blocks and more and _is_text(blocks[-1]) and _is_text(more[0]):
        blocks[-1] = {**blocks[-1], "text": f"{blocks[-1]['text']}\n"}
    return {**first, "content": [*blocks, *more]}


def _is_text(block: object) -> bool:
    value = as_map(block)
    return value.get("type") == "text" and isinstance(value.get("text"), str)
