"""Values that checkpoints share: each is kept once, by its channel and version."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tt_debugger.formats.shared.langgraph import Held, Serde
from tt_debugger.storage.postgres import PostgresDatabase
from tt_debugger.storage.tables import Value

KEPT_BYTES = 64 << 20
"""Bytes of values that are kept, as the next checkpoints will have them too."""
MANY = 250
"""Values that are found sooner by going over those of the namespace, of which others may be."""
OTHERS = 4
"""How many times as many are gone over, at most."""

Key = tuple[str, str]
"""A channel and its version."""
_NONE = object()


class SharedValues:
    """The values in a table, fetched when a checkpoint has them, and then kept for others.

    In that of a shallow saver there is one value a channel, which is another each time.
    """

    def __init__(
        self, database: PostgresDatabase, table: str, serde: Serde, *, is_shallow: bool
    ) -> None:
        self._database = database
        self._table = table
        self._decode = serde.value
        self._is_shallow = is_shallow
        self._kept: dict[tuple[str, ...], dict[Key, Any]] = {}
        self._bytes = 0

    def add_to(self, where: Mapping[str, str], bodies: Sequence[Held]) -> None:
        """Put values into the checkpoints of a namespace. They win over those that stand there.

        Raises CannotReadError.
        """
        place = tuple(where.values())
        known = self._kept.setdefault(place, {})
        wanted = [
            [(channel, str(version)) for channel, version in body.versions.items()]
            for body in bodies
        ]
        missing = {key for keys in wanted for key in keys if key not in known}
        if missing:
            size = self._fetch(where, missing, known)
            self._keep(place, known, size)
        for body, keys in zip(bodies, wanted, strict=True):
            # A new map: the one that is there may be another checkpoint's too.
            values = body.channel_values = dict(body.channel_values)
            for key in keys:
                if (value := known[key]) is not _NONE:
                    values[key[0]] = value

    def _fetch(self, where: Mapping[str, str], missing: set[Key], known: dict[Key, Any]) -> int:
        """Fetch what is missing; that there is no such value is known from then on as well."""
        if self._is_shallow:
            size = self._take(self._by_channel(where, missing), missing, known)
        else:
            size = 0
            columns, left = ("channel", "version", "type", "blob"), missing
            if len(missing) > MANY:
                most = OTHERS * len(missing)
                rows = list(self._database.rows(self._table, columns, where=where, most=most))
                size = self._take(rows, missing, known)
                left = missing - known.keys() if len(rows) == most else set[Key]()
            if left:
                found = self._database.among(self._table, columns, columns[:2], list(left), where)
                size += self._take(found, missing, known)
        for key in missing:
            known.setdefault(key, _NONE)
        return size

    def _by_channel(
        self, where: Mapping[str, str], missing: set[Key]
    ) -> Iterable[tuple[Value, ...]]:
        versions = dict(missing)
        names = [(channel,) for channel in versions]
        columns = ("channel", "type", "blob")
        for channel, kind, data in self._database.among(
            self._table, columns, ("channel",), names, where
        ):
            yield channel, versions[str(channel)], kind, data

    def _take(
        self, rows: Iterable[tuple[Value, ...]], missing: set[Key], known: dict[Key, Any]
    ) -> int:
        size = 0
        for channel, version, kind, data in rows:
            key = (str(channel), str(version))
            if key in missing and kind != "empty":
                known[key] = self._decode(kind, data)
                size += len(data) if isinstance(data, bytes) else 0
        return size

    def _keep(self, place: tuple[str, ...], known: dict[Key, Any], size: int) -> None:
        if self._is_shallow:
            self._kept.clear()
            return
        self._bytes += size
        if self._bytes > KEPT_BYTES:
            self._kept, self._bytes = {place: known}, size
            if size > KEPT_BYTES:
                self._kept, self._bytes = {}, 0
