"""DBOS: workflows in its system database, each step a row with what it gave.

A workflow that was forked from another one begins with copies of its steps. What went in and came
out is a pickle unless the program says otherwise: it is told by its size and digest. Events and
streams stand at the step that wrote them, a message at the step that took it.
"""

from __future__ import annotations

import base64
import binascii
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.changes import Append, Change, Put
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import text_or_none
from tt_debugger.core.model import Head, Kind, Session
from tt_debugger.core.refs import quoted
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.formats.shared.transcript import Entry, Told, Transcript
from tt_debugger.formats.shared.transcript_rows import Row, TranscriptRows, json_of
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.sqlite import Database
from tt_debugger.store import Match, Probe

_STATUS = (
    *("workflow_uuid", "status", "name", "class_name", "config_name", "queue_name"),
    *("authenticated_user", "executor_id", "application_version", "application_id"),
    *("created_at", "updated_at", "recovery_attempts", "forked_from", "parent_workflow_id"),
    *("serialization", "inputs", "output", "error"),
)
_STEP = (
    *("function_id", "function_name", "output", "error", "child_workflow_id"),
    *("started_at_epoch_ms", "completed_at_epoch_ms", "serialization"),
)
_INPUT = ("inputs",)
_OUTPUT = ("output", "error")
_EMPTY: Mapping[str, Any] = {"steps": [], "events": {}, "streams": {}, "received": []}
_PICKLED = "py_pickle"
_BEGINS_PICKLE = b"\x80"
_FAILED = frozenset(("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"))
_ENDED = _FAILED | {"SUCCESS"}
_LONGEST_NAME = 40
_MOST = 1 << 31
"""Beyond it nothing is the number of a step."""


class Dbos(TranscriptRows):
    """The workflows in a system database."""

    format: ClassVar[str] = "dbos"
    about: ClassVar[str] = "workflows of DBOS, step by step (SQLite)"
    verified: ClassVar[str] = "a system database of DBOS 3.4"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by its tables."""
        if has_columns(probe, "workflow_status", "workflow_uuid", "status") and has_columns(
            probe, "operation_outputs", "workflow_uuid", "function_id"
        ):
            return Match(95, "the tables workflow_status and operation_outputs of DBOS")
        return None

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all workflows, the one that was written to last at the end."""
        order = ["updated_at", "created_at", "workflow_uuid"]
        rows = self.rows(database, "workflow_status", ["workflow_uuid"], order=order)
        return [each["workflow_uuid"] for each in rows if isinstance(each["workflow_uuid"], str)]

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give what went into a workflow, its steps, and what came out."""
        where = {"workflow_uuid": wanted}
        status: dict[str, Any] = dict.fromkeys(_STATUS)
        for row in self.rows(database, "workflow_status", _STATUS, where=where):
            status |= row
        # Newer versions keep what is long in tables of their own.
        for table, columns in (("workflow_input", _INPUT), ("workflow_output", _OUTPUT)):
            for row in self.rows(database, table, columns, where=where):
                status |= {key: each for key, each in row.items() if each is not None}
        values = _Values()
        steps = self.rows(database, "operation_outputs", _STEP, order=["function_id"], where=where)
        entries = [_begun(status, values), *(_step(each, values) for each in steps)]
        written = self._written(database, wanted, values)
        entries = [*_with_written(entries, written), *_ended(status, values)]
        last = entries[-1]
        puts = {**last.told.puts, "status": status["status"]}
        told = msgspec.structs.replace(last.told, puts=puts)
        entries[-1] = msgspec.structs.replace(last, told=told)
        name = text_or_none(status["name"])
        return Transcript(
            id=wanted,
            pieces=entries,
            start={"title": name, "status": None, "input": None, "output": None, **_EMPTY},
            title=name,
            forked_from=text_or_none(status["forked_from"]),
            findings=values.findings,
        )

    def subsession(self, session: Session, name: str) -> str | None:
        """Give the location of a workflow that a step started: it is in the same database."""
        is_here = name in self.names(self._database)
        return f"{self.location}#{quoted(name)}:" if is_here else None

    def _written(
        self, database: Database, wanted: str, values: _Values
    ) -> list[tuple[int | None, Change]]:
        """Give what is kept beside the steps, each with the number of its step, None for none."""
        found: list[tuple[int | None, Change]] = []
        where = {"workflow_uuid": wanted}
        names = ("function_id", "key", "value", "serialization")
        history = self.rows(
            database, "workflow_events_history", names, order=["function_id", "key"], where=where
        )
        known: set[str] = set()
        for row in (*history, *self.rows(database, "workflow_events", names, where=where)):
            key = str(row["key"])
            if row["function_id"] is not None or key not in known:
                known.add(key)
                found.append((_number(row), Put(("events", key), values.of(row, "value"))))
        columns = (*names, "offset")
        order = ["key", "offset"]
        streams = self.rows(database, "streams", columns, order=order, where=where)
        begun: set[str] = set()
        # The list of a stream must be there before anything is added to it.
        for row in sorted(streams, key=lambda each: _number(each) or 0):
            key, value = str(row["key"]), values.of(row, "value")
            path = ("streams", key)
            change = Append(path, value) if key in begun else Put(path, [value])
            found.append((_number(row) or 0, change))
            begun.add(key)
        messages = self.rows(
            database,
            "notifications",
            ("topic", "message", "serialization", "consumed_by_function_id"),
            order=["created_at_epoch_ms", "message_uuid"],
            where={"destination_uuid": wanted},
        )
        for row in messages:
            message = {"topic": row["topic"], "message": values.of(row, "message")}
            number = _number(row, "consumed_by_function_id")
            found.append((number, Append(("received",), message)))
        return found


class _Values:
    """Reads what columns hold as DBOS serialized it, and counts what stays sealed."""

    def __init__(self) -> None:
        self._sealed = 0

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What is to be said of all that is not read."""
        if not self._sealed:
            return ()
        what = f"{self._sealed} values are pickled and not read: size and digest are shown"
        return (finding(Code.OPAQUE, what, hint="DBOS can be told to write JSON"),)

    def of(self, row: Row, column: str) -> Any:
        """Give what a column of a row holds."""
        value = row[column]
        if not isinstance(value, (str, bytes)):
            return value
        data = value.encode() if isinstance(value, str) else value
        if row["serialization"] != _PICKLED:
            read = json_of(value)
            if not read.why:
                return read.value
            decoded = _decoded(data)
            if decoded is None or decoded[:1] != _BEGINS_PICKLE:
                return data.decode(errors="replace")
        self._sealed += 1
        return opaque("pickle", _decoded(data) or data)


def _decoded(data: bytes) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except binascii.Error:
        return None


def _number(row: Row, column: str = "function_id") -> int | None:
    number = row[column]
    return number if isinstance(number, int) else None


def _begun(status: Row, values: _Values) -> Entry:
    """Give the entry of a workflow that begins, with its input."""
    given = values.of(status, "inputs")
    body = {key: each for key, each in status.items() if key not in _OUTPUT and each is not None}
    name = text_or_none(status["name"]) or "workflow"
    return Entry(
        head=Head(Kind.CUSTOM, None, "begin", summary_line(f"{name} {_shown(given)}".rstrip())),
        body={**body, "inputs": given},
        told=Told(puts={"input": given}),
        name="input",
        time=time_in({"time": status["created_at"]}),
    )


def _step(row: Row, values: _Values) -> Entry:
    """Give the entry of a step, which is added to the steps of the state."""
    name = text_or_none(row["function_name"]) or "step"
    number, child = row["function_id"], text_or_none(row["child_workflow_id"])
    output, error = values.of(row, "output"), values.of(row, "error")
    told = {"function_id": number, "name": name, "output": output}
    told |= {"error": error} if error is not None else {}
    told |= {"child_workflow_id": child} if child else {}
    shown = output if error is None else error
    return Entry(
        head=Head(
            Kind.SUPER_STEP,
            None,
            summary_line(name, _LONGEST_NAME),
            summary_line(_shown(shown)),
            None,
            number if isinstance(number, int) and abs(number) < _MOST else None,
            failed=error is not None,
        ),
        body={**row, "output": output, "error": error},
        told=Told(changes=(Append(("steps",), told),)),
        name=str(number),
        time=time_in({"time": row["completed_at_epoch_ms"] or row["started_at_epoch_ms"]}),
        subsessions=(child,) if child else (),
    )


def _ended(status: Row, values: _Values) -> Iterator[Entry]:
    """Give the entry of what came out of a workflow, if it has ended."""
    if status["status"] not in _ENDED:
        return
    output, error = values.of(status, "output"), values.of(status, "error")
    puts = {"output": output} if error is None else {"output": output, "error": error}
    shown = _shown(output if error is None else error)
    yield Entry(
        head=Head(
            Kind.CUSTOM,
            None,
            "end",
            summary_line(f"{status['status']} {shown}".rstrip()),
            failed=status["status"] in _FAILED,
        ),
        body={"status": status["status"], "output": output, "error": error},
        told=Told(puts=puts),
        name="output",
        time=time_in({"time": status["updated_at"]}),
    )


def _with_written(
    entries: Sequence[Entry], written: Sequence[tuple[int | None, Change]]
) -> list[Entry]:
    """Give entries with what else was written, at its step or the last one before.

    What no step is known of is at the last one.
    """
    numbers = [each.head.step or 0 for each in entries]
    # The least number from each entry on: these ascend, so that the last entry whose own number
    # is not greater is soon found, whatever order the steps have.
    least = list(accumulate(reversed(numbers), min))[::-1]
    changes: list[list[Change]] = [[] for _ in entries]
    for number, change in written:
        at = numbers[-1] if number is None else number
        changes[max(bisect_right(least, at) - 1, 0)].append(change)
    return [
        msgspec.structs.replace(
            each, told=msgspec.structs.replace(each.told, changes=(*each.told.changes, *more))
        )
        for each, more in zip(entries, changes, strict=True)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, dict) and "$opaque" in value:
        return f"{value['$opaque']}, {value['size']} bytes"
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


STORE = Dbos
