"""Google ADK: sessions in the database of its session service, with what was rewound.

An event is a row, its record JSON in one column. The state is what the events set, one after the
other; the tables of states hold only what it is in the end. Databases of before have a column for
each part of an event, and a pickle for what it did: there the state is known in the end alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.changes import Put
from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.json import as_map
from tt_debugger.formats.google_adk.events import deltas_of
from tt_debugger.formats.google_adk.line import SCOPES, Line
from tt_debugger.formats.shared.opaque import opaque
from tt_debugger.formats.shared.transcript import Entry, Piece, Transcript
from tt_debugger.formats.shared.transcript_rows import Row, TranscriptRows, json_of, lost_row
from tt_debugger.storage.probe import has_columns
from tt_debugger.storage.sqlite import Database
from tt_debugger.storage.tables import Value
from tt_debugger.store import Match, Probe

_SESSION = ("app_name", "user_id", "id")
_OLD_TEXTS = ("id", "invocation_id", "author", "branch", "error_code", "error_message")
_OLD_FLAGS = ("partial", "turn_complete", "interrupted")
_OLD_JSON = (
    *("content", "grounding_metadata", "custom_metadata", "usage_metadata", "citation_metadata"),
    *("long_running_tool_ids_json", "input_transcription", "output_transcription"),
)
_OLD = (*_OLD_TEXTS, *_OLD_FLAGS, *_OLD_JSON, "timestamp", "actions")


class GoogleAdk(TranscriptRows):
    """The sessions in a database of ADK."""

    format: ClassVar[str] = "google_adk"
    about: ClassVar[str] = "sessions of Google ADK, with what was rewound (SQLite)"
    verified: ClassVar[str] = "a database of ADK 2.13; the older schema by its source"

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Tell such a database by its tables."""
        if has_columns(probe, "sessions", *_SESSION, "state") and has_columns(
            probe, "events", "app_name", "user_id", "session_id", "invocation_id"
        ):
            return Match(95, "the tables sessions and events of Google ADK")
        return None

    def names(self, database: Database) -> Sequence[str]:
        """Give the ids of all sessions, the one that was written to last at the end."""
        return list(self._sessions(database))

    def transcript(self, database: Database, wanted: str) -> Transcript:
        """Give the events of a session in the order in which ADK reads them."""
        own = self._sessions(database)[wanted]
        app, user, name = (own[key] for key in _SESSION)
        ended = {
            **self._scoped(database, "sessions", "", {key: own[key] for key in _SESSION}),
            **self._scoped(database, "app_states", "app:", {"app_name": app}),
            **self._scoped(database, "user_states", "user:", {"app_name": app, "user_id": user}),
        }
        where = {"app_name": app, "user_id": user, "session_id": name}
        events = database.tables.get("events")
        is_old = events is not None and "event_data" not in events.columns
        columns = _OLD if is_old else ("id", "timestamp", "event_data")
        rows = self.rows(database, "events", columns, order=["timestamp", "id"], where=where)
        if is_old:
            pieces, findings = _old_pieces(rows, ended)
            start: Mapping[str, Any] = {}
        else:
            start, pieces, findings = _pieces(list(rows), ended)
        return Transcript(
            id=wanted,
            pieces=pieces,
            start={"state": start, "artifacts": {}},
            title=f"{app} of {user}",
            findings=findings,
        )

    def _sessions(self, database: Database) -> dict[str, Row]:
        """Give the sessions by their ids, with app and user where an id alone is that of several.

        What was written to last comes last.
        """
        order = ["update_time", "create_time", "id"]
        found = list(self.rows(database, "sessions", _SESSION, order=order))
        count = Counter(each["id"] for each in found)
        return {
            str(each["id"])
            if count[each["id"]] == 1
            else "/".join(str(each[key]) for key in _SESSION): each
            for each in found
        }

    def _scoped(
        self, database: Database, table: str, scope: str, where: Mapping[str, Value]
    ) -> dict[str, Any]:
        """Give what a table holds of a state, by the keys that it has in that of a session."""
        found = self.rows(database, table, ["state"], where=where)
        values = (as_map(json_of(each["state"]).value) for each in found)
        return {f"{scope}{key}": value for each in values for key, value in each.items()}


def _pieces(
    rows: Sequence[Row], ended: Mapping[str, Any]
) -> tuple[Mapping[str, Any], list[Piece], tuple[Finding, ...]]:
    """Give the state before all events, the events, and what does not fit together.

    What no event sets was there from the start, where it is of the session; what is shared with
    other sessions may have been set by these at any time.
    """
    read = [(row, json_of(row["event_data"])) for row in rows]
    events = [as_map(each.value) for _, each in read]
    touched = {key for each in events for key, _ in deltas_of(each, "state_delta")}
    start = {key: value for key, value in ended.items() if key not in touched}
    line = Line(start)
    for (row, each), event in zip(read, events, strict=True):
        if each.why or not event:
            why = each.why or "it is no object"
            line.lose(lost_row("events", row["id"], row["event_data"], why))
            continue
        body = {"id": row["id"], "timestamp": row["timestamp"], **event}
        line.take(body, body, each.told)
    told: list[Finding] = []
    guessed = [key for key in start if key.startswith(SCOPES)]
    if guessed:
        what = f"no event of the session sets {_listed(guessed)}: shown as it is now"
        told.append(finding(Code.GUESSED, what, hint="other sessions may have set it since"))
    others = [
        key
        for key in sorted(touched)
        if not key.startswith(SCOPES) and line.state.get(key) != ended.get(key)
    ]
    if others:
        what = f"the events set {_listed(others)} to something else than the session has"
        told.append(finding(Code.GUESSED, what, severity=Severity.WARNING))
    return start, line.pieces, tuple(told)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 4} more" if len(names) > 4 else ""  # noqa: PLR2004 - enough to see
    return ", ".join(f"{each:.40}" for each in names[:4]) + more


def _old_pieces(
    rows: Iterator[Row], ended: Mapping[str, Any]
) -> tuple[list[Piece], tuple[Finding, ...]]:
    """Give the events of an older database, of which the last one has the state of all."""
    line = Line({})
    count = 0
    for row in rows:
        event, told = _old_event(row)
        count += isinstance(row["actions"], bytes)
        line.take(event, event, told)
    if line.pieces and isinstance(last := line.pieces[-1], Entry):
        puts = tuple(Put(("state", key), value) for key, value in ended.items())
        changed = msgspec.structs.replace(last.told, changes=puts)
        line.pieces[-1] = msgspec.structs.replace(last, told=changed)
    if not count:
        return line.pieces, ()
    what = f"what {count} events did is pickled and not read: the state is known in the end alone"
    return line.pieces, (finding(Code.OPAQUE, what, hint="rewinds are not shown as branches"),)


def _old_event(row: Row) -> tuple[dict[str, Any], tuple[Finding, ...]]:
    """Give an event of one column for each of its parts as the record that it is today."""
    event: dict[str, Any] = {"timestamp": row["timestamp"]}
    event |= {key: row[key] for key in _OLD_TEXTS if row[key] is not None}
    event |= {key: bool(row[key]) for key in _OLD_FLAGS if row[key] is not None}
    told: list[Finding] = []
    for key in _OLD_JSON:
        read = json_of(row[key])
        if read.why:
            told.append(finding(Code.UNREADABLE, f"{key}: {read.why}"))
        elif read.value is not None:
            event[key] = read.value
            told += read.told
    actions = row["actions"]
    if isinstance(actions, bytes):
        event["actions"] = opaque("pickle", actions)
    return event, tuple(told)


STORE = GoogleAdk
