"""The conversation of an opencode session, from records that stand in files or in rows alike.

A message has a role and facts; what was said, thought and done is in its parts. Together they are
one checkpoint, whose message in the state has the parts as blocks that everybody knows. A tool
part holds both the call and what came of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Usage
from tt_debugger.core.text import counted
from tt_debugger.formats.shared.message_heads import head_of
from tt_debugger.formats.shared.tokens import counted_tokens, told_dollars
from tt_debugger.formats.shared.transcript import (
    Entry,
    LostFile,
    Piece,
    Told,
    Transcript,
    with_entries,
)

_SILENT = frozenset(("step-start", "step-finish", "snapshot", "patch", "compaction"))
"""Types of parts that say nothing to the model."""


class Message(msgspec.Struct, frozen=True):
    """A message with its parts, as they were recorded."""

    id: str
    info: dict[str, Any]
    parts: Sequence[dict[str, Any]] = ()
    findings: tuple[Finding, ...] = ()


class Child(msgspec.Struct, frozen=True):
    """A session that this one started, and when."""

    id: str
    created: float | None


def transcript_of(
    session: Mapping[str, Any],
    messages: Sequence[Message | LostFile],
    children: Sequence[Child] = (),
) -> Transcript:
    """Give the transcript of a session whose record has the names of the JSON files."""
    pieces: list[Piece] = [
        _entry(each) if isinstance(each, Message) else each for each in messages
    ]
    entries = [each for each in pieces if isinstance(each, Entry)]
    started = _started(entries, children)
    revert = as_map(session.get("revert"))
    hidden = _hidden(entries, text_or_none(revert.get("messageID")))
    if hidden is not None:
        count = counted(len(entries) - hidden, "message")
        told = finding(
            Code.AGENT_LOSES,
            f"opencode hides {count} from here on: they were reverted",
            hint="its next message removes them",
            severity=Severity.NOTE,
        )
        first = entries[hidden]
        entries[hidden] = msgspec.structs.replace(first, findings=(*first.findings, told))
    title, cwd = text_or_none(session.get("title")), text_or_none(session.get("directory"))
    return Transcript(
        id=str(session.get("id")),
        pieces=with_entries(pieces, (_with_children(each, started) for each in entries)),
        start={"title": title, "cwd": cwd},
        title=title,
        cwd=cwd,
        # Where all of it is hidden, there is no message to go on from.
        active=None if hidden is None else max(hidden - 1, 0),
    )


def created_of(record: Mapping[str, Any]) -> float | None:
    """Give when a record was made, in seconds; it counts milliseconds."""
    created = as_map(record.get("time")).get("created")
    if isinstance(created, bool) or not isinstance(created, (int, float)):
        return None
    return created / 1000


def _entry(message: Message) -> Entry:
    info, own = message.info, as_message(message)
    head = head_of(own)[0]
    errors = [each for each in message.parts if _state(each).get("status") == "error"]
    error = text_or_none(as_map(info.get("error")).get("name"))
    head = msgspec.structs.replace(
        head,
        usage=_usage(info),
        failed=head.failed or error is not None or bool(errors),
        summary=head.summary or error or "",
    )
    told = Told((own,), puts=_settings(info))
    parts = {each.get("type") for each in message.parts if isinstance(each.get("type"), str)}
    if "compaction" in parts:
        head = Head(
            Kind.SETTING, head.role, "compact", head.summary or "a compaction is asked for"
        )
        told = Told(puts=told.puts)
    elif info.get("role") == "assistant" and info.get("summary") is True:
        head = msgspec.structs.replace(head, kind=Kind.COMPACTION, name="compact")
        told = msgspec.structs.replace(told, clears=True)
    return Entry(
        head=head,
        body={"info": info, "parts": list(message.parts)},
        told=told,
        own_id=message.id,
        time=created_of(info),
        findings=message.findings,
    )


def as_message(message: Message) -> dict[str, Any]:
    """Give a message as a role and blocks, in the order of its parts."""
    role = text_or_none(message.info.get("role")) or ""
    return {
        "role": role,
        "content": [block for each in message.parts for block in _blocks(each)],
    }


def _blocks(part: Mapping[str, Any]) -> Iterator[Any]:
    match part.get("type"):
        case "text" if isinstance(part.get("text"), str):
            # What is ignored is shown to the user alone.
            if part.get("ignored") is not True:
                yield {"type": "text", "text": part["text"]}
        case "reasoning" if isinstance(part.get("text"), str):
            yield {"type": "thinking", "thinking": part["text"]}
        case "tool":
            yield from _tool_blocks(part)
        case str() as kind if kind in _SILENT:
            pass
        case _:
            yield dict(part)


def _tool_blocks(part: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    state, call = _state(part), part.get("callID")
    yield {
        "type": "tool_use",
        "id": call,
        "name": part.get("tool"),
        "input": state.get("input"),
    }
    if state.get("status") in {"completed", "error"}:
        is_error = state.get("status") == "error"
        said = state.get("error" if is_error else "output")
        yield {
            "type": "tool_result",
            "tool_use_id": call,
            "content": said if isinstance(said, str) else msgspec.json.encode(said).decode(),
            "is_error": is_error,
        }


def _state(part: Mapping[str, Any]) -> dict[str, Any]:
    return as_map(part.get("state"))


def _settings(info: Mapping[str, Any]) -> dict[str, Any]:
    """Give the model, its provider, the agent and the folder, where a message names them."""
    chosen = as_map(info.get("model")) or info
    found = {
        "model": chosen.get("modelID"),
        "provider": chosen.get("providerID"),
        "agent": info.get("agent", info.get("mode")),
        "cwd": as_map(info.get("path")).get("cwd"),
    }
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _usage(info: Mapping[str, Any]) -> Usage | None:
    tokens = as_map(info.get("tokens"))
    if not tokens:
        return None
    cache = as_map(tokens.get("cache"))
    counts = (
        counted_tokens(tokens.get("input")),
        counted_tokens(tokens.get("output")) + counted_tokens(tokens.get("reasoning")),
        counted_tokens(cache.get("read")),
        counted_tokens(cache.get("write")),
    )
    return Usage(*counts, sum(counts), told_dollars(info.get("cost")) or 0.0)


def _hidden(entries: Sequence[Entry], first: str | None) -> int | None:
    """Give the place of the first message that a revert hides: ids grow with time."""
    if first is None:
        return None
    places = (place for place, each in enumerate(entries) if str(each.own_id) >= first)
    return next(places, None)


def _started(entries: Sequence[Entry], children: Iterable[Child]) -> dict[object, tuple[str, ...]]:
    """Give, by the id of a message, the sessions that it started.

    The part of the tool names its session; one that no part names belongs to the last message
    that was there before it.
    """
    named = {
        name: entry.own_id
        for entry in entries
        for part in map(as_map, entry.body["parts"])
        for name in _sessions_named(part)
    }
    found: dict[object, tuple[str, ...]] = {}
    for child in children:
        message = named.get(child.id)
        if message is None and child.created is not None:
            before = [each for each in entries if (each.time or 0.0) <= child.created]
            message = before[-1].own_id if before else None
        if message is None and entries:
            message = entries[0].own_id
        found[message] = (*found.get(message, ()), child.id)
    return found


def _sessions_named(part: Mapping[str, Any]) -> Iterator[str]:
    told = as_map(_state(part).get("metadata"))
    yield from (told[key] for key in ("sessionId", "sessionID") if isinstance(told.get(key), str))


def _with_children(entry: Entry, started: Mapping[object, tuple[str, ...]]) -> Entry:
    names = started.get(entry.own_id)
    return entry if names is None else msgspec.structs.replace(entry, subsessions=names)
