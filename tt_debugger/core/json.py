"""JSON values of any type, taken as the type that is needed, or as nothing."""

from __future__ import annotations

from typing import Any, cast

import msgspec

_encode = msgspec.json.Encoder(order="deterministic", enc_hook=repr).encode


def as_map(value: Any) -> dict[str, Any]:
    """Give an object as it is, and anything else as an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Give a list as it is, and anything else as an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def canonical(value: Any) -> bytes:
    """Give bytes that are the same for the same value, in whichever order its keys stand."""
    try:
        return _encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError):
        # Such as half of a surrogate pair, which no record may have, but a database can.
        return repr(value).encode("utf-8", "surrogatepass")


def is_number(value: Any) -> bool:
    """Tell whether a value is a number; true and false are none, whatever Python says."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def text_or_none(value: Any) -> str | None:
    """Give a text as it is, and anything else as None."""
    return value if isinstance(value, str) else None
