"""Codex: rollouts of the OpenAI Codex CLI, in the three ages of their format, also compressed.

A rollout is a log of one thread: response items, which are what a model is sent, and events for
the screen. How it is replayed, and what Codex mends when it resumes, was measured with codex-cli
0.171; where versions differ the newest wins.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any, ClassVar

from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Replay, Rules
from tt_debugger.formats.codex.records import (
    COMPACTED,
    EVENT,
    FORMAT,
    ITEM,
    META,
    TURN,
    entry_of,
    thread_of_file,
)
from tt_debugger.formats.codex.threads import ARCHIVED, SESSIONS, name_of, rollout_of
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records, may_be_named
from tt_debugger.formats.shared.places import folder_named
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.storage.compressed import CompressedFile
from tt_debugger.store import Match, Probe

if TYPE_CHECKING:
    from tt_debugger.core.fork.plan import Draft, Plan
    from tt_debugger.core.fork.talk import Talk
    from tt_debugger.core.messages import Part

_ENVELOPES = frozenset((META, ITEM, COMPACTED, TURN, EVENT))


class Codex(JsonlFile):
    """A rollout of the Codex CLI."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "rollouts of the OpenAI Codex CLI, also compressed (JSONL, zstd)"
    verified: ClassVar[str] = "the agent's own requests (codex-cli 0.171)"
    keeps_calls_whole: ClassVar[bool] = True

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a rollout by its header, or by the envelopes that only Codex writes."""
        found = first_records(probe)
        if not found:
            return None
        first = entry_of(found[0])
        if first.type == META and not first.is_bare and "id" in first.payload:
            return Match(95, "the first record is session metadata")
        if first.type == META and "instructions" in first.payload:
            return Match(90, "the first record is the header of an old rollout")
        enveloped = sum(
            entry.type in _ENVELOPES and not entry.is_bare and "timestamp" in record
            for record, entry in ((each, entry_of(each)) for each in found)
        )
        if enveloped:
            return Match(85, f"{enveloped} records in envelopes, no metadata first")
        states = sum(isinstance(each.get("record_type"), str) for each in found)
        if states and any(entry_of(each).type == ITEM for each in found):
            return Match(80, "bare items among records of a state")
        return None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folders of current and of archived threads."""
        own = environ.get("CODEX_HOME")
        folder = folder_named(own, home) if own else home / ".codex"
        return (folder / SESSIONS, folder / ARCHIVED)

    @classmethod
    def consulted(cls, location: str) -> str:
        """Give what other files tell of the session at a location: its name, empty for none."""
        thread = thread_of_file(PurePath(location).name)
        return (thread and name_of(location, thread)) or ""

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules for a session, which may go on from the history of another one."""
        from tt_debugger.formats.codex.base import history_of
        from tt_debugger.formats.codex.replay import CodexRules

        history = history_of(self.location, session, uncompacted=uncompacted)
        return CodexRules(history, uncompacted=uncompacted)

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the rollout of a thread that was started as a subagent."""
        return rollout_of(self.location, name)

    @classmethod
    def fit(cls, part: Part) -> tuple[Part | None, str]:
        """Give a part of a talk as the agent can go on from it."""
        from tt_debugger.formats.codex.compose import fit

        return fit(part)

    @classmethod
    def composed(cls, talk: Talk, plan: Plan, home: Path) -> Draft:
        """Give the draft of a session with the talk of another agent."""
        from tt_debugger.formats.codex.compose import composed

        return composed(talk, plan, home)

    def message(self, _state: State, text: str, _time: float) -> Change:
        """Give the edit that adds what the user says."""
        from tt_debugger.formats.codex.fork import said

        return said(text)

    def draft(self, replay: Replay, plan: Plan) -> Draft:
        """Give what a fork would write: a new rollout."""
        from tt_debugger.formats.codex.fork import draft

        return draft(self, replay, plan)

    def stored(self, offset: int, length: int) -> bytes:
        """Give bytes of the file. Raises CannotReadError where it has become shorter."""
        return self._read(offset, length)

    def _reading_class(self) -> type[Reading]:
        from tt_debugger.formats.codex.reading import CodexReading

        return CodexReading

    def _new_reading(self) -> Reading:
        from tt_debugger.formats.codex.reading import CodexReading

        reading = super()._new_reading()
        if isinstance(reading, CodexReading):
            reading.flaw = self._flaw
        return reading

    def _flaw(self) -> str | None:
        return self._file.flaw if isinstance(self._file, CompressedFile) else None

    def _is_of(self, session: Session, row: int, record: dict[str, Any]) -> bool:
        entry = entry_of(record)
        own = entry.payload.get("id") if entry.type == ITEM else None
        return may_be_named(session.ids[row], own) or may_be_named(session.ids[row], None)


STORE = Codex
