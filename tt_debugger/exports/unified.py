"""A diff as text: what `diff -u` would say of two transcripts, if it knew what a message is.

Applied to the transcript of A, it gives that of B.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

import msgspec

from tt_debugger.core.diff.comparing import (
    MESSAGES,
    ComparedMessage,
    Comparison,
    EqualRun,
    Sign,
    compare,
)
from tt_debugger.core.diff.edits import apply
from tt_debugger.core.diff.meaning import json_of
from tt_debugger.core.diff.texts import CONTEXT, TextRow, stretches, text_rows
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.text import safe_line, safe_text
from tt_debugger.exports.gate import Passed
from tt_debugger.exports.hunks import diff_lines
from tt_debugger.exports.plain import message_lines
from tt_debugger.exports.subjects import TwoStates
from tt_debugger.exports.telling import notes_told, redaction_told
from tt_debugger.version import __version__


def difference(passed: Passed[TwoStates]) -> str:
    """Give what differs as hunks of lines, each headed by the message that it is in."""
    subject = passed.subject
    comparison = compare(subject.old, subject.new, mask=subject.is_masked)
    head = [
        safe_line(f"ttdbg {__version__} · {redaction_told(passed.redaction)}"),
        *notes_told(passed, comparison),
        safe_line(f"--- {subject.a.ref}"),
        safe_line(f"+++ {subject.b.ref}"),
    ]
    return "\n".join((*head, *unified_lines(comparison))) + "\n"


def unified_lines(comparison: Comparison, context: int = CONTEXT) -> Iterator[str]:
    """Give the hunks of the two transcripts."""
    rows = list(transcript_rows(comparison))
    before = list(accumulate((row.old is not None for row, _ in rows), initial=0))
    after = list(accumulate((row.new is not None for row, _ in rows), initial=0))
    changed = [place for place, (row, _) in enumerate(rows) if row.op != "equal"]
    for begin, end in stretches(changed, len(rows), context):
        old_count, new_count = before[end] - before[begin], after[end] - after[begin]
        # A side without lines is named by the line before it.
        old = f"{before[begin] + (old_count > 0)},{old_count}"
        new = f"{after[begin] + (new_count > 0)},{new_count}"
        yield f"@@ -{old} +{new} @@ {rows[begin][1]}".rstrip()
        yield from diff_lines([row for row, _ in rows[begin:end]])


def transcript_rows(comparison: Comparison) -> Iterator[tuple[TextRow, str]]:
    """Give the lines of both transcripts aligned, each with the message that it is in."""
    old, new = comparison.old, told_new(comparison)
    yield from ((row, "settings") for row in text_rows(settings_text(old), settings_text(new)))
    messages = as_list(as_map(old).get(MESSAGES))
    if not comparison.messages:
        # A list that is not one of messages is told with the settings.
        return
    for compared in comparison.messages:
        if isinstance(compared, EqualRun):
            for message in messages[compared.old_begin : compared.old_begin + compared.count]:
                yield from _headed(_both(message_lines(message)))
        else:
            yield from _headed(_rows(compared))


def told_new(comparison: Comparison) -> Any:
    """Give the new state as far as it is told to differ: what is masked is as it was."""
    return apply(comparison.difference, comparison.old)


def settings_text(state: Any) -> str:
    """Give all but the messages of a state as JSON."""
    members = as_map(state)
    has_messages = isinstance(members.get(MESSAGES), list)
    rest = {key: value for key, value in members.items() if key != MESSAGES}
    return safe_text(json_of(rest if has_messages else state))


def _rows(compared: ComparedMessage) -> Iterable[TextRow]:
    old, new = compared.old, compared.new
    if compared.sign is Sign.MOVED and new is not msgspec.UNSET:
        # Where it stood is a row of its own.
        old = msgspec.UNSET
    if old is msgspec.UNSET:
        return [TextRow("add", None, None, None, line) for line in message_lines(new)]
    if new is msgspec.UNSET:
        return [TextRow("remove", None, None, line, None) for line in message_lines(old)]
    if compared.difference is not None:
        new = apply(compared.difference, old)
    return text_rows("\n".join(message_lines(old)), "\n".join(message_lines(new)))


def _both(lines: Iterable[str]) -> Iterator[TextRow]:
    return (TextRow("equal", None, None, line, line) for line in lines)


def _headed(rows: Iterable[TextRow]) -> Iterator[tuple[TextRow, str]]:
    head = ""
    for row in rows:
        line = row.new if row.old is None else row.old
        head = head or (line or "").removeprefix("== ")
        yield row, head
