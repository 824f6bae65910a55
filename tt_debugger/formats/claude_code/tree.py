"""The tree of a Claude Code session: as the agent walks it, and as it is drawn.

Two things make branches that nobody took. Results of tools that ran side by side each hang on the
line that called them, and hooks hang on lines that go on elsewhere. The agent collects all lines
of a message and all results of its calls, in the order of the file (measured with 2.1.197), so
they are drawn as one line: what a message began, up to its last result.
"""

from __future__ import annotations

import heapq
from array import array
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise, starmap

import msgspec

from tt_debugger.core.findings import Code
from tt_debugger.core.model import Heads
from tt_debugger.core.tree import NO_ROW, Linked, Links, Tree

HEALED_WITHIN = 5.0
"""Seconds before a line with a missing parent in which the agent looks for another one.

Measured: 4 s before it is taken, 6 s before it is not.
"""


class Written(msgspec.Struct, frozen=True):
    """What a file says of its rows; see `ClaudeReading` for each."""

    links: Links
    heads: Heads
    calls: Mapping[str, int]
    results: Sequence[tuple[int, tuple[str, ...]]]
    carriers: AbstractSet[int]
    sidechain: AbstractSet[int]
    strangers: AbstractSet[int]
    boundaries: AbstractSet[int]
    leaves: Sequence[str]


class Drawn(msgspec.Struct, frozen=True):
    """A tree as it is drawn (`parents`) and as the agent walks it (`walked`).

    `lost` has the rows whose parent is missing, `healed` by row what the agent hangs it on then;
    `tails` the row of the last result by the rows of each message, where its results are not
    simply below it; `fanned` the messages whose results hang side by side in the file.
    """

    ids: Sequence[str]
    parents: array[int]
    walked: Tree
    lost: AbstractSet[int]
    healed: Mapping[int, int]
    tails: Mapping[int, int]
    fanned: AbstractSet[int]


def drawn(linked: Linked, written: Written) -> Drawn:
    """Give the tree that linked rows make."""
    natural = Tree(linked.parents)
    lost = _lost(linked)
    healed = _healed(lost, written, natural)
    walked = linked.parents[:]
    for row in written.boundaries:
        walked[row] = NO_ROW
    for row, parent in healed.items():
        walked[row] = parent
    answered = _answered(written, natural)
    fanned = {message for message, rows in answered.items() if _is_fan(rows, natural)}
    parents, tails = _in_line(linked.parents, written, natural, answered)
    _draw_through(written.carriers, parents)
    return Drawn(linked.ids, parents, Tree(walked), lost, healed, tails, fanned)


def _is_fan(rows: Sequence[int], natural: Tree) -> bool:
    """Tell whether some of these rows do not hang on the ones before."""
    return not all(starmap(natural.is_ancestor, pairwise(sorted(rows))))


def _lost(linked: Linked) -> set[int]:
    """Give the rows whose parent is missing."""
    names = {each.checkpoint for each in linked.findings if each.code is Code.MISSING_PARENT}
    return {row for row, name in enumerate(linked.ids) if name in names} if names else set()


def _healed(lost: AbstractSet[int], written: Written, natural: Tree) -> dict[int, int]:
    """Give for rows with a missing parent the latest row shortly before, where there is one."""
    if not lost:
        return {}
    heads = written.heads
    left_out = written.sidechain | written.strangers
    rows = [row for row in range(len(heads)) if row not in left_out and not heads.is_gap(row)]
    timed = sorted((time, row) for row in rows if (time := heads.time(row)) is not None)
    healed: dict[int, int] = {}
    tops: dict[int, int] = {}
    for row in rows:
        time = heads.time(row)
        if row not in lost or time is None:
            continue
        for place in range(bisect_right(timed, (time, len(heads))) - 1, -1, -1):
            earlier, candidate = timed[place]
            if time - earlier > HEALED_WITHIN:
                break
            top = _top(natural.root_of(candidate), tops)
            if top != row:
                healed[row], tops[row] = candidate, top
                break
    return healed


def _top(root: int, tops: dict[int, int]) -> int:
    """Give the root beyond all links that are healed, and keep in mind the way that led there."""
    passed: list[int] = []
    while root in tops:
        passed.append(root)
        root = tops[root]
    tops.update(dict.fromkeys(passed, root))
    return root


def healed_root(row: int, tree: Tree, healed: Mapping[int, int]) -> int:
    """Give the root above a row, beyond all links that are healed."""
    root = tree.root_of(row)
    while root in healed:
        root = tree.root_of(healed[root])
    return root


def _in_line(
    linked: array[int],
    written: Written,
    natural: Tree,
    answered: Mapping[int, Sequence[int]],
) -> tuple[array[int], dict[int, int]]:
    """Draw each message with its results as one line, and all else behind the last of them."""
    parents, tails = linked[:], dict[int, int]()
    hung = {linked[row] for row in natural.hung}
    answers = {row for row, _ in written.results}
    for message, results in answered.items():
        is_plain = list(results) == [message + 1] and linked[message + 1] == message
        if is_plain and message not in hung:
            continue
        line, others = _group(message, results, written.carriers, natural)
        for above, row in zip((message, *line), line, strict=False):
            parents[row] = above
        for row in others:
            # A second result of a call that has one is another try.
            if row not in answers or linked[row] != message:
                parents[row] = line[-1]
        tails |= dict.fromkeys((message, *line), line[-1])
    return parents, tails


def _answered(written: Written, natural: Tree) -> dict[int, list[int]]:
    """Give the rows of the first results of calls by the row of the message that called."""
    answered: dict[int, list[int]] = defaultdict(list)
    known: set[str] = set()
    parents, calls = natural.parents, written.calls
    for row, names in written.results:
        message = calls.get(names[0]) if len(names) == 1 else _first(calls, names)
        if message is None or known.issuperset(names):
            continue
        known.update(names)
        is_below = parents[row] == message or natural.is_ancestor(message, row)
        if message != row and is_below:
            answered[message].append(row)
    return answered


def _first(calls: Mapping[str, int], names: Sequence[str]) -> int | None:
    """Give the row of the first of some calls that is there."""
    return next((calls[name] for name in names if name in calls), None)


def _group(
    message: int, results: Sequence[int], carriers: AbstractSet[int], natural: Tree
) -> tuple[list[int], list[int]]:
    """Give the rows of a message's line, results and what carries them, and what hangs on it."""
    last = max(results)
    waiting = [*natural.children(message), *results]
    line: set[int] = set()
    others: list[int] = []
    wanted = frozenset(results)
    while waiting:
        row = waiting.pop()
        if row in line:
            continue
        if row in wanted or (row in carriers and row < last):
            line.add(row)
            waiting += natural.children(row)
        else:
            others.append(row)
    return sorted(line), others


def _draw_through(carriers: AbstractSet[int], parents: array[int]) -> None:
    """Draw what hooks left on a row before it went on as a part of the way, not as a branch."""
    tree = Tree(parents[:])
    ends: dict[int, list[int]] = defaultdict(list)
    for row in sorted(carriers):
        if parents[row] != NO_ROW and not tree.child_count(row):
            ends[parents[row]].append(row)
    for above, left in ends.items():
        ahead = set(tree.children(above)).difference(left)
        first = min(ahead, default=NO_ROW)
        passed = [row for row in left if row < first]
        for parent, row in zip((above, *passed), passed, strict=False):
            parents[row] = parent
        for row in ahead if passed else ():
            parents[row] = passed[-1]


def active_leaf(tree: Drawn, written: Written) -> int | None:
    """Give the row from which Claude Code goes on.

    The last `last-prompt` that names a row there is counts: the leaf is the last line of the
    file that descends from it. Without one it is the last line of all.
    """
    is_agent = len(written.sidechain) + len(written.strangers) >= sum(
        not written.heads.is_gap(row) for row in range(len(tree.parents))
    )
    left_out = written.strangers if is_agent else written.sidechain | written.strangers
    named = set(written.leaves)
    rows = {name: row for row, name in enumerate(tree.ids) if name in named}
    for name in reversed(written.leaves):
        pinned = rows.get(name, written.links.aliases.get(name))
        if pinned is None or pinned in left_out:
            continue
        for row in _last_first(written.heads):
            if row not in left_out and tree.walked.is_ancestor(pinned, row):
                return tree.tails.get(row, row)
    for row in _last_first(written.heads):
        if row not in left_out:
            return tree.tails.get(row, row)
    return next(_last_first(written.heads), None)


def _last_first(heads: Heads) -> Iterator[int]:
    """Give all rows but gaps, those whose last line stands last first."""

    def last_line(row: int) -> int:
        parts = heads.parts.get(row)
        return parts[-1].line if parts else heads.line(row) or 0

    whole = (row for row in reversed(range(len(heads))) if row not in heads.parts)
    merged = heapq.merge(
        whole, sorted(heads.parts, key=last_line, reverse=True), key=last_line, reverse=True
    )
    return (row for row in merged if not heads.is_gap(row))
