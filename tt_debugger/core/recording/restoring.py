"""Restoring: where a recorder goes on, told by the newest entries of its log.

Entries come newest first, and only as many are read as are needed: back to the snapshot that the
last entry's branch begins from. What is known of effects is known of the whole session, so every
entry on the way counts for it, on whatever branch it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

import msgspec

from tt_debugger.core.changes import LiveState, State
from tt_debugger.core.recording.effects import Effect, Status
from tt_debugger.core.recording.entries import (
    EffectNoted,
    Entry,
    Snapshotted,
    changes_of,
)

_STATUSES = {
    "intended": Status.NOT_DONE,
    "begun": Status.UNKNOWN,
    "done": Status.DONE,
    "not_done": Status.NOT_DONE,
}


class Restored(msgspec.Struct, frozen=True):
    """The end of a log: its last entry, the state there, the version of its schema, effects.

    `path` are the entries that the state was made of, from its snapshot on. `bytes_since` would
    tell how much is read for it, but that is the reader's to know.
    """

    leaf: str
    state: State
    version: int
    effects: Mapping[str, Effect]
    path: tuple[Entry, ...]


class Broken(msgspec.Struct, frozen=True):
    """That no state can be made of a log: the id of the entry that is missing from it.

    Where none is missing, `damage` says what is wrong with one that is there.
    """

    missing: str | None
    damage: str | None = None


def restored(newest_first: Iterable[Entry], leaf: str | None = None) -> Restored | Broken | None:
    """Give where to go on from; None where there are no entries.

    `leaf` is the entry to go on from, None for the newest one. All entries that are newer than it
    must be given too: they may speak of effects.
    """
    wanted = leaf
    last: str | None = None
    path: list[Entry] = []
    seen: list[Entry] = []
    effects: dict[str, Effect] | None = None
    for entry in newest_first:
        if wanted is None:
            wanted = entry.id
        if last is None and entry.id == wanted:
            last = entry.id
        if effects is None:
            seen.append(entry)
            if isinstance(entry, Snapshotted):
                effects = effects_after({each.key: each for each in entry.effects}, seen[::-1])
        if entry.id != wanted:
            continue
        path.append(entry)
        wanted = entry.parent
        if isinstance(entry, Snapshotted):
            path.reverse()
            state = _state_after(path)
            if isinstance(state, Broken):
                return state
            assert last is not None  # noqa: S101 - the path begins with it
            return Restored(last, state, entry.version, effects or {}, tuple(path))
        if wanted is None:
            break
    return None if not seen and leaf is None else Broken(wanted)


def _state_after(path: Iterable[Entry]) -> dict[str, State] | Broken:
    """Give the state at the end of a path, as far as what was written can be believed."""
    live = LiveState(None)
    state: dict[str, State] = {}
    for each in path:
        try:
            live.apply(changes_of(each))
        except (LookupError, TypeError) as error:
            why = f"{type(error).__name__}: {error}"
            return Broken(None, f"the entry {each.id!r} changes what is not there ({why})")
        after: State = live.value
        if not isinstance(after, dict):
            return Broken(None, f"the state at the entry {each.id!r} is no object")
        state = cast("dict[str, State]", after)
    return state


def effects_after(known: Mapping[str, Effect], entries: Iterable[Entry]) -> dict[str, Effect]:
    """Give what is known of effects after some more entries, oldest first."""
    effects = dict(known)
    for entry in entries:
        if isinstance(entry, EffectNoted):
            effects[entry.key] = effect_noted(effects.get(entry.key), entry)
    return effects


def effect_noted(before: Effect | None, entry: EffectNoted) -> Effect:
    """Give what is known of an effect after an entry that speaks of it.

    What is done stays done: no later entry can undo what happened.
    """
    if before is not None and before.status is Status.DONE:
        return before
    return Effect(
        entry.key,
        _STATUSES[entry.phase],
        entry.id,
        entry.tool or (before and before.tool),
        entry.input_hash or (before and before.input_hash),
        entry.result,
    )
