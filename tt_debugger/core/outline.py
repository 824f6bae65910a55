"""The outline: the lines of a tree from top to bottom, filtered and folded.

A line is a row or a fold, which stands for rows. A branch off the trunk (the active path, else the
newest child's) folds behind its first row; in a long session the uneventful steps of a run fold
to a line. All here is a few passes over the rows, for a filter must switch while a key is pressed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import overload

import msgspec

from tt_debugger.core.chains import Chains
from tt_debugger.core.filters import Chosen, Filter, shown_mask
from tt_debugger.core.folds import Fold, Folding, Folds
from tt_debugger.core.lanes import LaneRow, lay_out
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.core.visible import SHORTEST_RUN, VisibleTree

Stretch = tuple[int, int, int]
"""Places that one fold hides, from and to, and the place that owns the fold."""


class Places(Sequence[int]):
    """The line of each row: its own, or that of the fold that hides it.

    A row that the filter hides has that of its nearest visible ancestor, else NO_ROW. `line_of`
    has the line of each place and of NO_ROW.
    """

    def __init__(self, tree: VisibleTree, line_of: Sequence[int]) -> None:
        self._tree = tree
        self._line_of = line_of

    def __len__(self) -> int:
        return len(self._tree.session)

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> list[int]: ...
    def __getitem__(self, index: int | slice) -> int | list[int]:
        if isinstance(index, slice):
            return [self[row] for row in range(len(self))[index]]
        place = self._tree.place_of(range(len(self))[index])
        return NO_ROW if place == NO_ROW else self._line_of[place]


class Outline(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The lines of a session from top to bottom, the lanes of each, and where each row is.

    A line is a row, or `~n` for fold n. `places` has one line per row of the session: its own,
    that of the fold that hides it, or that of its nearest visible ancestor, else NO_ROW. `shown`
    counts the rows that the filter shows, folded ones included.
    """

    lines: Sequence[int]
    lanes: Sequence[LaneRow]
    places: Sequence[int]
    folds: Folds
    shown: int
    chosen: Chosen
    folding: Folding
    tree: VisibleTree

    def __len__(self) -> int:
        return len(self.lines)

    def row_at(self, place: int) -> int:
        """Give the row on a line; of a fold, the first one it hides."""
        line = self.lines[place]
        return line if line >= 0 else self.folds[~line].first

    def fold_at(self, place: int) -> Fold | None:
        """Give the fold on a line, None for a row."""
        line = self.lines[place]
        return None if line >= 0 else self.folds[~line]

    def has_line(self, row: int) -> bool:
        """Tell whether a row has a line of its own."""
        place = self.places[row]
        return place >= 0 and self.lines[place] == row

    @cached_property
    def mask(self) -> bytes:
        """One byte per row: 1 for those that the filter shows, folded ones too."""
        return shown_mask(self.tree.session, self.chosen)

    def rows_at(self, place: int) -> Sequence[int]:
        """Give the rows that a line stands for."""
        line = self.lines[place]
        return (line,) if line >= 0 else self.folds.rows(~line)

    def closing(self, row: int) -> Folding | None:
        """Give the folding that closes what a row is in, None where there is nothing to close.

        That is the innermost open branch; on the trunk, the run of the row.
        """
        tree = self.tree
        place = tree.place_of(row)
        is_in_branch, innermost = False, NO_ROW
        for branch in tree.branches_above(place):
            is_in_branch = True
            if self._is_closed(branch, is_run=False):
                # Whatever is open in a closed branch is hidden by it.
                innermost = NO_ROW
            elif innermost == NO_ROW:
                innermost = branch
        if innermost != NO_ROW:
            return self.folding.closing(tree.rows[innermost])
        head = NO_ROW if is_in_branch else tree.run_of(place)
        if head == NO_ROW or self._is_closed(head, is_run=True):
            return None
        return self.folding.closing(tree.rows[head])

    def revealing(self, row: int) -> Folding:
        """Give the folding in which no fold hides a row."""
        tree = self.tree
        place = tree.place_of(row)
        closed = [
            branch
            for branch in tree.branches_above(place)
            if branch != place and self._is_closed(branch, is_run=False)
        ]
        head = tree.run_of(place)
        if head != NO_ROW and self._is_closed(head, is_run=True):
            closed.append(head)
        return self.folding.opening(*(tree.rows[head] for head in closed))

    def _is_closed(self, head: int, *, is_run: bool) -> bool:
        folding, row = self.folding, self.tree.rows[head]
        by_default = folding.folds_runs(self.shown) if is_run else folding.folds_branches()
        return row not in folding.opened if by_default else row in folding.closed


def outline(
    session: Session, chosen: Chosen = Filter.ALL, folding: Folding | None = None
) -> Outline:
    """Give the outline of a session; without a folding, with the defaults."""
    folding = folding or Folding()
    tree = VisibleTree(session, chosen)
    branches = _closed_branches(tree, folding)
    runs = _closed_runs(tree, folding, branches)
    drawn = _folded(tree, branches, runs) if branches or runs else _unfolded(tree)
    return Outline(
        drawn.lines,
        lay_out(drawn.chains, drawn.active),
        drawn.places,
        drawn.folds,
        len(tree),
        chosen,
        folding,
        tree,
    )


def _closed_branches(tree: VisibleTree, folding: Folding) -> list[Stretch]:
    """Give the stretches of places in closed branches; the first place of one owns its own."""
    rows, opened, closed = tree.rows, folding.opened, folding.closed
    by_default = folding.folds_branches()
    heads = {
        place
        for place in tree.branches_worth_folding
        if (rows[place] not in opened if by_default else rows[place] in closed)
    }
    if not heads:
        return []
    stretches: list[Stretch] = []
    owners = [NO_ROW] * (len(tree) + 1)
    hung = tree.chains.hung
    bounds = (*sorted(heads.union(hung)), len(tree))
    before, before_owner = NO_ROW, NO_ROW
    for begin, end in pairwise(bounds):
        # What is below a closed branch is in that one, even the first row of another.
        owner = owners[hung.get(begin, begin - 1)]
        if owner < 0 and begin in heads:
            owner = begin
        if owner < 0:
            continue
        owners[begin:end] = [owner] * (end - begin)
        if before == begin and before_owner == owner:
            stretches[-1] = (stretches[-1][0], end, owner)
        else:
            stretches.append((begin, end, owner))
        before, before_owner = end, owner
    return stretches


def _closed_runs(
    tree: VisibleTree, folding: Folding, branches: Sequence[Stretch]
) -> list[Stretch]:
    """Give the stretches of places in closed runs; the first place of one owns its own."""
    by_default = folding.folds_runs(len(tree))
    if not (by_default or folding.closed):
        return []
    covered = ((begin, end) for begin, end, _ in branches)
    opened, closed, rows, hung = folding.opened, folding.closed, tree.rows, tree.chains.hung
    stretches: list[Stretch] = []
    first_of: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for begin, end in tree.runs(covered):
        first = first_of.get(hung.get(begin, begin - 1), begin)
        first_of[end - 1] = first
        lengths[first] = lengths.get(first, 0) + end - begin
        stretches.append((begin, end, first))
    found: set[int] = set()
    for first, length in lengths.items():
        if length >= SHORTEST_RUN:
            head = rows[hung.get(first, first - 1)]
            if head not in opened if by_default else head in closed:
                found.add(first)
    return [each for each in stretches if each[2] in found]


class _Lines(msgspec.Struct, frozen=True):
    """The lines, how they hang on each other, 1 for those on the active path, and the folds."""

    lines: Sequence[int]
    chains: Chains
    active: bytes | bytearray
    folds: Folds
    places: Places


def _unfolded(tree: VisibleTree) -> _Lines:
    """Give a line for each place."""
    places = Places(tree, range(len(tree)))
    return _Lines(tree.rows, tree.chains, tree.active, Folds(tree, [], b"", []), places)


def _folded(tree: VisibleTree, branches: Sequence[Stretch], runs: Sequence[Stretch]) -> _Lines:
    """Give the lines where places have owners: the first places of what is folded with them.

    Stretch by stretch of places with one owner, and of those between, which have none.
    """
    count, parent, between = len(tree), tree.chains.hung.get, tree.chains.begins_between
    rows, are_active = tree.rows, tree.active
    line_of = [NO_ROW] * (count + 1)
    lines: list[int] = []
    active = bytearray()
    hung: dict[int, int] = {}
    line_of_fold: dict[int, int] = {}
    hidden: list[Stretch] = []
    heads = {owner for _, _, owner in branches}
    behind = 0
    for begin, end, owner in (*sorted((*branches, *runs)), (count, count, NO_ROW)):
        is_branch = owner == begin and begin in heads
        # The first row of a branch is shown, and what is before the stretch.
        first = begin + is_branch
        if behind < first:
            line = len(lines)
            line_of[behind:first] = range(line, line + first - behind)
            inside = between(behind, first) if first - behind > 1 else ()
            for place in (behind, *inside):
                above, place_line = line_of[parent(place, place - 1)], line + place - behind
                if above != place_line - 1:
                    hung[place_line] = above
            lines += rows[behind:first]
            active += are_active[behind:first]
        if owner == begin:
            lines.append(~len(line_of_fold))
            line_of_fold[owner] = line = len(lines) - 1
            above = line_of[parent(owner, owner - 1)]
            if not is_branch and above != line - 1:
                hung[line] = above
            active.append(0 if is_branch else are_active[owner])
        if first < end:
            line_of[first:end] = [line_of_fold[owner]] * (end - first)
            hidden.append((owner, first, end))
        behind = end
    hidden.sort()
    owned = list(line_of_fold)
    folds = Folds(tree, owned, bytes(each not in heads for each in owned), hidden)
    return _Lines(lines, Chains(len(lines), hung), active, folds, Places(tree, line_of))
