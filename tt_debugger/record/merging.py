"""Merging: the changes that updates of fields are, each by the reducer of its field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Change, Drop, State, fold
from tt_debugger.core.paths import Path
from tt_debugger.record.reducers import Reducer, changes_for, replace

Update = Mapping[str, Any]
"""Values for fields of a state, as JSON has them; some may be `Replaced`."""

ABSENT: Any = msgspec.UNSET
"""What a field that a state does not have is to its reducer."""


class Replaced(msgspec.Struct, frozen=True):
    """A value that takes the place of a field's, whatever its reducer; ABSENT takes it away."""

    value: Any

    def changes(self, path: Path, old: Any) -> tuple[Change, ...]:
        """Give the changes that put it in the place of an old value."""
        if self.value is ABSENT:
            return () if old is ABSENT else (Drop(path),)
        return changes_for(replace, path, old, self.value)


def merged(
    state: State, updates: Sequence[Update], reducers: Mapping[str, Reducer]
) -> tuple[Change, ...]:
    """Give the changes that some updates, one after the other, make to a state."""
    changes: list[Change] = []
    made: list[Change] = []
    for update in updates:
        # Only who comes after another one sees what that made.
        state, made = fold(state, made), []
        for field, value in update.items():
            old = state.get(field, ABSENT)
            if isinstance(value, Replaced):
                made += value.changes((field,), old)
            else:
                made += changes_for(reducers.get(field, replace), (field,), old, value)
        changes += made
    return tuple(changes)


def fields_that_differ(
    base: State, wanted: State, keys: Mapping[str, str] | None
) -> dict[str, Replaced]:
    """Give the fields of a state that are other than before, each to be put in its place.

    `keys` are those in JSON that the type of the state knows, by its fields; None for all. What a
    type does not know is not gone because it says nothing of it.
    """
    differ = {
        key: Replaced(value)
        for key, value in wanted.items()
        if key not in base or not is_same(base[key], value)
    }
    known = base if keys is None else {*keys.values()}
    gone = [key for key in base if key not in wanted and key in known]
    return {**differ, **{key: Replaced(ABSENT) for key in gone}}
