"""What a column holds, as bytes."""

from __future__ import annotations

from tt_debugger.storage.tables import Value


def bytes_of(value: Value) -> bytes:
    """Give bytes as they are, a text or a number as it is written, and nothing as none."""
    if isinstance(value, bytes):
        return value
    return b"" if value is None else str(value).encode(errors="replace")
