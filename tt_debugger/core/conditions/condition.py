"""A condition: read once, then asked of one checkpoint, or of each along a path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

import msgspec

from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Along, Form, Single, atoms_of
from tt_debugger.core.conditions.reading import form_of

if TYPE_CHECKING:
    from tt_debugger.core.expressions import JmesPath


class FollowingCondition(Protocol):
    """A condition along a path."""

    def holds(self, at: At) -> bool:
        """Tell whether it holds at the next checkpoint of the path, whose state may be live."""
        ...

    def copied(self) -> Self:
        """Give another one that was told the same, for a branch that leaves the path here."""
        ...


class Condition(msgspec.Struct, frozen=True, eq=False):
    """What is asked of the checkpoints of a session.

    `is_of_checkpoints` says that it asks of each checkpoint alone, so that it needs no path and
    no state. `happens` says that some of it does: it happens at a checkpoint and does not stay
    true. `needs_state` and `needs_changes` say what of an `At` it looks at. `expression` is the
    JMESPath over the state that it is, None where it is another condition or joins several.
    """

    text: str
    form: Form
    is_of_checkpoints: bool
    happens: bool
    needs_state: bool
    needs_changes: bool
    expression: JmesPath | None

    def holds(self, at: At) -> bool:
        """Tell whether it holds at a checkpoint, whichever was asked of before."""
        return self.form.holds(at)

    def following(self) -> FollowingCondition:
        """Give what asks it along a path, told each checkpoint in order, from the root on."""
        return Along(self.form)


def parse_condition(text: str) -> Condition:
    """Read a condition. Raises ValueError that says what is wrong, and at which column.

    That is a ConditionError, which may say what to do, where it is not JMESPath that is wrong.
    """
    form = form_of(text)
    atoms = list(atoms_of(form))
    return Condition(
        text.strip(),
        form,
        is_of_checkpoints=all(each.happens for each in atoms),
        happens=any(each.happens for each in atoms),
        needs_state=any(each.needs_state for each in atoms),
        needs_changes=any(each.needs_changes for each in atoms),
        expression=form.atom.expression if isinstance(form, Single) else None,
    )
