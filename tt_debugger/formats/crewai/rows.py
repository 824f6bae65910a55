"""CrewAI's databases: the states that a flow kept after each method, and checkpoints of runs.

A flow's table has a row for each method that ended; a row for which a person is waited for stands
in another table. Checkpoints are kept as JSONB, which not every SQLite can read.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.replay import Body, Rules
from tt_debugger.core.text import summary_line
from tt_debugger.formats.crewai.checkpoints import (
    MAIN,
    Named,
    checkpoint,
    labelled,
    parents_first,
    time_of,
)
from tt_debugger.formats.shared.jsonb import json_text
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.transcript import Entry, LostFile, Piece, Transcript
from tt_debugger.formats.shared.transcript_rows import (
    JsonRead,
    Row,
    TranscriptRows,
    json_of,
    lost_row,
)
from tt_debugger.formats.shared.whole_states import WholeStates
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.sqlite import Database
from tt_debugger.storage.tables import Value
from tt_debugger.store import Match, Probe

_FLOW = ("id", "method_name", "timestamp", "state_json")
_CHECKPOINT = ("id", "parent_id", "branch", "data")
_STATE = "state"


class CrewaiRows(TranscriptRows):
    """The flows in a database, and the checkpoints in it as one session."""

    format: ClassVar[str] = "crewai"
    about: ClassVar[str] = "flows and checkpoints of CrewAI (SQLite)"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by its tables."""
        if has_columns(probe, "flow_states", "flow_uuid", *_FLOW):
            return Match(95, "the table flow_states of CrewAI")
        if has_columns(probe, "checkpoints", *_CHECKPOINT):
            return Match(94, "the table checkpoints of CrewAI, with branches")
        return None

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all flows, the one that was written to last at the end.

        The checkpoints are one session, which is called as the database: any number of runs may
        have written to it, and none says which it was.
        """
        rows = self.rows(database, "flow_states", ["flow_uuid"], order=["id"])
        found = [each["flow_uuid"] for each in rows]
        last_first = [each for each in reversed(found) if isinstance(each, str)]
        own = [self._own_name()] if _has_checkpoints(database) else []
        return [*own, *reversed(dict.fromkeys(last_first))]

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give the states of a flow, or all checkpoints."""
        if _has_checkpoints(database) and wanted == self._own_name():
            return self._checkpoints(database, wanted)
        where = {"flow_uuid": wanted}
        rows = self.rows(database, "flow_states", _FLOW, order=["id"], where=where)
        pieces: list[Piece] = [_flow_state(each) for each in rows]
        waiting = self.rows(
            database,
            "pending_feedback",
            ["id", "context_json", "state_json", "created_at"],
            where=where,
        )
        pieces += map(_waiting, waiting)
        return Transcript(id=wanted, pieces=pieces)

    def rules(self, session: Session, *, uncompacted: bool = False) -> Rules:
        """Give the rules: each record has a state that is whole."""
        return WholeStates(_held)

    def _own_name(self) -> str:
        return PurePath(self.location).stem

    def _checkpoints(self, database: Database, wanted: str) -> Transcript:
        columns = (*_CHECKPOINT, "created_at")
        rows = self.rows(database, "checkpoints", columns, order=["created_at", "id"])
        found = {str(each["id"]): each for each in rows}
        named = parents_first([_named(name, each) for name, each in found.items()])
        pieces = [_checkpoint(each, found[each.id]) for each in named]
        return Transcript(id=wanted, pieces=labelled(pieces, named))


def _has_checkpoints(database: Database) -> bool:
    table = database.tables.get("checkpoints")
    return table is not None and set(_CHECKPOINT) <= set(table.columns)


def _held(body: Body) -> dict[str, Any]:
    """Give the state that a record holds."""
    record = as_map(body)
    return as_map(record.get("data", record.get(_STATE)))


def _flow_state(row: Row) -> Entry | LostFile:
    read = json_of(row["state_json"])
    if not _is_object(read):
        return lost_row("flow_states", row["id"], row["state_json"], read.why or "it is no object")
    state = as_map(read.value)
    name = text_or_none(row["method_name"]) or "state"
    body = {
        "id": row["id"],
        "method_name": name,
        "timestamp": row["timestamp"],
        _STATE: state,
    }
    return Entry(
        head=Head(Kind.SNAPSHOT, None, summary_line(name, 40), _summary(state)),
        body=body,
        name=str(row["id"]),
        time=time_in(body),
        findings=read.told,
    )


def _waiting(row: Row) -> Entry | LostFile:
    """Give the point at which a flow waits for a person."""
    read, context = json_of(row["state_json"]), json_of(row["context_json"])
    if not _is_object(read):
        why = read.why or "it is no object"
        return lost_row("pending_feedback", row["id"], row["state_json"], why)
    told = (finding(Code.UNREADABLE, f"context_json: {context.why}"),) if context.why else ()
    said = text_or_none(as_map(context.value).get("message")) or ""
    body = {
        "id": row["id"],
        "created_at": row["created_at"],
        "context": context.value,
        _STATE: as_map(read.value),
    }
    return Entry(
        head=Head(Kind.INTERRUPT, None, "feedback", summary_line(said)),
        body=body,
        name=f"feedback-{row['id']}",
        time=time_in(body),
        findings=(*read.told, *context.told, *told),
    )


def _named(name: str, row: Row) -> Named:
    time = time_in({"time": row["created_at"]}) or time_of(name)
    return Named(name, text_or_none(row["parent_id"]), str(row["branch"] or MAIN), time)


def _checkpoint(named: Named, row: Row) -> Entry | LostFile:
    read = _json_or_jsonb(row["data"])
    if not _is_object(read):
        return lost_row("checkpoints", named.id, row["data"], read.why or "it is no object")
    state = as_map(read.value)
    entry = checkpoint(named, state, {**row, "data": state})
    return msgspec.structs.replace(entry, findings=read.told)


def _json_or_jsonb(data: Value) -> JsonRead:
    """Read what is JSON as text, or as what SQLite makes of it."""
    if not isinstance(data, bytes) or data[:1] == b"{":
        return json_of(data)
    try:
        return json_of(json_text(data))
    except ValueError as error:
        return JsonRead(why=str(error))


def _is_object(read: JsonRead) -> bool:
    value: object = read.value
    return isinstance(value, dict)


def _summary(state: dict[str, Any]) -> str:
    shown = (f"{key} {each}" for key, each in state.items() if key != "id" and _is_short(each))
    return summary_line(" · ".join(shown) or ", ".join(state))


def _is_short(value: Any) -> bool:
    return isinstance(value, (int, float)) or (isinstance(value, str) and 0 < len(value) < 40)  # noqa: PLR2004 - a word or two
