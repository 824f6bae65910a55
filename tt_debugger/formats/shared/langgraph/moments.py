"""Moments: the time that the id of a checkpoint tells, without its body."""

from __future__ import annotations

import math

from tt_debugger.formats.shared.reading import moment_of

_LENGTH = 36
_VERSION = 14
_EPOCH = 0x01B21DD213814000
"""1970 in the count of such ids: 100 nanoseconds each since 1582-10-15."""
MOST_DISTANT_PAST, MOST_DISTANT_FUTURE = -62_135_596_800, 253_402_300_800
"""The years 1 to 9999, beyond which no time is said."""
_A_SECOND = 10_000_000


def moment_of_id(name: object) -> float:
    """Give the seconds since 1970 that an id tells, NaN where it tells none."""
    if not isinstance(name, str):
        return math.nan
    if len(name) == _LENGTH and name[_VERSION] == "6":
        try:
            return (int(name[:8] + name[9:13] + name[15:18], 16) - _EPOCH) / _A_SECOND
        except ValueError:
            return math.nan
    moment = moment_of(name)
    return math.nan if moment is None else moment
