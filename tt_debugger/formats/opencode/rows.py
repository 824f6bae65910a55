"""opencode.db: sessions, messages and parts as rows, their records as JSON in `data`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Session
from tt_debugger.core.refs import quoted
from tt_debugger.formats.opencode.conversation import Child, Message, transcript_of
from tt_debugger.formats.shared.transcript import LostFile, Transcript
from tt_debugger.formats.shared.transcript_rows import (
    JsonRead,
    Row,
    TranscriptRows,
    json_of,
    lost_row,
)
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.sqlite import Database
from tt_debugger.store import Match, Probe

_SESSION = (
    "id",
    "parent_id",
    "project_id",
    "directory",
    "title",
    "version",
    "revert",
    "time_created",
    "time_updated",
)
_IN_TIME = ("time_created", "id")


class OpencodeRows(TranscriptRows):
    """The sessions in a database of opencode."""

    format: ClassVar[str] = "opencode"
    about: ClassVar[str] = "sessions of opencode (SQLite)"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by its tables."""
        if (
            has_columns(probe, "session", "id", "directory", "time_created")
            and has_columns(probe, "message", "id", "session_id", "data")
            and has_columns(probe, "part", "id", "message_id", "data")
        ):
            return Match(95, "the tables session, message and part of opencode")
        return None

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        found = self.rows(
            database, "session", ["id"], order=["time_updated", "time_created", "id"]
        )
        return [each["id"] for each in found if isinstance(each["id"], str)]

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give a session with its messages in the order of their time."""
        found = self.rows(database, "session", _SESSION, where={"id": wanted})
        row: Row = next(found, dict.fromkeys(_SESSION))
        parts: dict[str, list[Row]] = {}
        columns = ["id", "message_id", "time_created", "data"]
        mine = {"session_id": wanted}
        for part in self.rows(database, "part", columns, order=_IN_TIME, where=mine):
            parts.setdefault(str(part["message_id"]), []).append(part)
        messages = self.rows(
            database, "message", ["id", "time_created", "data"], order=_IN_TIME, where=mine
        )
        found = [each for message in messages for each in _message(message, parts)]
        children = self.rows(
            database,
            "session",
            ["id", "time_created"],
            order=_IN_TIME,
            where={"parent_id": wanted},
        )
        return transcript_of(
            _session(row),
            found,
            [Child(str(each["id"]), _seconds(each["time_created"])) for each in children],
        )

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of a session that this one started: it is in the same database."""
        is_here = name in self.names(self._database)
        return f"{self.location}#{quoted(name)}:" if is_here else None


def _message(row: Row, parts: dict[str, list[Row]]) -> Iterator[Message | LostFile]:
    """Give a message with the parts that can be read, and what is lost of it."""
    name = str(row["id"])
    read = json_of(row["data"])
    if not _is_object(read):
        yield lost_row("message", name, row["data"], read.why or "it is no object")
        return
    found: list[dict[str, Any]] = []
    told = read.told
    for part in parts.get(name, ()):
        said = json_of(part["data"])
        if _is_object(said):
            found.append({"id": part["id"], **as_map(said.value)})
            told += said.told
        else:
            yield lost_row("part", part["id"], part["data"], said.why or "it is no object")
    info = {"id": name, **as_map(read.value)}
    if "time" not in info:
        info["time"] = {"created": row["time_created"]}
    yield Message(name, info, found, told)


def _is_object(read: JsonRead) -> bool:
    value: object = read.value
    return isinstance(value, dict)


def _session(row: Row) -> dict[str, Any]:
    """Give a session by the names that its record has in a file."""
    return {
        "id": row["id"],
        "parentID": row["parent_id"],
        "directory": text_or_none(row["directory"]),
        "title": text_or_none(row["title"]),
        "revert": json_of(row["revert"]).value,
    }


def _seconds(value: object) -> float | None:
    return value / 1000 if isinstance(value, (int, float)) else None
