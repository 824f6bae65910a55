"""The tree of a session: who descends from whom, over rows (0, 1, 2 ... in storage order).

Links between records are text in a file and may be anything: missing, repeated, circular, later
in the file than what hangs on them. `link` turns them into one parent row per row and says what
it found; `Tree` answers questions about the result. Ancestors are found by jump pointers (Myers'
skew-binary scheme: each row keeps its parent and one far ancestor), so that a question costs the
logarithm of the depth, and nothing here recurses: a path can be 50,000 long.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import msgspec

from tt_debugger.core.findings import Code, Finding, finding

NO_ROW = -1


class Link(msgspec.Struct, frozen=True, gc=False):
    """How one record names itself and its parent, as the file has it.

    `id` and `parent` are None where absent; whatever is not text is absent as an id and names
    nothing as a parent. `name` is the id to use where there is none (`L<line>`).
    """

    id: object
    parent: object
    name: str
    line: int | None = None
    offset: int | None = None


class Linked(msgspec.Struct, frozen=True):
    """One id and one parent row per row (NO_ROW for a root), and what was wrong."""

    ids: list[str]
    parents: array[int]
    findings: tuple[Finding, ...]


def link(links: Sequence[Link]) -> Linked:
    """Resolve ids and parents. Of several records with one id the last keeps it."""
    ids, rows, findings = _distinct_ids(links)
    parents: array[int] = array("q", bytes(8 * len(links)))
    for row, each in enumerate(links):
        parent = rows.get(each.parent) if isinstance(each.parent, str) else None
        parents[row] = NO_ROW if parent is None else parent
        if parent is None and each.parent is not None:
            findings.append(_missing_parent(each, ids[row]))
    for row in _cycle_cuts(parents):
        parents[row] = NO_ROW
        findings.append(
            finding(
                Code.CYCLE,
                f"{ids[row]} is its own ancestor through {links[row].parent!r}",
                hint="the lowest line of the cycle is shown as a root",
                line=links[row].line,
                offset=links[row].offset,
                checkpoint=ids[row],
            )
        )
    return Linked(ids, parents, tuple(findings))


def _distinct_ids(links: Sequence[Link]) -> tuple[list[str], dict[str, int], list[Finding]]:
    rows: dict[str, int] = {}
    ids: list[str] = []
    findings: list[Finding] = []
    repeated: list[int] = []
    for row, each in enumerate(links):
        if isinstance(each.id, str):
            earlier = rows.get(each.id)
            if earlier is not None:
                repeated.append(earlier)
            rows[each.id] = row
            ids.append(each.id)
        else:
            ids.append("")
            if each.id is not None:
                findings.append(
                    finding(
                        Code.NO_ID,
                        f"the id {each.id!r:.60} is not text",
                        hint=f"shown as {each.name}",
                        line=each.line,
                        offset=each.offset,
                        checkpoint=each.name,
                    )
                )
    taken = set(rows)
    for row, each in enumerate(links):
        if not ids[row]:
            ids[row] = _free(each.name, taken)
    for row in repeated:
        each = links[row]
        ids[row] = _free(f"{ids[row]}@{each.line if each.line is not None else row + 1}", taken)
        findings.append(
            finding(
                Code.DUPLICATE_ID,
                f"the id {each.id} is used again later; the last one keeps it",
                hint=f"this one is shown as {ids[row]}",
                line=each.line,
                offset=each.offset,
                checkpoint=ids[row],
            )
        )
    return ids, rows, findings


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "'"
    taken.add(name)
    return name


def _missing_parent(each: Link, own: str) -> Finding:
    named = each.parent if isinstance(each.parent, str) else f"{each.parent!r:.60}"
    return finding(
        Code.MISSING_PARENT,
        f"the parent {named} of {own} is not in this session",
        hint="shown as a root; the missing record was lost or never written",
        line=each.line,
        offset=each.offset,
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
    """Questions about one tree of rows, given the parent row of each (NO_ROW for roots)."""

    def __init__(self, parents: Sequence[int]) -> None:
        self.parents = parents
        self._depths, self._jumps = _jump_pointers(parents)
        self._first_child, self._children = child_columns(parents)

    def __len__(self) -> int:
        return len(self.parents)

    @property
    def deepest(self) -> int:
        """The depth of the deepest row."""
        return max(self._depths, default=0)

    def depth(self, row: int) -> int:
        """Give the number of ancestors of a row."""
        return self._depths[row]

    def children(self, row: int) -> Sequence[int]:
        """Give the children of a row in storage order; of NO_ROW, the roots."""
        start = self._first_child[row + 1]
        return self._children[start : self._first_child[row + 2]]

    def child_count(self, row: int) -> int:
        """Give the number of children of a row."""
        return self._first_child[row + 2] - self._first_child[row + 1]

    def parents_first(self) -> list[int]:
        """Give all rows in storage order, one that precedes its parent right after it."""
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
        first = self._first_child
        return [row for row in range(len(self)) if first[row + 1] == first[row + 2]]

    def ancestors(self, row: int) -> Iterator[int]:
        """Go from a row up to its root, the row itself first."""
        while row != NO_ROW:
            yield row
            row = self.parents[row]

    def path_to(self, row: int) -> list[int]:
        """Give the rows from the root down to this one, both included."""
        path = list(self.ancestors(row))
        path.reverse()
        return path

    def ancestor_at(self, row: int, depth: int) -> int:
        """Give the ancestor (or self) of a row at a depth. Raises ValueError beyond its own."""
        if not 0 <= depth <= self._depths[row]:
            message = f"row {row} has depth {self._depths[row]}, not {depth}"
            raise ValueError(message)
        while self._depths[row] > depth:
            jump = self._jumps[row]
            row = jump if self._depths[jump] >= depth else self.parents[row]
        return row

    def is_ancestor(self, row: int, of: int) -> bool:
        """Tell whether a row is an ancestor of another, or the same."""
        depth = self._depths[row]
        return depth <= self._depths[of] and self.ancestor_at(of, depth) == row

    def common_ancestor(self, row: int, other: int) -> int:
        """Give the last row on both paths, or NO_ROW where the roots differ."""
        depth = min(self._depths[row], self._depths[other])
        row, other = self.ancestor_at(row, depth), self.ancestor_at(other, depth)
        while row != other:
            if self._depths[row] == 0:
                return NO_ROW
            if self._jumps[row] != self._jumps[other]:
                row, other = self._jumps[row], self._jumps[other]
            else:
                row, other = self.parents[row], self.parents[other]
        return row


def heir_among(children: Sequence[int], on_active_path: Sequence[int]) -> int:
    """Give the child that goes on where its parent stood, NO_ROW where there are none.

    That is the one on the active path, else the newest. `on_active_path` is 1 for the rows there.
    """
    active = (child for child in children if on_active_path[child])
    return next(active, children[-1] if children else NO_ROW)


def _jump_pointers(parents: Sequence[int]) -> tuple[array[int], array[int]]:
    """Give the depth of each row and its far ancestor; a root is its own."""
    depths: array[int] = array("q", [NO_ROW]) * len(parents)
    jumps: array[int] = array("q", [NO_ROW]) * len(parents)
    for start in range(len(parents)):
        waiting: list[int] = []
        row = start
        while row != NO_ROW and depths[row] == NO_ROW:
            waiting.append(row)
            row = parents[row]
        for each in reversed(waiting):
            parent = parents[each]
            if parent == NO_ROW:
                depths[each], jumps[each] = 0, each
                continue
            jump = jumps[parent]
            depths[each] = depths[parent] + 1
            far = depths[parent] - depths[jump] == depths[jump] - depths[jumps[jump]]
            jumps[each] = jumps[jump] if far else parent
    return depths, jumps


def child_columns(parents: Sequence[int]) -> tuple[array[int], array[int]]:
    """Give where the children of each row begin (roots first), and all children row by row."""
    begins: array[int] = array("q", bytes(8 * (len(parents) + 2)))
    for parent in parents:
        begins[parent + 2] += 1
    for place in range(1, len(begins)):
        begins[place] += begins[place - 1]
    children: array[int] = array("q", bytes(8 * len(parents)))
    fill = array("q", begins)
    for row, parent in enumerate(parents):
        children[fill[parent + 1]] = row
        fill[parent + 1] += 1
    return begins, children
