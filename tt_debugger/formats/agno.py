"""Agno: sessions as rows, and each of their runs with its messages, the state and what was used.

A run is a turn. What a team's member did is a run of its own, that names the one it is part of:
it stands beside the line of the session. Before version 3 the runs stood in a column of their
session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.between import changes_between
from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind, Usage
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.renamed import table_in, table_with
from tt_debugger.formats.shared.tokens import counted_tokens, told_dollars
from tt_debugger.formats.shared.transcript import Entry, LostFile, Piece, Told, Transcript
from tt_debugger.formats.shared.transcript_rows import Row, TranscriptRows, json_of, lost_row
from tt_debugger.storage.probe import DatabaseProbe
from tt_debugger.storage.sqlite import Database
from tt_debugger.store import Match, Probe

_SESSION = ("session_id", "session_type", "session_data")
_RUN = ("run_id", "session_id", "run_index", "run_data")
_COLUMNS = ("run_id", "parent_run_id", "run_type", "status", "run_index", "created_at", "run_data")
_FAILED = frozenset(("error", "cancelled"))
_PAUSED = "paused"
_SESSIONS = "agno_sessions"
_RUNS = "agno_runs"
_STATE = "session_state"


class Agno(TranscriptRows):
    """The sessions in a database of Agno."""

    format: ClassVar[str] = "agno"
    about: ClassVar[str] = "sessions of Agno, run by run (SQLite)"
    verified: ClassVar[str] = "a database of Agno 3.1; runs of version 2 by its source"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by the columns of its tables, whatever these are called."""
        if not isinstance(probe, DatabaseProbe):
            return None
        tables = dict(probe.tables)
        table = table_with(tables, _SESSION, _SESSIONS)
        runs = table_with(tables, _RUN, _RUNS)
        if table is None or (runs is None and "runs" not in tables[table]):
            return None
        return Match(95, f"the table {table:.40} has sessions of Agno")

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        order = ["updated_at", "created_at", "session_id"]
        rows = self.rows(
            database, table_in(database, _SESSION, _SESSIONS), ["session_id"], order=order
        )
        return [each["session_id"] for each in rows if isinstance(each["session_id"], str)]

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give the runs of a session: those of the session itself, each with its parts behind."""
        columns = (*_SESSION, "runs", "agent_id", "team_id", "workflow_id")
        where = {"session_id": wanted}
        rows = self.rows(database, table_in(database, _SESSION, _SESSIONS), columns, where=where)
        own = next(rows, None) or dict.fromkeys(columns)
        table = table_in(database, _RUN, _RUNS)
        order = ["run_index", "created_at", "run_id"]
        found = self.rows(database, table, _COLUMNS, order=order, where=where)
        runs = [_run(each) for each in found]
        # What was moved to a table of its own may still stand where it was.
        moved = {each.id for each in runs if isinstance(each, _Run)}
        older = [
            each
            for each in _runs_of_session(own)
            if not (isinstance(each, _Run) and each.id in moved)
        ]
        pieces, active = _pieces([*older, *runs])
        names = (own[key] for key in ("agent_id", "team_id", "workflow_id") if own[key])
        agent = next(names, None)
        data = as_map(json_of(own["session_data"]).value)
        title = text_or_none(data.get("session_name")) or text_or_none(agent)
        return Transcript(
            id=wanted,
            pieces=pieces,
            active=active,
            start={"title": title, _STATE: None},
            title=title,
        )


class _Run(msgspec.Struct, frozen=True):
    """A run as it was read: its record, and what its row says of it."""

    id: str
    parent: str | None
    data: dict[str, Any]
    body: dict[str, Any]
    told: tuple[Finding, ...] = ()


def _run(row: Row) -> _Run | LostFile:
    name = str(row["run_id"])
    read = json_of(row["run_data"])
    value: object = read.value
    if not isinstance(value, dict):
        return lost_row(_RUNS, name, row["run_data"], read.why or "it is no object")
    data = as_map(read.value)
    parent = text_or_none(row["parent_run_id"]) or text_or_none(data.get("parent_run_id"))
    body = {**row, "run_data": data}
    return _Run(name, parent, data, body, read.told)


def _runs_of_session(row: Row) -> Iterator[_Run | LostFile]:
    """Give the runs that stand in the row of their session."""
    read = json_of(row["runs"])
    # Some versions wrote JSON, and some a text that is JSON.
    if isinstance(read.value, str):
        read = json_of(read.value)
    if read.why:
        yield lost_row(_SESSIONS, row["session_id"], row["runs"], read.why)
    for place, each in enumerate(as_list(read.value)):
        data = as_map(each)
        name = text_or_none(data.get("run_id")) or f"run-{place + 1}"
        parent = text_or_none(data.get("parent_run_id"))
        yield _Run(name, parent, data, data, () if place else read.told)


def _pieces(found: Sequence[_Run | LostFile]) -> tuple[list[Piece], int | None]:
    """Give the runs of the line, each followed by those that are parts of it, and the last one."""
    known = {each.id for each in found if isinstance(each, _Run)}
    parts: dict[str, list[_Run]] = {}
    line: list[_Run | LostFile] = []
    for each in found:
        if isinstance(each, _Run) and each.parent in known and each.parent != each.id:
            parts.setdefault(each.parent or "", []).append(each)
        else:
            line.append(each)
    taken = _Taken()
    last: int | None = None
    for each in line:
        if isinstance(each, LostFile):
            taken.pieces.append(each)
            continue
        last = taken.add(each, last)
        waiting = [(part, last) for part in reversed(parts.pop(each.id, []))]
        while waiting:
            part, above = waiting.pop()
            place = taken.add(part, above)
            waiting += ((inner, place) for inner in reversed(parts.pop(part.id, [])))
    # What is a part of itself stands alone.
    for each in (run for runs in parts.values() for run in runs):
        taken.add(each, None)
    return taken.pieces, last


class _Taken:
    """The runs that were taken, and what each leaves for those behind it."""

    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._states: list[Any] = []
        self._systems: list[Any] = []

    def add(self, run: _Run, above: int | None) -> int:
        """Add a run behind another one; give its place."""
        system = None if above is None else self._systems[above]
        before = None if above is None else self._states[above]
        state = run.data.get(_STATE, before)
        messages, system = _own_messages(run, system)
        puts = {
            key: run.data[name]
            for key, name in (("model", "model"), ("provider", "model_provider"))
            if isinstance(run.data.get(name), str)
        }
        self._states.append(state)
        self._systems.append(system)
        self.pieces.append(
            Entry(
                head=_head(run),
                body=run.body,
                told=Told(
                    messages,
                    puts=puts,
                    changes=tuple(changes_between({_STATE: before}, {_STATE: state})),
                ),
                own_id=run.id,
                above=above,
                parent=None,
                time=time_in(run.data) or time_in(run.body),
                findings=run.told,
            )
        )
        return len(self._states) - 1


def _own_messages(run: _Run, system: Any) -> tuple[tuple[dict[str, Any], ...], Any]:
    """Give the messages that a run added, and the content of its system message.

    That is sent with each run; where it is what it was, it is not said again.
    """
    messages: list[dict[str, Any]] = []
    for each in map(as_map, as_list(run.data.get("messages"))):
        is_said = each.get("role") == "system" and each.get("content") == system
        if each.get("from_history") is True or is_said:
            continue
        if each.get("role") == "system":
            system = each.get("content")
        messages.append(_message(each))
    return tuple(messages), system


def _message(message: dict[str, Any]) -> dict[str, Any]:
    """Give a message as it is; the result of a tool with its name and whether it failed."""
    if message.get("role") != "tool":
        return message
    named = {"name": message["tool_name"]} if "tool_name" in message else {}
    failed = {"is_error": True} if message.get("tool_call_error") is True else {}
    return {**named, **message, **failed}


def _head(run: _Run) -> Head:
    status = run.body.get("status", run.data.get("status"))
    state = status.lower() if isinstance(status, str) else ""
    content = run.data.get("content")
    said = content if isinstance(content, str) else _asked(run.data)
    return Head(
        Kind.INTERRUPT if state == _PAUSED else Kind.TURN,
        None,
        "paused" if state == _PAUSED else text_or_none(run.body.get("run_type")) or "run",
        summary_line(said),
        usage=_usage(as_map(run.data.get("metrics"))),
        failed=state in _FAILED,
    )


def _asked(data: Mapping[str, Any]) -> str:
    """Give what a run was asked, which is not what runs before were."""
    messages = map(as_map, as_list(data.get("messages")))
    asked = (
        each.get("content")
        for each in messages
        if each.get("role") == "user" and each.get("from_history") is not True
    )
    return next((each for each in asked if isinstance(each, str)), "")


def _usage(metrics: Mapping[str, Any]) -> Usage | None:
    counts = [counted_tokens(metrics.get(f"{name}_tokens")) for name in _COUNTED]
    if not any(counts):
        return None
    entered, output, cached, written, total = counts
    cached, written = min(cached, entered), min(written, entered)
    cost = told_dollars(metrics.get("cost")) or 0.0
    fresh = max(entered - cached - written, 0)
    return Usage(fresh, output, cached, written, total or entered + output, cost)


_COUNTED = ("input", "output", "cache_read", "cache_write", "total")


STORE = Agno
