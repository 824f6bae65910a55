"""What a call used, as files tell it: counts of tokens, and dollars."""

from __future__ import annotations

_MOST_TOKENS = 1 << 40
"""What no call uses; beyond it sums over a session would leave 64 bits."""
_MOST_DOLLARS = 1e9
"""What no call costs."""


def counted_tokens(value: object) -> int:
    """Give a count of tokens, 0 for what is none."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return 0
    return int(value) if 0 <= value <= _MOST_TOKENS else 0


def told_dollars(value: object) -> float | None:
    """Give what a call cost, None for what is no such sum."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value < _MOST_DOLLARS else None
