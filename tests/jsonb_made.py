"""Makes JSONB as SQLite writes it, whatever version of SQLite is here."""

from __future__ import annotations

import json
from typing import Any


def jsonb(value: Any) -> bytes:
    """Give a value in JSONB."""
    kind, content = _parts(value)
    return _element(kind, content)


def _parts(value: Any) -> tuple[int, bytes]:
    if value is None or isinstance(value, bool):
        return {None: 0, True: 1, False: 2}[value], b""
    if isinstance(value, (int, float)):
        return 5 if isinstance(value, float) else 3, json.dumps(value).encode()
    if isinstance(value, str):
        return 10, value.encode()
    if isinstance(value, list):
        return 11, b"".join(map(jsonb, value))
    return 12, b"".join(jsonb(each) for pair in value.items() for each in pair)


def _element(kind: int, content: bytes) -> bytes:
    size = len(content)
    if size < 12:
        return bytes((kind | size << 4,)) + content
    code, length = next(each for each in ((12, 1), (13, 2), (14, 4)) if size < 1 << 8 * each[1])
    return bytes((kind | code << 4,)) + size.to_bytes(length, "big") + content
