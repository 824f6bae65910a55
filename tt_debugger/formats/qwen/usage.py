"""What Qwen Code says of the tokens that a call used."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.json import as_map
from tt_debugger.core.model import Usage

_MOST_TOKENS = 1 << 40
"""What no call uses; beyond it sums over a session would leave 64 bits."""


def usage_of(value: object) -> Usage | None:
    """Give what `usageMetadata` counts: what was read from a cache is part of the prompt there."""
    if not isinstance(value, dict):
        return None
    counts = as_map(value)
    prompt, total = _count(counts.get("promptTokenCount")), _count(counts.get("totalTokenCount"))
    cached = min(_count(counts.get("cachedContentTokenCount")), prompt)
    output = total - prompt
    if output <= 0:
        output = _count(counts.get("candidatesTokenCount"))
    return Usage(prompt - cached, output, cached, 0, total or prompt + output)


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= _MOST_TOKENS else 0
