"""Words: what a record must have in it for a condition to hold, so that most are not decoded."""

from __future__ import annotations

import re

from tt_debugger.core.search import Query

_PLAIN = re.compile(r"[\w /,;:@%&<>'=\-]+", re.ASCII)
"""What means itself in a regular expression."""


def word_in_names(pattern: str) -> Query | None:
    """Give what is in each name that a pattern with `*` stands for, whatever its case."""
    return _longest(pattern.split("*"), ignores_case=True)


def word_in_texts(expression: str, *, ignores_case: bool) -> Query | None:
    """Give what is in each text that a regular expression matches, None for none but a word."""
    if _PLAIN.fullmatch(expression) is None:
        return None
    return _longest([expression], ignores_case=ignores_case)


def _longest(words: list[str], *, ignores_case: bool) -> Query | None:
    """Give the longest of some words to look for in records; only ASCII is looked for."""
    if ignores_case:
        # To a regular expression an i is also one without a dot, which no folding makes one.
        words = [part for word in words for part in word.lower().split("i")]
    longest = max(filter(str.isascii, words), key=len, default="")
    return Query.of(longest, is_exact=not ignores_case) if longest else None
