"""JSON values of any type, taken as the type that is needed, or as nothing."""

from __future__ import annotations

from typing import Any, cast


def as_map(value: Any) -> dict[str, Any]:
    """Give an object as it is, and anything else as an empty one."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def as_list(value: Any) -> list[Any]:
    """Give a list as it is, and anything else as an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def text_or_none(value: Any) -> str | None:
    """Give a text as it is, and anything else as None."""
    return value if isinstance(value, str) else None
