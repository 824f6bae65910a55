"""Naming: sessions are found by their ids, which the names of most files tell already."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import compress
from pathlib import PurePath

import msgspec

from tt_debugger.core.listing import Entry
from tt_debugger.core.refs import SHORTEST_ID
from tt_debugger.core.text import counted
from tt_debugger.discovery.finding import Discovery
from tt_debugger.discovery.places import EVERYWHERE
from tt_debugger.discovery.reading import ids_in
from tt_debugger.errors import AmbiguousRefError
from tt_debugger.storage.folders import SUFFIXES

_CANDIDATES = 6
_OF_PATHS = frozenset("/\\")


def may_be_id(text: str) -> bool:
    """Tell whether a text may be the id of a session or its beginning, and not a path."""
    is_path = bool(_OF_PATHS.intersection(text)) or text.startswith(".")
    return len(text) >= SHORTEST_ID and not is_path and PurePath(text).suffix not in SUFFIXES


class Named(msgspec.Struct, frozen=True):
    """A session that an id names: `session` is its id where its location holds several."""

    id: str
    location: str
    session: str | None
    is_kept: bool


def session_named(text: str) -> Named | None:
    """Give the discovered session that an id or its unique prefix names, None for none.

    What an agent keeps goes before copies in this folder. Raises AmbiguousRefError where several
    sessions have it.
    """
    entries = [each for each in Discovery(EVERYWHERE) if each is not None]
    # Names tell nearly always, and what is in the catalogue is known: files are read last.
    is_likely = [each.id.startswith(text) for each in entries]
    found = list(_with_id(text, compress(entries, is_likely)))
    if not found:
        unknown = (each for each, likely in zip(entries, is_likely, strict=True) if not likely)
        found = list(_with_id(text, (each for each in unknown if each.facts is None)))
    found = [each for each in found if each.is_kept] or found
    candidates = [each for each in found if each.id == text] or found
    if len(candidates) > 1:
        told = ", ".join(f"{each.id} in {each.location}" for each in candidates[:_CANDIDATES])
        more = len(candidates) - _CANDIDATES
        raise AmbiguousRefError(
            f"{text!r} names {counted(len(candidates), 'session')}",
            f"there are: {told}{f' and {more} more' if more > 0 else ''}",
        )
    return candidates[0] if candidates else None


def _with_id(text: str, entries: Iterable[Entry]) -> Iterator[Named]:
    """Give the sessions whose id begins so; a file is opened where only its name is known."""
    for entry in entries:
        if entry.facts is not None:
            own = entry.session or entry.id
            yield Named(own, entry.location, entry.session, entry.is_kept)
            continue
        # Of one that cannot be read the name of its file tells: opening it says why not.
        ids = ids_in(entry) or (entry.id,)
        for name in ids:
            if name.startswith(text):
                session = name if len(ids) > 1 else None
                yield Named(name, entry.location, session, entry.is_kept)
