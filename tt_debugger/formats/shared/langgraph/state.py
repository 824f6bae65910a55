"""The state at a checkpoint: the values of the user, the nodes that run next, tasks, metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tt_debugger.core.json import as_map
from tt_debugger.formats.shared.langgraph.facts import END, WITH_EDGES, Facts
from tt_debugger.formats.shared.langgraph.following import next_of
from tt_debugger.formats.shared.langgraph.held import Held
from tt_debugger.formats.shared.langgraph.serde import Lost
from tt_debugger.formats.shared.langgraph.tasks import HIDDEN, Task, named

MOST_SHAPES = 256
"""Sets of channels of which it is kept which of them are the user's."""


def state_of(
    held: Held | Lost,
    metadata: Any,
    tasks: list[Task],
    facts: Facts,
    guessed: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Give the state in the form of CONTRACT; `guessed` has values that the row does not hold."""
    if isinstance(held, Lost):
        return {
            "values": held.opaque,
            "next": None,
            "tasks": named(tasks, None, (), {}),
            "metadata": metadata,
        }
    nodes = next_of(held, facts, has_tasks=bool(tasks))
    own = held.seen if held.version < WITH_EDGES else {}
    values = values_of(held.channel_values, facts, own)
    if guessed:
        values = {**as_map(values), **guessed}
    return {
        "values": values,
        "next": nodes,
        "tasks": named(tasks, nodes, held.sends, own) if tasks else [],
        "metadata": metadata,
    }


def values_of(channels: dict[str, Any], facts: Facts, own: Mapping[str, Any]) -> Any:
    """Give the values of the user's channels; of functions what they gave back."""
    if facts.is_functional:
        return channels.get(END)
    names = tuple(channels)
    shown = facts.shown.get(names)
    if shown is None:
        shown = tuple(name for name in names if not name.startswith(HIDDEN))
        if len(facts.shown) < MOST_SHAPES:
            facts.shown[names] = shown
    # Nearly all checkpoints of a thread have the same channels.
    values = channels if len(shown) == len(names) else {name: channels[name] for name in shown}
    if own:
        return {key: each for key, each in values.items() if each != key or key not in own}
    return values
