"""Names of keys, which need be no text, as text."""

from __future__ import annotations


def shown(key: str) -> str:
    """Give a key as text that can be written, also where it is none."""
    return key.encode(errors="surrogateescape").decode(errors="backslashreplace")
