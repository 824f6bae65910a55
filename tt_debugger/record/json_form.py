"""The JSON form of a value: what a recorder writes for it, or why it cannot.

JSON is plain dicts, lists, text, numbers, booleans and None, and shares nothing with what it was
made of. What JSON has no form for is refused by name, or takes the form that a type reads back: a
date its ISO text, bytes base64, a set or tuple a list. Where no type says so, as in a dict, it
comes back in that form.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import decimal
import enum
import math
import uuid
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, cast

import msgspec

from tt_debugger.core.json import canonical
from tt_debugger.core.paths import ROOT, Path, dotted
from tt_debugger.core.text import safe_line
from tt_debugger.errors import UsageError
from tt_debugger.record.pydantic_form import dumped, is_pydantic

MOST_NESTED = 200
"""Levels of objects and lists in a state: all that read it must have room for as many."""

_SCALARS = (
    dt.datetime,
    dt.date,
    dt.time,
    dt.timedelta,
    decimal.Decimal,
    uuid.UUID,
    bytes,
    bytearray,
    memoryview,
)
_LARGEST = 2**64
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def json_of(value: Any, path: Path = ROOT) -> Any:
    """Give any value as JSON; `path` is where it stands, for the message.

    Raises UsageError for what JSON has no form for.
    """
    copied = _copied(value)
    return _turned(value, path) if copied is msgspec.UNSET else copied


def _copied(value: Any) -> Any:
    """Give a copy of what is JSON already, UNSET where it is not, or not quite.

    The way through bytes and a comparison take place in C: most updates need no more. Whatever
    JSON would silently make something else of (NaN, a tuple, a key that is a number) is not equal
    to what comes back.
    """
    try:
        data = _encode(value)
        copy = _decode(data)
        is_equal = copy == value
    except (TypeError, ValueError, OverflowError, RecursionError):
        return msgspec.UNSET
    may_be_deep = data.count(b"[") + data.count(b"{") > MOST_NESTED
    return copy if is_equal and not (may_be_deep and _is_too_deep(copy)) else msgspec.UNSET


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MOST_NESTED):
        level = [
            each
            for container in level
            for each in (container.values() if isinstance(container, dict) else container)
            if isinstance(each, (dict, list))
        ]
        if not level:
            return False
    return True


def _turned(value: Any, path: Path) -> Any:  # noqa: PLR0911 - one answer for each kind
    """Give any value as JSON, part by part. Raises UsageError, which names the part."""
    match value:
        case None | True | False:
            return value
        case enum.Enum():
            return _turned(value.value, path)
        case str():
            return _text(value, path)
        case int():
            return _whole(int(value), path)
        case float():
            if math.isfinite(value):
                return float(value)
            raise _refused(path, f"is {float(value)}", "JSON has no such number; use None")
        case dict():
            return _entries(cast("dict[Any, Any]", value), path)
        case list() | tuple():
            return _items(cast("list[Any]", value), path)
        case set() | frozenset():
            # A set has no order: without one the same set would look changed every now and then.
            items = _items(list(cast("set[Any]", value)), path)
            return sorted(items, key=canonical)
        case _:
            return _turned_object(value, path)


def _turned_object(value: Any, path: Path) -> Any:
    if isinstance(value, _SCALARS):
        return msgspec.to_builtins(value)
    if isinstance(value, msgspec.Struct):
        return _turned_struct(value, path)
    if is_pydantic(type(value)):
        return _turned(dumped(value, warnings=False), path)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [each.name for each in dataclasses.fields(value)]
        return _entries(_set_ones(value, dict(zip(names, names, strict=True))), path)
    raise _refused(path, f"is of type {type(value).__qualname__}", "JSON has no form for it")


def _turned_struct(value: msgspec.Struct, path: Path) -> Any:
    """Give a Struct as JSON, also those of its fields that have their default."""
    config = value.__struct_config__
    names = _names_of(type(value))
    if config.array_like:
        tag = [] if config.tag is None else [config.tag]
        return _items([*tag, *(getattr(value, name) for name in names)], path)
    tagged = {} if config.tag is None else {config.tag_field: config.tag}
    return _entries({**tagged, **_set_ones(value, names)}, path)


def _set_ones(value: Any, names: Mapping[str, str]) -> dict[str, Any]:
    """Give the fields of an object that have a value, by their keys in JSON."""
    fields = ((key, getattr(value, name, msgspec.UNSET)) for name, key in names.items())
    return {key: each for key, each in fields if each is not msgspec.UNSET}


@lru_cache(256)
def _names_of(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    return {each.name: each.encode_name for each in msgspec.structs.fields(kind)}


def _entries(value: Mapping[Any, Any], path: Path) -> dict[str, Any]:
    _check_depth(path)
    copy: dict[str, Any] = {}
    for key, each in value.items():
        plain = key.value if isinstance(key, enum.Enum) else key
        if not isinstance(plain, str):
            raise _refused(path, f"has the key {key!r:.80}", "keys must be text")
        name = _text(plain, (*path, ascii(plain)))
        if name in copy:
            raise _refused(path, f"has two keys that are {name!r:.80} in JSON", "rename one")
        copy[name] = _turned(each, (*path, name))
    return copy


def _items(value: Any, path: Path) -> list[Any]:
    _check_depth(path)
    copy: list[Any] = []
    for index, each in enumerate(value):
        # No comprehension: it would take a frame of the stack for each level.
        copy.append(_turned(each, (*path, index)))
    return copy


def _check_depth(path: Path) -> None:
    if len(path) >= MOST_NESTED:
        raise _refused(
            path[:3],
            f"holds more than {MOST_NESTED} levels of objects and lists",
            "it may contain itself",
        )


def _text(value: str, path: Path) -> str:
    try:
        value.encode()
    except UnicodeEncodeError as error:
        hint = "text read with errors='surrogateescape' holds such; decode it otherwise"
        raise _refused(path, "holds half a character (a lone surrogate)", hint) from error
    # Of a text of a class of its own the plain text.
    return str.__str__(value)


def _whole(value: int, path: Path) -> int:
    if not -_LARGEST < value < _LARGEST:
        try:
            is_exact = _decode(_encode(value)) == value
        except (ValueError, OverflowError):
            is_exact = False
        if not is_exact:
            raise _refused(path, "is a number of too many digits", "record it as text")
    return value


def _refused(path: Path, what: str, hint: str) -> UsageError:
    place = safe_line(dotted(path)) if path else "the value"
    return UsageError(f"{place} {what}, which cannot be recorded", hint)
