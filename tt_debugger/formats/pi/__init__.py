"""Pi: a JSONL session tree (versions 1, 2 and 3, and what Pi 1.6 adds), migrated in memory only.

The first line is a header, every other line an entry with `id` and `parentId`; the last entry of
the file is the active leaf. The facts were measured with Pi 1.6.0 and 0.73.1; where the two
differ the newer one wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.formats.pi.types import ENTRY_TYPES
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.places import folder_named
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.fork.talk import Talk
    from tt_debugger.core.messages import Part


class Pi(JsonlFile):
    """A session of the Pi coding agent."""

    format: ClassVar[str] = "pi"
    about: ClassVar[str] = "session trees of the Pi coding agent, versions 1 to 3 (JSONL)"
    verified: ClassVar[str] = "the agent's own replay at every node (Pi 1.6.0)"

    keeps_calls_whole: ClassVar[bool] = True

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a Pi file by its header, or by entries that only Pi writes."""
        found = first_records(probe)
        if not found:
            return None
        if found[0].get("type") == "session" and isinstance(found[0].get("id"), str):
            return Match(95, "the first record is a session header")
        entries = [
            each
            for each in found
            if "parentId" in each and text_or_none(each.get("type")) in ENTRY_TYPES
        ]
        headers = [each for each in found if each.get("type") == "session"]
        if entries and headers:
            return Match(85, "a session header among entries with parentId")
        if entries:
            return Match(70, f"{len(entries)} entries with parentId, no header")
        return None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder of all sessions, and the one that is named apart from it."""
        agent = environ.get("PI_CODING_AGENT_DIR")
        own = environ.get("PI_CODING_AGENT_SESSION_DIR")
        folder = folder_named(agent, home) if agent else home / ".pi" / "agent"
        return (folder / "sessions", *([folder_named(own, home)] if own else ()))

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give Pi's rules; they are the same for every session."""
        from tt_debugger.formats.pi.replay import PiRules

        return PiRules(uncompacted=uncompacted)

    def message(self, _state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.pi.fork import said

        return said(text, time)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: a new session, or lines at the end of this one."""
        from tt_debugger.formats.pi.fork import draft

        return draft(self, replay, plan)

    @classmethod
    def fit(cls, part: Part) -> tuple[Part | None, str]:
        """Give a part of a talk as the agent can go on from it."""
        from tt_debugger.formats.shared.pi_composing import fit

        return fit(part)

    @classmethod
    def composed(cls, talk: Talk, plan: Plan, home: Path) -> Draft:
        """Give the draft of a session with the talk of another agent."""
        from tt_debugger.formats.pi.compose import composed

        return composed(talk, plan, home)

    def _reading_class(self) -> type[Reading]:
        from tt_debugger.formats.pi.reading import PiReading

        return PiReading


STORE = Pi
