"""Statistics in the form of CONTRACT."""

from __future__ import annotations

from typing import Any

import msgspec

from tt_debugger.core.loops import Loop
from tt_debugger.core.model import Usage
from tt_debugger.core.stats import Stats, Tally
from tt_debugger.core.tree import NO_ROW


def stats_json(stats: Stats) -> dict[str, Any]:
    """Give the object under `stats` of `log --stat --json`."""
    ids = stats.session.ids
    return {
        "seconds": stats.seconds,
        "total": _tally_json(stats.total),
        "shared": _tally_json(stats.shared),
        "unread": stats.unread,
        "branches": [
            {
                "leaf": ids[each.leaf],
                "fork_point": None if each.fork_point == NO_ROW else ids[each.fork_point],
                "active": each.is_active,
                "seconds": each.seconds,
                "own": _tally_json(each.own),
                "whole": _tally_json(each.whole),
            }
            for each in stats.branches
        ],
        "tools": [msgspec.structs.asdict(each) for each in stats.tools],
        "models": [
            {
                "model": each.model,
                "answers": each.answers,
                "tokens": _tokens_json(each.tokens),
                "cost": each.cost,
            }
            for each in stats.models
        ],
        "loops": [_loop_json(each, ids[each.first], ids[each.last]) for each in stats.loops],
    }


def _tally_json(tally: Tally) -> dict[str, Any]:
    return msgspec.structs.asdict(tally) | {"tokens": _tokens_json(tally.tokens)}


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
