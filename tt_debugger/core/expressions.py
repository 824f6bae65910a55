"""Expressions: what JMESPath asks of a state, asked once or along a walk.

`JmesPath` is a text that was read, with the places that it looks at. `Following` is told each step
of a walk and gives the value after it; what that costs is what the step changed, not what the
state holds: see `formula.parts`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, State, touches
from tt_debugger.core.formula.evaluation import evaluated
from tt_debugger.core.formula.parts import Split
from tt_debugger.core.formula.places import place_of, reads_of
from tt_debugger.core.formula.syntax import Node, parse
from tt_debugger.core.paths import Path


class JmesPath(msgspec.Struct, frozen=True, eq=False):
    """An expression that was read.

    `path` is the place that it names where it is nothing but keys and indexes, else None; `reads`
    has the places of a state that it looks at, `((),)` for all of it. A bare number in a
    comparison stands for itself.
    """

    text: str
    node: Node
    path: Path | None
    reads: tuple[Path, ...]

    @classmethod
    def parse(cls, text: str, column: int = 1) -> JmesPath:
        """Read an expression. Raises ValueError that says what is wrong, and at which column.

        Columns are counted from that of its first character.
        """
        node = parse(text, column)
        return cls(text, node, place_of(node), reads_of(node))

    def value(self, state: State) -> Any:
        """Give its value; null stands for what is not there, and for what cannot be evaluated."""
        return evaluated(self.node, state)

    def following(self) -> Following:
        """Give what evaluates it along a walk."""
        return Following(self)


class Following:
    """An expression along a walk: told each step in order, it gives the value after it.

    What it gives is live, as the state is: a list in it may change as the next step is told. It is
    good for one walk, which may begin at any state.
    """

    is_changed: bool
    """False where the last step cannot have changed the value."""

    def __init__(self, expression: JmesPath) -> None:
        self._expression = expression
        split = Split(expression.node)
        self._node = split.node
        self._mirrors = split.mirrors
        self._read_by_rest = reads_of(split.node)
        self._value: Any = None
        self._has_begun = False
        self._is_owed = False
        """Whether the value is to be evaluated whatever the next step changes."""
        self.is_changed = True

    def value(self, state: State, changes: Sequence[Change]) -> Any:
        """Give the value after a step, which made these changes and led to this state."""
        if not self._has_begun:
            self._has_begun = True
            for mirror in self._mirrors:
                mirror.take_over(state)
                mirror.settled()
            self._value = evaluated(self._node, state)
            return self._value
        self.is_changed = self._is_stale(state, changes)
        if self.is_changed:
            self._is_owed = False
            before, self._value = self._value, evaluated(self._node, state)
            self.is_changed = not _is_same_scalar(before, self._value)
        return self._value

    def copied(self) -> Following:
        """Give another one that was told the same, for a branch that leaves the walk here."""
        twin = Following(self._expression)
        for mirror, its in zip(twin._mirrors, self._mirrors, strict=True):
            mirror.take_after(its)
        twin._has_begun = self._has_begun
        twin.is_changed = self.is_changed
        twin._value = self._value
        # What is not scalar may have the lists of this one in it.
        twin._is_owed = self._is_owed or not _is_scalar(self._value)
        return twin

    def _is_stale(self, state: State, changes: Sequence[Change]) -> bool:
        is_stale = self._is_owed
        for mirror in self._mirrors:
            mirror.tell(state, changes)
            is_stale |= not mirror.settled()
        return is_stale or _are_touched(self._read_by_rest, changes)


def _are_touched(places: Sequence[Path], changes: Sequence[Change]) -> bool:
    for place in places:
        for change in changes:
            if touches(change, place):
                return True
    return False


def _is_same_scalar(before: Any, after: Any) -> bool:
    """Tell whether a value that is neither an object nor a list is what it was."""
    # A number is none that is true or false, whatever Python says.
    return _is_scalar(after) and type(before) is type(after) and before == after


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float))
