"""Tau: a JSONL session tree without a header; entries with `id`, `parent_id` and seconds.

The last entry of the file that is not `type: leaf` is the active leaf. The facts were measured
with Tau 0.4.8, which refuses a whole file for one bad line; ttdbg shows what is there and says
which line it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.places import folder_named
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.formats.tau.entries import ENTRIES
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.fork.talk import Talk
    from tt_debugger.core.messages import Part


class Tau(JsonlFile):
    """A session of the Tau coding agent."""

    format: ClassVar[str] = "tau"
    about: ClassVar[str] = "session trees of the Tau coding agent (JSONL)"
    verified: ClassVar[str] = "the agent's own replay at every node (tau-ai 0.4.8)"

    keeps_calls_whole: ClassVar[bool] = True

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a Tau file by entries with `parent_id`, or of types that only Tau writes."""
        found = first_records(probe)
        if any(each.get("type") == "session" or "parentId" in each for each in found):
            return None
        entries = [each for each in found if text_or_none(each.get("type")) in ENTRIES]
        if any("parent_id" in each for each in entries):
            return Match(90, "entries with parent_id")
        if any("created_at" in each or "namespace" in each for each in entries):
            return Match(80, "an entry that only Tau writes")
        if entries and all("uuid" not in each and "message" in each for each in entries):
            return Match(40, "message entries without a header")
        return None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder of all sessions; Tau takes a home only if its path is absolute."""
        named = folder_named(environ.get("TAU_HOME", ""), home)
        return ((named if named.is_absolute() else home / ".tau") / "sessions",)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give Tau's rules; they are the same for every session."""
        from tt_debugger.formats.tau.replay import TauRules

        return TauRules(uncompacted=uncompacted)

    def message(self, _state: State, text: str, time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.tau.fork import said

        return said(text, time)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: a new session, or lines at the end of this one."""
        from tt_debugger.formats.tau.fork import draft

        return draft(self, replay, plan)

    @classmethod
    def fit(cls, part: Part) -> tuple[Part | None, str]:
        """Give a part of a talk as the agent can go on from it."""
        from tt_debugger.formats.shared.pi_composing import fit

        return fit(part)

    @classmethod
    def composed(cls, talk: Talk, plan: Plan, home: Path) -> Draft:
        """Give the draft of a session with the talk of another agent."""
        from tt_debugger.formats.tau.compose import composed

        return composed(talk, plan, home)

    def _reading_class(self) -> type[Reading]:
        from tt_debugger.formats.tau.reading import TauReading

        return TauReading


STORE = Tau
