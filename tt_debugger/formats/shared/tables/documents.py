"""Documents: the states that rows hold as JSON, found again by their keys, and what heads say."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import chain, groupby, islice
from operator import lt
from typing import Any, Protocol, cast, runtime_checkable

import msgspec

from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind
from tt_debugger.core.text import summary_line
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.jsonb import json_text
from tt_debugger.formats.shared.states import head_of, schema_of
from tt_debugger.formats.shared.tables.history import HISTORY, text_of
from tt_debugger.formats.shared.tables.index import Index, rows_of
from tt_debugger.formats.shared.tables.layouts import Form
from tt_debugger.formats.shared.transcript_rows import json_of
from tt_debugger.storage.tables import Tables, Value

GONE = "the row is no longer there"
_ENVELOPE = frozenset(
    (
        *("state", "schema_version", "version", "thread_id", "session_id"),
        *("created_at", "updated_at", "timestamp", "metadata"),
    )
)
"""What may stand around a state without being one itself."""
_LEAST_RUN = 4
"""Neighbouring rows that are asked for as one run, rather than one by one."""
_LONGEST_SIDE = 60
_FAILED = frozenset(("failed", "error", "timeout", "crashed", "aborted"))


@runtime_checkable
class FindsAmong(Protocol):
    """Tables that find rows by many keys in one question."""

    def among(
        self,
        table: str,
        columns: Sequence[str],
        keys: Sequence[str],
        values: Sequence[Sequence[str | int]],
    ) -> Iterator[tuple[Value, ...]]:
        """Go over the rows whose columns are one of several, in no order."""
        ...


class Document(msgspec.Struct, frozen=True):
    """The state that a row holds; `why` says why there is none to be read."""

    value: dict[str, Any]
    why: str = ""
    told: tuple[Finding, ...] = ()
    """What had to be forgiven to read it."""


def document_of(value: Value) -> Document:
    """Read the JSON object that a column holds, as text or in SQLite's own form."""
    if value is None:
        return Document({}, "it has no value")
    read = json_of(value)
    if read.why and isinstance(value, bytes):
        with suppress(ValueError):
            read = json_of(json_text(value))
    if read.why:
        return Document({}, read.why)
    held = read.value
    if isinstance(held, dict):
        return Document(cast("dict[str, Any]", held), "", read.told)
    what = "a list" if isinstance(held, list) else "a single value"
    return Document({}, f"it is {what}, not an object")


def values_at(tables: Tables, index: Index, rows: Sequence[int]) -> list[Value | LookupError]:
    """Give what the column of the state holds in some rows, an error for a row that is gone."""
    wanted = sorted(set(rows))
    found: dict[int, Value | LookupError] = {}
    for _, group in groupby(enumerate(wanted), lambda each: each[1] - each[0]):
        run = [row for _, row in group]
        found.update(_page(tables, index, run) or {})
    missing = [row for row in wanted if row not in found]
    if len(missing) >= _LEAST_RUN:
        if not index.layout.is_keyed:
            found.update(_in_one_pass(tables, index, missing))
        elif isinstance(tables, FindsAmong):
            found.update(_among(tables, index, missing))
    found.update((row, _one(tables, index, row)) for row in missing if row not in found)
    return [found[row] for row in rows]


def _among(tables: FindsAmong, index: Index, rows: list[int]) -> Mapping[int, Value | LookupError]:
    """Give what rows hold, in one question; nothing where their keys are bytes or fractions."""
    layout = index.layout
    keys = {index.key_of(row): row for row in rows}
    if not all(isinstance(each, str | int) for key in keys for each in key):
        return {}
    asked = cast("list[tuple[str | int, ...]]", list(keys))
    try:
        found = list(tables.among(layout.table, (*layout.key, layout.state), layout.key, asked))
    except CannotReadError:
        # What is given as text may be of a type that somebody added.
        return {}
    return {keys[key]: value for *own, value in found if (key := tuple(own)) in keys}


def _in_one_pass(tables: Tables, index: Index, rows: list[int]) -> Mapping[int, Value]:
    """Give what rows of a table without a key hold: to look for each goes over all of it."""
    layout, wanted = index.layout, set(rows)
    waiting: dict[tuple[Value, ...], deque[int]] = {}
    for row in range(len(index)):
        waiting.setdefault(index.key_of(row), deque()).append(row)
    stored = rows_of(tables, layout, (*layout.key, layout.state), index.name)
    found: dict[int, Value] = {}
    # What stands before a place that cannot be read is found; the rest is looked for by itself.
    with suppress(CannotReadError):
        for *key, value in chain.from_iterable(stored):
            alike = waiting.get(tuple(key))
            if alike and (row := alike.popleft()) in wanted:
                found[row] = value
                if len(found) == len(wanted):
                    break
    return found


def _page(
    tables: Tables, index: Index, rows: list[int]
) -> Mapping[int, Value | LookupError] | None:
    """Give what neighbouring rows hold, None where they are no page of the table's key."""
    layout, first = index.layout, rows[0]
    own = [n for n, name in enumerate(layout.key) if name != layout.session] or [0]
    if len(rows) < _LEAST_RUN or not layout.is_keyed or len(own) > 1:
        return None
    column_of = index.key[own[0]]
    values = [column_of[row] for row in rows]
    if first:
        after: list[Value] = [column_of[first - 1]]
    elif layout.form is Form.HISTORY:
        after = [f"{text_of(index.name)}{HISTORY}"]
    else:
        after = []
    kinds = set(map(type, [*values, *after]))
    if len(kinds) > 1 or not kinds <= {int, str}:
        return None
    ascending = cast("list[int]", [*after, *values])
    if not all(map(lt, ascending, ascending[1:])):
        return None
    column = layout.key[own[0]]
    is_apart = layout.session is not None and column != layout.session
    where = {layout.session: index.name} if is_apart and layout.session else None
    found = list(
        tables.rows(
            layout.table,
            (column, layout.state),
            order=[column],
            where=where,
            after=after,
            most=len(rows),
        )
    )
    if [key for key, _ in found] != values:
        return None
    return {row: value for row, (_, value) in zip(rows, found, strict=True)}


def _one(tables: Tables, index: Index, row: int) -> Value | LookupError:
    layout, key = index.layout, index.key_of(row)
    where = dict(zip(layout.key, key, strict=True))
    # Rows of a table without a key may have all of it alike; they come in the order they stand.
    alike = 0 if layout.is_keyed else sum(index.key_of(each) == key for each in range(row))
    found = tables.rows(layout.table, (layout.state,), where=where, most=alike + 1)
    for (value,) in islice(found, alike, None):
        return value
    return LookupError(GONE)


def version_of(index: Index, row: int, document: Document) -> str | None:
    """Give the version of a row's schema, as its column or else the state itself says."""
    told = index.version(row)
    if told is not None:
        return summary_line(text_of(told), 40)
    schema = schema_of(document.value)
    return None if schema is None else schema.version


def state_head(document: Document) -> Head:
    """Give the head of a row that holds a state, or one in an envelope."""
    if document.why:
        return unreadable_head(document.why)
    inner = as_map(document.value.get("state"))
    is_envelope = inner and not document.value.keys() - _ENVELOPE
    return head_of(inner if is_envelope else document.value)


def turn_head(index: Index, row: int, document: Document) -> Head:
    """Give the head of a row that holds a turn, called by its tool."""
    if document.why:
        return unreadable_head(document.why)
    told = index.tools[row] if index.tools else None
    name = "turn" if told is None else summary_line(text_of(told), 40)
    payload = document.value
    return Head(Kind.TURN, None, name, _turn_summary(payload), failed=_has_failed(payload))


def unreadable_head(why: str) -> Head:
    """Give the head of a row whose value is no document."""
    return Head(Kind.UNREADABLE, None, "unreadable", summary_line(why), failed=True)


def _turn_summary(payload: Mapping[str, Any]) -> str:
    sides = [
        summary_line(msgspec.json.encode(payload[key]).decode(), _LONGEST_SIDE)
        for key in ("input", "output")
        if payload.get(key) is not None
    ]
    if sides:
        return " -> ".join(sides)
    messages = as_list(payload.get("messages"))
    said = text_or_none(as_map(messages[-1]).get("content")) if messages else None
    told = said or text_or_none(payload.get("content")) or ", ".join(payload)
    return summary_line(told or "empty")


def _has_failed(payload: Mapping[str, Any]) -> bool:
    output = as_map(payload.get("output"))
    status = payload.get("status", output.get("status"))
    is_said = isinstance(status, str) and status.lower() in _FAILED
    return bool(payload.get("error") or output.get("error") or is_said)
