"""Settling: whether the time of a change lies so far back that the next one must show.

Times of files are coarse: what is written twice within one step of that clock has the same time.
"""

from __future__ import annotations

SETTLED = 2 * 10**9
"""Nanoseconds around a change in which another one might get the same time."""


def has_settled(now: int, *changed: int, within: int = SETTLED) -> bool:
    """Tell whether any change after `now` must have another time than each of these.

    All are nanoseconds since 1970. A time that somebody set, or that a clock ahead of ours gave,
    lies in the future: a change would not get it either.
    """
    return all(abs(now - each) > within for each in changed)
