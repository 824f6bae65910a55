"""Statistics in the form of CONTRACT."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import msgspec

from tt_debugger.core.loops import Loop
from tt_debugger.core.model import Usage
from tt_debugger.core.stats import Stats, Tally, ToolTally
from tt_debugger.core.tree import NO_ROW


def stats_json(stats: Stats) -> dict[str, Any]:
    """Give the object under `stats` of `log --stat --json`."""
    ids, tally_json = stats.session.ids, partial(_tally_json, is_of_states=stats.is_of_states)
    return {
        "seconds": stats.seconds,
        "total": tally_json(stats.total),
        "shared": tally_json(stats.shared),
        "unread": stats.unread,
        "branches": [
            {
                "leaf": ids[each.leaf],
                "fork_point": None if each.fork_point == NO_ROW else ids[each.fork_point],
                "active": each.is_active,
                "seconds": each.seconds,
                "own": tally_json(each.own),
                "whole": tally_json(each.whole),
            }
            for each in stats.branches
        ],
        "tools": [_tool_json(each, ids) for each in stats.tools],
        "models": [
            {
                "model": each.model,
                "answers": each.answers,
                "tokens": _tokens_json(each.tokens),
                "cost": each.cost,
                "of_summaries": each.is_of_summaries,
            }
            for each in stats.models
        ],
        "loops": [_loop_json(each, ids[each.first], ids[each.last]) for each in stats.loops],
    }


def _tally_json(tally: Tally, *, is_of_states: bool) -> dict[str, Any]:
    """Give a tally; of whole states null for what is not recorded one by one."""
    told = msgspec.structs.asdict(tally) | {"tokens": _tokens_json(tally.tokens)}
    if is_of_states:
        told |= {name: told[name] or None for name in ("messages", "calls", "errors")}
    return told


def _tool_json(tool: ToolTally, ids: Sequence[str]) -> dict[str, Any]:
    """Give a tool, with the id of the checkpoint that took the longest."""
    told = msgspec.structs.asdict(tool)
    row = told.pop("longest_row")
    return told | {"longest": None if row is None else ids[row]}


def _tokens_json(tokens: Usage | None) -> dict[str, int] | None:
    """Give the tokens without their cost, which is beside them."""
    if tokens is None:
        return None
    return {
        "input": tokens.input,
        "output": tokens.output,
        "cache_read": tokens.cache_read,
        "cache_write": tokens.cache_write,
    }


def _loop_json(loop: Loop, first: str, last: str) -> dict[str, Any]:
    return {
        "calls": [{"tool": each.tool, "arguments": each.arguments} for each in loop.things],
        "count": loop.count,
        "first": first,
        "last": last,
        "same_result": loop.is_same,
    }
