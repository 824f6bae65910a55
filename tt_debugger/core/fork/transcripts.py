"""The records of a transcript's fork: which are kept, which are rewritten, what is added.

A transcript holds a message in a record of its own, so an edit of the messages is one of records.
Where a message of a state comes from is told by the changes on the way to it; what a compaction
brought back is known again by its value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.fork.plan import Plan
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.replay import Replay
from tt_debugger.errors import UnsupportedError

_encoded = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode


class Source(msgspec.Struct, frozen=True):
    """Where a message comes from: a row, and its place among the messages that the row gave."""

    row: int
    place: int


class Kept(msgspec.Struct, frozen=True):
    """A row whose record is kept as it is."""

    row: int


class Rewritten(msgspec.Struct, frozen=True):
    """A row of which some messages are others now, by their place; None for one that is gone."""

    row: int
    messages: dict[int, Any]


class Left(msgspec.Struct, frozen=True):
    """A row whose messages were all taken away."""

    row: int


class Added(msgspec.Struct, frozen=True):
    """A message that no record of the original holds."""

    message: Any


Part = Kept | Rewritten | Left | Added


def parts_of(replay: Replay, plan: Plan) -> tuple[Part, ...]:
    """Give what is to become of each row from the root to the point, and what is added where.

    Raises UnsupportedError for a message that would have to stand inside of a record.
    """
    path = replay.session.tree.path_to(plan.row)
    origins = sources(path, replay.changes_along(path))
    items = _edited(as_list(plan.state.get("messages")), plan.edits)
    return tuple(_arranged(path, origins, items))


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


class _Item(msgspec.Struct):
    """A message of the wanted state: its place before the edits, None for one that is new."""

    before: int | None
    message: Any
    is_changed: bool = False


def _edited(messages: Sequence[Any], edits: Iterable[Change]) -> list[_Item]:
    """Give the messages after some edits, each with the place that it had."""
    items = [_Item(place, message) for place, message in enumerate(messages)]
    for edit in edits:
        match edit:
            case Put(path=("messages", int(place)), value=value):
                items[place] = _Item(items[place].before, value, is_changed=True)
            case Append(path=("messages",), value=value):
                items.append(_Item(None, value))
            case Drop(path=("messages", int(place))):
                del items[place]
            case Splice(path=("messages",), index=index, count=count, values=values):
                items[index : index + count] = _replaced(items[index : index + count], values)
            case Put(path=("messages",), value=value):
                items = _replaced(items, as_list(value))
            case Snapshot(value=value):
                items = _replaced(items, as_list(as_map(value).get("messages")))
            case _:
                items = _within(items, edit)
    return items


def _within(items: list[_Item], edit: Change) -> list[_Item]:
    """Give the items after an edit inside of one message."""
    path = edit.path
    if len(path) <= 2 or path[0] != "messages" or not isinstance(path[1], int):  # noqa: PLR2004
        return items
    # Only tt_debugger.core.fork.edits makes edits, and it has looked at their places.
    from tt_debugger.core.changes import fold

    place = path[1]
    inner = msgspec.structs.replace(edit, path=path[2:])
    message = fold(items[place].message, [inner])
    return [
        *items[:place],
        _Item(items[place].before, message, is_changed=True),
        *items[place + 1 :],
    ]


def _replaced(items: Sequence[_Item], messages: Sequence[Any]) -> list[_Item]:
    """Give new messages with the places of those among the old ones that they are, or replace."""
    old = [_encoded(each.message) for each in items]
    new = [_encoded(each) for each in messages]
    found: list[_Item] = []
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    for tag, begin, end, first, last in matcher.get_opcodes():
        if tag == "equal":
            found += items[begin:end]
            continue
        pairs = min(end - begin, last - first) if tag == "replace" else 0
        found += [
            _Item(items[begin + at].before, messages[first + at], is_changed=True)
            for at in range(pairs)
        ]
        found += [_Item(None, messages[at]) for at in range(first + pairs, last)]
    return found


def _arranged(
    path: Sequence[int], origins: Sequence[Source], items: Sequence[_Item]
) -> Iterator[Part]:
    """Give the parts in the order of the path; what is added follows what it stands behind.

    Raises UnsupportedError where that is no record of its own.
    """
    rewritten: defaultdict[int, dict[int, Any]] = defaultdict(dict)
    given: defaultdict[int, int] = defaultdict(int)
    gone: defaultdict[int, int] = defaultdict(int)
    added: defaultdict[int | None, list[Any]] = defaultdict(list)
    kept = {item.before for item in items}
    for before, source in enumerate(origins):
        given[source.row] += 1
        if before not in kept:
            gone[source.row] += 1
            rewritten[source.row][source.place] = None
    places = {row: place for place, row in enumerate(path)}
    last: int | None = None
    for item in items:
        if item.before is None:
            added[last].append(item.message)
            continue
        source = origins[item.before]
        if source.row == last and added[last]:
            raise UnsupportedError(
                "a message cannot stand between two that one record holds",
                "it may stand before the first of them, or behind the last",
            )
        # A message that a later record brought back stands in an earlier one.
        last = source.row if last is None else max(last, source.row, key=places.__getitem__)
        if item.is_changed:
            rewritten[source.row][source.place] = item.message
    yield from map(Added, added[None])
    for row in path:
        if gone[row] and gone[row] == given[row]:
            yield Left(row)
        elif rewritten[row]:
            yield Rewritten(row, rewritten[row])
        else:
            yield Kept(row)
        yield from map(Added, added[row])
