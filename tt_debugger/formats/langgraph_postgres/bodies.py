"""Bodies: the JSON of a checkpoint, which in PostgreSQL holds small values alone."""

from __future__ import annotations

from typing import Any

import msgspec

from tt_debugger.formats.shared.langgraph import Held, Lost, Serde
from tt_debugger.storage.tables import Value


class _Body(msgspec.Struct):
    """A body as the saver writes it: JSON of any other form takes longer to decode."""

    channel_values: dict[str, bool | int | float | str | None] = {}
    channel_versions: dict[str, str | int] = {}
    versions_seen: dict[str, dict[str, str | int]] = {}
    v: int | None = None
    pending_sends: list[Any] | None = None


_decode = msgspec.json.Decoder(_Body).decode


def body_of(text: Value, serde: Serde) -> Held | Lost:
    """Give the checkpoint object that a body holds."""
    if isinstance(text, str):
        try:
            body = _decode(text)
        except (msgspec.DecodeError, ValueError, RecursionError):
            return serde.checkpoint("json", text)
        return Held(
            dict(body.channel_values),
            body.channel_versions,
            body.versions_seen,
            body.v,
            body.pending_sends,
        )
    return serde.checkpoint("json", text)
