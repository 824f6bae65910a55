"""Two checkpoints of one session or of two side by side, and against where they came from."""

from __future__ import annotations

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.diff.comparing import Comparison, compare
from tt_debugger.core.diff.edits import Edit, Op
from tt_debugger.core.diff.normal import left_out, normal_state
from tt_debugger.core.diff.side import Side
from tt_debugger.core.paths import Path


class SideBySide(msgspec.Struct, frozen=True):
    """Two sides, and what differs between their states.

    States of two formats are compared in the normal form: `is_normal` tells so, `left_out` the
    keys of either state that it has not.
    """

    old: Side
    new: Side
    comparison: Comparison
    is_normal: bool
    left_out: tuple[str, ...]


def compare_sides(old: Side, new: Side, *, mask: bool = True) -> SideBySide:
    """Compare the states of two checkpoints."""
    is_normal = old.session.format != new.session.format
    states, missing = (old.state, new.state), ()
    if is_normal:
        missing = tuple(dict.fromkeys((*left_out(old.state), *left_out(new.state))))
        states = (normal_state(old.state), normal_state(new.state))
    return SideBySide(old, new, compare(*states, mask=mask), is_normal, missing)


class ThreeWay(msgspec.Struct, frozen=True):
    """Two states against the one from which both came.

    `both` are edits that both sides made alike, `conflicts` those that they made at one place in
    two ways. What each appended to a list is its own matter.
    """

    base: State
    old: Comparison
    new: Comparison
    both: tuple[Edit, ...]
    conflicts: tuple[tuple[Edit, Edit], ...]


def three_way(base: State, old: State, new: State, *, mask: bool = True) -> ThreeWay:
    """Compare two states with the one from which both came."""
    ours, theirs = compare(base, old, mask=mask), compare(base, new, mask=mask)
    by_place = {_place(edit): edit for edit in ours.edits()}
    both: list[Edit] = []
    conflicts: list[tuple[Edit, Edit]] = []
    for edit in theirs.edits():
        mine = by_place.get(_place(edit))
        if mine is None or (edit.op is Op.ADD and isinstance(edit.path[-1], int)):
            continue
        if mine.op is edit.op and is_same(mine.new, edit.new):
            both.append(edit)
        else:
            conflicts.append((mine, edit))
    return ThreeWay(base, ours, theirs, tuple(both), tuple(conflicts))


def _place(edit: Edit) -> Path:
    """Give where an edit stands in the state that it begins from."""
    return edit.path if edit.origin is None else edit.origin
