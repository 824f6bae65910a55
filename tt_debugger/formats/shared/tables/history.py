"""The past of a thread: rows whose key is the name of the thread, a sign, and a time."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from itertools import islice, repeat
from operator import itemgetter, le

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.storage.tables import Tables, Value

HISTORY = ":history:"
"""What stands between the name of a thread and the time of a state that is past."""
NO_NAME = "NULL"
"""What a session is called whose rows name none."""
_AT_ONCE = 256
"""Rows that are made columns at once: so few that the collector of garbage never meets them."""

Rows = list[tuple[Value, ...]]


def split_history(key: Value) -> tuple[str, float | None]:
    """Split the key of a row into the name of its thread and, of one that is past, the time."""
    text = text_of(key)
    name, sign, time = text.rpartition(HISTORY)
    moment = moment_of(time) if sign and name else None
    return (text, None) if moment is None else (name, moment)


def text_of(value: Value) -> str:
    """Give a value of a column as the text that it is called by."""
    if value is None:
        return NO_NAME
    return value.hex() if isinstance(value, bytes) else str(value)


def past_of(
    tables: Tables, table: str, columns: Sequence[str], name: str, most: int | None = None
) -> Iterator[Rows]:
    """Give the rows that may be of the past of a thread, some at a time; the key comes first.

    They stand in one run of the key. With `most` so many rows are looked at.
    """
    begin = f"{name}{HISTORY}"
    for part in parts(tables.rows(table, columns, order=columns[:1], after=[begin], most=most)):
        if _all_begin(part, begin):
            yield part
            continue
        keys = [text_of(row[0]) for row in part]
        end = next((n for n, key in enumerate(keys) if not is_near(key, begin)), len(part))
        own = zip(part[:end], keys[:end], strict=True)
        yield [row for row, key in own if key.startswith(begin)]
        if end < len(part):
            return


def _all_begin(part: Rows, begin: str) -> bool:
    """Tell quickly whether all keys begin so; that of bytes or a number does not."""
    try:
        return all(map(str.startswith, map(itemgetter(0), part), repeat(begin)))
    except TypeError:
        return False


def rows_in_order(keys: Sequence[Value], name: str) -> list[int] | None:
    """Give the rows of a thread by time, its present last; None where all stand so already.

    Rows are left out whose key only looks like one of its past.
    """
    times = _times_in(keys, name)
    if times is not None and all(map(le, times, times[1:])):
        return None
    split = [split_history(key) for key in keys]
    own = [
        row
        for row, (thread, time) in enumerate(split)
        if (thread == name and time is not None) or text_of(keys[row]) == name
    ]
    return sorted(own, key=lambda row: (text_of(keys[row]) == name, split[row][1] or 0.0))


def moments_of(keys: Sequence[Value], name: str) -> array[float]:
    """Give the times in the keys of a thread, in seconds since 1970; NaN for its present."""
    times = _times_in(keys, name)
    if times is not None:
        known = [_utc(each).timestamp() for each in times]
        return array("d", (*known, *[math.nan] * (len(keys) - len(known))))
    told = (split_history(key)[1] for key in keys)
    return array("d", (math.nan if each is None else each for each in told))


def _times_in(keys: Sequence[Value], name: str) -> list[datetime] | None:
    """Give the times in keys, the last of which are the name itself; None where that is not so."""
    end = len(keys)
    while end and keys[end - 1] == name:
        end -= 1
    begin = len(name) + len(HISTORY)
    with suppress(msgspec.ValidationError, TypeError):
        times = msgspec.convert([key[begin:] for key in keys[:end]], list[datetime])  # pyright: ignore[reportOptionalSubscript, reportIndexIssue, reportUnknownVariableType] - no text raises
        # Some that name a zone and some that do not cannot be compared.
        zones = {each.tzinfo is None for each in times}
        return times if len(zones) < 2 else None  # noqa: PLR2004 - both kinds
    return None


def times_of(column: Sequence[Value]) -> array[float] | None:
    """Give the times in a column that all have one, None where not all do."""
    with suppress(msgspec.ValidationError, OverflowError):
        return array(
            "d", (_utc(each).timestamp() for each in msgspec.convert(column, list[datetime]))
        )
    return None


def _utc(time: datetime) -> datetime:
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def is_near(text: str, beginning: str) -> bool:
    """Tell whether a text may stand between some that begin alike, whatever order texts have.

    The order of a language passes over signs, and may take great letters for small ones.
    """
    return text.startswith(beginning) or _letters(text).startswith(_letters(beginning))


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def moment_of(value: Value) -> float | None:
    """Give the time that a value is, in seconds since 1970; None for no time."""
    if isinstance(value, str) and value.replace(".", "", 1).isdecimal():
        value = float(value)
    return None if value is None else time_in({"time": value})


def parts(rows: Iterator[tuple[Value, ...]]) -> Iterator[list[tuple[Value, ...]]]:
    """Give rows a few at a time; those before an error come before it."""
    while True:
        part: list[tuple[Value, ...]] = []
        try:
            part.extend(islice(rows, _AT_ONCE))
        except CannotReadError:
            if part:
                yield part
            raise
        if not part:
            return
        yield part
