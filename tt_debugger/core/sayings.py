"""Sayings: of each message of a list the row that said it first, kept up along a way.

A compaction puts a list of messages anew, a summary and what it keeps of those before. What it
keeps was not said by it, though it wrote it again.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice, State
from tt_debugger.core.json import as_list, canonical
from tt_debugger.core.model import Kind, Role, Session
from tt_debugger.core.paths import Path, value_or_unset
from tt_debugger.core.tree import NO_ROW

LISTS: tuple[Path, ...] = (("messages",), ("values", "messages"))
"""Where a state has its messages."""
SUMMARIES = frozenset((Kind.COMPACTION, Kind.BRANCH_SUMMARY))
"""The kinds of checkpoints that sum up what was said."""


def is_summary(session: Session, row: int) -> bool:
    """Tell whether a row sums up what was said, or puts the summary of the compaction above it."""
    heads, above = session.heads, session.parents[row]
    if heads.kind(row) in SUMMARIES:
        return True
    is_below = above != NO_ROW and heads.kind(above) is Kind.COMPACTION
    return is_below and heads.role(row) is Role.SYSTEM


def messages_at(state: State, path: Path) -> list[Any]:
    """Give the messages at a path of a state, none where it has no list."""
    return as_list(value_or_unset(state, path))


class Sayings:
    """The messages of one list, and who said each first.

    `rows` has, for each message of the list, the row that said it first.
    """

    def __init__(self, path: Path, messages: Iterable[Any] = (), rows: Iterable[int] = ()) -> None:
        self.path = path
        self.rows: list[int] = list(rows)
        self.summed_up: dict[int, int] = {}
        """How many messages were gone for good after a row that put others for them."""
        self._messages: list[Any] = list(messages)
        self._has_holes = False
        """Whether a message is UNSET until the state after the row tells it."""
        self._cut: list[tuple[Any, int]] = []
        """What was there before the list was emptied, and may be brought back."""

    def take(
        self, row: int, changes: Sequence[Change], after: State, sums_up: Callable[[int], bool]
    ) -> None:
        """Take what a row did, which led to a state that may be live.

        `sums_up` tells of a row whether it puts a summary.
        """
        for change in changes:
            match change:
                case Append(path=path, value=value) if path == self.path:
                    self._add(row, value, sums_up)
                case Splice(path=path, index=index, count=count, values=values):
                    if path == self.path:
                        self._replace(row, slice(index, index + count), values)
                    else:
                        self._change(row, path, msgspec.UNSET)
                case Drop(path=(*above, int(index))) if tuple(above) == self.path:
                    self._replace(row, slice(index, index + 1), ())
                case Put(value=value) | Snapshot(value=value):
                    self._change(row, change.path, value)
                case Append(path=path) | Drop(path=path):
                    self._change(row, path, msgspec.UNSET)
        self._fill_holes(after)
        if self._cut and self.rows and not sums_up(row):
            self._cut = []

    def _fill_holes(self, after: State) -> None:
        if self._has_holes:
            now = messages_at(after, self.path)
            for place, message in enumerate(self._messages):
                if message is msgspec.UNSET:
                    self._messages[place] = now[place]
            self._has_holes = False

    def _change(self, row: int, path: Path, value: State) -> None:
        """Take that something was written at a path that is not the list itself, or all of it."""
        size = len(self.path)
        if len(path) <= size:
            if path == self.path[: len(path)]:
                new = () if value is msgspec.UNSET else messages_at(value, self.path[len(path) :])
                self._replace(row, slice(0, len(self.rows)), new)
        elif path[:size] == self.path and isinstance(place := path[size], int):
            if len(path) == size + 1:
                self.rows[place] = row
            self._messages[place] = msgspec.UNSET
            self._has_holes = True

    def _add(self, row: int, message: Any, sums_up: Callable[[int], bool]) -> None:
        said = row
        if self._cut and sums_up(row):
            code = canonical(message)
            for at, (before, by) in enumerate(self._cut):
                if canonical(before) == code:
                    said = by
                    del self._cut[at]
                    break
            self.summed_up[row] = len(self._cut)
        self._messages.append(message)
        self.rows.append(said)

    def _replace(self, row: int, gone: slice, new: Sequence[Any]) -> None:
        """Take that some messages gave way to others; what is among both was said before."""
        before = list(zip(self._messages[gone], self.rows[gone], strict=True))
        rows = [row] * len(new)
        for place, said in _said_again(before, new):
            rows[place] = said
        self.summed_up[row] = len(before) - sum(each != row for each in rows)
        self._messages[gone] = new
        self.rows[gone] = rows
        if before and not self.rows:
            self._cut = before


def _said_again(
    before: Sequence[tuple[Any, int]], new: Sequence[Any]
) -> Iterator[tuple[int, int]]:
    """Give the places of new messages that were there before, and who said them."""
    left, end = len(before), len(new)
    # What is kept are mostly the last ones, which need not be looked for.
    while left and end and is_same(before[left - 1][0], new[end - 1]):
        left, end = left - 1, end - 1
        yield end, before[left][1]
    known: defaultdict[bytes, deque[int]] = defaultdict(deque)
    if left and end:
        for message, said in before[:left]:
            known[canonical(message)].append(said)
    for place, message in enumerate(new[:end] if known else ()):
        said = known[canonical(message)]
        if said:
            yield place, said.popleft()
