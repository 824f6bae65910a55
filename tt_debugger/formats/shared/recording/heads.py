"""Heads of the entries of a recording, read from plain objects that may hold anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import messages_in
from tt_debugger.core.model import Head, Kind, Role, Usage
from tt_debugger.core.paths import dotted
from tt_debugger.core.text import counted, summary_line
from tt_debugger.formats.shared.message_heads import head_of
from tt_debugger.formats.shared.reading import moment_of
from tt_debugger.formats.shared.states import head_of as state_head

SHOWN_ID = 12
"""Letters of an id that a label or a branch is told by."""
_MOST_SHOWN = 4
"""Changes that the summary of a step tells of."""
_LONGEST_VALUE = 40
_convert = msgspec.convert


class _Listed(msgspec.Struct):
    # msgspec works out what a struct needs once, but a union anew each time.
    change: Change


def entry_head(entry: Mapping[str, Any]) -> Head:
    """Give the head of an entry with its time; one of an unknown type is kept as custom.

    Of a snapshot the state may be missing: databases keep it elsewhere.
    """
    kind = text_or_none(entry.get("type"))
    make = _HEADS.get(kind or "", _unknown)
    head = make(entry)
    failure = _failure(entry)
    name = text_or_none(entry.get("name"))
    if failure and name and name != head.name:
        failure = f"{name}: {failure}"
    if entry.get("event") == "interrupt":
        named = text_or_none(entry.get("name")) or head.name
        head = msgspec.structs.replace(head, kind=Kind.INTERRUPT, name=named)
    return Head(
        head.kind,
        head.role,
        head.name,
        summary_line(failure) if failure else head.summary,
        time_of(entry),
        usage=entry_usage(entry) or head.usage,
        failed=head.failed or failure is not None or entry.get("event") == "error",
    )


def time_of(entry: Mapping[str, Any]) -> float | None:
    """Give the seconds since 1970 at which an entry was written, None where it does not say."""
    time = entry.get("time")
    return moment_of(time) if isinstance(time, str) else None


def entry_usage(entry: Mapping[str, Any]) -> Usage | None:
    """Give what an entry says that its step used."""
    usage = entry.get("usage")
    try:
        return None if usage is None else _convert(usage, Usage)
    except msgspec.ValidationError:
        return None


def changes_in(entry: Mapping[str, Any]) -> list[Change | None]:
    """Give the changes that an entry lists; None for one that is none."""
    return [_change(each) for each in as_list(entry.get("changes"))]


def _change(value: Any) -> Change | None:
    try:
        return _convert({"change": value}, _Listed).change
    except msgspec.ValidationError:
        return None


def _failure(entry: Mapping[str, Any]) -> str | None:
    """Give what went wrong in a step, None where nothing did."""
    failure = as_map(entry.get("failure"))
    if not failure:
        return None
    told = (text_or_none(failure.get(key)) for key in ("type", "message"))
    return ": ".join(each for each in told if each) or "it failed"


def _named(entry: Mapping[str, Any], otherwise: str) -> str:
    return text_or_none(entry.get("name")) or otherwise


def _snapshot(entry: Mapping[str, Any]) -> Head:
    state, why = as_map(entry.get("state")), text_or_none(entry.get("why"))
    migration = as_map(entry.get("migration"))
    parts = [why] if why else []
    if migration:
        parts.append(f"version {migration.get('before')} to {migration.get('after')}")
    parts += [state_head(state).summary] if state else []
    summary = summary_line(" · ".join(parts))
    return Head(Kind.SNAPSHOT, None, _named(entry, "snapshot"), summary)


def _changed(entry: Mapping[str, Any]) -> Head:
    changes = [each for each in changes_in(entry) if each is not None]
    summary = _summary(changes)
    tool = text_or_none(entry.get("tool"))
    if tool:
        name = text_or_none(entry.get("name"))
        told = f"{name}: {summary}" if name and name != tool else summary
        # Nobody speaks: a step has no call before it, to which it would be the answer.
        return Head(Kind.TOOL_RESULT, None, tool, summary_line(told))
    return Head(Kind.TURN, _speaker(changes), _named(entry, "step"), summary)


def _speaker(changes: list[Change]) -> Role | None:
    """Give who answered in a step: its usage is that of the answer. None where nobody did."""
    said = messages_in(changes)
    heads = (head_of(each)[0] for each in said)
    return next((each.role for each in heads if each.role is Role.ASSISTANT), None)


def _summary(changes: list[Change]) -> str:
    """Say what a step did: what was said, or else which places it wrote."""
    said = messages_in(changes)
    if said:
        head, _ = head_of(said[0])
        who = f"{head.name}: " if head.name else ""
        more = f" (and {counted(len(said) - 1, 'more message')})" if len(said) > 1 else ""
        return summary_line(f"{who}{head.summary}{more}")
    parts = list(_places(changes[:_MOST_SHOWN]))
    if len(changes) > _MOST_SHOWN:
        parts.append(f"{len(changes) - _MOST_SHOWN:,} more")
    return summary_line(", ".join(parts) or "no change")


def _places(changes: list[Change]) -> Iterator[str]:
    for change in changes:
        match change:
            case Put(path=path, value=value):
                yield f"{dotted(path)} = {_short(value)}"
            case Drop(path=path):
                yield f"{dotted(path)} gone"
            case Append(path=path, value=value):
                yield f"{dotted(path)} + {_short(value)}"
            case Splice(path=path, count=count, values=values):
                yield f"{dotted(path)} -{count} +{len(values)}"
            case Snapshot():
                yield "the whole state"


def _short(value: Any) -> str:
    """Give a value in a few letters; of what is long its size."""
    if isinstance(value, dict):
        return f"{{{counted(len(as_map(value)), 'key')}}}"
    if isinstance(value, list):
        return f"[{counted(len(as_list(value)), 'item')}]"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return summary_line(text, _LONGEST_VALUE)


def _said(entry: Mapping[str, Any]) -> Head:
    message = entry.get("message")
    if isinstance(message, dict):
        return head_of(as_map(message))[0]
    return Head(Kind.MESSAGE, None, _named(entry, "message"), _short(message))


def _text_of(entry: Mapping[str, Any]) -> str:
    return _said(entry).summary


def _compacted(entry: Mapping[str, Any]) -> Head:
    count = entry.get("count")
    number = count if isinstance(count, int) and not isinstance(count, bool) else 0
    summary = summary_line(f"{counted(number, 'message')}: {_text_of(entry)}")
    return Head(Kind.COMPACTION, None, "compact", summary)


def _labelled(entry: Mapping[str, Any]) -> Head:
    label, shown = text_or_none(entry.get("label")), str(entry.get("target"))[:SHOWN_ID]
    what = f"{label} on {shown}" if label else f"cleared on {shown}"
    return Head(Kind.LABEL, None, "label", summary_line(what))


def _effect(entry: Mapping[str, Any]) -> Head:
    key, phase = text_or_none(entry.get("key")) or "", str(entry.get("phase", "intended"))
    name = text_or_none(entry.get("tool")) or _named(entry, "effect")
    if phase in _ENDED:
        changes = [each for each in changes_in(entry) if each is not None]
        result = entry.get("result")
        told = _short(result) if result is not None else _summary(changes) if changes else ""
        summary = summary_line(f"{_ENDED[phase]}: {told}" if told else f"{_ENDED[phase]} {key}")
        return Head(Kind.TOOL_RESULT, Role.TOOL, name, summary)
    return Head(Kind.TOOL_CALL, Role.ASSISTANT, name, summary_line(f"{phase} {key}"))


_ENDED = {"done": "done", "not_done": "not done"}


def _forked(entry: Mapping[str, Any]) -> Head:
    return Head(Kind.CUSTOM, None, "fork", summary_line(text_or_none(entry.get("note")) or ""))


def _handed_off(entry: Mapping[str, Any]) -> Head:
    told = text_or_none(entry.get("next_step")) or text_or_none(entry.get("path")) or ""
    return Head(Kind.HANDOFF, None, "handoff", summary_line(told))


def _recovered(entry: Mapping[str, Any]) -> Head:
    dropped = entry.get("dropped", 0)
    is_count = isinstance(dropped, int) and not isinstance(dropped, bool)
    what = counted(dropped, "byte") if is_count else "bytes"
    return Head(Kind.CUSTOM, None, "recovered", f"{what} of a write that was cut off", failed=True)


def _unknown(entry: Mapping[str, Any]) -> Head:
    name = text_or_none(entry.get("type")) or "unknown"
    return Head(
        Kind.CUSTOM, None, summary_line(name, _LONGEST_VALUE), summary_line(" ".join(entry))
    )


_HEADS: dict[str, Callable[[Mapping[str, Any]], Head]] = {
    "snapshot": _snapshot,
    "change": _changed,
    "message": _said,
    "compaction": _compacted,
    "branch_summary": lambda entry: Head(
        Kind.BRANCH_SUMMARY, None, "branch", summary_line(_text_of(entry))
    ),
    "label": _labelled,
    "effect": _effect,
    "fork": _forked,
    "handoff": _handed_off,
    "recovered": _recovered,
}
TYPES = frozenset(_HEADS)
"""The types of entries that are known."""
