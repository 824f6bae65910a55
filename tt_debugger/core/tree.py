"""The tree of a session: who descends from whom, over rows (0, 1, 2 ... in storage order).

Links between records are text in a file and may be anything: missing, repeated, circular, later
in the file than what hangs on them. `link` turns them into one parent row per row and says what
it found; `Tree` answers questions about the result. Most rows hang on the row before, so it keeps
only the others, which begin *chains*. Ancestors are found by jump pointers over the chains (Myers'
skew-binary scheme: each keeps its parent and one far ancestor), so that a question costs the
logarithm of the depth, and nothing here recurses: a path can be 50,000 long.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain, compress, count, pairwise
from operator import ne

import msgspec

from tt_debugger.core.findings import Code, Finding, finding

NO_ROW = -1


class Links:
    """How the records of a session name themselves and their parents, as their file has it.

    Most have an id and hang on the record before, so columns say so, and only what is otherwise
    is kept by row: `named` has, of each record without a text as its id, what stands there and
    the name to use (`L<line>`); `hung` has the parent of each that hangs elsewhere, None for a
    root. A parent may be anything that a file can hold. `aliases` has further ids of rows; what
    `passed` has is the id of no row, and who hangs on it hangs on what stands there instead.
    `behind` has ids of parts of rows that were written after something else: by the id the row,
    and the id of what that part hangs on, which is then between the row and what hangs on it.
    """

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.named: dict[int, tuple[object, str]] = {}
        self.hung: dict[int, object] = {}
        self.aliases: dict[str, int] = {}
        self.passed: dict[str, str | None] = {}
        self.behind: dict[str, tuple[int, str]] = {}

    def __len__(self) -> int:
        return len(self.ids)

    def append(self, own_id: object, parent: object, name: str) -> None:
        """Add the next record; the name is used where its id is no text."""
        row = len(self.ids)
        before = self.ids[-1] if row else None
        if isinstance(own_id, str) and own_id:
            self.ids.append(own_id)
        else:
            self.ids.append("")
            self.named[row] = own_id, name
        if parent != before or before == "":
            self.hung[row] = parent

    def extend(self, ids: Sequence[str], parents: Sequence[str | None]) -> None:
        """Add records that all have an id, none of them empty, as no parent is."""
        row = len(self.ids)
        before = self.ids[-1] if row else None
        self.ids += ids
        for place in compress(count(), map(ne, parents, chain((before,), ids))):
            self.hung[row + place] = parents[place]

    def rename(self, row: int, own_id: str) -> None:
        """Give a record another id; the one that it had still means it."""
        self.aliases[self.ids[row]] = row
        self.ids[row] = own_id

    def parent(self, row: int) -> object:
        """Give the parent that a record names."""
        before = self.ids[row - 1] if row else None
        return self.hung.get(row, before)

    def copy(self) -> Links:
        """Give links that can grow apart from these."""
        twin = Links()
        twin.ids, twin.named, twin.hung = self.ids.copy(), self.named.copy(), self.hung.copy()
        twin.aliases, twin.passed = self.aliases.copy(), self.passed.copy()
        twin.behind = self.behind.copy()
        return twin


class Linked(msgspec.Struct, frozen=True):
    """One id and one parent row per row (NO_ROW for a root), and what was wrong."""

    ids: Sequence[str]
    parents: array[int]
    findings: tuple[Finding, ...]


Places = Callable[[int], tuple[int | None, int | None]]
"""Gives the line and the byte offset of a row's record."""


def link(links: Links, place: Places = lambda _row: (None, None)) -> Linked:
    """Resolve ids and parents. Of several records with one id the last keeps it."""
    ids, repeated, findings = _distinct_ids(links, place)
    parents = array("q", range(NO_ROW, len(links) - 1))
    beyond = _beyond(links.passed)
    rows = _rows_named(links, repeated, beyond)
    for row, named in links.hung.items():
        parent = beyond(named) if links.passed else named
        parents[row] = rows.get(parent, NO_ROW) if isinstance(parent, str) else NO_ROW
        if parents[row] == NO_ROW and parent is not None:
            findings.append(_missing_parent(parent, ids[row], *place(row)))
    # What hangs on a row before it whose id is used again means by that id the last that has it.
    meant = [row + 1 for row in repeated if row + 1 < len(links) and row + 1 not in links.hung]
    for row in meant:
        parents[row] = rows[links.ids[row - 1]]
    may_have_cycles = any(parents[row] >= row for row in (*links.hung, *meant))
    for row in _cycle_cuts(parents) if may_have_cycles else ():
        parents[row] = NO_ROW
        line, offset = place(row)
        findings.append(
            finding(
                Code.CYCLE,
                f"{ids[row]} is its own ancestor through {links.parent(row)!r}",
                hint="the lowest line of the cycle is shown as a root",
                line=line,
                offset=offset,
                checkpoint=ids[row],
            )
        )
    return Linked(ids, parents, tuple(findings))


def _distinct_ids(links: Links, place: Places) -> tuple[list[str], list[int], list[Finding]]:
    """Give one id per row, all different, and the rows whose id a later one has too."""
    taken = set(links.ids)
    has_empty = bool(links.named)
    repeated: list[int] = []
    if len(taken) - has_empty != len(links) - len(links.named):
        repeated = _repeated(links)
    if not repeated and not links.named:
        return links.ids, repeated, []
    ids = links.ids.copy()
    taken.discard("")
    findings: list[Finding] = []
    for row, (own_id, name) in links.named.items():
        ids[row] = _free(name, taken)
        if own_id is not None and not isinstance(own_id, str):
            line, offset = place(row)
            findings.append(
                finding(
                    Code.NO_ID,
                    f"the id {own_id!r:.60} is not text",
                    hint=f"shown as {name}",
                    line=line,
                    offset=offset,
                    checkpoint=name,
                )
            )
    for row in repeated:
        line, offset = place(row)
        ids[row] = _free(f"{ids[row]}@{row + 1 if line is None else line}", taken)
        findings.append(
            finding(
                Code.DUPLICATE_ID,
                f"the id {links.ids[row]} is used again later; the last one keeps it",
                hint=f"this one is shown as {ids[row]}",
                line=line,
                offset=offset,
                checkpoint=ids[row],
            )
        )
    return ids, repeated, findings


def _repeated(links: Links) -> list[int]:
    """Give the rows whose id a later one has too, each when that one comes."""
    last: dict[str, int] = {}
    repeated: list[int] = []
    for row, own_id in enumerate(links.ids):
        if own_id:
            if own_id in last:
                repeated.append(last[own_id])
            last[own_id] = row
    return repeated


def _rows_named(
    links: Links, repeated: Sequence[int], beyond: Callable[[object], object]
) -> dict[str, int]:
    """Give the row of each id that a row names which does not simply hang on the one before."""
    named = map(beyond, links.hung.values()) if links.passed else links.hung.values()
    wanted = {parent for parent in named if isinstance(parent, str)}
    wanted.update(links.ids[row] for row in repeated)
    behind = {name: beyond(each) for name, (_, each) in links.behind.items() if name in wanted}
    wanted.update(each for each in behind.values() if isinstance(each, str))
    if not wanted:
        return {}
    rows = {name: row for name, row in links.aliases.items() if name in wanted}
    rows |= {name: row for row, name in enumerate(links.ids) if name in wanted}
    rows.pop("", None)
    # In the order of the file: what a part hangs on may itself hang on a part.
    for name, between in behind.items():
        row = rows.get(between, NO_ROW) if isinstance(between, str) else NO_ROW
        if row > links.behind[name][0]:
            rows[name] = row
    # An empty id is a name for what names it, though it is not shown.
    rows.update(("", row) for row, (own, _) in links.named.items() if own == "")
    return rows


def _beyond(passed: Mapping[str, str | None]) -> Callable[[object], object]:
    """Give what tells on what a record hangs by the parent that it names.

    The way through what is passed is gone once; a circle leads back to where it was entered.
    """
    known: dict[str, str | None] = {}

    def beyond(parent: object) -> object:
        if not isinstance(parent, str) or parent not in passed:
            return parent
        way: dict[str, None] = {}
        end: str | None = parent
        while end is not None and end in passed and end not in way and end not in known:
            way[end] = None
            end = passed[end]
        end = known.get(end, end) if end is not None else None
        known.update(dict.fromkeys(way, end))
        return end

    return beyond


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _missing_parent(parent: object, own: str, line: int | None, offset: int | None) -> Finding:
    named = parent if isinstance(parent, str) else f"{parent!r:.60}"
    return finding(
        Code.MISSING_PARENT,
        f"the parent {named} of {own} is not in this session",
        hint="shown as a root; the missing record was lost or never written",
        line=line,
        offset=offset,
        checkpoint=own,
    )


def _cycle_cuts(parents: Sequence[int]) -> list[int]:
    """Give the lowest row of each cycle."""
    seen_in: list[int] = [NO_ROW] * len(parents)
    cuts: list[int] = []
    for start in range(len(parents)):
        row = start
        while row != NO_ROW and seen_in[row] == NO_ROW:
            seen_in[row] = start
            row = parents[row]
        if row != NO_ROW and seen_in[row] == start:
            lowest, step = row, parents[row]
            while step != row:
                lowest = min(lowest, step)
                step = parents[step]
            cuts.append(lowest)
    return cuts


class Tree:
    """Questions about one tree of rows, given the parent row of each (NO_ROW for roots).

    What an answer needs is worked out when it is first asked for.
    """

    def __init__(self, parents: Sequence[int]) -> None:
        self.parents = parents

    def __len__(self) -> int:
        return len(self.parents)

    @cached_property
    def hung(self) -> array[int]:
        """The rows whose parent is another than the row before: a root but for row 0, a branch."""
        return array("q", compress(count(), map(ne, self.parents, count(NO_ROW))))

    @cached_property
    def has_parents_first(self) -> bool:
        """Whether each parent stands before its children."""
        parents = self.parents
        return all(parents[row] < row for row in self.hung)

    @property
    def deepest(self) -> int:
        """The depth of the deepest row."""
        chains = self._chains
        ends = pairwise((*chains.begins, len(self)))
        lengths = (end - begin for begin, end in ends)
        return max(map(_last_depth, chains.depths, lengths), default=0)

    def depth(self, row: int) -> int:
        """Give the number of ancestors of a row."""
        chains = self._chains
        chain = chains.holding(row)
        return chains.depths[chain] + row - chains.begins[chain]

    def children(self, row: int) -> Sequence[int]:
        """Give the children of a row in storage order; of NO_ROW, the roots."""
        parents, rows = self._hung_children
        children = rows[bisect_left(parents, row) : bisect_right(parents, row)]
        if self._goes_on(row):
            insort(children, row + 1)
        return children

    def child_count(self, row: int) -> int:
        """Give the number of children of a row."""
        parents, _ = self._hung_children
        return bisect_right(parents, row) - bisect_left(parents, row) + self._goes_on(row)

    def forks(self) -> list[int]:
        """Give the rows with several children, in storage order."""
        parents, _ = self._hung_children
        # A parent is one if it comes twice among these or once, with its next row as a child.
        twice = {above for above, below in pairwise(parents) if above == below}
        return sorted(
            row for row in set(parents) if row != NO_ROW and (row in twice or self._goes_on(row))
        )

    def parents_first(self) -> list[int]:
        """Give all rows in storage order, one that precedes its parent right after it."""
        if self.has_parents_first:
            return list(range(len(self)))
        order: list[int] = []
        waiting: dict[int, list[int]] = {}
        # One more than there are rows: NO_ROW is the last, and there from the start.
        emitted = bytearray(len(self.parents) + 1)
        emitted[NO_ROW] = True
        for row, parent in enumerate(self.parents):
            if not emitted[parent]:
                waiting.setdefault(parent, []).append(row)
                continue
            emitted[row] = True
            order.append(row)
            ready = waiting.pop(row, [])[::-1] if waiting else []
            while ready:
                each = ready.pop()
                emitted[each] = True
                order.append(each)
                ready += reversed(waiting.pop(each, ()))
        return order

    def leaves(self) -> list[int]:
        """Give the rows without children, in storage order."""
        with_children = set(self._hung_children[0])
        ends = [row - 1 for row in self.hung if row]
        if len(self):
            ends.append(len(self) - 1)
        return [row for row in ends if row not in with_children]

    def ancestors(self, row: int) -> Iterator[int]:
        """Go from a row up to its root, the row itself first."""
        while row != NO_ROW:
            yield row
            row = self.parents[row]

    def root_of(self, row: int) -> int:
        """Give the root that a row descends from."""
        *_, (root, _) = self.stretches_above(row)
        return root

    def stretches_above(self, row: int) -> Iterator[tuple[int, int]]:
        """Go from a row up to its root by stretches of rows, each from and to, itself first."""
        hung = self.hung
        while row != NO_ROW:
            place = bisect_right(hung, row)
            begin = hung[place - 1] if place else 0
            yield begin, row + 1
            row = self.parents[begin]

    def path_to(self, row: int) -> list[int]:
        """Give the rows from the root down to this one, both included."""
        path: list[int] = []
        for begin, end in reversed([*self.stretches_above(row)]):
            path += range(begin, end)
        return path

    def ancestor_at(self, row: int, depth: int) -> int:
        """Give the ancestor (or self) of a row at a depth. Raises ValueError beyond its own."""
        chains = self._chains
        chain = chains.holding(row)
        own = chains.depths[chain] + row - chains.begins[chain]
        if not 0 <= depth <= own:
            message = f"row {row} has depth {own}, not {depth}"
            raise ValueError(message)
        while chains.depths[chain] > depth:
            jump = chains.jumps[chain]
            chain = jump if chains.depths[jump] > depth else chains.parents[chain]
        return chains.begins[chain] + depth - chains.depths[chain]

    def is_ancestor(self, row: int, of: int) -> bool:
        """Tell whether a row is an ancestor of another, or the same."""
        depth = self.depth(row)
        return depth <= self.depth(of) and self.ancestor_at(of, depth) == row

    def common_ancestor(self, row: int, other: int) -> int:
        """Give the last row on both paths, or NO_ROW where the roots differ."""

        def is_apart(depth: int) -> bool:
            return self.ancestor_at(row, depth) != self.ancestor_at(other, depth)

        shared = min(self.depth(row), self.depth(other)) + 1
        fork = bisect_left(range(shared), x=True, key=is_apart)
        return self.ancestor_at(row, fork - 1) if fork else NO_ROW

    def _goes_on(self, row: int) -> bool:
        """Tell whether the next row is a child of a row."""
        return row + 1 < len(self) and self.parents[row + 1] == row

    @cached_property
    def _hung_children(self) -> tuple[array[int], array[int]]:
        """The parents that are not the row before, in order, and of each place there the child."""
        parents = self.parents
        # A first row without a parent is a child of NO_ROW, which is the row before.
        rows = array("q", sorted(self.hung, key=parents.__getitem__))
        return array("q", map(parents.__getitem__, rows)), rows

    @cached_property
    def _chains(self) -> _ChainTree:
        return _chain_tree(self.parents, self.hung)


def heir_among(children: Sequence[int], on_active_path: Sequence[int]) -> int:
    """Give the child that goes on where its parent stood, NO_ROW where there are none.

    That is the one on the active path, else the newest. `on_active_path` is 1 for the rows there.
    """
    active = (child for child in children if on_active_path[child])
    return next(active, children[-1] if children else NO_ROW)


class _ChainTree(msgspec.Struct, frozen=True):
    """The tree of chains: the first row of each and its depth, the chain above, one far above."""

    begins: array[int]
    depths: array[int]
    parents: array[int]
    jumps: array[int]

    def holding(self, row: int) -> int:
        """Give the chain of a row, NO_ROW for NO_ROW."""
        return bisect_right(self.begins, row) - 1


def _chain_tree(parents: Sequence[int], hung: array[int]) -> _ChainTree:
    """Give the tree of chains; a root is its own far ancestor."""
    begins = hung if not parents or (hung and hung[0] == 0) else array("q", (0, *hung))
    blank = array("q", (NO_ROW,)) * len(begins)
    chains = _ChainTree(begins, blank[:], blank[:], blank[:])
    levels = blank
    for start in range(len(begins)):
        waiting: list[int] = []
        chain = start
        while chain != NO_ROW and levels[chain] == NO_ROW:
            waiting.append(chain)
            chains.parents[chain] = chains.holding(parents[begins[chain]])
            chain = chains.parents[chain]
        for each in reversed(waiting):
            above = chains.parents[each]
            if above == NO_ROW:
                levels[each], chains.depths[each], chains.jumps[each] = 0, 0, each
                continue
            jump, fork = chains.jumps[above], parents[begins[each]]
            levels[each] = levels[above] + 1
            chains.depths[each] = chains.depths[above] + fork - begins[above] + 1
            far = levels[above] - levels[jump] == levels[jump] - levels[chains.jumps[jump]]
            chains.jumps[each] = chains.jumps[jump] if far else above
    return chains


def _last_depth(depth: int, length: int) -> int:
    """Give the depth of the last row of a chain that begins at a depth."""
    return depth + length - 1
