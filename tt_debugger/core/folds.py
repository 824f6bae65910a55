"""Folds: lines that stand for several rows, and which of them a person opened or closed."""

from __future__ import annotations

import enum
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import overload

import msgspec

from tt_debugger.core.visible import VisibleTree

LONG_SESSION = 1000
"""Runs are folded by default where more rows than this are shown."""


class FoldRule(enum.StrEnum):
    """What is folded where nobody said otherwise."""

    DEFAULT = "default"
    NOTHING = "nothing"
    EVERYTHING = "everything"


class Folding(msgspec.Struct, frozen=True):
    """What is folded: a rule, and the heads of the folds that a person opened or closed."""

    rule: FoldRule = FoldRule.DEFAULT
    opened: frozenset[int] = frozenset()
    closed: frozenset[int] = frozenset()

    def opening(self, *heads: int) -> Folding:
        """Give the folding in which the folds of these heads are open."""
        return Folding(self.rule, self.opened.union(heads), self.closed.difference(heads))

    def closing(self, *heads: int) -> Folding:
        """Give the folding in which the folds of these heads are closed."""
        return Folding(self.rule, self.opened.difference(heads), self.closed.union(heads))

    def folds_branches(self) -> bool:
        """Tell whether a branch is folded where nobody said otherwise."""
        return self.rule is not FoldRule.NOTHING

    def folds_runs(self, shown: int) -> bool:
        """Tell whether a run is, where the filter shows so many rows."""
        if self.rule is FoldRule.DEFAULT:
            return shown > LONG_SESSION
        return self.rule is FoldRule.EVERYTHING


class Fold(msgspec.Struct, frozen=True):
    """What one folded line stands for: `count` rows behind the row `head`, which names the fold.

    A fold is of a branch or else of a run. `failed` counts the rows that went wrong, `leaves` the
    ends of branches; `ended` is the time of the last row.
    """

    head: int
    is_branch: bool
    count: int
    failed: int
    leaves: int
    first: int
    last: int
    ended: float | None


class Folds(Sequence[Fold]):
    """The folds of an outline from top to bottom, each worked out when it is asked for.

    `owned` has the first place of each: the one before those of a branch, or the first of a run.
    `hidden` has the stretches of hidden places: in which fold, from and to, in this order.
    """

    def __init__(
        self,
        tree: VisibleTree,
        owned: Sequence[int],
        are_runs: bytes,
        hidden: Sequence[tuple[int, int, int]],
    ) -> None:
        self._tree = tree
        self._owned = owned
        self._are_runs = are_runs
        self._hidden = hidden
        self._known: dict[int, Fold] = {}

    def __len__(self) -> int:
        return len(self._owned)

    @overload
    def __getitem__(self, index: int) -> Fold: ...
    @overload
    def __getitem__(self, index: slice) -> list[Fold]: ...
    def __getitem__(self, index: int | slice) -> Fold | list[Fold]:
        if isinstance(index, slice):
            return [self[each] for each in range(len(self))[index]]
        index = range(len(self))[index]
        if index not in self._known:
            self._known[index] = self._fold(index)
        return self._known[index]

    def rows(self, index: int) -> array[int]:
        """Give the rows that a fold hides, in drawing order."""
        rows: array[int] = array("q")
        for begin, end in self._stretches(index):
            rows.extend(self._tree.rows[begin:end])
        return rows

    def _stretches(self, index: int) -> Iterator[tuple[int, int]]:
        owner = self._owned[index]
        for each in range(bisect_left(self._hidden, (owner,)), len(self._hidden)):
            of, begin, end = self._hidden[each]
            if of != owner:
                break
            yield begin, end

    def _fold(self, index: int) -> Fold:
        tree, rows, owner = self._tree, self.rows(index), self._owned[index]
        heads, ends = tree.session.heads, tree.chains.leaves
        is_run = bool(self._are_runs[index])
        return Fold(
            head=tree.rows[tree.chains.parent(owner) if is_run else owner],
            is_branch=not is_run,
            count=len(rows),
            failed=sum(map(heads.failed, rows)),
            leaves=sum(
                bisect_left(ends, end) - bisect_left(ends, begin)
                for begin, end in self._stretches(index)
            ),
            first=rows[0],
            last=rows[-1],
            ended=heads.time(rows[-1]),
        )
