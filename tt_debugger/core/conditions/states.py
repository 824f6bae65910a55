"""JMESPath as a condition: over the state, or over a single checkpoint."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.conditions.asked import ExpressionAsked
from tt_debugger.core.conditions.at import At
from tt_debugger.core.conditions.forms import Atom
from tt_debugger.core.expressions import Following, JmesPath
from tt_debugger.core.formula.evaluation import is_true
from tt_debugger.core.messages import messages_in
from tt_debugger.core.model import checkpoint_json


def of_state(expression: JmesPath) -> Atom:
    """Ask whether an expression is true of the state."""
    return Atom(
        lambda at: is_true(expression.value(at.state)),
        lambda: _OfStates(expression.following()),
        happens=False,
        needs_state=True,
        needs_changes=True,
        expression=expression,
        asked=ExpressionAsked(expression, is_of_entry=False),
    )


def of_entry(expression: JmesPath) -> Atom:
    """Ask whether an expression is true of a checkpoint: its JSON, `messages` and `record`."""
    entries = Entries(expression)
    return Atom(
        lambda at: is_true(expression.value(entries.at(at))),
        needs_changes=entries.have_messages,
        asked=ExpressionAsked(expression, is_of_entry=True),
    )


class Entries:
    """Checkpoints as an expression is asked of them, with no more than it looks at."""

    def __init__(self, expression: JmesPath) -> None:
        looked_at = {place[0] for place in expression.reads if place}
        asks_all = () in expression.reads
        self.have_messages = asks_all or "messages" in looked_at
        self._have_records = asks_all or "record" in looked_at

    def at(self, at: At) -> dict[str, Any]:
        """Give a checkpoint as one."""
        entry: dict[str, Any] = checkpoint_json(at.session.checkpoint(at.row))
        if self.have_messages:
            entry["messages"] = messages_in(at.changes)
        if self._have_records:
            entry["record"] = at.body()
        return entry


class _OfStates:
    """An expression over the states of a path."""

    def __init__(self, following: Following, *, holds: bool = False) -> None:
        self._following = following
        self.holds = holds

    def tell(self, at: At) -> None:
        """Evaluate it after a step."""
        value = self._following.value(at.state, at.changes)
        if self._following.is_changed:
            self.holds = is_true(value)

    def copied(self) -> _OfStates:
        """Give another one that was told the same."""
        return _OfStates(self._following.copied(), holds=self.holds)
