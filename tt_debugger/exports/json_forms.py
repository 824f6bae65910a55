"""JSON: transcripts and states in the forms of CONTRACT, and as text that is safe to show."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

import msgspec

from tt_debugger.core.diff.comparing import compare
from tt_debugger.core.text import acting
from tt_debugger.exports.diff_json import diff_json
from tt_debugger.exports.gate import Passed
from tt_debugger.exports.subjects import Origin, StateAt, Transcript, TwoStates
from tt_debugger.exports.telling import turn_summary

_SURROGATE = re.compile("[\ud800-\udfff]")


def transcript(passed: Passed[Transcript]) -> str:
    """Give a transcript as an object: that of `log`, each checkpoint with what it said."""
    subject = passed.subject
    return json_text(
        _header(subject.origin)
        | {
            "checkpoints": [
                turn.checkpoint
                | {"summary": turn_summary(turn), "label": turn.label}
                | {"messages": turn.messages, "changes": turn.changes}
                for turn in subject.turns
            ],
            "findings": subject.findings,
            "redacted": passed.redaction.counts,
        }
    )


def state(passed: Passed[StateAt]) -> str:
    """Give a state as an object: that of `show`, without its changes."""
    subject = passed.subject
    return json_text(
        _header(subject.origin)
        | {
            "checkpoint": subject.origin.checkpoint,
            "state": subject.state,
            "redacted": passed.redaction.counts,
        }
    )


def difference(passed: Passed[TwoStates]) -> str:
    """Give a difference as the object of `diff`."""
    subject = passed.subject
    comparison = compare(subject.old, subject.new, mask=subject.is_masked)
    answer = diff_json(comparison, subject.a.ref, subject.b.ref, subject.fork_point)
    return json_text(answer | {"redacted": passed.redaction.counts})


def json_text(value: Mapping[str, Any] | list[Any]) -> str:
    """Give a value as indented JSON in which no character acts: such are escaped."""
    return escaped(msgspec.json.format(encoded(value), indent=2)) + "\n"


def encoded(value: Any) -> str:
    """Give a value as JSON; what is half of a character becomes the sign for that."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        text = json.dumps(msgspec.to_builtins(value), ensure_ascii=False, separators=(",", ":"))
        return _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", text)


def escaped(text: str) -> str:
    """Give JSON with the characters escaped that a terminal obeys or hides."""
    escapes = {ord(each): _escape(each) for each in acting(text)}
    return text.translate(escapes) if escapes else text


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[n]:02x}{units[n + 1]:02x}" for n in range(0, len(units), 2))


def _header(origin: Origin) -> dict[str, Any]:
    return {
        "ttdbg": 1,
        "format": origin.format,
        "location": origin.file,
        "session": {"id": origin.session_id, "title": origin.title, "cwd": origin.cwd},
        "leaf": origin.checkpoint["id"],
    }
