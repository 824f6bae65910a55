"""Likeness: how much two texts have in common, told from their words."""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache

MOST_WORDS = 400
"""Words that are looked at; of a longer text the first ones and the last."""

_WORD = re.compile(r"\w+")


def common_words(one: str, other: str) -> float:
    """Give the share of words that two texts have in common, from 0 to 1 (Dice)."""
    words, others = _words(_cut(one)), _words(_cut(other))
    total = words.total() + others.total()
    return 2 * (words & others).total() / total if total else 0.0


def _cut(text: str) -> str:
    size = MOST_WORDS * 16
    return text if len(text) <= size else f"{text[: size // 2]} {text[-size // 2 :]}"


@lru_cache(1024)
def _words(text: str) -> Counter[str]:
    found = _WORD.findall(text)
    if len(found) > MOST_WORDS:
        found = found[: MOST_WORDS // 2] + found[-MOST_WORDS // 2 :]
    return Counter(found)
