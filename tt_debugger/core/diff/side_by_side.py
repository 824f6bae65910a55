"""Two checkpoints of one session or of two side by side, and against where they came from."""

from __future__ import annotations

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.changes import State
from tt_debugger.core.diff.comparing import Comparison, compare
from tt_debugger.core.diff.edits import Edit, Op
from tt_debugger.core.diff.normal import comparable
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
    states = comparable(old, new)
    comparison = compare(states.old, states.new, mask=mask)
    return SideBySide(old, new, comparison, states.is_normal, states.left_out)


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
    mine, others = _in_base(ours), _in_base(theirs)
    both: list[Edit] = []
    conflicts: list[tuple[Edit, Edit]] = []
    for place, edit in others.items():
        # Who changes a value disagrees with who takes away, or replaces, what holds it.
        above = (mine.get(place[:size]) for size in range(len(place), -1, -1))
        same = next((each for each in above if each is not None), None)
        if same is None:
            continue
        if _place(same) == place and same.op is edit.op and is_same(same.new, edit.new):
            both.append(edit)
        else:
            conflicts.append((same, edit))
    for place, edit in mine.items():
        above = (others.get(place[:size]) for size in range(len(place) - 1, -1, -1))
        conflicts += [(edit, each) for each in above if each is not None][:1]
    return ThreeWay(base, ours, theirs, tuple(both), tuple(conflicts))


def _in_base(found: Comparison) -> dict[Path, Edit]:
    """Give edits by their place in the base. What came into a list has none, nor do moves."""
    return {
        _place(edit): edit
        for edit in found.edits()
        if edit.op is not Op.MOVE and not (edit.op is Op.ADD and isinstance(edit.path[-1], int))
    }


def _place(edit: Edit) -> Path:
    """Give where an edit stands in the state that it begins from."""
    return edit.path if edit.origin is None else edit.origin
