"""Origins: a rollout that goes on from the history of another one holds none of it.

Its header names the other thread, and up to where its file counts. That one may go on from yet
another.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from typing import Any

import msgspec

from tt_debugger.core.json import as_map
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.codex.records import META, entry_of, thread_id_or_none
from tt_debugger.formats.codex.threads import rollout_of
from tt_debugger.formats.shared.records import Record, records
from tt_debugger.storage.compressed import opened
from tt_debugger.storage.lines import lines

MOST_ORIGINS = 256
"""Rollouts that are gone back through, from one to the one that it goes on from."""
_FIRST_LINES = 8
"""Lines in which a header is looked for."""


class Origin(msgspec.Struct, frozen=True):
    """The thread that a rollout goes on from, and where its history ends there: before these."""

    thread: str
    ordinal: int | None = None
    offset: int | None = None


class Link(msgspec.Struct, frozen=True):
    """One rollout of a chain: the part of a file that counts."""

    path: str
    origin: Origin


class Chain(msgspec.Struct, frozen=True):
    """The rollouts that one goes on from, the nearest first; `lost` says why there are no more."""

    links: tuple[Link, ...]
    lost: str | None = None


def origin_in(meta: Mapping[str, Any]) -> Origin | None:
    """Give where the history before a rollout is, None where it holds all of it."""
    base = as_map(meta.get("history_base"))
    thread = base.get("thread_id")
    if not isinstance(thread, str):
        return None
    return Origin(
        thread, _count(base.get("end_ordinal_exclusive")), _count(base.get("end_byte_offset"))
    )


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def chain_of(location: str, thread: str, origin: Origin) -> Chain:
    """Give all rollouts that one goes on from, as far as they are there."""
    links: list[Link] = []
    seen = {thread.lower()}
    next_origin: Origin | None = origin
    while next_origin is not None:
        name = next_origin.thread
        if name.lower() in seen:
            return Chain(tuple(links), f"the history goes in a circle: thread {name} comes again")
        if len(links) == MOST_ORIGINS:
            return Chain(tuple(links), f"the history goes through over {MOST_ORIGINS} threads")
        seen.add(name.lower())
        path = rollout_of(location, name) if thread_id_or_none(name) else None
        meta = None if path is None else _meta_of(path)
        if path is None or meta is None:
            why = f"the history goes on from thread {name:.60}, whose rollout is not there"
            return Chain(tuple(links), why)
        links.append(Link(path, next_origin))
        next_origin = origin_in(meta)
    return Chain(tuple(links))


def _meta_of(path: str) -> dict[str, Any] | None:
    """Give the header of a rollout, None where it has none or cannot be read."""
    try:
        file = opened(path)
    except CannotReadError:
        return None
    try:
        for line in islice(lines(file), _FIRST_LINES):
            for piece in records(line.data) if line.data.strip() else ():
                entry = entry_of(as_map(piece.value)) if isinstance(piece, Record) else None
                if entry is not None and entry.type == META:
                    return entry.payload
    except CannotReadError:
        pass
    finally:
        file.close()
    return None
