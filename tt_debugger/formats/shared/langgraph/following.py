"""The nodes that run next from a checkpoint, as far as the rows tell.

A node is set off by a channel that has a value, in a version that the node has not seen yet. Most
channels name the node; which nodes others set off is learned from the thread.
"""

from __future__ import annotations

from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.formats.shared.langgraph.facts import JOIN, WITH_EDGES, Facts
from tt_debugger.formats.shared.langgraph.held import SENDS, Held


def next_of(held: Held, facts: Facts, *, has_tasks: bool) -> list[str] | None:
    """Give the nodes, one for each task; None where the rows do not tell."""
    is_old = held.version < WITH_EDGES
    nodes: dict[str, None] = {}
    is_unsure = False
    channels, known = held.channel_values, facts.known
    for channel, value in channels.items():
        found = known.get(channel)
        if found is None:
            found = facts.nodes_of(channel)
        if not found:
            is_unsure = is_unsure or (is_old and value == channel and channel in held.seen)
            continue
        if value is not None and not _is_full(channel, value):
            continue
        if held.is_unseen(channel):
            nodes |= dict.fromkeys(found)
            continue
        version, seen = held.versions.get(channel), held.seen
        for node in found:
            if version is not None and _is_newer(version, as_map(seen.get(node)).get(channel)):
                nodes[node] = None
    told = list(nodes)
    if SENDS in channels or held.pending_sends:
        sends = [text_or_none(as_map(each).get("node")) for each in held.sends]
        told = [*(each for each in sends if each is not None), *nodes]
    # An old node's own channel sets off what is not known: nothing, unless something did run.
    return None if is_unsure and has_tasks and not told else told


def _is_full(channel: str, value: Any) -> bool:
    """Tell whether all have arrived for which a channel waits, if it waits for any."""
    if not channel.startswith(JOIN):
        return True
    names = channel[len(JOIN) :].rpartition(":")[0].split("+")
    arrived = as_map(value).get("$value", value)
    return {each for each in as_list(arrived) if isinstance(each, str)} == set(names)


def _is_newer(version: Any, seen: Any) -> bool:
    if seen is None:
        return True
    if type(version) is type(seen) and isinstance(version, (str, int, float)):
        return version > seen
    return _counter(version) > _counter(seen)


def _counter(version: Any) -> float:
    """Give the number with which a version begins."""
    try:
        return float(str(version).partition(".")[0])
    except ValueError:
        return -1.0
