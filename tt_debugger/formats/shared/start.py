"""The state before the first entry, as it is where a format says nothing else."""

from __future__ import annotations

from typing import Any

_UNSAID = ("model", "provider", "thinking_level", "title", "cwd", "usage")


def start_state() -> dict[str, Any]:
    """Give a state with no message, in which nothing has been set."""
    return {"messages": [], **dict.fromkeys(_UNSAID)}
