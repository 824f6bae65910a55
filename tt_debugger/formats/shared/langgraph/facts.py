"""Facts: what the checkpoints of a thread tell together of the graph that made them.

The graph itself is code and not in the store. But a checkpoint has, of each node that ever ran on
its path, the channels that had set it off; so the leaves know them all.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from tt_debugger.core.json import as_map
from tt_debugger.formats.shared.langgraph.held import Held

NULL_TASK = "00000000-0000-0000-0000-000000000000"
"""Under it stands what belongs to no task: the answer to an interrupt."""
START = "__start__"
END = "__end__"
WITH_EDGES = 3
"""The first version in which every edge has a channel that names its node, and no node has one."""
JOIN = "join:"
_TO, _BEGIN, _BRANCH = "branch:to:", "start:", "branch:"
_FIELDS_OF_BRANCH = 4
_NOT_NODES = frozenset(("__input__", "__interrupt__", "__snapshot_bumps__"))
_FUNCTIONAL = (END, "__previous__")


class Facts(msgspec.Struct, frozen=True):
    """Which nodes a channel sets off, and whether functions made the thread, not a graph."""

    triggered: dict[str, tuple[str, ...]]
    is_functional: bool = False
    needs_others: bool = False
    """Whether a thread may not have come to what another one of the same graph knows."""
    known: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict[str, tuple[str, ...]])
    """The nodes of channels that were asked for."""
    shown: dict[tuple[str, ...], tuple[str, ...]] = msgspec.field(
        default_factory=dict[tuple[str, ...], tuple[str, ...]]
    )
    """Which of some channels are the user's, where that was asked."""

    def nodes_of(self, channel: str) -> tuple[str, ...]:
        """Give the nodes that a channel sets off: those that were learned, or that it names."""
        found = self.known.get(channel)
        if found is None:
            found = self.triggered.get(channel) or _named_by(channel)
            self.known[channel] = found
        return found


def _named_by(channel: str) -> tuple[str, ...]:
    """Give the node that the name of a channel tells."""
    if channel == START:
        return (START,)
    if channel.startswith(_TO):
        return (channel[len(_TO) :],)
    if channel.startswith(_BEGIN):
        return (channel[len(_BEGIN) :],)
    is_branch = channel.startswith(_BRANCH) and channel.count(":") == _FIELDS_OF_BRANCH - 1
    if is_branch or channel.startswith(JOIN):
        return (channel.rpartition(":")[2],)
    return ()


def facts_of(checkpoints: Iterable[Held]) -> Facts:
    """Learn from checkpoints."""
    triggered: dict[str, dict[str, None]] = {}
    is_functional = is_old = False
    for held in checkpoints:
        is_old = is_old or held.version < WITH_EDGES
        versions = held.versions
        is_functional = is_functional or any(name in versions for name in _FUNCTIONAL)
        for node, seen in held.seen.items():
            if node not in _NOT_NODES:
                for channel in as_map(seen):
                    triggered.setdefault(channel, {})[node] = None
    nodes_of = {channel: tuple(nodes) for channel, nodes in triggered.items()}
    return Facts(nodes_of, is_functional, is_old or not nodes_of)
