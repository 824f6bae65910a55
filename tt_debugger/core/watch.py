"""A watch: what a person wants to be told of, as it was typed or as it was under the cursor.

It is a place of the state, a formula over it, or a condition, which has the value true or false.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from tt_debugger.core.history import Watched
from tt_debugger.core.paths import Path, dotted, pointer

if TYPE_CHECKING:
    from tt_debugger.core.conditions import Condition

FORCED = "jmes:"
"""What a text begins with that is a formula, whatever it looks like."""


class Watch(msgspec.Struct, frozen=True, eq=False):
    """What is watched; two that ask the same have the same key."""

    asked: Watched | Condition

    @staticmethod
    def parse(text: str) -> Watch:
        """Take a text for a JSON Pointer, else a ready-made condition, else a JMESPath.

        Raises ValueError that says what is wrong with it.
        """
        text = text.strip()
        if not text:
            message = "a path or a condition is needed: model, /messages/0, error, tokens>100k"
            raise ValueError(message)
        if text.startswith("/"):
            return Watch(Watched.parse(text))
        # Only who types something pays for the import.
        from tt_debugger.core.conditions import parse_condition

        try:
            condition = parse_condition(text)
        except ValueError:
            # What a condition only begins with, as `model` is, may be a place too.
            place = _place(text)
            if place is None:
                raise
            return Watch(place)
        # Of an expression the value is told, and not only whether it is true.
        expression = condition.expression
        return Watch(condition if expression is None else Watched.of(expression))

    @staticmethod
    def at(path: Path) -> Watch:
        """Watch a place of the state."""
        return Watch(Watched.at(path))

    @property
    def path(self) -> Path | None:
        """The place that is watched, None where it is more than a place."""
        return self.asked.path if isinstance(self.asked, Watched) else None

    @property
    def key(self) -> str:
        """A text that no other watch has."""
        return self.asked.text if self.path is None else pointer(self.path)

    @property
    def text(self) -> str:
        """What `parse` makes the same watch of."""
        is_formula = isinstance(self.asked, Watched) and not self.path
        if is_formula:
            return f"{FORCED}{'@' if self.path is not None else self.asked.text}"
        return self.key

    @property
    def name(self) -> str:
        """What it is called; may be content, not yet safe to draw."""
        if self.path is None:
            return self.asked.text
        return dotted(self.path) or "the state"

    @property
    def condition(self) -> Condition | None:
        """The condition, None where it is a place or a formula."""
        return None if isinstance(self.asked, Watched) else self.asked

    @property
    def happens(self) -> bool:
        """Whether it happens at a checkpoint, and does not stay."""
        return self.condition is not None and self.condition.happens


def _place(text: str) -> Watched | None:
    """Give the place that a text names, None where it names none."""
    try:
        watched = Watched.parse(text)
    except ValueError:
        return None
    return None if watched.path is None else watched
