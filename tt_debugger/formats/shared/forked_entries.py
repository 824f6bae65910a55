"""Entries of a session tree on their way into a fork: kept to the byte where nothing is otherwise.

Pi and Tau hold a tree of entries, each with its own id and that of its parent. A fork takes the
entries of one path, leaves some out, writes some anew, and chains them again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any, NoReturn

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.fork.writes import How, MoreLines, Record
from tt_debugger.core.json import as_map
from tt_debugger.core.model import Session
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.fork_files import WITHOUT_IN_PLACE, Holds, as_line
from tt_debugger.storage.compressed import MAGIC
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.stdin import STDIN

_READ_AT_ONCE = 1 << 20
_decode = msgspec.json.decode


class Entry(msgspec.Struct):
    """An entry of a fork: the row that it is of, its keys, and how it came about.

    `line` is as it stands in the original, None where it is written anew.
    """

    row: int | None
    fields: dict[str, Any]
    how: How
    line: bytes | None = None

    def value(self, key: str) -> Any:
        """Give the value of a key, None where it has none."""
        value = self.fields.get(key)
        if not isinstance(value, msgspec.Raw):
            return value
        try:
            return _decode(value)
        except msgspec.DecodeError:
            return json.loads(bytes(value))

    def put(self, key: str, value: Any) -> None:
        """Set a key; where that changes it, the entry is no longer written as it stood."""
        if key in self.fields and is_same(self.value(key), value):
            return
        self.fields[key] = value
        self.line = None

    def drop(self, key: str) -> None:
        """Take a key away."""
        if key in self.fields:
            del self.fields[key]
            self.line = None

    def record(self) -> Record:
        """Give it as a line."""
        line = self.line
        if line is None:
            line = as_line(msgspec.json.encode(self.fields))
        return Record(line, self.how, self.row)


class Chain:
    """Entries that hang on each other, with the ids that they have in the fork.

    `parent_key` names the parent; `root` is what a root has there, UNSET for nothing. `mint`
    gives a new id. With `kept` the first entry hangs on the last of these rows, which stay where
    they are, and all others are copies with ids of their own.
    """

    def __init__(
        self,
        session: Session,
        parent_key: str,
        root: Any,
        mint: Callable[[], str],
        kept: Sequence[int] | None = None,
    ) -> None:
        self.entries: list[Entry] = []
        self.ids: dict[int, str] = {row: session.ids[row] for row in kept or ()}
        """The id of each row that is in the fork."""
        self.is_copy = kept is not None
        self.renamed = 0
        """Rows that are kept and yet have another id."""
        self._session = session
        self._parent_key, self._root, self._mint = parent_key, root, mint
        self._last = session.ids[kept[-1]] if kept else None

    def records(self) -> tuple[Record, ...]:
        """Give all entries as lines."""
        return tuple(each.record() for each in self.entries)

    def add(self, entry: Entry) -> str:
        """Hang an entry on the last one, and give its id."""
        name = self._name_of(entry)
        entry.put("id", name)
        parent = self._root if self._last is None else self._last
        if parent is msgspec.UNSET:
            entry.drop(self._parent_key)
        else:
            entry.put(self._parent_key, parent)
        if entry.row is not None:
            self.ids[entry.row] = name
        self._last = name
        self.entries.append(entry)
        return name

    def _name_of(self, entry: Entry) -> str:
        if entry.row is None or entry.how is not How.KEPT or self.is_copy:
            return self._mint()
        own = self._session.ids[entry.row]
        if entry.value("id") == own:
            return own
        self.renamed += 1
        return self._mint()

    def id_at(self, name: object) -> str | None:
        """Give the id in the fork of what has a name in the original, None for what is not in."""
        row = self._session.row_of(name) if isinstance(name, str) else None
        return None if row is None else self.ids.get(row)


def fresh_id(session: Session, made: Callable[[], str]) -> Callable[[], str]:
    """Give what makes ids that no entry of the session has."""
    given: set[str] = set()

    def mint() -> str:
        name = made()
        while name in given or session.row_of(name) is not None:
            name = made()
        given.add(name)
        return name

    return mint


def kept_entries(
    store: Holds, session: Session, rows: Sequence[int], *, has_nan: bool = False
) -> Iterator[Entry]:
    """Give the entries of some rows as they stand.

    One that a strict parser would not read as one line is written anew, as it was read. With
    `has_nan` the parser takes NaN and Infinity.
    """
    for row in rows:
        line = as_line(store.raw(session, row))
        fields = _fields(line, has_nan=has_nan)
        if fields is None:
            (body,) = store.bodies(session, (row,))
            yield Entry(row, dict(as_map(body)), How.KEPT)
        else:
            is_one_line = b"\r" not in line
            yield Entry(row, fields, How.KEPT, line if is_one_line else None)


def _fields(line: bytes, *, has_nan: bool) -> dict[str, Any] | None:
    """Give the keys of a line with the bytes of their values, None where it is no strict JSON."""
    if b"\r" not in line:
        with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            if isinstance(_decode(line), dict):
                return dict[str, Any](_decode(line, type=dict[str, msgspec.Raw]))
    try:
        value = json.loads(line.decode(), parse_constant=None if has_nan else _refuse)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict):
        return None
    return {key: msgspec.Raw(json.dumps(each).encode()) for key, each in as_map(value).items()}


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def more_lines(
    location: str, records: Sequence[Record], agent: str, lock: str | None = None
) -> MoreLines:
    """Give records as lines at the end of the original.

    Raises UnsupportedError where the file cannot take them as it is.
    """
    if location == STDIN:
        raise UnsupportedError("what came through stdin has no place to add to", WITHOUT_IN_PLACE)
    file = RegularFile(location)
    try:
        if file.read(0, len(MAGIC)) == MAGIC:
            raise UnsupportedError("a compressed file takes no lines at its end", WITHOUT_IN_PLACE)
        digest, size, last = hashlib.sha256(), 0, b"\n"
        while data := file.read(size, _READ_AT_ONCE):
            digest.update(data)
            size, last = size + len(data), data[-1:]
    finally:
        file.close()
    if last != b"\n":
        raise UnsupportedError(
            f"the last line has no line end: it may be torn, or {agent} be writing it",
            WITHOUT_IN_PLACE,
        )
    return MoreLines(location, tuple(records), size, digest.hexdigest(), lock)
