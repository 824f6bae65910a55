"""Goose: sessions in its database, or in the JSONL files that it kept before.

A file has a line that describes the session, and then its messages; a database has both as rows.
When Goose compacts, it hides what was said from the model and adds a summary for the model alone.
Its contents become blocks that everybody knows.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, TypedDict, cast

import msgspec

from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Extent, Kind, Session
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.tree import NO_ROW, Linked
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.formats.shared.jsonl import JsonlFile, first_records
from tt_debugger.formats.shared.message_heads import head_of, record_head, time_in
from tt_debugger.formats.shared.places import folder_named
from tt_debugger.formats.shared.promises import answered_in, called_in, unmatched_results
from tt_debugger.formats.shared.reading import Place, Reading
from tt_debugger.formats.shared.transcript import (
    Entry,
    LostFile,
    Told,
    Transcript,
    TranscriptRules,
    with_entries,
)
from tt_debugger.formats.shared.transcript_rows import Row, TranscriptRows, json_of, lost_row
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.sqlite import Database, is_database
from tt_debugger.store import Match, Probe

FORMAT = "goose"
_HEADER = frozenset(("description", "message_count", "schedule_id", "total_tokens"))
_SESSION = ("id", "name", "description", "working_dir", "provider_name", "model_config_json")
_MESSAGE = ("id", "role", "content_json", "created_timestamp", "metadata_json")


class _Notes(TypedDict):
    """What reading a file keeps in mind."""

    title: str | None
    cwd: str | None
    calls: list[tuple[str, int]]
    results: list[tuple[str, int]]


class GooseReading(Reading):
    """A file of Goose: its first line describes it, each other is a message."""

    agent: ClassVar[str] = "Goose"
    kept: ClassVar[Any] = _Notes

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.title: str | None = None
        self.cwd: str | None = None
        self.calls: list[tuple[str, int]] = []
        self.results: list[tuple[str, int]] = []

    def take(self, record: dict[str, Any], place: Place) -> None:
        """Take a message as a checkpoint; what describes the session stands aside."""
        if _is_header(record):
            self.title = text_or_none(record.get("description")) or self.title
            self.cwd = text_or_none(record.get("working_dir")) or self.cwd
            self.take_aside("session", place)
            if place.line > 1 and len(self.heads):
                self.note(Code.HEADER, "the session is described again", place)
            return
        head = record_head(record)
        if _is_said(record):
            head, parts = head_of(as_message(record.get("role"), record.get("content")))
            row = len(self.heads)
            self.calls += ((name, row) for name in called_in(parts))
            self.results += ((name, row) for name in answered_in(parts))
        else:
            self.note(Code.UNKNOWN_RECORD, "the line is no message", place, hint="kept as custom")
        self.add(head, None, None, place, time_in(record))

    def session(self, linked: Linked, extent: Extent) -> Session:
        """Give the session: each message goes on from the one before."""
        is_gap, before = self.heads.is_gap, self.heads.not_gap_before
        parents = (NO_ROW if is_gap(row) else before(row) for row in range(len(self.heads)))
        return Session(
            self.session_id,
            FORMAT,
            self.heads,
            linked.ids,
            array("q", parents),
            active=self.last_row,
            title=self.title,
            cwd=self.cwd,
            extent=extent,
        )

    def findings_of(self, session: Session) -> list[Finding]:
        """Give what only the whole session shows."""
        return list(unmatched_results(session, self.calls, self.results))


class GooseLines(JsonlFile):
    """A session of Goose in a file of its own."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "sessions of Goose (JSONL)"
    reading: ClassVar[type[Reading]] = GooseReading

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a file by its first line, which has the folder in which Goose worked."""
        found = first_records(probe)
        if (
            not found
            or not _is_header(found[0])
            or not all(_is_said(each) or _is_header(each) for each in found)
        ):
            return None
        return Match(85, "a line with working_dir that describes the session, then messages")

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules; they are the same for every session."""
        start = {"title": session.title, "cwd": session.cwd}
        return TranscriptRules(start, _told_by_line, uncompacted=uncompacted)


class GooseRows(TranscriptRows):
    """The sessions in a database of Goose."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "sessions of Goose (SQLite)"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by its tables."""
        if has_columns(probe, "sessions", "id", "working_dir") and has_columns(
            probe, "messages", "session_id", "role", "content_json"
        ):
            return Match(95, "the tables sessions and messages of Goose")
        return None

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        found = self.rows(database, "sessions", ["id"], order=["updated_at", "created_at", "id"])
        return [each["id"] for each in found if isinstance(each["id"], str)]

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give a session with its messages in the order in which they were added."""
        found = self.rows(database, "sessions", _SESSION, where={"id": wanted})
        row: Row = next(found, dict.fromkeys(_SESSION))
        rows = self.rows(
            database, "messages", _MESSAGE, order=["id"], where={"session_id": wanted}
        )
        read = [_entry(each) for each in rows]
        entries = [each for each in read if isinstance(each, Entry)]
        summary = max(
            (place for place, each in enumerate(entries) if _is_summary(each)), default=-1
        )
        pieces = with_entries(read, _told(entries, summary))
        title = text_or_none(row["name"]) or text_or_none(row["description"])
        config = as_map(json_of(row["model_config_json"]).value)
        start = {
            "title": title,
            "cwd": text_or_none(row["working_dir"]),
            "provider": text_or_none(row["provider_name"]),
            "model": text_or_none(config.get("model_name")),
        }
        return Transcript(id=wanted, pieces=pieces, start=start, title=title, cwd=start["cwd"])


class Goose(Delegating):
    """The sessions at a location, which is a database or the file of one."""

    format: ClassVar[str] = FORMAT
    about: ClassVar[str] = "sessions of Goose (SQLite, or its JSONL files)"
    verified: ClassVar[str] = "its published source; no agent was run"

    @classmethod
    def chosen(cls, location: str) -> GooseRows | GooseLines:
        """Open the database, or the file."""
        return (GooseRows if is_database(location) else GooseLines)(location)

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell a database by its tables, a file by its first line."""
        return GooseRows.sniff(probe) or GooseLines.sniff(probe)

    @classmethod
    def places(cls, environ: Mapping[str, str], home: Path) -> Sequence[Path]:
        """Give the folder that has the database, and the files that were kept before."""
        root, data = environ.get("GOOSE_PATH_ROOT"), environ.get("XDG_DATA_HOME")
        if root:
            return (folder_named(root, home) / "data/sessions",)
        folder = folder_named(data, home) if data else home / ".local/share"
        return (folder / "goose/sessions",)


def as_message(role: object, content: object) -> dict[str, Any]:
    """Give a message of Goose with its contents as blocks that everybody knows."""
    return {"role": role, "content": [_block(each) for each in as_list(content)]}


def _block(content: object) -> Any:
    own = as_map(content)
    match own.get("type"):
        case "toolRequest":
            call = as_map(own.get("toolCall"))
            called = as_map(call.get("value")) or call
            return {
                "type": "tool_use",
                "id": own.get("id"),
                "name": called.get("name"),
                "input": called.get("arguments"),
            }
        case "toolResponse":
            return _result(own)
        case "redactedThinking":
            return {**own, "type": "redacted_thinking"}
        case _:
            return content


def _result(own: Mapping[str, Any]) -> dict[str, Any]:
    """Give a result: a list of contents, an object that has one, or the text of an error."""
    result = as_map(own.get("toolResult"))
    value = result.get("value")
    answer = as_map(value)
    said: object = answer.get("content") if "content" in answer else value
    is_error = result.get("status") == "error" or answer.get("isError") is True
    return {
        "type": "tool_result",
        "tool_use_id": own.get("id"),
        "content": result.get("error") if said is None else said,
        "is_error": is_error,
    }


def _is_header(record: Mapping[str, Any]) -> bool:
    is_described = not _HEADER.isdisjoint(record)
    return isinstance(record.get("working_dir"), str) and is_described and "role" not in record


def _is_said(record: Mapping[str, Any]) -> bool:
    return isinstance(record.get("role"), str) and isinstance(record.get("content"), list)


def _told_by_line(_session: Session, _row: int, body: Body) -> Told:
    record = as_map(body)
    if not _is_said(record):
        return Told()
    return Told((as_message(record.get("role"), record.get("content")),))


def _entry(row: Row) -> Entry | LostFile:
    """Give the entry of a row, whose told part is not known without those after it."""
    read = json_of(row["content_json"])
    if read.why or not isinstance(cast("object", read.value), list):
        return lost_row("messages", row["id"], row["content_json"], read.why or "it is no list")
    message = as_message(row["role"], as_list(read.value))
    record = {
        "id": row["id"],
        "role": row["role"],
        "content": as_list(read.value),
        "created": row["created_timestamp"],
        "metadata": json_of(row["metadata_json"]).value,
    }
    return Entry(
        head=head_of(message)[0],
        body=record,
        told=Told((message,)),
        name=str(row["id"]),
        time=time_in(record),
        findings=read.told,
    )


def _is_summary(entry: Entry) -> bool:
    """Tell whether a message is for the model alone, as the summary of a compaction is."""
    seen = as_map(entry.body["metadata"])
    return seen.get("userVisible") is False and seen.get("agentVisible") is True


def _told(entries: Sequence[Entry], summary: int) -> Iterator[Entry]:
    """Say what each message does to the context; `summary` is the place of the last compaction.

    What Goose hides from the model now was in the context until then; what it hides after the
    last compaction never was.
    """
    for place, entry in enumerate(entries):
        seen = as_map(entry.body["metadata"])
        if _is_summary(entry):
            kept = [
                message
                for each in entries[:place]
                if as_map(each.body["metadata"]).get("agentVisible") is not False
                and not _is_summary(each)
                for message in each.told.messages
            ]
            told = Told((*kept, *entry.told.messages), clears=True)
            head = msgspec.structs.replace(entry.head, kind=Kind.COMPACTION, name="compact")
            yield msgspec.structs.replace(entry, told=told, head=head)
        elif place > summary and seen.get("agentVisible") is False:
            yield msgspec.structs.replace(entry, told=Told())
        else:
            yield entry


STORE = Goose
