"""The threads among the keys of a server: found by their keys, told by their documents.

All keys of a thread are looked up once, when it is first looked at. That takes the server a walk
over every key it has, so what was found holds until something shows that there is more.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import msgspec

from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.errors import CannotReadError, UnsupportedError
from tt_debugger.formats.shared.langgraph import (
    Held,
    IndexRow,
    Kept,
    Lost,
    NewCheckpoint,
    Serde,
    WriteRow,
    gone,
)
from tt_debugger.storage.keys import Keys
from tt_debugger.storage.tables import Value

if TYPE_CHECKING:
    # Only who forks pays for the import.
    from tt_debugger.core.fork.writes import NewKeys

CHECKPOINT, LATEST = "checkpoint:", "checkpoint_latest:"
WRITE, OF_WRITES = "checkpoint_write:", "write_keys_zset:"
A_PAGE = 200
"""Threads that are listed where there are more keys than are gone over."""
FEW_KEYS = 20_000
"""Keys of which all threads are listed."""
_T = TypeVar("_T", bound=msgspec.Struct)
_ROOT = "__empty__"
"""How the saver writes the namespace of the graph itself, which has no name."""
_OF_INDEX = ("thread_id", "checkpoint_ns", "checkpoint_id", "parent_checkpoint_id", "metadata")
_IN_PATTERNS = str.maketrans({each: f"\\{each}" for each in "*?[]\\"})


class _Told(msgspec.Struct):
    """What a document tells of a checkpoint without its body."""

    thread_id: Any = None
    checkpoint_ns: Any = None
    checkpoint_id: Any = None
    parent_checkpoint_id: Any = None
    metadata: msgspec.Raw = msgspec.Raw(b"null")


class _Row(msgspec.Struct, frozen=True):
    """A checkpoint: the key of its document, and what is told of it."""

    key: str
    namespace: str
    id: str
    parent: str | None
    metadata: Value


class _Thread(msgspec.Struct, frozen=True):
    """What was found of a thread: its checkpoints, and which are said to be the latest ones.

    `pointers` has that by the key that says it, one for each namespace.
    """

    rows: tuple[_Row, ...]
    pointers: Mapping[str, bytes | None]


class _Body(msgspec.Struct):
    """The part of a document that is the checkpoint itself."""

    checkpoint: msgspec.Raw = msgspec.Raw(b"")


class _Write(msgspec.Struct):
    """What the document of a write says."""

    thread_id: Any = None
    checkpoint_ns: Any = None
    checkpoint_id: Any = None
    task_id: Any = None
    task_path: Any = None
    idx: Any = None
    channel: Any = None
    type: Any = None
    blob: Any = None


class RedisThreads:
    """The threads among some keys."""

    is_live = False

    def __init__(self, keys: Keys, serde: Serde) -> None:
        self.location = keys.location
        self._keys = keys
        self._serde = serde
        self._threads: dict[str, _Thread] = {}
        self._writes: dict[str, dict[str, tuple[str, ...]]] = {}
        self._is_partial = False
        self._is_owner = True

    def newest(self) -> Sequence[str]:
        """Give all threads where there are few, else one page of those that were looked at."""
        pointers = list(self._keys.keys(f"{LATEST}*", most=FEW_KEYS))
        self._is_partial = len(pointers) == FEW_KEYS
        latest = {
            each.decode(errors="surrogateescape"): None
            for each in self._keys.strings(pointers)
            if each is not None
        }
        if not latest:
            # A saver of before had none of these.
            latest = dict.fromkeys(self._keys.keys(f"{CHECKPOINT}*", most=FEW_KEYS))
        # The id at the end of a key has no colon, and sorts by time.
        named = sorted(latest, key=lambda key: (key.rpartition(":")[2], key))
        if self._is_partial:
            named = named[-A_PAGE:]
        last: dict[str, str] = {}
        for row, thread in self._told(named):
            last[thread] = max(row.id, last.get(thread, ""))
        return sorted(last, key=lambda thread: (last[thread], thread))

    def beginning_with(self, text: str, most: int) -> Sequence[str]:
        """Give the ids of threads that begin with a text, the one that is it first."""
        found = {text: None} if self._thread(text).rows else {}
        pattern = f"{CHECKPOINT}{text.translate(_IN_PATTERNS)}*"
        if len(found) < most:
            keys = list(self._keys.keys(pattern, most=FEW_KEYS))
            begun = {thread for _, thread in self._told(keys) if thread.startswith(text)}
            found |= dict.fromkeys(sorted(begun))
        return list(found)[:most]

    def namespaces(self, thread: str) -> Sequence[str]:
        """Give the namespaces in which a thread has checkpoints."""
        return sorted({row.namespace for row in self._thread(thread).rows})

    def index(
        self, thread: str, namespace: str, *, most: int | None = None, descending: bool = False
    ) -> Iterator[IndexRow]:
        """Go over the checkpoints of a namespace by their ids."""
        rows = self._rows(thread, namespace)
        for row in (rows[::-1] if descending else rows)[:most]:
            yield row.id, row.parent, row.metadata, None

    def checkpoints(
        self, thread: str, namespace: str, ids: Sequence[Value], passed: int = 0
    ) -> list[tuple[Held | Lost, Value]]:
        """Give the checkpoints of some ids."""
        wanted = set(ids)
        rows = [row for row in self._rows(thread, namespace) if row.id in wanted]
        found: dict[Value, tuple[Held | Lost, Value]] = {}
        for row, document in zip(rows, self._documents(row.key for row in rows), strict=True):
            body = _object_in(document)
            held = self._lost(row.key) if body is None else self._serde.checkpoint("json", body)
            found[row.id] = held, row.metadata
        return [found.get(each, _GONE) for each in ids]

    def writes(
        self, thread: str, namespace: str, first: Value, last: Value, *, values: bool
    ) -> Iterator[WriteRow]:
        """Go over the writes under the checkpoints from one id to another."""
        known = self._writes_of(thread)
        keys = [key for name in known if str(first) <= name <= str(last) for key in known[name]]
        every = (_decoded(document, _Write) for document in self._documents(keys))
        found = [
            each
            for each in every
            if each and each.thread_id == thread and _named(each.checkpoint_ns) == namespace
        ]
        for each in sorted(found, key=_in_order):
            kind, data = (each.type, _bytes_of(each.blob)) if values else (None, None)
            yield (
                each.checkpoint_id,
                each.task_id,
                each.task_path,
                each.idx,
                each.channel,
                kind,
                data,
            )

    def stored(
        self, thread: str, namespace: str, key: Value, passed: int = 0
    ) -> tuple[str | None, Value]:
        """Give the body of one checkpoint."""
        keys = [row.key for row in self._rows(thread, namespace) if row.id == key]
        return "json", next(map(_object_in, self._documents(keys)), None)

    def stamps(self, thread: str, namespace: str) -> Sequence[int]:
        """Give a number for each checkpoint, by what is told of it and the keys of its writes."""
        writes = self._writes_of(thread)
        return [hash((row, writes.get(row.id))) for row in self._rows(thread, namespace)]

    def kept(self, thread: str, namespace: str, key: str) -> Kept:
        """Give a checkpoint as it is kept. Raises UnsupportedError for a shallow saver."""
        row = self._row(thread, namespace, key)
        if not row.key.endswith(f":{key}"):
            raise UnsupportedError(
                "a shallow checkpointer keeps one checkpoint of a thread, and takes no forks",
                "let the graph write with RedisSaver",
            )
        body = _object_in(self._documents([row.key])[0])
        metadata = row.metadata if isinstance(row.metadata, bytes) else b""
        return Kept("json", body or b"", metadata)

    def writing(self, new: NewCheckpoint) -> NewKeys:
        """Say what is to be written for a new checkpoint: its document, and that it is the latest.

        Raises UnsupportedError in the thread of the original, where another is the latest.
        """
        from tt_debugger.formats.langgraph_redis.writing import writing

        if new.parent is not None:
            raise UnsupportedError(
                "a thread in Redis has a key that says which of its checkpoints is the latest;"
                " a fork in it would have to change that",
                "leave out --in-place: the fork becomes a thread of its own",
            )
        row = self._row(new.of_thread, new.namespace, new.base)
        document = self._documents([row.key])[0] or b"{}"
        return writing(self.location, document, self._keys.expiries([row.key])[0], new)

    def findings(self) -> Sequence[Finding]:
        """Give what was too long, and whether there is more than was looked at."""
        told = [
            finding(Code.UNREADABLE, f"the value of the key {key!r:.120} is too long to be read")
            for key in sorted(self._keys.too_long)
        ]
        if self._is_partial:
            told.append(
                finding(
                    Code.LOST_RECORD,
                    f"the server has more threads than the {FEW_KEYS:,} that were looked at",
                    hint="a thread can be named: the address, then #THREAD:",
                )
            )
        return told

    def renewed(self) -> Self:
        """Give what is there now, where what is newest of a thread is another than it was."""
        if all(self._is_as_it_was(name, each) for name, each in self._threads.items()):
            return self
        other = type(self)(self._keys, self._serde)
        self._is_owner = False
        return other

    def watched(self) -> Sequence[str]:
        """Give nothing: a server must be asked."""
        return ()

    def close(self) -> None:
        """Let go of the connection, unless another has taken it over."""
        if self._is_owner:
            self._keys.close()

    def _is_as_it_was(self, name: str, thread: _Thread) -> bool:
        keys = list(thread.pointers)
        if dict(zip(keys, self._keys.strings(keys), strict=True)) != thread.pointers:
            return False
        if not any(thread.pointers.values()):
            # A saver of before had no pointers: only its keys tell.
            now = set(self._keys.keys(f"{CHECKPOINT}{_pattern(name)}"))
            return now == {row.key for row in thread.rows}
        # What is written after the newest checkpoint changes nothing of the thread but its keys.
        written = self._writes.get(name)
        last = {row.namespace: row.id for row in thread.rows}
        return written is None or all(
            self._keys.length(f"{OF_WRITES}{name}:{namespace or _ROOT}:{own}")
            == len(written.get(own, ()))
            for namespace, own in last.items()
        )

    def _rows(self, thread: str, namespace: str) -> list[_Row]:
        return [row for row in self._thread(thread).rows if row.namespace == namespace]

    def _row(self, thread: str, namespace: str, own: str) -> _Row:
        """Give the last document of a checkpoint. Raises CannotReadError where it is gone."""
        found = [row for row in self._rows(thread, namespace) if row.id == own]
        if not found:
            raise CannotReadError(f"cannot read {self.location}: the checkpoint {own} is gone")
        return found[-1]

    def _thread(self, name: str) -> _Thread:
        known = self._threads.get(name)
        if known is None:
            known = self._threads[name] = self._found(name)
        return known

    def _found(self, name: str) -> _Thread:
        """Look a thread up: another may begin as it does, so the documents decide."""
        keys = list(self._keys.keys(f"{CHECKPOINT}{_pattern(name)}"))
        rows = [row for row, thread in self._told(keys) if thread == name]
        rows.sort(key=lambda row: (row.id, row.key))
        namespaces = dict.fromkeys(row.namespace for row in rows)
        pointers = [f"{LATEST}{name}:{each or _ROOT}" for each in namespaces]
        latest = self._keys.strings(pointers)
        return _Thread(tuple(rows), dict(zip(pointers, latest, strict=True)))

    def _writes_of(self, name: str) -> dict[str, tuple[str, ...]]:
        """Give the keys of writes by the ids of their checkpoints."""
        if name not in self._writes:
            found: dict[str, list[str]] = {}
            for key in self._keys.keys(f"{WRITE}{_pattern(name)}"):
                # Neither an id, nor a task, nor a number has a colon.
                *_, own, _, _ = key.rsplit(":", 3)
                found.setdefault(own, []).append(key)
            self._writes[name] = {own: tuple(sorted(each)) for own, each in found.items()}
        return self._writes[name]

    def _told(self, keys: Sequence[str]) -> Iterator[tuple[_Row, str]]:
        """Give what documents tell of checkpoints, each with its thread."""
        for key, document in zip(keys, self._keys.documents(keys, _OF_INDEX), strict=True):
            told = _decoded(document, _Told)
            if told is None or not isinstance(told.thread_id, str):
                continue
            own, parent = told.checkpoint_id, told.parent_checkpoint_id
            yield (
                _Row(
                    key,
                    _named(told.checkpoint_ns),
                    own if isinstance(own, str) and own else "latest",
                    parent if isinstance(parent, str) else None,
                    _unwrapped(told.metadata),
                ),
                told.thread_id,
            )

    def _documents(self, keys: Iterable[str]) -> list[bytes | None]:
        return self._keys.documents(list(keys))

    def _lost(self, key: str) -> Lost:
        why = "it is too long to be read" if key in self._keys.too_long else "it is gone"
        return gone(why)


_GONE: tuple[Lost, Value] = (gone("it is gone"), None)


def _in_order(write: _Write) -> tuple[str, str, int]:
    place = write.idx if isinstance(write.idx, int) else 0
    return str(write.checkpoint_id), str(write.task_id), place


def _pattern(thread: str) -> str:
    """Give what matches the rest of a key of a thread, and of others that begin as it does."""
    return f"{thread.translate(_IN_PATTERNS)}:*"


def _named(namespace: Any) -> str:
    """Give a namespace by the name that it has elsewhere."""
    return namespace if isinstance(namespace, str) and namespace != _ROOT else ""


def _decoded(document: bytes | None, kind: type[_T]) -> _T | None:
    if document is None:
        return None
    try:
        return msgspec.json.decode(document, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _unwrapped(raw: msgspec.Raw) -> bytes:
    """Give JSON that may be kept as a text of JSON."""
    data = bytes(raw)
    if data[:1] != b'"':
        return data
    try:
        return msgspec.json.decode(data, type=str).encode()
    except (msgspec.DecodeError, UnicodeError):
        return data


def _object_in(document: bytes | None) -> bytes | None:
    """Give the checkpoint object of a document as JSON."""
    held = _decoded(document, _Body)
    return None if held is None else _unwrapped(held.checkpoint)


def _bytes_of(blob: Any) -> bytes:
    """Give the bytes of a value, which are base64; before that was so, they are the text."""
    if not isinstance(blob, str):
        return b""
    try:
        return b64decode(blob, validate=True)
    except (binascii.Error, ValueError):
        return blob.encode(errors="surrogatepass")
