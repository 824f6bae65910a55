"""A diff in the form of CONTRACT."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.diff.comparing import Comparison
from tt_debugger.core.diff.edits import edit_json


def diff_json(comparison: Comparison, a: str, b: str, fork_point: str | None) -> dict[str, Any]:
    """Give a comparison of two refs, and the id of the checkpoint where their branches part."""
    return {
        "ttdbg": 1,
        "a": a,
        "b": b,
        "equal": comparison.equal,
        "fork_point": fork_point,
        "edits": [edit_json(each) for each in comparison.edits()],
        "masked": dict(comparison.masked),
    }
