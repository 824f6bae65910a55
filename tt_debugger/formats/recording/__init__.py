"""Recordings of ttdbg's own recorder: the event log as JSONL, an open format described in README.

The first line is a header with the version of the format, every other line an entry with `id` and
`parent`. The last entry is where the recorder goes on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan

_ENTRY = frozenset(("id", "parent", "time", "type"))
"""The keys that every entry has."""


class Recording(JsonlFile):
    """A session that a recorder wrote as lines."""

    format: ClassVar[str] = "recording"
    about: ClassVar[str] = "recordings of agents of one's own (JSONL event log)"
    verified: ClassVar[str] = "the recorder's own restoring at every entry"

    keeps_calls_whole: ClassVar[bool] = False

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a recording by its header, or by entries that only a recorder writes."""
        found = first_records(probe)
        headers = [each for each in found if each.get("type") == "recording"]
        if headers and "schema_version" in headers[0]:
            return Match(98, "the header of a recording")
        entries = [each for each in found if each.keys() >= _ENTRY and _is_typed(each.get("type"))]
        if entries:
            return Match(70, f"{len(entries)} entries of a recording, no header")
        return None

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules of all recordings."""
        from tt_debugger.formats.shared.recording import RecordingRules

        return RecordingRules(uncompacted=uncompacted)

    def message(self, state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.shared.fork_states import said

        return said(state, text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: a new recording, or lines at the end of this one."""
        from tt_debugger.formats.recording.fork import draft

        return draft(self, replay, plan)

    def examined(self, session: Session) -> Iterator[Finding]:
        """Replay all entries; say which changes cannot be made."""
        from tt_debugger.formats.shared.recording import flaws_along

        yield from flaws_along(Replay(session, self.rules(session), partial(self.bodies, session)))

    def _reading_class(self) -> type[Reading]:
        from tt_debugger.formats.recording.reading import RecordingReading

        return RecordingReading


def _is_typed(kind: object) -> bool:
    return isinstance(kind, str) and kind in _TYPES


_TYPES = frozenset(
    (
        *("snapshot", "change", "message", "compaction", "branch_summary"),
        *("label", "effect", "fork", "handoff", "recovered"),
    )
)

STORE = Recording
