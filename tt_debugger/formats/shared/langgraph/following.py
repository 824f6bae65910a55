"""The nodes that run next from a checkpoint, as far as the rows tell.

A node is set off by a channel that has a value, in a version that the node has not seen yet. Most
channels name the node; which nodes others set off is learned from the thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.formats.shared.langgraph.facts import START, WITH_EDGES, Facts
from tt_debugger.formats.shared.langgraph.held import Held

_TO, _JOIN, _BEGIN, _BRANCH = "branch:to:", "join:", "start:", "branch:"
_FIELDS_OF_BRANCH = 4


def next_of(held: Held, facts: Facts, *, has_tasks: bool) -> list[str] | None:
    """Give the nodes, one for each task; None where the rows do not tell."""
    learned = facts.triggered
    is_old = held.version < WITH_EDGES
    nodes: dict[str, None] = {}
    is_unsure = False
    for channel, value in held.channel_values.items():
        found = learned.get(channel)
        if found is None:
            if ":" in channel:
                found = tuple(_named_by(channel))
            elif channel == START:
                found = (START,)
            else:
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
    sends = [text_or_none(as_map(each).get("node")) for each in held.sends]
    told = [*(each for each in sends if each is not None), *nodes]
    # An old node's own channel sets off what is not known: nothing, unless something did run.
    return None if is_unsure and has_tasks and not told else told


def _named_by(channel: str) -> Iterator[str]:
    """Give the node that the name of a channel tells."""
    if channel.startswith(_TO):
        yield channel[len(_TO) :]
    elif channel.startswith(_JOIN):
        yield channel.rpartition(":")[2]
    elif channel.startswith(_BEGIN):
        yield channel[len(_BEGIN) :]
    elif channel.startswith(_BRANCH) and channel.count(":") == _FIELDS_OF_BRANCH - 1:
        yield channel.rpartition(":")[2]


def _is_full(channel: str, value: Any) -> bool:
    """Tell whether all have arrived for which a channel waits, if it waits for any."""
    if not channel.startswith(_JOIN):
        return True
    names = channel[len(_JOIN) :].rpartition(":")[0].split("+")
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
