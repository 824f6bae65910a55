"""The outline: the lines of a tree from top to bottom, filtered and folded.

A line is a row or a fold, which stands for rows. A branch off the trunk (the active path, else the
newest child's) folds behind its first row; in a long session the uneventful steps of a run fold
to a line. All here is a few passes over the rows, for a filter must switch while a key is pressed.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, compress, islice
from operator import ne

import msgspec

from tt_debugger.core.filters import Filter, shown_mask
from tt_debugger.core.folds import Fold, Folding, Folds
from tt_debugger.core.lanes import LaneRow, lay_out
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW
from tt_debugger.core.visible import SHORTEST_RUN, VisibleTree


class Outline(msgspec.Struct, frozen=True, dict=True, eq=False):
    """The lines of a session from top to bottom, the lanes of each, and where each row is.

    A line is a row, or `~n` for fold n. `places` has one line per row of the session: its own,
    that of the fold that hides it, or that of its nearest visible ancestor, else NO_ROW. `shown`
    counts the rows that the filter shows, folded ones included.
    """

    lines: Sequence[int]
    lanes: Sequence[LaneRow]
    places: array[int]
    folds: Folds
    shown: int
    chosen: Filter
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
    session: Session, chosen: Filter = Filter.ALL, folding: Folding | None = None
) -> Outline:
    """Give the outline of a session; without a folding, with the defaults."""
    folding = folding or Folding()
    tree = VisibleTree(session, chosen)
    owners: list[int] = [NO_ROW] * (len(tree) + 1)
    covered = _close_branches(tree, folding, owners)
    runs = _close_runs(tree, folding, owners, covered)
    drawn = _folded(tree, owners, runs) if runs or 1 in covered else _unfolded(tree)
    near = tree.near[:-1]
    if not isinstance(session.order, range):
        near = map(near.__getitem__, session.positions)
    return Outline(
        drawn.lines,
        lay_out(drawn.above, drawn.active, drawn.last),
        array("q", near if drawn.line_of is None else map(drawn.line_of.__getitem__, near)),
        drawn.folds,
        len(tree),
        chosen,
        folding,
        tree,
    )


def _close_branches(tree: VisibleTree, folding: Folding, owners: list[int]) -> bytearray:
    """Name in `owners` the closed branch that each place is in; give 1 for each of those."""
    rows, opened, closed = tree.rows, folding.opened, folding.closed
    by_default = folding.folds_branches()
    heads = [
        place
        for place in tree.branches_worth_folding()
        if (rows[place] not in opened if by_default else rows[place] in closed)
    ]
    covered = bytearray(len(tree))
    for head in heads:
        owners[head] = head
        covered[head] = 1
    if heads:
        for place, parent in enumerate(tree.parents):
            # What is below a closed branch is in that one, even the first row of another.
            if (owner := owners[parent]) >= 0:
                owners[place] = owner
                covered[place] = 1
    return covered


def _close_runs(
    tree: VisibleTree, folding: Folding, owners: list[int], covered: bytearray
) -> set[int]:
    """Name in `owners` the closed run that each place is in, by its first place; give those."""
    by_default = folding.folds_runs(len(tree))
    if not (by_default or folding.closed):
        return set()
    opened, closed, rows, parents = folding.opened, folding.closed, tree.rows, tree.parents
    runs: dict[int, list[tuple[int, int]]] = {}
    first_of: dict[int, int] = {}
    for begin, end in tree.runs(covered):
        first = first_of.get(parents[begin], begin)
        first_of[end - 1] = first
        runs.setdefault(first, []).append((begin, end))
    found: set[int] = set()
    for first, stretches in runs.items():
        head = rows[parents[first]]
        is_closed = head not in opened if by_default else head in closed
        if is_closed and sum(end - begin for begin, end in stretches) >= SHORTEST_RUN:
            found.add(first)
            for begin, end in stretches:
                owners[begin:end] = [first] * (end - begin)
    return found


class _Lines(msgspec.Struct, frozen=True):
    """The lines, what each hangs on, 1 for those on the active path, and the folds.

    `last` has the newest child of each line, where that is known. `line_of` has the line of each
    place and of NO_ROW; None where each place is its own line.
    """

    lines: Sequence[int]
    above: Sequence[int]
    active: bytes | bytearray
    last: list[int] | None
    folds: Folds
    line_of: Sequence[int] | None


def _unfolded(tree: VisibleTree) -> _Lines:
    """Give a line for each place."""
    folds = Folds(tree, [], b"", [])
    return _Lines(tree.rows, tree.parents, tree.active, tree.last, folds, None)


def _folded(tree: VisibleTree, owners: Sequence[int], runs: AbstractSet[int]) -> _Lines:
    """Give the lines where places have owners: the first places of what is folded with them.

    Stretch by stretch of places with one owner, or with none.
    """
    rows, parents, count = tree.rows, tree.parents, len(tree)
    lines: list[int] = []
    above: list[int] = []
    line_of = [NO_ROW] * (count + 1)
    line_of_fold: dict[int, int] = {}
    active = bytearray()
    hidden: list[tuple[int, int, int]] = []
    begin = 0
    for end in chain(
        compress(range(1, count), map(ne, owners, islice(owners, 1, None))), (count,)
    ):
        owner, line = owners[begin], len(lines)
        if owner < 0:
            line_of[begin:end] = range(line, line + end - begin)
            above += map(line_of.__getitem__, parents[begin:end])
            lines += rows[begin:end]
            active += tree.active[begin:end]
        else:
            if owner == begin:
                active.append(tree.active[begin])
                above.append(line_of[parents[begin]])
                if owner not in runs:
                    line_of[begin] = line
                    above.append(line)
                    active.append(0)
                    lines.append(rows[begin])
                    begin, line = begin + 1, line + 1
                lines.append(~len(line_of_fold))
                line_of_fold[owner] = line
            line_of[begin:end] = [line_of_fold[owner]] * (end - begin)
            hidden.append((owner, begin, end))
        begin = end
    hidden.sort()
    owned = list(line_of_fold)
    folds = Folds(tree, owned, bytes(map(runs.__contains__, owned)), hidden)
    return _Lines(lines, above, active, None, folds, line_of)
