"""What records promise each other, and where one breaks it: only the whole session shows that.

A result promises that there was a call, a number in a sequence that there are all before it, and
an intent that it will be said when it is done.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from tt_debugger.core.doctor import is_called_before
from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.messages import Call, Part, Result
from tt_debugger.core.model import Session
from tt_debugger.core.placed import finding_at
from tt_debugger.core.text import summary_line

_SEQUENCES = frozenset(("ordinal", "seq", "sequence", "sequence_number", "sequenceNumber"))
_EVENTS = ("event", "type", "status", "phase")
_INTENDED = frozenset(("intent", "intended"))
_DONE = frozenset(("done", "completed", "committed", "failed"))
_KEYS = ("idempotency_key", "idempotencyKey")
_LONGEST_NAME = 40


def sequence_name(record: Mapping[str, Any]) -> str | None:
    """Give the name under which a record has its number in a sequence, if it has one."""
    if _SEQUENCES.isdisjoint(record):
        return None
    names = (name for name in record if name in _SEQUENCES and _is_count(record[name]))
    return next(names, None)


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def intended(record: Mapping[str, Any]) -> tuple[str, bool] | None:
    """Give the step that a record says is intended, or (False) that it is no longer so."""
    if "step" not in record:
        return None
    for said in (record.get(key) for key in _EVENTS):
        if isinstance(said, str) and said in _INTENDED | _DONE:
            return summary_line(str(record["step"]), _LONGEST_NAME), said in _INTENDED
    return None


def idempotency_key(record: Mapping[str, Any]) -> str:
    """Give the key by which an effect can be asked for, empty where the record names none."""
    key = next((record[name] for name in _KEYS if isinstance(record.get(name), str)), "")
    return summary_line(key, _LONGEST_NAME)


def called_in(parts: Iterable[Part]) -> Iterator[str]:
    """Give the ids of the calls among the parts of a message."""
    return (each.id for each in parts if isinstance(each, Call) and each.id is not None)


def answered_in(parts: Iterable[Part]) -> Iterator[str]:
    """Give the ids of the calls whose results are among the parts of a message."""
    return (each.call for each in parts if isinstance(each, Result) and each.call is not None)


def unmatched_results(
    session: Session, calls: Iterable[tuple[str, int]], results: Iterable[tuple[str, int]]
) -> Iterator[Finding]:
    """Say which results have no call before them on their path. Both come as id and row."""
    rows: dict[str, list[int]] = {}
    for name, row in calls:
        rows.setdefault(name, []).append(row)
    for name, row in results:
        called = rows.get(name, ())
        if row - 1 in called[-1:] and session.parents[row] == row - 1:
            continue
        if not is_called_before(session, called, row):
            yield finding_at(
                session,
                row,
                Code.UNMATCHED_RESULT,
                "a tool result without a matching call: no"
                f" {summary_line(name, _LONGEST_NAME)!r} is before it on its path",
                "a provider may refuse the conversation from here on",
            )


def sequence_breaks(
    session: Session, name: str, numbers: Iterable[tuple[int, int | None]]
) -> list[Finding]:
    """Say where the numbers of a sequence skip, repeat or are missing. They come with their rows.

    Numbers that break it more often than not are no sequence.
    """
    found: list[Finding] = []
    following: int | None = None
    kept = 0
    for row, number in numbers:
        if number is None:
            what = f"no {name} here, though the records before it have one"
        elif following is None or number == following:
            kept, following = kept + 1, number + 1
            continue
        elif number < following:
            what = f"the {name} {number} comes again"
        else:
            lost = f"{following}" if number - following == 1 else f"{following} to {number - 1}"
            what = f"the {name} goes on at {number}: {lost} missing"
            following = number + 1
        found.append(
            finding_at(
                session,
                row,
                Code.BROKEN_SEQUENCE,
                what,
                "the order of the file counts; all is shown",
            )
        )
    return found if kept >= len(found) else []


def open_intents(session: Session, intents: Mapping[str, tuple[int, str]]) -> Iterator[Finding]:
    """Say which steps were intended and never done. Of each, the row and the idempotency key."""
    for step, (row, key) in intents.items():
        ask = f"ask for its idempotency key {key}" if key else "find out whether it did"
        yield finding_at(
            session,
            row,
            Code.OPEN_INTENT,
            f"step {step}: intent without done",
            f"it may have taken effect: {ask} before it is run again",
        )
