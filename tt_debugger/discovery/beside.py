"""Beside: what other files tell of a session, which is known as long as they tell the same."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zlib import crc32

import msgspec

from tt_debugger.errors import TtdbgError, outside_errors
from tt_debugger.formats import each_own_format
from tt_debugger.store import Consults, Store


class Beside(msgspec.Struct, frozen=True, array_like=True):
    """What stands beside a session: a digest of what is told there, and when names changed.

    `folder` is 0 where nobody minds other names: only one that misses another file does.
    """

    told: int = 0
    folder: int = 0


def beside(location: str, store: type[Store] | None, *, misses: bool = True) -> Beside:
    """Look beside a session; with `misses` another file in its folder makes a difference."""
    folder = 0
    if misses:
        try:
            folder = Path(location).parent.stat().st_mtime_ns
        except OSError:
            folder = -1
    consults = None if store is None else _consulting(store)
    return Beside(0 if consults is None else _told(location, consults), folder)


@cache
def store_of(format_name: str) -> type[Store] | None:
    """Give the store of ours that reads a format; no more formats are imported than needed."""
    return next((each for each in each_own_format() if each.format == format_name), None)


@cache
def _consulting(store: type[Store]) -> type[Consults] | None:
    """Give a store that consults other files; to ask that is slow."""
    return store if issubclass(store, Consults) else None


def _told(location: str, store: type[Consults]) -> int:
    try:
        with outside_errors(store.__name__):
            return crc32(store.consulted(location).encode(errors="surrogatepass"))
    except TtdbgError:
        return 0
