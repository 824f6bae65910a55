"""Recordings, whatever they are kept in: how an entry shows, and what it does to the state.

What a format needs is given here.
"""

from __future__ import annotations

from tt_debugger.formats.shared.recording.effects import Word, note_effects, open_effects
from tt_debugger.formats.shared.recording.heads import TYPES, entry_head, time_of
from tt_debugger.formats.shared.recording.plain import PlainEffect, PlainSnapshot, plain_entry
from tt_debugger.formats.shared.recording.rules import Memo, RecordingRules, flaws_along

__all__ = (
    "TYPES",
    "Memo",
    "PlainEffect",
    "PlainSnapshot",
    "RecordingRules",
    "Word",
    "entry_head",
    "flaws_along",
    "note_effects",
    "open_effects",
    "plain_entry",
    "time_of",
)
