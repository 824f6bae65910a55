"""Words: sets of them, written as they are read."""

from __future__ import annotations


def words(text: str) -> frozenset[str]:
    """Give the words of a text."""
    return frozenset(text.split())
