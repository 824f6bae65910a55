"""GitHub Copilot CLI: the events of a session, a line each, of which each names its parent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Rules
from tt_debugger.formats.copilot.events import START, told_of
from tt_debugger.formats.copilot.reading import CopilotReading
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.formats.shared.transcript import TranscriptRules
from tt_debugger.store import Match, Probe

_ENVELOPE = frozenset(("type", "data", "id", "timestamp", "parentId"))
_FAMILIES = ("session.", "user.", "assistant.", "tool.", "subagent.", "system.")


class Copilot(JsonlFile):
    """The events of one session."""

    format: ClassVar[str] = "copilot"
    about: ClassVar[str] = "session events of GitHub Copilot CLI (JSONL)"
    verified: ClassVar[str] = "samples and format notes of others; no agent was run"
    reading: ClassVar[type[Reading]] = CopilotReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by the event that starts it, or by events with its envelope."""
        found = first_records(probe)
        starts = [as_map(each.get("data")) for each in found if each.get("type") == START]
        if any("copilotVersion" in each for each in starts):
            return Match(95, "session.start with copilotVersion")
        events = sum(map(_is_event, found))
        return Match(85, f"{events} events with data and parentId") if events else None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder in which each session has one of its own."""
        own = environ.get("COPILOT_HOME")
        return ((Path(own) if own else home / ".copilot") / "session-state",)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return TranscriptRules({}, told_of, uncompacted=uncompacted)


def _is_event(record: Mapping[str, Any]) -> bool:
    kind = record.get("type")
    is_one = set(record) >= _ENVELOPE and isinstance(record["data"], dict)
    return is_one and isinstance(kind, str) and kind.startswith(_FAMILIES)


STORE = Copilot
