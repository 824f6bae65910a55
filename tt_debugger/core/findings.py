"""Findings: what is wrong or lossy in the data, each with its place and what to do about it.

Codes: TT1xx bytes and lines, TT2xx the tree, TT3xx replay, TT4xx meaning.
"""

from __future__ import annotations

import enum
from typing import Any, Self

import msgspec


class Severity(enum.StrEnum):
    """How bad a finding is. `doctor` exits with 1 from warning on."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Code(enum.StrEnum):
    """Every code that reading can give, with its severity unless a format says otherwise."""

    severity: Severity

    def __new__(cls, code: str, severity: Severity = Severity.WARNING) -> Self:
        """Make a member whose text is the code."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.severity = severity
        return member

    UNREADABLE = "TT101", Severity.ERROR
    """Bytes that are no record; they are a gap."""
    TORN_TAIL = "TT102", Severity.WARNING
    """The last line has no end and is no record: cut off, or still being written."""
    NO_FINAL_NEWLINE = "TT103", Severity.NOTE
    """The last record has no line end."""
    BYTE_ORDER_MARK = "TT104", Severity.NOTE
    BAD_UTF8 = "TT105", Severity.WARNING
    LONE_SURROGATE = "TT106", Severity.WARNING
    SEVERAL_ON_LINE = "TT107", Severity.WARNING
    """A further record was recovered from a line that already held one."""
    ODD_NUMBER = "TT108", Severity.NOTE
    """NaN, Infinity or a number beyond 64 bits, kept as text."""
    DUPLICATE_KEY = "TT109", Severity.WARNING
    """A key is given twice in one object; readers keep the last one, in silence."""
    LOST_RECORD = "TT110", Severity.ERROR
    """The record does not stand any more where it was read."""
    OPAQUE = "TT111", Severity.NOTE
    """Bytes that are not decoded, such as a pickle: only their size and digest are shown."""

    MISSING_PARENT = "TT201", Severity.WARNING
    DUPLICATE_ID = "TT202", Severity.WARNING
    CYCLE = "TT203", Severity.ERROR
    NO_ID = "TT204", Severity.WARNING

    KEPT_ENTRY_MISSING = "TT301", Severity.WARNING
    """A compaction keeps from an entry that is not before it on the path."""
    REPLAY_FAILS = "TT302", Severity.ERROR
    """The changes of a checkpoint cannot be worked out; nothing below it replays either."""
    GUESSED = "TT303", Severity.NOTE
    """A value of the state is not recorded here: what is shown is a guess."""

    UNKNOWN_RECORD = "TT401", Severity.WARNING
    AGENT_REFUSES = "TT402", Severity.ERROR
    """The agent itself would not open this session."""
    AGENT_LOSES = "TT403", Severity.WARNING
    """The agent opens it, but silently without some of what was recorded."""
    HEADER = "TT404", Severity.WARNING
    """The header is missing, late or repeated."""
    NEWER_VERSION = "TT405", Severity.WARNING
    LABEL_TARGET = "TT406", Severity.NOTE
    """A label names a checkpoint that is not there."""
    WRONG_TYPE = "TT407", Severity.WARNING
    """A field has another type than the format says."""
    UNMATCHED_RESULT = "TT408", Severity.WARNING
    """A tool result whose call is not before it on the path."""
    BROKEN_SEQUENCE = "TT409", Severity.WARNING
    """A number in a sequence is missing, or comes again."""
    SCHEMA_DRIFT = "TT410", Severity.WARNING
    """The version of a state's schema is another than that of the state before."""
    OPEN_INTENT = "TT411", Severity.WARNING
    """A step was intended and never said to be done."""
    VERSIONS_DIFFER = "TT412", Severity.NOTE
    """Another version of the agent would go on with something else."""
    STALE_HANDOFF = "TT413", Severity.WARNING
    """A handoff is older than the session that it names."""
    NO_CHECKPOINT = "TT414", Severity.WARNING
    """A handoff names a checkpoint that is not there."""
    WRONG_HASH = "TT415", Severity.WARNING
    """A hash that was stored is not that of what it is said to be of."""
    EXPIRES = "TT416", Severity.NOTE
    """A store forgets checkpoints after some time, or has done so."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong, where, and what can be done.

    `line` counts from 1, `offset` from the file's first byte; both and `checkpoint` (an id) are
    None where they do not apply.
    """

    code: Code
    severity: Severity
    message: str
    hint: str | None = None
    line: int | None = None
    offset: int | None = None
    checkpoint: str | None = None


def finding(
    code: Code,
    message: str,
    *,
    hint: str | None = None,
    line: int | None = None,
    offset: int | None = None,
    checkpoint: str | None = None,
    severity: Severity | None = None,
) -> Finding:
    """Make a finding with its code's own severity, unless another is given."""
    return Finding(code, severity or code.severity, message, hint, line, offset, checkpoint)


def is_serious(findings: tuple[Finding, ...]) -> bool:
    """Tell whether any finding is an error or a warning."""
    return any(each.severity is not Severity.NOTE for each in findings)


def counted_by_severity(findings: tuple[Finding, ...]) -> str:
    """Say how many findings there are of each severity: 1 error, 2 notes."""
    counts = [(sum(each.severity is kind for each in findings), kind) for kind in Severity]
    return ", ".join(f"{n} {kind}{'' if n == 1 else 's'}" for n, kind in counts if n)


def finding_json(each: Finding) -> dict[str, Any]:
    """Give a finding in the form of CONTRACT."""
    return {
        "code": str(each.code),
        "severity": str(each.severity),
        "line": each.line,
        "offset": each.offset,
        "checkpoint": each.checkpoint,
        "message": each.message,
        "hint": each.hint,
    }
