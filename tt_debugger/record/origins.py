"""Origins: which entry brought each message of the state, so that a compaction can name them."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.recording.entries import MESSAGES, Entry, changes_of

MOST_WAITING = 1024
"""Entries that are held until somebody asks; they may hold values that the state has no more."""


class Origins:
    """The id of the entry that brought each message, in their order."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._waiting: list[Entry] = []
        """Entries that were not looked into yet: most recorders never ask."""

    def take(self, entry: Entry) -> None:
        """Follow what an entry did to the messages, later."""
        self._waiting.append(entry)
        if len(self._waiting) > MOST_WAITING:
            self._look()

    def between(self, first: int, end: int) -> tuple[str, ...]:
        """Give the ids of the entries that brought some of the messages, each once."""
        self._look()
        return tuple(dict.fromkeys(self._ids[first:end]))

    def _look(self) -> None:
        for entry in self._waiting:
            for change in changes_of(entry):
                self._follow(change, entry.id)
        self._waiting.clear()

    def _follow(self, change: Change, brought: str) -> None:
        if isinstance(change, Snapshot):
            self._ids = [brought] * _count(as_map(change.value).get(MESSAGES))
            return
        place, *inside = change.path
        if place != MESSAGES:
            return
        match change, inside:
            case Append(), []:
                self._ids.append(brought)
            case Splice(index=index, count=count, values=values), []:
                self._ids[index : index + count] = [brought] * len(values)
            case Put(value=value), []:
                self._ids = [brought] * _count(value)
            case Drop(), []:
                self._ids = []
            case Put(), [int(index)]:
                self._ids[index] = brought
            case Drop(), [int(index)]:
                del self._ids[index]
            case _:
                # A message was changed inside: it still is the one that was brought.
                pass


def _count(messages: Any) -> int:
    return len(as_list(messages))
