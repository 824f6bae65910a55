"""Heads of checkpoints: what ran, and the last thing that was said or that changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import is_message
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.langgraph.facts import START
from tt_debugger.formats.shared.langgraph.serde import UNKNOWN
from tt_debugger.formats.shared.message_heads import head_of, usage_of

_MOST_NAMED = 3
_QUESTIONS = ("question", "message", "query", "prompt", "text", "description")
"""Under what graphs put the words of an interrupt that also says more."""
_SAME = "the same values"
_DAMAGED = frozenset(("msgpack", "json", UNKNOWN))
"""What should have been decodable."""


def head_at(state: Mapping[str, Any], before: Mapping[str, Any] | None) -> Head:
    """Give the head of a checkpoint from its state and that of its parent, None at a root."""
    metadata, values = as_map(state.get("metadata")), state.get("values")
    source = text_or_none(metadata.get("source")) or ""
    name = _nodes(before, metadata) if source in {"loop", ""} else source
    held = as_map(values)
    if "$opaque" in held and state.get("next") is None:
        said = f"{held['$opaque']} of {held.get('size')} bytes, not decoded"
        is_damaged = held["$opaque"] in _DAMAGED
        kind = Kind.UNREADABLE if is_damaged else Kind.SUPER_STEP
        return _with_tasks(Head(kind, None, name, said, failed=is_damaged), state)
    changed = list(_changed(held, as_map((before or {}).get("values"))))
    if source == "input":
        changed = _put_in(state) or changed
    message = next((each for _, each in changed if is_message(as_map(each))), None)
    if message is not None:
        spoken, summary = _spoken(message)
        usage = usage_of(_usage(message)) or spoken.usage
        head = Head(Kind.SUPER_STEP, spoken.role, name, summary, usage=usage)
    else:
        words = ", ".join(f"{key}: {brief(each)}" for key, each in changed[:_MOST_NAMED])
        if not held:
            words = words or brief(values)
        role = Role.USER if source == "input" else None
        head = Head(Kind.SUPER_STEP, role, name, summary_line(words or _SAME))
    return _with_tasks(head, state)


def brief(value: Any) -> str:
    """Give what a value says, in few words."""
    if isinstance(value, str):
        return summary_line(value)
    if value is None or value == {}:
        return ""
    own = as_map(value)
    if "$value" in own:
        return brief(own["$value"])
    if is_message(own):
        return _spoken(own)[1]
    kind = text_or_none(own.get("$type"))
    if kind is not None:
        # The fields say more than the module of the class.
        fields = {key: each for key, each in own.items() if key != "$type"}
        return summary_line(f"{kind.rpartition('.')[2]} {msgspec.json.encode(fields).decode()}")
    return summary_line(msgspec.json.encode(value).decode())


def asked(value: Any) -> str:
    """Give the question of an interrupt; where none is told, all that it says."""
    own = as_map(value)
    texts = (text_or_none(own.get(key)) for key in _QUESTIONS)
    return brief(next(filter(None, texts), value))


def _spoken(message: dict[str, Any]) -> tuple[Head, str]:
    """Give the head of a message, and what it says with the tool that it calls."""
    spoken, _ = head_of(message)
    return spoken, " ".join(filter(None, (_called(spoken), spoken.summary)))


def _with_tasks(head: Head, state: Mapping[str, Any]) -> Head:
    """Say what went wrong in the step that ran from here, and what it waits for."""
    tasks = [as_map(each) for each in as_list(state.get("tasks"))]
    error = next((each["error"] for each in tasks if each.get("error") is not None), None)
    interrupts = [each for task in tasks for each in as_list(task.get("interrupts"))]
    if error is not None:
        head = msgspec.structs.replace(head, failed=True, summary=brief(error))
    if interrupts and head.kind is not Kind.UNREADABLE:
        question = asked(as_map(interrupts[-1]).get("value", interrupts[-1]))
        is_open = any(task.get("interrupts") and task.get("result") is None for task in tasks)
        said = summary_line(f"{'waits' if is_open else 'answered'}: {question}")
        summary = head.summary if error is not None else said
        head = msgspec.structs.replace(head, kind=Kind.INTERRUPT, summary=summary)
    return head


def _nodes(before: Mapping[str, Any] | None, metadata: Mapping[str, Any]) -> str:
    """Give the nodes that made a checkpoint: those of the tasks under its parent."""
    tasks = as_list((before or {}).get("tasks"))
    named = (text_or_none(as_map(each).get("name")) for each in tasks)
    names = list(dict.fromkeys(filter(None, named))) or [*as_map(metadata.get("writes"))]
    if not names:
        following = as_list((before or {}).get("next"))
        names = list(dict.fromkeys(each for each in following if isinstance(each, str)))
    names = [each for each in names if each != START] or ["start"] * bool(names)
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" +{more}" if more > 0 else "")


def _changed(values: Mapping[str, Any], before: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Give the channels that are not as before, each with what is new at its end."""
    for name, value in values.items():
        if name in before and before[name] == value:
            continue
        items = as_list(as_map(value).get("$writes", value))
        yield name, items[-1] if items else value


def _put_in(state: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Give what the user put in: what the first task of all wrote."""
    tasks = [as_map(each) for each in as_list(state.get("tasks"))]
    results = [as_map(task.get("result")) for task in tasks]
    return [each for result in results for each in _changed(result, {})]


def _called(spoken: Head) -> str:
    return f"{spoken.name}:" if spoken.kind is Kind.TOOL_CALL else ""


def _usage(message: Mapping[str, Any]) -> Any:
    """Give what a message used by the names that everybody has for it."""
    used = as_map(message.get("usage_metadata"))
    details = as_map(used.get("input_token_details"))
    if not details:
        return used
    return {**used, "input_tokens_details": {"cached_tokens": details.get("cache_read")}}
