"""Sources: which record each message of a state is of.

A compaction may bring back messages of earlier records, so a list of messages does not follow its
records. The changes on the way to the state tell.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.json import as_list, as_map

_encoded = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode


class Source(msgspec.Struct, frozen=True):
    """Where a message comes from: a row, and its place among the messages that the row gave."""

    row: int
    place: int


def sources(path: Sequence[int], changes: Iterable[tuple[Change, ...]]) -> list[Source]:
    """Give the source of each message of the state at the end of a path.

    A message that was put in another's place is of the record of the one that it replaced.
    """
    tracing = _Tracing()
    for row, own in zip(path, changes, strict=True):
        tracing.take(row, own)
    return tracing.sources


class _Tracing:
    """The sources of the messages so far, and all messages that any row ever gave."""

    def __init__(self) -> None:
        self.sources: list[Source] = []
        self._given: list[tuple[Source, Any]] = []
        self._known: defaultdict[bytes, list[Source]] = defaultdict(list)

    def take(self, row: int, changes: Iterable[Change]) -> None:
        place = 0
        for change in changes:
            match change:
                case Append(path=("messages",), value=value):
                    self.sources.append(self._new(row, place, value))
                    place += 1
                case Splice(path=("messages",), index=index, count=count, values=values):
                    found = self._found(row, place, values)
                    self.sources[index : index + count] = found
                    place += len(values)
                case Put(path=("messages",), value=value):
                    self.sources = self._found(row, place, as_list(value))
                    place += len(self.sources)
                case Snapshot(value=value):
                    messages = as_list(as_map(value).get("messages"))
                    self.sources = self._found(row, place, messages)
                    place += len(messages)
                case Drop(path=("messages", int(index))):
                    del self.sources[index]
                case _:
                    pass

    def _new(self, row: int, place: int, message: Any) -> Source:
        source = Source(row, place)
        self._given.append((source, message))
        return source

    def _found(self, row: int, place: int, messages: Sequence[Any]) -> list[Source]:
        """Give the sources of messages that were there before, and the row itself for others."""
        for source, message in self._given:
            self._known[_encoded(message)].append(source)
        self._given.clear()
        taken: defaultdict[bytes, int] = defaultdict(int)
        found: list[Source] = []
        for at, message in enumerate(messages, place):
            code = _encoded(message)
            known = self._known[code]
            if taken[code] < len(known):
                found.append(known[taken[code]])
                taken[code] += 1
            else:
                found.append(self._new(row, at, message))
        return found
