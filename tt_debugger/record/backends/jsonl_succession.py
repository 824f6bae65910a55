"""Succession: the files in which a log of lines goes on, where one can be written to no more.

`run.jsonl` goes on in `run.2.jsonl`, or in the first such name that is free; the header there says
what it goes on from.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tt_debugger.core.recording.entries import Header, decoded_header
from tt_debugger.storage.publishing import PIECE, opened, read

SHORT = 1 << 12
"""Bytes in which a header mostly ends."""

_NO_FILE = frozenset((errno.EINVAL, errno.EISDIR, errno.ELOOP))
"""What is said of a name that has something else than a file."""


def newest(path: Path) -> Path:
    """Give the last of the files in which a log goes on. Raises OSError.

    A file that cannot be read may be it, so it is not passed over.
    """
    last = path
    for each in _names_after(path):
        try:
            header = _header_of(each)
        except FileNotFoundError:
            break
        if header is not None and header.continues and header.continues.location == last.name:
            last = each
    return last


def free_name_after(path: Path) -> Path:
    """Give the first free name for what goes on from a file. Raises OSError."""
    return next(each for each in _names_after(path) if not each.exists())


def header_in(file: int) -> Header | None:
    """Give the header that a file begins with, None where it is none of ours. Raises OSError.

    One that is longer than a piece is none.
    """
    line, end, _ = read(file, 0, SHORT).partition(b"\n")
    if not end:
        line, end, _ = read(file, 0, PIECE).partition(b"\n")
    try:
        return decoded_header(line) if end else None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _header_of(path: Path) -> Header | None:
    try:
        with opened(str(path)) as file:
            return header_in(file)
    except OSError as error:
        if error.errno in _NO_FILE:
            return None
        raise


def _names_after(path: Path) -> Iterator[Path]:
    """Give the names that may go on from a file: `run.2.jsonl`, `run.3.jsonl` and so on."""
    stem, number = path.stem, 1
    first, dot, last = stem.rpartition(".")
    if dot and last.isdecimal():
        stem, number = first, int(last)
    while True:
        number += 1
        yield path.with_name(f"{stem}.{number}{path.suffix}")
