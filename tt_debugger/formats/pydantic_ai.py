"""Pydantic AI: a list of messages, as a program keeps the history of its agent in a JSON file.

A message is what was sent to a model or what came back, of parts of which each becomes a message
or a block that everybody knows. A run of the agent is told by its id, which each message has.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, SessionId, Usage
from tt_debugger.formats.shared.document import Document, Element, findings_on
from tt_debugger.formats.shared.message_heads import head_of, time_in
from tt_debugger.formats.shared.reading import BYTE_ORDER_MARK
from tt_debugger.formats.shared.tokens import counted_tokens
from tt_debugger.formats.shared.transcript import Entry, Piece, Told, Transcript, other_entry
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import read_list
from tt_debugger.store import Match, Probe

_KINDS = frozenset(("request", "response"))
_SETTINGS = {
    "model": "model_name",
    "provider": "provider_name",
    "instructions": "instructions",
    "run_id": "run_id",
}
"""What the state calls that a message says, and what the message calls it."""
_INPUT = ("input_tokens", "request_tokens")
_OUTPUT = ("output_tokens", "response_tokens")
"""What tokens are called now, and what they were called before."""


class PydanticAi(TranscriptFile):
    """A file of messages."""

    format: ClassVar[str] = "pydantic_ai"
    about: ClassVar[str] = "message histories of Pydantic AI (JSON)"
    verified: ClassVar[str] = "a history of Pydantic AI 2.68"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its first message, whose parts say of what kind they are."""
        head = probe.head.removeprefix(BYTE_ORDER_MARK)
        if probe.inside is not None or head.lstrip()[:1] != b"[":
            return None
        pieces = Document(head, is_array=True, findings=()).pieces()
        first = next((each for each in pieces if isinstance(each, Element)), None)
        if first is None or not _is_message(first.value):
            return None
        return Match(92, "a list of requests and responses of Pydantic AI")

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the messages in their order."""
        pieces: list[Piece] = []
        conversation: str | None = None
        for piece in read_list(data).pieces:
            if not isinstance(piece, Element):
                pieces.append(piece)
                continue
            entry = _entry(piece)
            conversation = text_or_none(piece.value.get("conversation_id")) or conversation
            pieces.append(entry)
        return Transcript(
            id=conversation or PurePath(self.location).stem,
            pieces=pieces,
            size=len(data),
            start={"instructions": None, "run_id": None},
        )


def _is_message(record: Mapping[str, Any]) -> bool:
    parts = as_list(record.get("parts"))
    return text_or_none(record.get("kind")) in _KINDS and (
        not parts or "part_kind" in as_map(parts[0])
    )


def _entry(element: Element) -> Entry:
    record = element.value
    told = tuple(findings_on(element))
    if not _is_message(record):
        entry = other_entry(record, element.place, name=element.place.name)
        return msgspec.structs.replace(entry, findings=told)
    messages = tuple(_messages(record))
    puts = {
        key: record[name] for key, name in _SETTINGS.items() if isinstance(record.get(name), str)
    }
    return Entry(
        head=_head(messages, record),
        body=record,
        told=Told(messages, puts=puts),
        name=element.place.name,
        time=time_in(record) or _time_of_parts(record),
        place=element.place,
        findings=told,
    )


def _messages(record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Give the messages that the parts of one are: what a model answers is one message."""
    parts = [as_map(each) for each in as_list(record.get("parts"))]
    if record["kind"] == "response":
        yield {"role": "assistant", "content": [_answered(each) for each in parts]}
        return
    yield from map(_asked, parts)


def _asked(part: dict[str, Any]) -> dict[str, Any]:
    content = part.get("content")
    match part.get("part_kind"):
        case "system-prompt":
            return {"role": "system", "content": content}
        case "tool-return":
            failed = part.get("outcome") in {"failed", "denied"}
            return _result(part, content, failed=failed)
        case "retry-prompt" if isinstance(part.get("tool_name"), str):
            return _result(part, content, failed=True)
        case "user-prompt" if isinstance(content, list):
            return {"role": "user", "content": [_given(each) for each in as_list(content)]}
        case "user-prompt" | "retry-prompt":
            said = content if isinstance(content, str) else _json(content)
            return {"role": "user", "content": said}
        case _:
            return {"role": "user", "content": [part]}


def _given(item: Any) -> Any:
    """Give an item of what a user said: text, or something to look at."""
    own = as_map(item)
    kind, media = own.get("kind"), text_or_none(own.get("media_type")) or ""
    if kind == "image-url":
        return {"type": "image_url", "image_url": {"url": own.get("url")}}
    if kind == "binary" and media.startswith("image/"):
        return {"type": "image", "mimeType": media, "data": own.get("data")}
    return item


def _result(part: Mapping[str, Any], content: Any, *, failed: bool) -> dict[str, Any]:
    said = content if isinstance(content, str) else _json(content)
    message = {
        "role": "tool",
        "tool_call_id": part.get("tool_call_id"),
        "name": part.get("tool_name"),
        "content": said,
    }
    return {**message, "is_error": True} if failed else message


def _answered(part: dict[str, Any]) -> dict[str, Any]:
    match part.get("part_kind"):
        case "text":
            return {"type": "text", "text": part.get("content")}
        case "thinking":
            return {"type": "thinking", "thinking": part.get("content") or "", **_hidden(part)}
        case "tool-call" | "builtin-tool-call":
            return {
                "type": "tool_use",
                "id": part.get("tool_call_id"),
                "name": part.get("tool_name"),
                "input": _arguments(part.get("args")),
            }
        case "builtin-tool-return":
            return {
                "type": "tool_result",
                "tool_use_id": part.get("tool_call_id"),
                "name": part.get("tool_name"),
                "content": _json(part.get("content")),
            }
        case _:
            return part


def _hidden(part: Mapping[str, Any]) -> dict[str, Any]:
    return {} if part.get("content") else {"redacted": True}


def _arguments(args: Any) -> Any:
    """Give the arguments of a call, which may be a text that is JSON."""
    if not isinstance(args, str):
        return args
    try:
        return msgspec.json.decode(args)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return args


def _json(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


def _head(messages: tuple[dict[str, Any], ...], record: Mapping[str, Any]) -> Head:
    """Give the head of what is newest in a message: a system prompt only begins it."""
    shown = next((each for each in messages if each["role"] != "system"), None)
    head = head_of(shown or next(iter(messages), {"role": "user", "content": ""}))[0]
    failed = head.failed or record.get("finish_reason") == "error"
    usage = _usage(as_map(record.get("usage")))
    return msgspec.structs.replace(head, usage=usage, failed=failed)


def _usage(counts: Mapping[str, Any]) -> Usage | None:
    """Give what a call used; what was read from a cache or written there is part of the input."""
    entered, output = (
        next((counted_tokens(counts[name]) for name in names if name in counts), 0)
        for names in (_INPUT, _OUTPUT)
    )
    if not entered and not output:
        return None
    cached = min(counted_tokens(counts.get("cache_read_tokens")), entered)
    written = min(counted_tokens(counts.get("cache_write_tokens")), entered - cached)
    return Usage(entered - cached - written, output, cached, written, entered + output)


def _time_of_parts(record: Mapping[str, Any]) -> float | None:
    times = (time_in(as_map(each)) for each in as_list(record.get("parts")))
    return next((time for time in times if time is not None), None)


STORE = PydanticAi
