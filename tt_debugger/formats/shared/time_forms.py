"""Times in the form that others write them in, whichever that is."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TypeVar

_LATEST_IN_SECONDS = 1e11
_ISO = re.compile(
    r"\d{4}-\d\d-\d\d(?P<sign>[T ])\d\d:\d\d:\d\d"
    r"(?:\.(?P<part>\d{1,9}))?(?P<zone>Z|[+-][\d:]{2,6})?"
)
_NUMBER = re.compile(r"\d+(?:\.(\d+))?")

_T = TypeVar("_T")


def time_like(sample: _T, time: float) -> _T:
    """Give a time, in seconds since 1970, as a sample is written; what is no time, as it is."""
    made: object = sample
    match sample:
        case bool():
            pass
        case int():
            made = int(time * _scale(sample))
        case float():
            made = time * _scale(sample)
        case str():
            made = _text_like(sample, time)
        case _:
            pass
    return made  # pyright: ignore[reportReturnType] - it is of the same type


def _text_like(sample: str, time: float) -> str:
    number = _NUMBER.fullmatch(sample)
    if number is not None:
        return f"{time * _scale(float(sample)):.{len(number[1] or '')}f}"
    form = _ISO.fullmatch(sample)
    if form is None:
        return sample
    try:
        zone = datetime.fromisoformat(sample).tzinfo or UTC
    except ValueError:
        return sample
    moment = datetime.fromtimestamp(time, zone)
    part = form["part"]
    fraction = "" if part is None else f".{moment.microsecond:06d}000"[: len(part) + 1]
    return f"{moment:%Y-%m-%d}{form['sign']}{moment:%H:%M:%S}{fraction}{form['zone'] or ''}"


def _scale(sample: float) -> int:
    """Give how many units a second has: one, or thousands where the number is too large for it."""
    scale = 1
    while abs(sample) / scale > _LATEST_IN_SECONDS and scale < 10**9:
        scale *= 1000
    return scale
