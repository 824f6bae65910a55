"""New ids and times for what a fork adds, made of a time and random bytes that are given."""

from __future__ import annotations

import uuid

from tt_debugger.core.fork.plan import Fresh
from tt_debugger.core.model import iso_time


def uuid4(fresh: Fresh) -> str:
    """Give a random UUID."""
    return str(uuid.UUID(bytes=fresh(16), version=4))


def uuid4_hex(fresh: Fresh) -> str:
    """Give a random UUID without its hyphens."""
    return uuid4(fresh).replace("-", "")


def uuid7(time: float, fresh: Fresh) -> str:
    """Give a UUID that sorts by its time, in seconds since 1970 (RFC 9562)."""
    stamp = int(time * 1000).to_bytes(6, "big")
    random = bytearray(fresh(10))
    random[0] = 0x70 | (random[0] & 0x0F)
    random[2] = 0x80 | (random[2] & 0x3F)
    return str(uuid.UUID(bytes=stamp + bytes(random)))


def stamp(time: float) -> str:
    """Give a time as ISO 8601 in UTC with milliseconds."""
    return iso_time(time) or ""


def rising(times: list[float | None], last: float) -> list[float]:
    """Give times of which none is earlier than the one before, and none later than the last.

    An unknown time is that of the one before it.
    """
    found: list[float] = []
    for each in times:
        before = found[-1] if found else 0.0
        found.append(min(last, max(before, each if each is not None else before)))
    first = next((each for each in found if each), last)
    return [each or first for each in found]
