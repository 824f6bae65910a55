"""Opaque values: what is not decoded is told by its kind, its size and its digest."""

from __future__ import annotations

import hashlib
from typing import Any


def opaque(kind: str, data: bytes) -> dict[str, Any]:
    """Give what stands in the place of bytes that are not decoded."""
    return {"$opaque": kind, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
