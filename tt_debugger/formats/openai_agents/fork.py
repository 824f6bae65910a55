"""Forks of sessions of the OpenAI Agents SDK: the items up to a point, as those of a new session.

Where the session has branches, the new one begins with its only branch, `main`: a branch that is
added to the old session would not be the one with which the agent goes on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.fork.plan import Draft, Plan, other_edits
from tt_debugger.core.fork.transcripts import Added, Kept, Left, Part, Rewritten, parts_of
from tt_debugger.core.fork.writes import How, Insert, NewRows
from tt_debugger.core.json import as_map
from tt_debugger.core.replay import Body, Replay
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.column_bytes import bytes_of
from tt_debugger.formats.shared.fork_rows import copy_for
from tt_debugger.formats.shared.fork_states import name_of_fork
from tt_debugger.formats.shared.json_text import with_value, written
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.time_forms import time_like
from tt_debugger.storage.sqlite import Database
from tt_debugger.storage.tables import Value

STRUCTURE = "message_structure"
USUAL_SESSIONS, USUAL_MESSAGES = "agent_sessions", "agent_messages"
MAIN = "main"

Row = Mapping[str, Value]

_decode = msgspec.json.decode


def draft(
    database: Database,
    tables: tuple[str | None, str],
    bodies: Sequence[Body],
    replay: Replay,
    plan: Plan,
) -> Draft:
    """Give the rows that a fork would add. Raises UnsupportedError, UsageError.

    `tables` are those of the sessions, if there is one, and of the items; `bodies` are those of
    all rows of the session.
    """
    copy = copy_for(database.location, plan)
    if plan.in_place:
        raise UnsupportedError(
            "the agent always begins with the branch main: it would not go on from a new one",
            "leave out --in-place: the fork is a session of its own",
        )
    for key in other_edits(plan):
        raise UnsupportedError(f"{key} cannot be edited: a session has nothing but its items")
    making = _Making(database, tables, replay, plan)
    inserts = tuple(making.inserts(bodies, parts_of(replay, plan)))
    location = copy or database.location
    return Draft(
        writes=(NewRows(database.location, inserts, copy),),
        location=location,
        session=making.name,
        point=making.point,
        resume_command=_resumed(making, location),
        notes=tuple(making.notes),
        own=("usage",),
    )


class _Making:
    """The rows of a new session."""

    def __init__(
        self, database: Database, tables: tuple[str | None, str], replay: Replay, plan: Plan
    ) -> None:
        self._database, self._plan = database, plan
        self.sessions, self.messages = tables
        self._before = replay.session.id
        self.name = name_of_fork(self._before, plan.fresh)
        self.point = ""
        self.notes: list[str] = []
        self._structure = {each["message_id"]: each for each in self._rows(STRUCTURE)}
        self.has_branches = bool(self._structure)
        self._items = {each["id"]: each for each in self._rows(self.messages)}

    def _rows(self, table: str | None) -> list[Row]:
        """Give the rows of the original session in a table, with all their columns."""
        known = self._database.tables.get(table or "")
        if known is None:
            return []
        where = {"session_id": self._before}
        rows = self._database.rows(known.name, known.columns, where=where, order=["id"])
        return [dict(zip(known.columns, each, strict=True)) for each in rows]

    def _next_id(self, table: str) -> int:
        largest = self._database.rows(table, ("id",), order=["id"], most=1, descending=True)
        found = next((value for (value,) in largest), 0)
        return found + 1 if isinstance(found, int) else 1

    def inserts(self, bodies: Sequence[Body], parts: Sequence[Part]) -> Iterator[Insert]:
        """Give the row of the session, those of its items, and those of their order."""
        yield from self._session()
        items = list(self._new_items(bodies, parts))
        if not items or not self._plan.wanted.get("messages"):
            raise UsageError("a session without an item is none that an agent could go on from")
        yield from items
        self.point = str(items[-1].values["id"])
        if self.has_branches:
            yield from self._order(bodies, items)

    def _session(self) -> Iterator[Insert]:
        if self.sessions is None:
            return
        rows = self._rows(self.sessions)
        own: Row = rows[0] if rows else {}
        now: Row = {
            each: time_like(own[each], self._plan.time)
            for each in ("created_at", "updated_at")
            if each in own
        }
        values: Row = {**own, **now, "session_id": self.name}
        yield Insert(self.sessions, values, ("session_id",))

    def _new_items(self, bodies: Sequence[Body], parts: Sequence[Part]) -> Iterator[Insert]:
        number = self._next_id(self.messages)
        times = _times(parts, [self._item(bodies, each) for each in parts], self._plan.time)
        for part, time in zip(parts, times, strict=True):
            own = self._item(bodies, part)
            text: Value = own.get("message_data")
            match part:
                case Left():
                    continue
                case Kept(row=row):
                    how = How.KEPT
                case Rewritten(row=row, messages=messages):
                    how, before = How.CHANGED, bodies[row]["item"]
                    text = with_value(bytes_of(text), before, _checked(messages[0])).decode()
                case Added(message=message):
                    how, row = How.ADDED, None
                    text = written(_checked(message)).decode()
            values = {**own, "id": number, "session_id": self.name, "message_data": text}
            values |= {"created_at": time} if "created_at" in self._columns else {}
            yield Insert(self.messages, values, ("session_id",), how, row)
            number += 1

    @property
    def _columns(self) -> Sequence[str]:
        return self._database.tables[self.messages].columns

    def _item(self, bodies: Sequence[Body], part: Part) -> Row:
        return {} if isinstance(part, Added) else self._items[bodies[part.row]["id"]]

    def _order(self, bodies: Sequence[Body], items: Sequence[Insert]) -> Iterator[Insert]:
        """Say which items the branch `main` has, as the SDK counts them and their turns."""
        number, turn = self._next_id(STRUCTURE), 0
        columns = self._database.tables[STRUCTURE].columns
        for place, each in enumerate(items, 1):
            own: Row = {}
            if each.row is not None:
                own = self._structure.get(bodies[each.row]["id"], {})
            item = _item_of(each, bodies)
            turn += item.get("role") == "user"
            said = {
                "id": number,
                "session_id": self.name,
                "message_id": each.values["id"],
                "branch_id": MAIN,
                "message_type": _kind(item),
                "sequence_number": place,
                "user_turn_number": turn,
                "branch_turn_number": turn,
                "tool_name": own.get("tool_name") or _tool(item),
                "created_at": each.values.get("created_at"),
            }
            values = {**own, **{key: said[key] for key in said if key in columns}}
            yield Insert(STRUCTURE, values, ("session_id",), each.how, each.row)
            number += 1


def _times(parts: Sequence[Part], items: Sequence[Row], now: float) -> list[Value]:
    """Give when each item was written: a session in another database is read in that order.

    What is put between others is as old as what it stands behind.
    """
    kept = [place for place, part in enumerate(parts) if not isinstance(part, Added)]
    known = {place: items[place].get("created_at") for place in kept}
    first, last = (known[kept[0]], kept[-1]) if kept else (None, -1)
    found: list[Value] = []
    for place, _ in enumerate(parts):
        before = known.get(place, found[-1] if found else first)
        if place > last:
            sample = known.get(last)
            told = None if sample is None else time_in({"time": sample})
            before = time_like(sample, max(now, told or now))
        found.append(before)
    return found


def _checked(message: Any) -> dict[str, Any]:
    item = as_map(message)
    if isinstance(item.get("role"), str) or isinstance(item.get("type"), str):
        return item
    raise UnsupportedError("an item of a session is an object with a role or a type")


def _item_of(each: Insert, bodies: Sequence[Body]) -> dict[str, Any]:
    if each.how is How.KEPT and each.row is not None:
        return as_map(bodies[each.row]["item"])
    return as_map(_decode(bytes_of(each.values["message_data"])))


def _kind(item: Mapping[str, Any]) -> str:
    role, kind = item.get("role"), item.get("type")
    if role in ("user", "assistant"):
        return str(role)
    return kind if isinstance(kind, str) and kind else "other"


def _tool(item: Mapping[str, Any]) -> str | None:
    kind, name = item.get("type"), item.get("name")
    return name if isinstance(name, str) and isinstance(kind, str) and "role" not in item else None


def _resumed(making: _Making, location: str) -> str:
    """Give the line of a program that opens the new session."""
    words = {"session_id": making.name, "db_path": location}
    if making.sessions not in (None, USUAL_SESSIONS) or making.messages != USUAL_MESSAGES:
        words["sessions_table"] = making.sessions or USUAL_SESSIONS
        words["messages_table"] = making.messages
    name = "AdvancedSQLiteSession" if making.has_branches else "SQLiteSession"
    told = ", ".join(f"{key}={value!r}" for key, value in words.items())
    return f"session = {name}({told})"
