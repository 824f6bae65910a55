"""Retention: which checkpoints of a long session are kept, and what becomes of those that stay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import msgspec

from tt_debugger.core.changes import State, fold
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import (
    EffectNoted,
    Entry,
    Forked,
    HandedOff,
    Labelled,
    Snapshotted,
    changes_of,
)
from tt_debugger.core.recording.restoring import effect_noted
from tt_debugger.errors import CannotReadError

_HOUR = len("2026-11-30T23")
_SPEAK_OF_PARENT = (Labelled, Forked, HandedOff)
"""Entries that say something of the one that they hang on, which is kept with them."""


class Retention(msgspec.Struct, frozen=True):
    """What is kept: the last checkpoints, and the last one of every hour.

    So are, always, what has a label, every point where branches part, and the end of each.
    """

    last: int = 100
    hourly: bool = True


class _Known(msgspec.Struct, frozen=True):
    """What holds after an entry: the state, the version of its schema, what effects there were."""

    state: State
    version: int
    effects: Mapping[str, Effect]


def kept_entries(retention: Retention, entries: Sequence[Entry]) -> dict[str, Entry]:
    """Give the entries that stay, by their ids, as they are to be then.

    The entries are given in the order of their writing. One that stays hangs on its nearest
    ancestor that stays; where others stood between, it becomes a snapshot of its state. Raises
    CannotReadError where a parent is missing.
    """
    staying = _staying(retention, entries)
    known = _known(entries)
    by_id = {each.id: each for each in entries}
    kept: dict[str, Entry] = {}
    for entry in entries:
        if entry.id not in staying:
            continue
        parent = entry.parent
        while parent is not None and parent not in staying:
            parent = by_id[parent].parent
        kept[entry.id] = entry if parent == entry.parent else _whole(entry, parent, known)
    return kept


def _staying(retention: Retention, entries: Sequence[Entry]) -> set[str]:
    by_id = {each.id: each for each in entries}
    children = Counter(each.parent for each in entries)
    staying = {each.id for each in entries[-max(1, retention.last) :]}
    staying |= {each.id for each in entries if children[each.id] != 1}
    if retention.hourly:
        # The last of an hour stays in the place of those before it.
        staying |= set({each.time[:_HOUR]: each.id for each in entries}.values())
    labels: dict[str, Labelled] = {}
    for each in entries:
        if isinstance(each, Labelled):
            labels[each.target] = each
    for label in labels.values():
        if label.label is not None:
            staying |= {label.id, label.target} & by_id.keys()
    for each in reversed(entries):
        if each.id in staying and isinstance(each, _SPEAK_OF_PARENT) and each.parent is not None:
            staying.add(each.parent)
    return staying


def _known(entries: Sequence[Entry]) -> dict[str, _Known]:
    known: dict[str, _Known] = {}
    effects: dict[str, Effect] = {}
    for entry in entries:
        if isinstance(entry, Snapshotted):
            effects = {**effects, **{each.key: each for each in entry.effects}}
            known[entry.id] = _Known(entry.state, entry.version, effects)
            continue
        if isinstance(entry, EffectNoted):
            effects = {**effects, entry.key: effect_noted(effects.get(entry.key), entry)}
        before = known.get(entry.parent or "")
        if before is None:
            raise CannotReadError(
                f"the checkpoint {entry.parent} is missing, on which {entry.id} hangs",
                "nothing is removed from a log that is damaged",
            )
        state = fold(before.state, changes_of(entry))
        known[entry.id] = _Known(state, before.version, effects)
    return known


def _whole(entry: Entry, parent: str | None, known: Mapping[str, _Known]) -> Snapshotted:
    there = known[entry.id]
    return Snapshotted(
        entry.id,
        parent,
        entry.time,
        entry.name,
        entry.tool,
        entry.event,
        entry.failure,
        entry.usage,
        state=there.state,
        version=there.version,
        effects=tuple(there.effects.values()),
        why="thinned",
    )
