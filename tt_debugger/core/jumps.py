"""Jumps: from a row to the next thing worth seeing. Each gives None where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from tt_debugger.core.filters import COMPACTIONS, MASKS, Filter
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW


class Found(msgspec.Struct, frozen=True):
    """The row a search came to, and whether it went over the end to find it."""

    row: int
    wrapped: bool = False


def next_sibling(session: Session, row: int) -> int | None:
    """Give the first row of the branch after the one that a row is on."""
    return _sibling(session, row, 1)


def previous_sibling(session: Session, row: int) -> int | None:
    """Give the first row of the branch before the one that a row is on."""
    return _sibling(session, row, -1)


def fork_above(session: Session, row: int) -> int | None:
    """Give the nearest proper ancestor with several children."""
    tree = session.tree
    above = (each for each in tree.ancestors(tree.parents[row]) if tree.child_count(each) > 1)
    return next(above, None)


def fork_below(session: Session, row: int) -> int | None:
    """Give the next row with several children on the way down to the leaf of the row's branch."""
    while (row := session.heir(row)) != NO_ROW:
        if session.tree.child_count(row) > 1:
            return row
    return None


def leaf_of(session: Session, row: int) -> int:
    """Give the leaf of the branch that a row is on; of a leaf, itself."""
    while (heir := session.heir(row)) != NO_ROW:
        row = heir
    return row


def next_compaction(session: Session, row: int) -> Found | None:
    """Give the next compaction in storage order, from the top again behind the last."""
    return _next(session.traits.translate(COMPACTIONS), row)


def previous_compaction(session: Session, row: int) -> Found | None:
    """Give the compaction before a row in storage order, from the end again before the first."""
    return _previous(session.traits.translate(COMPACTIONS), row)


def next_error(session: Session, row: int) -> Found | None:
    """Give the next failed or unreadable row in storage order, from the top again."""
    return _next(session.traits.translate(MASKS[Filter.ERRORS]), row)


def previous_error(session: Session, row: int) -> Found | None:
    """Give the failed or unreadable row before in storage order, from the end again."""
    return _previous(session.traits.translate(MASKS[Filter.ERRORS]), row)


def _sibling(session: Session, row: int, step: int) -> int | None:
    tree = session.tree
    for each in tree.ancestors(row):
        siblings: Sequence[int] = tree.children(tree.parents[each])
        if len(siblings) > 1:
            place = siblings.index(each) + step
            return siblings[place] if 0 <= place < len(siblings) else None
    return None


def next_branch(session: Session, row: int) -> int | None:
    """Give the next sibling branch; where there is none, the next branch that begins below."""
    sibling = next_sibling(session, row)
    if sibling is not None:
        return sibling
    return next(filter(_begins_branch(session), range(row + 1, len(session))), None)


def previous_branch(session: Session, row: int) -> int | None:
    """Give the previous sibling branch; where there is none, the last one that begins above."""
    sibling = previous_sibling(session, row)
    if sibling is not None:
        return sibling
    return next(filter(_begins_branch(session), range(row - 1, -1, -1)), None)


def _begins_branch(session: Session) -> Callable[[int], bool]:
    tree, parents = session.tree, session.parents
    return lambda row: tree.child_count(parents[row]) > 1 and session.heir(parents[row]) != row


def _next(mask: bytes, row: int) -> Found | None:
    found = mask.find(1, row + 1)
    if found < 0:
        found = mask.find(1)
    return None if found < 0 else Found(found, wrapped=found <= row)


def _previous(mask: bytes, row: int) -> Found | None:
    found = mask.rfind(1, 0, row)
    if found < 0:
        found = mask.rfind(1)
    return None if found < 0 else Found(found, wrapped=found >= row)


def next_user(session: Session, row: int) -> Found | None:
    """Give the next message of the user in storage order, from the top again."""
    return _next(session.traits.translate(MASKS[Filter.USER]), row)


def previous_user(session: Session, row: int) -> Found | None:
    """Give the message of the user before a row, from the end again."""
    return _previous(session.traits.translate(MASKS[Filter.USER]), row)


def _parent(session: Session, row: int) -> int:
    return session.parents[row]


def _child(session: Session, row: int) -> int:
    return session.heir(row)


def _active_leaf(session: Session, _row: int) -> int | None:
    return session.active


PASSED_OVER = 1000
"""Hidden rows that a jump looks beyond."""
ONE_BY_ONE = {
    "error": MASKS[Filter.ERRORS],
    "compaction": COMPACTIONS,
    "message of the user": MASKS[Filter.USER],
}
"""What is gone over in the order of rows, with the table that tells which rows those are."""
Way = Callable[[Session, int], int | Found | None]
WAYS: Mapping[str, tuple[Way, Way]] = {
    "parent": (_parent, _parent),
    "child": (_child, _child),
    "branch": (previous_branch, next_branch),
    "fork point": (fork_above, fork_below),
    "compaction": (previous_compaction, next_compaction),
    "error": (previous_error, next_error),
    "message of the user": (previous_user, next_user),
    "active leaf": (_active_leaf, _active_leaf),
    "leaf": (leaf_of, leaf_of),
}
"""What one can jump to, by its name: the way back and the way on."""


def jump(session: Session, row: int, aim: str, step: int) -> Found | None:
    """Give where a jump leads to: back for a negative step, else on."""
    back, on = WAYS[aim]
    found = (back if step < 0 else on)(session, row)
    if isinstance(found, int):
        return None if found == NO_ROW else Found(found)
    return found


def jump_among(session: Session, row: int, aim: str, step: int, shown: bytes) -> Found | None:
    """Give where a jump leads to among the rows that are shown, one byte a row.

    For a row that is hidden its nearest shown ancestor stands, or going on its nearest shown heir;
    in what one goes over row by row, as errors are, it is passed over. If nothing that is shown
    can stand for it, the hidden row itself is where it leads.
    """
    found = jump(session, row, aim, step)
    if found is None or shown[found.row]:
        return found
    if aim in ONE_BY_ONE:
        mask = session.traits.translate(ONE_BY_ONE[aim])
        both = int.from_bytes(mask, "little") & int.from_bytes(shown, "little")
        among = both.to_bytes(len(mask), "little")
        return (_previous if step < 0 else _next)(among, row) or found
    stand_in = _stand_in(session, found.row, step, shown)
    if stand_in == row:
        # It stands for the row one is at: on from the hidden one.
        further = jump(session, found.row, aim, step)
        return found if further is None else further
    return found if stand_in is None else Found(stand_in, found.wrapped)


def _stand_in(session: Session, row: int, step: int, shown: Sequence[int]) -> int | None:
    nearest = session.parents.__getitem__ if step < 0 else session.heir
    for _ in range(PASSED_OVER):
        row = nearest(row)
        if row == NO_ROW:
            return None
        if shown[row]:
            return row
    return None
