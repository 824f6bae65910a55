"""Qwen Code: a JSONL session tree of records with `uuid` and `parentUuid`, one file a session.

The lines look like Claude Code's, but a message is a Google Content: a role and `parts`. The last
record of the file is where Qwen Code goes on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Rules
from tt_debugger.formats.qwen.reading import QwenReading
from tt_debugger.formats.qwen.replay import told_of
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.formats.shared.transcript import TranscriptRules
from tt_debugger.store import Match, Probe


class Qwen(JsonlFile):
    """A session of Qwen Code."""

    format: ClassVar[str] = "qwen"
    about: ClassVar[str] = "session trees of Qwen Code (JSONL)"
    verified: ClassVar[str] = "its published source and format notes; no agent was run"
    reading: ClassVar[type[Reading]] = QwenReading
    id_key: ClassVar[str] = "uuid"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a file of Qwen Code by records in a tree whose messages have parts."""
        entries = [each for each in first_records(probe) if _is_entry(each)]
        if any("parts" in as_map(each.get("message")) for each in entries):
            return Match(94, "records with parentUuid whose messages have parts")
        if any("systemPayload" in each for each in entries):
            return Match(93, "records with parentUuid and systemPayload")
        return None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder of all projects, in which each has a folder `chats`."""
        own = environ.get("QWEN_RUNTIME_DIR") or environ.get("QWEN_HOME")
        return ((Path(own) if own else home / ".qwen") / "projects",)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        return TranscriptRules({}, told_of, uncompacted=uncompacted)


def _is_entry(record: dict[str, Any]) -> bool:
    return isinstance(record.get("uuid"), str) and "parentUuid" in record


STORE = Qwen
