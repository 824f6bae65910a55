"""Claude Code: one JSONL file a session, with branches, compactions, and subagents beside it.

The format is the agent's own affair and changes between releases, so every line is kept, known or
not. The rules were measured with versions 1.0.120, 2.0.76, 2.1.19 and 2.1.197; where they differ
the newest counts, and a finding says what the others do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.formats.claude_code.types import ASIDES, CHAIN, FORMAT
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.fork.talk import Talk
    from tt_debugger.core.messages import Part


class ClaudeCode(JsonlFile):
    """A session of Claude Code, or one of its subagents."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "sessions of Claude Code and its subagents (JSONL)"
    verified: ClassVar[str] = "the agent's own requests, recorded (claude-code 2.1.197)"
    id_key: ClassVar[str] = "uuid"
    keeps_calls_whole: ClassVar[bool] = True

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by lines with uuid and parentUuid around messages of Anthropic."""
        records = first_records(probe)
        chained = [each for each in records if _is_chained(each)]
        if chained and any("sessionId" in each for each in chained):
            return Match(90, "lines with uuid, parentUuid and sessionId")
        if chained:
            return Match(80, "lines with uuid and parentUuid around messages")
        aside = next((each for each in records if _is_aside(each)), None)
        return None if aside is None else Match(70, f"a line of the type {aside['type']}")

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder of all projects, which CLAUDE_CONFIG_DIR may move."""
        root = environ.get("CLAUDE_CONFIG_DIR")
        return ((Path(root) if root else home / ".claude") / "projects",)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        from tt_debugger.formats.claude_code.replay import ClaudeRules

        return ClaudeRules(uncompacted=uncompacted)

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the file of a subagent, in either layout; or its root in this file (`#`)."""
        if name.startswith("#"):
            return f"{self.location}{name}"
        if "/" in name or "\0" in name:
            return None
        file = Path(self.location)
        beside = f"agent-{name}.jsonl"
        # A subagent may start others: these stand beside it.
        places = (file.with_suffix("") / "subagents" / beside, file.parent / beside)
        try:
            return next((str(each) for each in places if each.is_file()), None)
        except OSError:
            # No file can have such a name.
            return None

    def message(self, _state: State, text: str, _time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.claude_code.fork import said

        return said(text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: a new session, or lines at the end of this one."""
        from tt_debugger.formats.claude_code.fork import draft

        return draft(self, replay, plan)

    def stored(self, offset: int, length: int) -> bytes:
        """Give bytes of the file. Raises CannotReadError where it has become shorter."""
        return self._read(offset, length)

    @classmethod
    def fit(cls, part: Part) -> tuple[Part | None, str]:
        """Give a part of a talk as the agent can go on from it."""
        from tt_debugger.formats.claude_code.compose import fit

        return fit(part)

    @classmethod
    def composed(cls, talk: Talk, plan: Plan, home: Path) -> Draft:
        """Give the draft of a session with the talk of another agent."""
        from tt_debugger.formats.claude_code.compose import composed

        return composed(talk, plan, home)

    def _reading_class(self) -> type[Reading]:
        from tt_debugger.formats.claude_code.reading import ClaudeReading

        return ClaudeReading


def _is_chained(record: Mapping[str, Any]) -> bool:
    if text_or_none(record.get("type")) not in CHAIN or "uuid" not in record:
        return False
    message = as_map(record.get("message"))
    if record["type"] in ("user", "assistant"):
        return "parentUuid" in record and "content" in message and "parts" not in message
    return "parentUuid" in record and "sessionId" in record


def _is_aside(record: Mapping[str, Any]) -> bool:
    """Tell a line that only Claude Code writes, though it has no place in the tree."""
    match record.get("type"):
        case "summary" | "last-prompt":
            return isinstance(record.get("leafUuid"), str)
        case "file-history-snapshot":
            return "snapshot" in record
        case str(kind):
            return kind in ASIDES and isinstance(record.get("sessionId"), str)
        case _:
            return False


STORE = ClaudeCode
