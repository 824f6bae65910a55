"""Thinning: logs of which most entries are taken away again, and what has to hold then.

What stays is chosen by whoever keeps the log, and given whole: which entries there are, on which
one each hangs now, and a snapshot where its changes alone no longer lead to its state.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol, runtime_checkable

from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import Entry, Snapshotted
from tt_debugger.core.recording.restoring import effects_after
from tt_debugger.errors import CannotWriteError, UsageError

REFUSED = "open it again to go on from there, or fork to a session of its own"
"""What to do where another writer wrote to a log since."""


@runtime_checkable
class Thins(Protocol):
    """A log that can forget entries; `store.Records` says the rest of it."""

    def thin(self, kept: Mapping[str, Entry]) -> int:
        """Keep these entries alone, as they are given here by their ids; tell how many went.

        Each keeps its id and its place among the others; the last of the log must be one of them.
        A parent is one of them too, or None for a snapshot. What is known of effects must be what
        it was. All is done in one transaction: a crash leaves the old log or the new one.

        Raises UsageError where the entries do not hold together so, with nothing changed, and
        CannotWriteError where another writer wrote since or nothing can be written.
        """
        ...


def must_hold_together(
    oldest_first: Sequence[str], kept: Mapping[str, Entry], known: Mapping[str, Effect]
) -> None:
    """Let pass only entries that are a log of their own. Raises UsageError.

    `oldest_first` are the ids of all entries now, `known` is what is known of effects.
    """
    places = {name: place for place, name in enumerate(oldest_first)}
    for name, entry in kept.items():
        if entry.id != name or name not in places:
            raise _not_thinned(f"there is no entry {name!r}", "give only entries of the log")
        if entry.parent is None:
            if not isinstance(entry, Snapshotted):
                raise _not_thinned(
                    f"{name!r} would begin a branch without a state",
                    "give a snapshot of its state in its place",
                )
        elif entry.parent not in kept or places[entry.parent] >= places[name]:
            raise _not_thinned(
                f"{name!r} would hang on {entry.parent!r}, which does not stay before it",
                "hang it on its nearest ancestor that stays",
            )
    if oldest_first and oldest_first[-1] not in kept:
        raise _not_thinned("its last entry must stay", "keep it beside the others")
    newest = [kept[name] for name in reversed(oldest_first) if name in kept]
    if effects_known(newest) != dict(known):
        raise _not_thinned(
            "what is known of effects would be lost",
            "keep what speaks of them, or give the snapshot after them all that is known",
        )


def effects_known(newest_first: Iterable[Entry]) -> dict[str, Effect]:
    """Give what is known of effects at the end of a log, read back to its newest snapshot."""
    seen: list[Entry] = []
    for entry in newest_first:
        if isinstance(entry, Snapshotted):
            return effects_after({each.key: each for each in entry.effects}, seen[::-1])
        seen.append(entry)
    return effects_after({}, seen[::-1])


def written_since(location: str) -> CannotWriteError:
    """Say that another writer wrote to a log."""
    return CannotWriteError(f"cannot write to {location}: another writer wrote to it", REFUSED)


def _not_thinned(why: str, hint: str) -> UsageError:
    return UsageError(f"the log cannot be thinned so: {why}", hint)
