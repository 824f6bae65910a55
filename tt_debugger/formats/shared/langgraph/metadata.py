"""Metadata: the JSON beside each checkpoint, which is never serialised in another way."""

from __future__ import annotations

from typing import Any

import msgspec

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.formats.shared.langgraph.serde import NotDecodedError, Serde
from tt_debugger.storage.tables import Value


class Metadata(msgspec.Struct, frozen=True):
    """What the index needs to know of it; any field may have any type."""

    step: Any = None
    parents: Any = None
    counters_since_delta_snapshot: Any = None


NONE = Metadata()
OURS = "ttdbg"
"""Under it stands in a fork what it was forked from."""
_decode = msgspec.json.Decoder(Metadata).decode
_serde = Serde()


def metadata_of(value: Value) -> Metadata | None:
    """Give what the index needs, None where it is no JSON object."""
    if value is None:
        return NONE
    if isinstance(value, (bytes, str)):
        try:
            return _decode(value)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            found = whole(value)
            if isinstance(found, dict) and "$opaque" not in found:
                own = as_map(found)
                return Metadata(*(own.get(each) for each in Metadata.__struct_fields__))
    return None


def whole(value: Value) -> Any:
    """Give all of it as plain data, None for none; what is no JSON stays opaque."""
    if isinstance(value, bytes):
        try:
            return _serde.from_json(value)
        except NotDecodedError as error:
            return error.opaque
    return None if value is None else _serde.json(value)


def origin_of(metadata: Any) -> str | None:
    """Give the thread that a checkpoint was forked from, None where it was not."""
    return text_or_none(as_map(as_map(metadata).get(OURS)).get("thread"))
