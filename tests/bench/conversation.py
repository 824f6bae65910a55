"""A conversation that grows by a question and an answer a step, the same for all."""

from __future__ import annotations

STEPS = 2_000
_WORDS = "the quick brown fox jumps over the lazy dog and runs on through the wood "


def pair(number: int) -> list[dict[str, str]]:
    """Give the two messages of a step, about 300 bytes of JSON; no two steps say the same."""
    return [
        {"role": "user", "content": f"{number}: {_text(number, 60)}"},
        {"role": "assistant", "content": f"{number}: {_text(7 * number, 150)}"},
    ]


def _text(number: int, length: int) -> str:
    at = number % len(_WORDS)
    return (_WORDS * 4)[at : at + length]
