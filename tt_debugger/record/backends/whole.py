"""Whole states: what a log comes to at each entry, where it keeps the state of every one of them.

An entry says what it did; what it did it to is known of the entry that it hangs on. What cannot be
done there is left out, as those who read a recording leave it out.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from tt_debugger.core.changes import Append, LiveState, Put, State
from tt_debugger.core.json import as_map
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import (
    MESSAGES,
    EffectNoted,
    Entry,
    Snapshotted,
    changes_of,
)
from tt_debugger.core.recording.restoring import effects_after
from tt_debugger.formats.shared.recording.outline import fits

Effects = Mapping[str, Effect]


def state_after(before: State, entry: Entry) -> State:
    """Give the state after an entry; where nothing was done to it, the very same."""
    if isinstance(entry, Snapshotted):
        return entry.state
    changes = changes_of(entry)
    if not changes:
        return before
    live = LiveState(before)
    for change in changes:
        is_first = change.path == (MESSAGES,) and MESSAGES not in as_map(live.value)
        if is_first and isinstance(change, Append):
            live.apply((Put(change.path, [change.value]),))
        elif fits(live.value, change):
            live.apply((change,))
    return live.value


def ledger_after(before: Effects, entry: Entry) -> Effects:
    """Give what is known of effects after an entry; the very same where it speaks of none."""
    match entry:
        case Snapshotted(effects=effects):
            return {each.key: each for each in effects}
        case EffectNoted():
            return effects_after(before, [entry])
        case _:
            return before


def without_state(entry: Entry) -> Entry:
    """Give an entry without the whole state, which is kept beside it."""
    if isinstance(entry, Snapshotted):
        return msgspec.structs.replace(entry, state=None)
    return entry
