"""Gemini CLI: a log with a record a line, in old versions one document with all messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Rules
from tt_debugger.formats.gemini.document import GeminiDocument
from tt_debugger.formats.gemini.messages import METADATA, is_message
from tt_debugger.formats.gemini.reading import FORMAT, GeminiReading, GeminiSession, told_of
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.formats.shared.transcript import TranscriptRules
from tt_debugger.store import Match, Probe

_DOCUMENT = ".json"
_TYPES = frozenset(("user", "gemini", "info", "error", "warning"))


class GeminiLines(JsonlFile):
    """The records in one file, a line each."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = ""
    reading: ClassVar[type[Reading]] = GeminiReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its metadata, and by records that only Gemini CLI writes."""
        found = first_records(probe)
        if found and set(found[0]) >= METADATA:
            return Match(92, "metadata with sessionId, projectHash and startTime")
        if any(_is_patch(each) for each in found):
            return Match(90, "records with $set or $rewindTo")
        own = [
            each for each in found if is_message(each) and text_or_none(each.get("type")) in _TYPES
        ]
        if any(each.get("type") == "gemini" and "content" in each for each in own):
            return Match(85, "messages of the type gemini")
        return None

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        facts: GeminiSession = session.own
        return TranscriptRules(facts.start, told_of, uncompacted=uncompacted)


class Gemini(Delegating):
    """A session of Gemini CLI, old or new."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "chat recordings of Gemini CLI (JSONL, in old versions JSON)"
    verified: ClassVar[str] = "its published source; no agent was run"

    store: GeminiDocument | GeminiLines

    @classmethod
    def chosen(cls, location: str) -> GeminiDocument | GeminiLines:
        """Open the document, or the log."""
        return _store_of(location)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a document by its keys, and lines by their records."""
        return _store_of(probe.name).sniff(probe) if probe.inside is None else None

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder in which each project has a folder `chats`."""
        own = environ.get("GEMINI_CLI_HOME")
        return ((Path(own) if own else home) / ".gemini" / "tmp",)

    def tail(self) -> Session | None:
        """Give the newest records of a large file, before all others are read."""
        return self.store.tail() if isinstance(self.store, GeminiLines) else None


def _store_of(name: str) -> type[GeminiDocument | GeminiLines]:
    """Give the store of a file, by how its name ends."""
    is_document = PurePath(name).suffix.lower() == _DOCUMENT
    return GeminiDocument if is_document else GeminiLines


def _is_patch(record: Mapping[str, Any]) -> bool:
    """Tell a record with one key that starts with a dollar sign, with what belongs under it."""
    if set(record) == {"$rewindTo"}:
        return isinstance(record["$rewindTo"], str)
    return set(record) == {"$set"} and bool(as_map(record["$set"]))


STORE = Gemini
