"""The arguments of a tool call in a line, as the row of a call has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.text import summary_line

_TELLING = ("command", "path", "file_path", "pattern", "query", "url", "prompt", "description")
"""Of a tool's arguments, the one that says most in a line."""
_STEPS = ("todos", "plan")
"""Arguments that are the steps of a plan."""


def arguments_summary(arguments: Any) -> str:
    """Give the argument of a tool call that says most about it in a line, or all of them."""
    members = as_map(arguments)
    for key in _TELLING:
        if isinstance(members.get(key), str):
            return summary_line(members[key])
    for key in _STEPS:
        if isinstance(members.get(key), list):
            return steps_summary(as_list(members[key]))
    return summary_line(msgspec.json.encode(members).decode()) if members else ""


def steps_summary(steps: Sequence[Any]) -> str:
    """Give how far a plan is, and the step that is on its way: `2 of 4 done: run the tests`."""
    known = list(map(as_map, steps))
    done = sum(each.get("status") == "completed" for each in known)
    now = next((each for each in known if each.get("status") == "in_progress"), as_map(None))
    step = next((now[key] for key in ("step", "content") if isinstance(now.get(key), str)), "")
    return summary_line(f"{done} of {len(known)} done{f': {step}' if step else ''}")
