"""Forks in tables: the rows of a thread up to a point, again under the name of a new thread.

A row that is kept is the same in all that does not name its thread or itself. The last one holds
the state that is wanted, and is of the time of the fork.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from tt_debugger.core.between import is_same, keys_between
from tt_debugger.core.fork.plan import Draft, Plan
from tt_debugger.core.fork.writes import How, Insert, NewRows
from tt_debugger.core.json import as_map
from tt_debugger.core.replay import Replay
from tt_debugger.core.text import counted
from tt_debugger.errors import UnsupportedError, UsageError
from tt_debugger.formats.shared.fork_rows import copy_for
from tt_debugger.formats.shared.fork_states import (
    chosen_session,
    name_of_fork,
    renamed,
)
from tt_debugger.formats.shared.json_text import with_value
from tt_debugger.formats.shared.tables.documents import GONE, document_of
from tt_debugger.formats.shared.tables.fresh_ids import FreshIds
from tt_debugger.formats.shared.tables.history import split_history, text_of
from tt_debugger.formats.shared.tables.index import Index
from tt_debugger.formats.shared.tables.layouts import Form, Layout
from tt_debugger.formats.shared.tables.turns import key_hashed, rehashed
from tt_debugger.formats.shared.time_forms import time_like
from tt_debugger.storage.servers import is_server
from tt_debugger.storage.tables import Tables, Value

Row = dict[str, Value]

_ZEROS = re.compile(r"(\.\d*?)0+(?=\D|\Z)")
_BELOW = "the new rows have ids below 0: those that the server gives by itself stay free"


def draft(tables: Tables, index: Index, replay: Replay, plan: Plan) -> Draft:
    """Give the rows that a fork would add. Raises UnsupportedError, UsageError."""
    copy = copy_for(tables.location, plan)
    if plan.in_place:
        raise UnsupportedError(
            "rows of a thread are not added to: a fork is a thread of its own",
            "leave out --in-place: nothing of the thread is changed",
        )
    making = _Making(tables, index, plan)
    path = replay.session.tree.path_to(plan.row)
    inserts = tuple(making.inserts(path))
    location = copy or tables.location
    return Draft(
        writes=(NewRows(tables.location, inserts, copy),),
        location=location,
        session=text_of(making.name),
        point=_id_of(index.layout, inserts[-1].values),
        resume_command=f"{index.layout.session} = {making.name!r}",
        notes=tuple(making.notes),
        own=making.own,
    )


class _Making:
    """The rows of a fork, and what is to be said of them."""

    def __init__(self, tables: Tables, index: Index, plan: Plan) -> None:
        self._tables, self._index, self._plan = tables, index, plan
        self._layout = index.layout
        self._table = tables.tables[index.layout.table]
        self._is_server = is_server(tables.location)
        self.before = text_of(index.name)
        self.name = self._new_name()
        self.notes: list[str] = []
        self.own: tuple[str, ...] = ()
        self._ids: dict[str, dict[Value, Value]] = {}

    def _new_name(self) -> Value:
        """Give the name of the new thread, of the type that the old one has."""
        column = self._layout.session
        if column is None:
            raise UnsupportedError(
                f"the table {self._table.name} has no column that names sessions",
                "a fork there would be no session of its own; a map may name such a column",
            )
        # A session may have been found by a text where the column has a number.
        where = {column: self._index.name}
        known = self._tables.rows(self._table.name, (column,), where=where, most=1)
        name = next((value for (value,) in known), self._index.name)
        chosen = chosen_session(self._plan) if self._layout.form is not Form.TURNS else None
        match name:
            case str():
                return chosen or name_of_fork(name, self._plan.fresh)
            case int() if chosen is None:
                ends = self._tables.rows(
                    self._table.name, (column,), order=[column], most=1, descending=True
                )
                end = next((value for (value,) in ends), name)
                return (end if isinstance(end, int) else name) + 1
            case int() if chosen and chosen.removeprefix("-").isdecimal():
                return int(chosen)
            case _:
                raise UnsupportedError(
                    f"no new name can be told for {column}: it has {text_of(name):.40}"
                )

    def inserts(self, path: Sequence[int]) -> list[Insert]:
        """Give the rows from the root to the point, the last one as it is wanted."""
        bad_before = self._tables.bad_texts
        rows = self._rows(path)
        self._renew(rows)
        made = [
            self._insert(self._kept(row, values), How.KEPT, row)
            for row, values in zip(path, rows, strict=True)
            if self._is_past(row)
        ]
        tip = self._wanted(rows[-1], self._moment(path))
        how = How.CHANGED if self._plan.edits else How.KEPT
        made.append(self._insert(tip, how, path[-1]))
        bad = self._tables.bad_texts - bad_before
        if bad:
            self.notes.append(f"{counted(bad, 'text')} of the original are no UTF-8: mended here")
        return made

    def _insert(self, values: Row, how: How, row: int) -> Insert:
        return Insert(self._table.name, values, (self._layout.session or "",), how, row)

    def _is_past(self, row: int) -> bool:
        """Tell whether a row is kept beside the last one: of a thread's past each is."""
        if self._layout.form is Form.HISTORY:
            return split_history(self._index.key[0][row])[1] is not None
        return row != self._plan.row

    def _rows(self, path: Sequence[int]) -> list[Row]:
        """Read rows with all their columns. Raises UsageError where one is gone."""
        layout, columns = self._layout, self._table.columns
        if layout.is_keyed or layout.form is Form.HISTORY:
            return [self._one(row) for row in path]
        # Rows that are alike in all that tells them apart come in the order in which they stand.
        own = [place for place, each in enumerate(layout.key) if each != layout.session]
        waiting: dict[tuple[Value, ...], deque[int]] = {}
        for row in range(len(self._index)):
            key = self._index.key_of(row)
            waiting.setdefault(tuple(key[place] for place in own), deque()).append(row)
        where = {layout.session or "": self._index.name}
        found: dict[int, Row] = {}
        for values in self._tables.rows(layout.table, columns, where=where):
            row = dict(zip(columns, values, strict=True))
            alike = waiting.get(tuple(row[layout.key[place]] for place in own))
            if alike:
                found[alike.popleft()] = row
        if any(row not in found for row in path):
            raise _gone()
        return [found[row] for row in path]

    def _one(self, row: int) -> Row:
        columns = self._table.columns
        where = dict(zip(self._layout.key, self._index.key_of(row), strict=True))
        for values in self._tables.rows(self._layout.table, columns, where=where, most=1):
            return dict(zip(columns, values, strict=True))
        raise _gone()

    def _renew(self, rows: Sequence[Row]) -> None:
        """Make new ids for the columns in which no two rows of the table may have the same."""
        layout, key = self._layout, self._table.key
        named = () if layout.session in key else key
        wanted = (*named, *(each for each in (layout.id,) if each not in key))
        names = (self.before, text_of(self.name))
        fresh = FreshIds(self._tables, layout.table, names, self._plan.fresh)
        for column in dict.fromkeys(wanted):
            if column is not None and column != layout.session:
                values = [row[column] for row in rows]
                self._ids[column] = fresh.of(column, values, is_server=self._is_server)
        if fresh.are_below:
            self.notes.append(_BELOW)

    def _kept(self, row: int, values: Row) -> Row:
        """Give a row as one of the new thread."""
        layout = self._layout
        named = {each: new[values[each]] for each, new in self._ids.items() if values[each] in new}
        changed = {**values, **named, layout.session or "": self._name_of(row)}
        if layout.parent is not None:
            changed[layout.parent] = self._parent(values[layout.parent])
        if layout.form is not Form.TURNS:
            held = document_of(values[layout.state])
            if not held.why:
                state = renamed(held.value, self.before, text_of(self.name))
                changed[layout.state] = _with(values[layout.state], held.value, state)
        return changed

    def _name_of(self, row: int) -> Value:
        """Give the name of the new thread, of its past with the time."""
        if self._layout.form is not Form.HISTORY:
            return self.name
        key = text_of(self._index.key[0][row])
        return text_of(self.name) + key[len(self.before) :]

    def _parent(self, parent: Value) -> Value:
        own = [each for each in self._layout.key if each != self._layout.session]
        named = self._layout.id or (own[0] if own else "")
        known = {text_of(old): new for old, new in self._ids.get(named, {}).items()}
        return parent if parent is None else known.get(text_of(parent), parent)

    def _moment(self, path: Sequence[int]) -> float:
        """Give the time of the fork, or of the last row where that is later."""
        times = (self._index.time(row) for row in path)
        return max((self._plan.time, *(each for each in times if each is not None)))

    def _wanted(self, values: Row, moment: float) -> Row:
        """Give the last row: the wanted state, at the time of the fork."""
        layout, plan = self._layout, self._plan
        changed = self._kept(plan.row, values)
        if layout.form is Form.HISTORY:
            changed[layout.session or ""] = self.name
        for column in layout.times:
            made = time_like(values[column], moment)
            # A server gives no zeros at the end of a fraction.
            is_text = self._is_server and isinstance(made, str)
            changed[column] = _ZEROS.sub(_without_zeros, made) if is_text else made  # pyright: ignore[reportArgumentType, reportCallIssue] - it is a text
        held = document_of(values[layout.state])
        if held.why:
            raise UsageError(f"the state there cannot be read: {held.why}")
        if layout.form is Form.TURNS:
            payload = self._payload()
            changed[layout.state] = _with(values[layout.state], held.value, payload)
            changed |= self._hashes(values, held.value, payload)
            self.own = ("turns",)
        else:
            state = renamed(as_map(plan.wanted), self.before, text_of(self.name))
            changed[layout.state] = _with(values[layout.state], held.value, state)
            self.own = keys_between(plan.wanted, state)
        return changed

    def _payload(self) -> dict[str, Any]:
        """Give what the last turn is to hold. Raises UnsupportedError for any other edit."""
        before, after = as_map(self._plan.state), as_map(self._plan.wanted)
        for key in keys_between(before, after):
            if key != "turn":
                raise UnsupportedError(
                    f"{key} cannot be edited: it is what the columns of the turns say",
                    "what the last turn holds is under turn",
                )
        if not isinstance(after.get("turn"), dict):
            raise UsageError("what a turn holds is an object")
        return as_map(after["turn"])

    def _hashes(self, values: Row, before: Mapping[str, Any], after: Mapping[str, Any]) -> Row:
        """Give the hashes of what was edited, as far as it is known how they are made."""
        found: Row = {}
        for column in self._layout.hashes:
            key, hashed = key_hashed(column), values[column]
            if is_same(before.get(key), after.get(key)) or not isinstance(hashed, str):
                continue
            made = rehashed(hashed, before.get(key), after[key]) if key in after else None
            if made is None:
                self.notes.append(f"{column} is still that of the {key} before the edit")
            else:
                found[column] = made
        return found


def _with(value: Value, before: dict[str, Any], after: dict[str, Any]) -> Value:
    """Give the value of a column with another document, as text or bytes as it was."""
    if is_same(before, after):
        return value
    if isinstance(value, bytes):
        # What SQLite has in its own form it takes as text, too.
        is_text = value.lstrip()[:1] == b"{"
        made = with_value(value if is_text else b"", before, after)
        return made if is_text else made.decode()
    return with_value(str(value).encode(), before, after).decode()


def _without_zeros(fraction: re.Match[str]) -> str:
    return fraction[1] if len(fraction[1]) > 1 else ""


def _id_of(layout: Layout, values: Mapping[str, Value]) -> str:
    """Give the id that a row is called by, as the index does."""
    if layout.id is not None and values[layout.id] is not None:
        return text_of(values[layout.id])
    own = [each for each in layout.key if each != layout.session] or layout.key
    return "/".join(text_of(values[each]) for each in own)


def _gone() -> UsageError:
    return UsageError(f"a row of the thread cannot be copied: {GONE}", "open it again")
