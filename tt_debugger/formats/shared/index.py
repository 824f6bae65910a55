"""An index as bytes: what was read of a file, for the cache.

The session goes in with its columns as they are in memory, and each is taken out when it is
needed. So is what the reading of a format has in mind, to go on where the file grows.
"""

from __future__ import annotations

from array import array
from functools import partial
from typing import Any

import msgspec

from tt_debugger.core.findings import Finding
from tt_debugger.core.ids import Ids, encoded_ids
from tt_debugger.core.model import BLOCK, Extent, Heads, Session, SessionId, Span
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.storage.index_cache import Entry

LAYOUT = 4
"""To be raised with every change of what is read or how it is kept."""


class _Facts(msgspec.Struct, frozen=True):
    """What there is once in a session."""

    id: str
    format: str | None
    count: int
    labels: dict[int, str]
    active: int | None
    title: str | None
    cwd: str | None
    forked_from: str | None
    extent: Extent | None
    findings: tuple[Finding, ...]
    number: int
    """The number of the line after the last."""
    parts: dict[int, tuple[Span, ...]]
    named: dict[int, str]
    aliases: dict[str, int]
    subsessions: dict[int, tuple[str, ...]]


def parts_of(reading: Reading, session: Session, number: int) -> dict[str, bytes]:
    """Give a session that was read to the end of its file, and its reading, as named parts.

    `number` is that of the line that will come next.
    """
    facts = _Facts(
        session.id,
        session.format,
        len(session),
        dict(session.labels),
        session.active,
        session.title,
        session.cwd,
        session.forked_from,
        session.extent,
        session.findings,
        number,
        session.heads.parts,
        session.heads.named,
        dict(session.aliases),
        dict(session.subsessions),
    )
    links = reading.links
    return {
        "facts": msgspec.msgpack.encode(facts),
        "ids": encoded_ids(session.ids),
        "parents": session.parents.tobytes(),
        "own_ids": b"" if links.ids is session.ids else encoded_ids(links.ids),
        "links": msgspec.msgpack.encode([getattr(links, name) for name in _LINKS]),
        "notes": reading.notes(),
        **session.heads.columns(),
    }


def blocks_of(session: Session) -> list[bytes]:
    """Give what the rows of a session say, as far as it is known, in blocks."""
    return [session.heads.block(number) for number in range(-(-len(session) // BLOCK))]


_LINKS = ("named", "hung", "aliases", "passed", "behind")
"""What is kept of links beside the ids, in this order."""
_LinksKept = tuple[
    dict[int, tuple[Any, str]],
    dict[int, Any],
    dict[str, int],
    dict[str, str | None],
    dict[str, tuple[int, str]],
]


class CachedIndex:
    """A session taken out of its parts, and its reading, taken out when the file has grown.

    Raises ValueError, LookupError or msgspec.MsgspecError where they are no such parts.
    """

    def __init__(
        self,
        entry: Entry,
        empty: Reading,
    ) -> None:
        empty.take_notes(entry.part("notes"))
        facts = msgspec.msgpack.decode(entry.part("facts"), type=_Facts)
        parents: array[int] = array("q", entry.part("parents"))
        heads = Heads.restored(entry.part, entry.block, empty.heads.describe)
        heads.parts, heads.named = facts.parts, facts.named
        if not len(parents) == len(heads) == facts.count:
            raise ValueError(
                f"{len(parents)} parents and {len(heads)} heads of {facts.count} rows"
            )
        self.size, self.is_quick = entry.size, entry.is_quick
        self.number = facts.number
        self._part = entry.part
        self._empty = empty
        self._reading: Reading | None = None
        ids = Ids(facts.count, partial(entry.part, "ids"))
        self.session = Session(
            SessionId(facts.id),
            facts.format,
            heads,
            ids,
            parents,
            facts.labels,
            facts.active,
            facts.title,
            facts.cwd,
            facts.forked_from,
            facts.extent,
            facts.findings,
            empty.facts(),
            aliases=facts.aliases,
            asides=empty.asides,
            subsessions=facts.subsessions,
        )

    def reading(self) -> Reading:
        """Give the reading, to be read on."""
        if self._reading is None:
            reading, own_ids = self._empty, self._part("own_ids")
            count = len(self.session)
            reading.links.ids = list(Ids(count, lambda: own_ids) if own_ids else self.session.ids)
            found = msgspec.msgpack.decode(self._part("links"), type=_LinksKept)
            for name, value in zip(_LINKS, found, strict=True):
                setattr(reading.links, name, value)
            reading.heads = self.session.heads
            self._reading = reading
        return self._reading
