"""Fields: what git says of many things at once, each field ended by a NUL byte."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def whole_fields(parts: Iterable[bytes], count: int, longest: int) -> Iterator[list[bytes]]:
    """Give the fields of an answer that comes in parts, always those of whole things.

    A thing has `count` fields; of each no more than the `longest` first bytes need be given.
    """
    rest = b""
    for part in parts:
        fields = (rest + part).split(b"\0")
        whole = (len(fields) - 1) // count * count
        # What unpacks to gigabytes would be put together again with each part.
        fields[-1] = fields[-1][:longest]
        rest = b"\0".join(fields[whole:])
        yield fields[:whole]
