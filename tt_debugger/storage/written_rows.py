"""Rows that a fork adds, whichever database they are in: how they are told from all others.

A fork claims some values of a table, such as a new thread, that no row has before. By its claim
and by the digests of its rows it is known later whether they are still all there and what they
were, and whether others have joined them.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, cast

import msgspec

from tt_debugger.core.fork.writes import Insert, RowsWritten, RowWritten
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.tables import Value

_BYTES = "$bytes"
_packed = msgspec.msgpack.encode


class Claim(msgspec.Struct, frozen=True):
    """A table, and the values by which the rows of a fork are told from all others in it."""

    table: str
    values: tuple[tuple[str, Value], ...]


def claims_of(inserts: Sequence[Insert]) -> Counter[Claim]:
    """Give what is claimed, and by how many rows, in the order of the inserts."""
    return Counter(
        Claim(each.table, tuple((name, each.values[name]) for name in each.fresh))
        for each in inserts
    )


def rows_of(claim: Claim, digests: Iterable[str]) -> list[RowWritten]:
    """Give the rows of a claim as they go into the operation log."""
    # JSON has no bytes.
    key = {
        name: {_BYTES: base64.b64encode(value).decode()} if isinstance(value, bytes) else value
        for name, value in claim.values
    }
    return [RowWritten(claim.table, key, digest) for digest in digests]


def claims_in(written: RowsWritten) -> dict[Claim, Counter[str]]:
    """Give what was claimed, and the digests of its rows, in the order of their writing."""
    found: dict[Claim, Counter[str]] = {}
    for row in written.rows:
        values = tuple((name, _value(each)) for name, each in row.key.items())
        found.setdefault(Claim(row.table, values), Counter())[row.digest] += 1
    return found


def digest_of(row: Iterable[tuple[str, Value]]) -> str:
    """Give the SHA-256 of the values of a row by their columns, of whatever types they are.

    A column that has none counts as one that is not there.
    """
    parts = [
        _packed((name.encode(errors="surrogateescape"), _told_apart(value)))
        for name, value in row
        if value is not None
    ]
    return hashlib.sha256(b"".join(sorted(parts))).hexdigest()


def taken(location: str, claim: Claim) -> UsageError:
    """Say that there are rows already that a fork would claim."""
    return UsageError(
        f"cannot add rows to {location}: the table {claim.table} has some already that are told"
        f" by {_names(claim)} alike",
        "nothing was written; fork again to get a new name",
    )


def referred_to(location: str) -> UsageError:
    """Say that rows refer to each other in a way that a database does not allow."""
    return UsageError(
        f"cannot write to {location}: rows of its tables refer to each other, and would not match",
        "nothing was written; have rows come since that refer to what was added?",
    )


def not_given_back(location: str, table: str, hint: str) -> CannotWriteError:
    """Say that rows cannot be read again as they were written."""
    return CannotWriteError(
        f"cannot add rows to {location}: the table {table} does not give them back as they were"
        " written",
        hint,
    )


def has_changed(location: str, table: str) -> UsageError:
    """Say that rows are not what was written any more."""
    return UsageError(
        f"cannot take rows back from {location}: what was added to the table {table} has changed"
        " since, is gone, or others have joined it",
        "nothing was taken back; look at what is there now",
    )


def _names(claim: Claim) -> str:
    return " and ".join(name for name, _ in claim.values)


def _told_apart(value: Value) -> object:
    """Give a value such that a text, which need not be one, is told from bytes."""
    return [value.encode(errors="surrogateescape")] if isinstance(value, str) else value


def _value(said: Any) -> Value:
    if isinstance(said, dict):
        return base64.b64decode(cast("dict[str, str]", said)[_BYTES])
    return said
