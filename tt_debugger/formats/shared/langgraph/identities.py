"""Identities: new ids of checkpoints and new versions of channels, in LangGraph's own forms."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any
from uuid import UUID

_EPOCH = 0x01B21DD213814000
"""1970 in the count of such ids: 100 nanoseconds each since 1582-10-15."""
_A_SECOND = 10_000_000
_MANTISSA = 53
_LIKE_OURS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-6[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")


def checkpoint_id(time: float, step: int, fresh: Callable[[int], bytes], newest: str) -> str:
    """Give a UUID of version 6 for a time, or for just after the newest one there is.

    Its sequence is the step, as in those that LangGraph makes.
    """
    ticks = int(time * _A_SECOND) + _EPOCH
    above = _ticks_of(newest)
    if above is not None:
        ticks = max(ticks, above + 1)
    number = (
        (ticks >> 12 & (1 << 48) - 1) << 80
        | 6 << 76
        | (ticks & 0xFFF) << 64
        | 0b10 << 62
        | (step & 0x3FFF) << 48
        | int.from_bytes(fresh(6))
    )
    return str(UUID(int=number))


def is_later(name: str, newest: str) -> bool:
    """Tell whether an id stands behind another, as texts are compared."""
    return name > newest


def next_version(versions: Iterable[Any], fresh: Callable[[int], bytes]) -> int | str | None:
    """Give a version behind all others, of the form that they have; None where they have none.

    A text has a random end, which keeps the values of two forks apart.
    """
    known = list(versions)
    if any(type(each) not in (int, str) for each in known):
        return None
    counts = [_count_of(each) for each in known]
    if None in counts:
        return None
    highest = max((each for each in counts if each is not None), default=0) + 1
    if known and all(type(each) is int for each in known):
        return highest
    share = (int.from_bytes(fresh(7)) >> 3) / (1 << _MANTISSA)
    return f"{highest:032}.{share:016}"


def _count_of(version: Any) -> int | None:
    try:
        return int(str(version).partition(".")[0])
    except ValueError:
        return None


def _ticks_of(name: str) -> int | None:
    """Give the count that an id of this kind holds, None for any other."""
    if not _LIKE_OURS.fullmatch(name):
        return None
    return int(name[:8] + name[9:13] + name[15:18], 16)
