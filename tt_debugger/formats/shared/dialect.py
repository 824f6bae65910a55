"""Dialects: under which names the records of a file have their ids and name their parents.

Many agents write the same tree under names of their own. A file has one pair of names, that
which most of its records carry: a record may hold further ids that mean other things.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import text_or_none

_PAIRS: dict[str, tuple[str, ...]] = {
    "uuid": ("parentUuid", "parent_uuid"),
    "id": ("parentId", "parent_id", "parent", "previous_id", "previousId", "prev_id", "prev"),
    "event_id": ("parent_event_id", "previous_event_id"),
    "eventId": ("parentEventId", "previousEventId"),
    "message_id": ("parent_message_id", "previous_message_id"),
    "messageId": ("parentMessageId", "previousMessageId"),
    "entry_id": ("parent_entry_id", "previous_entry_id"),
    "entryId": ("parentEntryId", "previousEntryId"),
    "node_id": ("parent_node_id", "previous_node_id"),
    "nodeId": ("parentNodeId", "previousNodeId"),
    "checkpoint_id": ("parent_checkpoint_id", "previous_checkpoint_id"),
    "checkpointId": ("parentCheckpointId", "previousCheckpointId"),
    "step_id": ("parent_step_id", "previous_step_id"),
    "turn_id": ("parent_turn_id", "previous_turn_id"),
    "response_id": ("previous_response_id",),
    "span_id": ("parent_span_id",),
    "spanId": ("parentSpanId",),
    "run_id": ("parent_run_id",),
    "runId": ("parentRunId",),
}
"""The names of ids, the likelier first, and for each the names of parents that mean this id."""

_ANY_ID = _PAIRS["id"] + _PAIRS["uuid"]
"""The names of parents that may mean an id of any name."""


class Dialect(msgspec.Struct, frozen=True):
    """The names of the id, the first that is there, and of the parent; a list has no parents."""

    ids: tuple[str, ...]
    parent: str | None

    def own_id(self, record: Mapping[str, Any]) -> object:
        """Give the id of a record; an empty one is none, in a list one that is no text either."""
        found = next((record[name] for name in self.ids if record.get(name)), None)
        return text_or_none(found) if self.parent is None else found

    def parent_of(self, record: Mapping[str, Any]) -> object:
        """Give the parent that a record names; an empty one is none."""
        return None if self.parent is None else record.get(self.parent) or None

    def is_placed(self, record: Mapping[str, Any]) -> bool:
        """Tell whether a record says where it belongs: by an id to be named by, or a parent."""
        return self.parent is not None and (self.parent in record or self.ids[0] in record)


LINEAR = Dialect(("uuid", "id"), None)


def tree_dialect(records: Iterable[Mapping[str, Any]]) -> Dialect | None:
    """Give the pair of names that most records carry, None where none has any.

    Of pairs that equally many carry, the one that comes first in the table.
    """
    counts: dict[Dialect, int] = {}
    named: set[Dialect] = set()
    for record in records:
        for pair in _pairs_in(record):
            counts[pair] = counts.get(pair, 0) + 1
            if pair.parent_of(record):
                named.add(pair)
    # Roots alone are a tree too, but a pair that links something is the better guess.
    return max(counts, key=lambda pair: (pair in named, counts[pair], -_RANKS[pair]), default=None)


def _pairs_in(record: Mapping[str, Any]) -> Iterable[Dialect]:
    parents = [key for key in record if key in _PARENTS and _may_name(record[key])]
    for own in record if parents else ():
        if own in _PAIRS and text_or_none(record[own]):
            yield from (pair for key in parents if (pair := Dialect((own,), key)) in _RANKS)


def _may_name(value: object) -> bool:
    return value is None or isinstance(value, str)


_PARENTS = frozenset(parent for parents in _PAIRS.values() for parent in parents)
NAMES = _PARENTS.union(_PAIRS)
"""All names of ids and parents."""
_RANKS = {
    Dialect((own,), parent): rank
    for rank, (own, parent) in enumerate(
        (own, parent)
        for own, parents in _PAIRS.items()
        for parent in (*parents, *(each for each in _ANY_ID if each not in parents))
    )
}
