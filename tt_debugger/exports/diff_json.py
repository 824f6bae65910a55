"""A diff in the form of CONTRACT."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.diff.comparing import Comparison
from tt_debugger.core.diff.edits import Edit, edit_json
from tt_debugger.core.diff.texts import hunk_json, hunks, text_rows

LONG = 60
"""Characters from which a text is told by its hunks too."""


def diff_json(comparison: Comparison, a: str, b: str, fork_point: str | None) -> dict[str, Any]:
    """Give a comparison of two refs, and the id of the checkpoint where their branches part."""
    return {
        "ttdbg": 1,
        "a": a,
        "b": b,
        "equal": comparison.equal,
        "fork_point": fork_point,
        "edits": [_edit_json(each) for each in comparison.edits()],
        "masked": dict(comparison.masked),
    }


def _edit_json(edit: Edit) -> dict[str, Any]:
    return edit_json(edit) | {"text": _text(edit.old, edit.new)}


def _text(old: Any, new: Any) -> list[dict[str, Any]]:
    """Give the hunks of two texts of which one is long or has several lines."""
    if not (isinstance(old, str) and isinstance(new, str)) or old == new:
        return []
    if max(len(old), len(new)) < LONG and "\n" not in old + new:
        return []
    return [hunk_json(each) for each in hunks(text_rows(old, new))]
