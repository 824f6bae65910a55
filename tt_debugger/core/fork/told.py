"""What a draft would write, as JSON values: the exact records, one after the other."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from tt_debugger.core.fork.plan import Draft
from tt_debugger.core.fork.writes import (
    How,
    IndexLine,
    Key,
    MoreLines,
    NewBranch,
    NewFile,
    NewKeys,
    NewRows,
    Record,
    Write,
)


class Told(msgspec.Struct, frozen=True):
    """One record of a draft: how it came about, the row that it is of, and itself as JSON."""

    how: How
    row: int | None
    value: Any


def told(draft: Draft) -> Iterator[Told]:
    """Give all records of a draft in the order in which they are written."""
    for each in draft.writes:
        yield from _told(each)


def target_of(draft: Draft) -> tuple[str, ...]:
    """Give what a draft would make or add to, one text for each of its writes."""
    return tuple(map(_target, draft.writes))


def _told(write: Write) -> Iterator[Told]:
    match write:
        case NewFile(records=records) | MoreLines(records=records):
            for record in records:
                yield _of_line(record)
        case IndexLine(record=record):
            yield _of_line(record)
        case NewRows(inserts=inserts):
            for row in inserts:
                values = {name: _plain(value) for name, value in row.values.items()}
                yield Told(row.how, row.row, {"table": row.table, "values": values})
        case NewKeys(keys=keys):
            yield from map(_of_key, keys)
        case NewBranch():
            files = {name: _plain(value) for name, value in write.files.items()}
            about = {"branch": write.branch, "base": write.base, "files": files}
            if write.has_commit:
                about |= {"message": write.message, "author": write.author}
            yield Told(How.ADDED, None, about)


def _of_line(record: Record) -> Told:
    try:
        value = msgspec.json.decode(record.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = record.data.decode(errors="replace").rstrip("\n")
    return Told(record.how, record.row, value)


def _of_key(key: Key) -> Told:
    value = {"key": key.name, "kind": key.kind, "value": _plain(key.value)}
    return Told(key.how, key.row, value | ({} if key.ttl is None else {"ttl": key.ttl}))


def _plain(value: Any) -> Any:
    """Give a value as JSON: bytes as the text that they are, or in base64."""
    match value:
        case bytes():
            try:
                return value.decode()
            except UnicodeDecodeError:
                return {"$bytes": base64.b64encode(value).decode()}
        case dict():
            return {_name(name): _plain(each) for name, each in _items(value)}
        case list() | tuple():
            return [_plain(each) for each in _each(value)]
        case _:
            return value


def _name(value: Any) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else str(value)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items()


def _each(value: Any) -> Iterable[Any]:
    return value


def _target(write: Write) -> str:
    match write:
        case NewFile(path=path):
            place = f"new file {path}"
        case MoreLines(path=path):
            place = f"added at the end of {path}"
        case IndexLine(path=path):
            place = f"one line more in the index {path}"
        case NewRows(location=location, copy=str(copy)):
            place = f"new database {copy}, a copy of {location}"
        case NewRows(location=location, inserts=inserts):
            tables = ", ".join(dict.fromkeys(each.table for each in inserts))
            place = f"new rows in {location}: {tables}"
        case NewKeys(location=location):
            place = f"new keys in {location}"
        case NewBranch(repository=repository, branch=branch):
            place = f"new branch {branch} in {repository}"
    return place
