"""Events of Copilot CLI: the head of each, and what it does to the state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Session, Usage
from tt_debugger.core.replay import Body
from tt_debugger.core.text import counted, summary_line
from tt_debugger.formats.shared.message_heads import head_of, record_head
from tt_debugger.formats.shared.tokens import counted_tokens
from tt_debugger.formats.shared.transcript import Told

START = "session.start"
COMPACTED = "session.compaction_complete"
TRUNCATED = "session.truncation"
SHUTDOWN = "session.shutdown"
USED = "assistant.usage"
_STARTED = "tool.execution_start"
_PREFIX = "session."
_SILENT = frozenset(("assistant.turn_start", "assistant.turn_end", "session.idle"))
_FAILED = frozenset(("session.error", "abort", "subagent.failed"))


def head_of_event(event: dict[str, Any], tools: Mapping[str, str]) -> Head:
    """Give the head of an event; `tools` has the names of the tools that calls are of."""
    kind, data = text_or_none(event.get("type")) or "event", as_map(event.get("data"))
    make = _MESSAGES.get(kind)
    if make is not None:
        head, _ = head_of(make(data))
        shown = text_or_none(data.get("content"))
        if kind == "user.message" and shown is not None:
            head = msgspec.structs.replace(head, summary=summary_line(shown))
        call = data.get("toolCallId")
        name = tools.get(call) if isinstance(call, str) else None
        return head if name is None else msgspec.structs.replace(head, name=name)
    if kind == COMPACTED and data.get("success") is not False:
        said = text_or_none(data.get("summaryContent")) or ""
        return Head(Kind.COMPACTION, None, "compacted", summary_line(said))
    if kind == _STARTED:
        name = text_or_none(data.get("toolName")) or "tool"
        return Head(Kind.CUSTOM, None, "tool start", summary_line(name))
    if kind == TRUNCATED:
        removed = counted_tokens(data.get("messagesRemovedDuringTruncation"))
        said = f"{counted(removed, 'message')} removed"
        return Head(Kind.COMPACTION, None, "truncated", said)
    puts = settings_of(event)
    if puts:
        is_model = kind == "session.model_change"
        said = ", ".join(f"{key} {value}" for key, value in puts.items())
        name = kind.removeprefix(_PREFIX).replace("_", " ")
        return Head(
            Kind.MODEL_CHANGE if is_model else Kind.SETTING, None, name, summary_line(said)
        )
    head = record_head({"type": kind, **{key: data[key] for key in data if key != "type"}})
    said = "" if kind in _SILENT else head.summary
    failed = kind in _FAILED or (kind == COMPACTED and data.get("success") is False)
    name = head.name.removeprefix(_PREFIX).removeprefix("assistant.").replace("_", " ")
    return msgspec.structs.replace(
        head, name=name, summary=said, usage=usage_of(event), failed=failed
    )


def told_of(_session: Session, _row: int, body: Body) -> Told:
    """Give what an event does to the state; what a subagent says is none of its context."""
    event = as_map(body)
    kind, data = text_or_none(event.get("type")) or "", as_map(event.get("data"))
    make = _MESSAGES.get(kind)
    is_of_subagent = isinstance(data.get("parentToolCallId"), str) or "agentId" in event
    if make is not None:
        return Told(() if is_of_subagent else (make(data),), settings_of(event))
    summary = text_or_none(data.get("summaryContent"))
    if kind == COMPACTED and data.get("success") is not False and summary and not is_of_subagent:
        return Told(({"role": "user", "content": summary},), clears=True)
    return Told((), settings_of(event))


def settings_of(event: Mapping[str, Any]) -> dict[str, Any]:
    """Give the settings that an event changes."""
    kind, data = event.get("type"), as_map(event.get("data"))
    said: dict[str, Any] = {}
    match kind:
        case "session.start" | "session.resume":
            said = {
                "cwd": as_map(data.get("context")).get("cwd"),
                "model": data.get("selectedModel"),
            }
        case "session.model_change":
            said = {"model": data.get("newModel"), "thinking_level": data.get("reasoningEffort")}
        case "session.context_changed":
            said = {"cwd": data.get("cwd")}
        case "session.title_changed":
            said = {"title": data.get("title")}
        case "session.mode_changed":
            said = {"mode": data.get("newMode")}
        case _:
            pass
    return {key: value for key, value in said.items() if isinstance(value, str) and value}


def usage_of(event: Mapping[str, Any]) -> Usage | None:
    """Give what a call used, or at the end what all of them did, by the models."""
    data = as_map(event.get("data"))
    if event.get("type") == USED:
        return _usage(data)
    if event.get("type") != SHUTDOWN:
        return None
    total: Usage | None = None
    for each in as_map(data.get("modelMetrics")).values():
        usage = _usage(as_map(as_map(each).get("usage")))
        total = usage if total is None else total + usage
    return total


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Give counts of tokens; what is read from a cache is part of what went in."""
    names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
    whole, output, read, write = (counted_tokens(counts.get(name)) for name in names)
    read = min(read, whole)
    write = min(write, whole - read)
    return Usage(whole - read - write, output, read, write, whole + output)


def _system(data: Mapping[str, Any]) -> dict[str, Any]:
    return {"role": text_or_none(data.get("role")) or "system", "content": data.get("content")}


def _user(data: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the user said as the model gets it."""
    sent = data.get("transformedContent")
    return {"role": "user", "content": sent if isinstance(sent, str) else data.get("content")}


def _assistant(data: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": data.get("content")}
    if isinstance(data.get("reasoningText"), str):
        message["reasoning_content"] = data["reasoningText"]
    calls = [_call(as_map(each)) for each in as_list(data.get("toolRequests"))]
    return {**message, "tool_calls": calls} if calls else message


def _call(request: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": request.get("name"), "arguments": request.get("arguments")}
    return {"id": request.get("toolCallId"), "type": "function", "function": function}


def _result(data: Mapping[str, Any]) -> dict[str, Any]:
    result, error = as_map(data.get("result")), as_map(data.get("error"))
    content = result.get("content", error.get("message", data.get("error")))
    message = {"role": "tool", "tool_call_id": data.get("toolCallId"), "content": content}
    return {**message, "is_error": True} if data.get("success") is False else message


_MESSAGES: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "system.message": _system,
    "user.message": _user,
    "assistant.message": _assistant,
    "tool.execution_complete": _result,
}
