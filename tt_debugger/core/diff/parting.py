"""Where two sides part, in sentences: content, not yet safe to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tt_debugger.core.diff.divergence import By, Divergence
from tt_debugger.core.diff.side import Side
from tt_debugger.core.text import counted, summary_line
from tt_debugger.core.tree import NO_ROW, Tree

LONGEST_SUMMARY = 60


def parting_sentences(old: Side, new: Side, found: Divergence) -> Iterator[str]:
    """Give where two sides part and whether they meet again, a sentence or two."""
    if found.by is By.TREE and not (found.old_after and found.new_after):
        later = found.old_after or found.new_after
        if later:
            names = ("A", "B") if found.old_after else ("B", "A")
            yield f"{names[0]} stands {counted(len(later), 'checkpoint')} after {names[1]}"
        else:
            yield "A and B are one checkpoint"
        return
    yield _parting(old, new, found)
    after = [
        f"{name} {_after(rows)}" for name, rows in (("A", found.old_after), ("B", found.new_after))
    ]
    where = "in all" if found.old_point is None else "after it"
    yield f"{where}: {', '.join(after)}{_again(found)}"


def first_sentences(old: Side, new: Side, found: Divergence) -> Iterator[str]:
    """Give what each side did first after they parted, as its row sums it up."""
    for name, side, row in (("A", old, found.first[0]), ("B", new, found.first[1])):
        if row is not None and found.old_after and found.new_after:
            head = side.session.heads[row]
            what = head.name or str(head.kind).replace("_", " ")
            said = summary_line(head.summary, LONGEST_SUMMARY)
            yield f"first in {name}: row {row + 1}, {what}: {said}"


def normal_sentence(old: Side, new: Side, left_out: Sequence[str]) -> str:
    """Say how states of two formats are compared, and what is left out of that."""
    what = f"{old.session.format} and {new.session.format} are compared by what both can say"
    return f"{what}; left out: {', '.join(left_out)}" if left_out else what


def relation(tree: Tree, old: int, new: int) -> str:
    """Say in few words how two rows of one session stand to each other."""
    shared = tree.common_ancestor(old, new)
    if old == new:
        return "one checkpoint"
    if shared == NO_ROW:
        return "no common root"
    if shared == old:
        return f"B is {tree.depth(new) - tree.depth(old):,} on from A"
    if shared == new:
        return f"A is {tree.depth(old) - tree.depth(new):,} on from B"
    return f"fork point {shared + 1}"


def _parting(old: Side, new: Side, found: Divergence) -> str:
    if found.old_point is None or found.new_point is None:
        return "they have no beginning in common"
    place = f"row {found.old_point + 1}, {old.session.ids[found.old_point]}"
    match found.by:
        case By.TREE:
            return f"fork point: {place}"
        case By.ID:
            return f"the same checkpoints up to {place}"
        case By.CONTENT | By.NOTHING:
            theirs = f"row {found.new_point + 1}, {new.session.ids[found.new_point]}"
            return f"the same was said up to {place} in A, {theirs} in B"


def _after(rows: Sequence[int]) -> str:
    return counted(len(rows), "checkpoint") if rows else "nothing"


def _again(found: Divergence) -> str:
    if not found.old_after or not found.new_after:
        return ""
    if found.meets is not None:
        return f"; they meet again at {_rows(*found.meets)}"
    if not found.again:
        return "; they do not meet again"
    first = _rows(*found.again[0])
    times = "once, at" if len(found.again) == 1 else f"{len(found.again)} times, first at"
    return f"; they say the same {times} {first}, but do not meet again"


def _rows(one: int, other: int) -> str:
    return f"rows {one + 1} and {other + 1}"
