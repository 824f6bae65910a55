"""Effects of a recording that stay open: begun and never done, or intended and never begun."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.placed import finding_at
from tt_debugger.core.text import summary_line

Word = tuple[int, str]
"""The row that last spoke of an effect, and how far it had come there."""

_PHASES = {"unknown": "begun", "done": "done", "not_done": "not_done"}
"""How far an effect came by its status in a snapshot."""
_LONGEST_KEY = 60


def note_effects(words: dict[str, Word], row: int, entry: Mapping[str, Any]) -> None:
    """Take in what an entry says of effects: of one, or as a snapshot of all that are known.

    What is done stays done.
    """
    if entry.get("type") == "effect":
        key, phase = text_or_none(entry.get("key")) or "", entry.get("phase", "intended")
        if isinstance(phase, str):
            _note(words, row, key, phase)
        return
    for each in map(as_map, as_list(entry.get("effects"))):
        key, phase = each.get("key"), _PHASES.get(str(each.get("status")))
        if not isinstance(key, str) or phase is None:
            continue
        if phase == "not_done" and words.get(key, (row, ""))[1] == "intended":
            # Nothing else is said of one that was not begun.
            continue
        _note(words, row, key, phase)


def _note(words: dict[str, Word], row: int, key: str, phase: str) -> None:
    known = words.get(key)
    if known is None or known[1] not in ("done", phase):
        words[key] = (row, phase)


def open_effects(session: Session, words: Mapping[str, Word]) -> Iterator[Finding]:
    """Say which effects may have happened or not, and which were never begun."""
    for key, (row, phase) in words.items():
        shown = summary_line(key, _LONGEST_KEY)
        if phase == "begun":
            yield finding_at(
                session,
                row,
                Code.OPEN_INTENT,
                f"effect {shown}: it was begun, and nothing says whether it happened",
                "look where it would show before it is tried again, and say so to the recorder",
            )
        elif phase == "intended":
            open_intent = finding_at(
                session,
                row,
                Code.OPEN_INTENT,
                f"effect {shown}: it was intended and never begun",
                "it has not happened: it can be tried again",
            )
            yield msgspec.structs.replace(open_intent, severity=Severity.NOTE)
