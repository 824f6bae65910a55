"""Typed values: what was an object of a class, as the form that CONTRACT gives it.

The name of a class is text from a file. It is never imported, looked up or called: a table says
how the few classes that Python's own library has are written, and all others are maps or values
with their name beside them.
"""

from __future__ import annotations

import math
import struct
from base64 import b64encode
from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any

from tt_debugger.core.json import as_list, as_map
from tt_debugger.formats.shared.opaque import opaque

LARGEST_ARRAY = 100_000
"""Numbers of an array that are shown; a larger one stays as it is."""


def bytes_form(data: bytes | bytearray | memoryview) -> dict[str, Any]:
    """Give the form of bytes."""
    return {"$bytes": b64encode(data).decode()}


def typed(name: str, value: Any) -> dict[str, Any]:
    """Give the form of a value that is no map of fields."""
    return {"$type": name, "$value": value}


def object_form(module: str, name: str, fields: Any) -> dict[str, Any]:
    """Give an object by its fields."""
    whole = f"{module}.{name}"
    if not isinstance(fields, dict):
        return typed(whole, fields)
    if whole == "datetime.time":
        return typed(whole, _time(as_map(fields)))
    # The class is told first; a field of that name does not hide it.
    return {"$type": whole, **as_map(fields), "$type": whole}  # noqa: F601 - first and last


def called_form(module: str, name: str, arguments: Sequence[Any]) -> dict[str, Any]:
    """Give an object by the arguments that it would be made with."""
    whole = f"{module}.{name}"
    one = arguments[0] if len(arguments) == 1 else None
    if name == "Send" and len(arguments) > 1:
        more = {"timeout": arguments[2]} if len(arguments) > 2 else {}  # noqa: PLR2004 - newest
        return {"$type": whole, "node": arguments[0], "arg": arguments[1], **more}
    if module.startswith("pathlib"):
        return typed(whole, _path(arguments))
    written = _WRITTEN.get(whole)
    if written is not None:
        return typed("re.Pattern" if whole == "re.compile" else whole, written(arguments))
    if whole == "uuid.UUID":
        return typed(whole, _uuid(one))
    return typed(whole, one if len(arguments) == 1 else list(arguments))


def array_form(parts: Any) -> dict[str, Any]:
    """Give an array of numbers as nested lists; of what else it may hold, its bytes."""
    items = as_list(parts)
    if len(items) == 4:  # noqa: PLR2004 - type, shape, order, bytes
        kind, shape, order, data = items
        if isinstance(kind, str) and isinstance(data, bytes):
            numbers = _numbers(kind, data)
            nested = None if numbers is None else _nested(numbers, as_list(shape), order == "F")
            if nested is not None:
                return typed("numpy.ndarray", nested[0])
            return typed("numpy.ndarray", opaque(f"array of {kind}", data))
    return typed("numpy.ndarray", None)


def _numbers(kind: str, data: bytes) -> list[Any] | None:
    code = _CODES.get(kind[1:])
    if code is None or kind[:1] not in "<>|=":
        return None
    size = struct.calcsize(f"={code}")
    count = len(data) // size
    if count > LARGEST_ARRAY or count * size != len(data):
        return None
    order = "<" if kind[:1] in "|=" else kind[:1]
    return [_number(each) for each in struct.unpack(f"{order}{count}{code}", data)]


def _number(value: float) -> Any:
    """Give a number; what JSON has no number for has a form."""
    is_number = not isinstance(value, float) or math.isfinite(value)
    return value if is_number else typed("float", float_name(value))


def float_name(value: float) -> str:
    """Give the name of a number that is none, or beyond all."""
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _nested(numbers: list[Any], shape: list[Any], is_by_column: bool) -> list[Any] | None:  # noqa: FBT001 - one of two orders
    """Give numbers by rows, in a list of one; None where there are more or fewer."""
    sizes = [each for each in shape if isinstance(each, int) and 0 <= each <= LARGEST_ARRAY]
    if len(sizes) != len(shape) or len(sizes) > 32:  # noqa: PLR2004 - of NumPy
        return None
    # Rows are the last axis; by column the first one is, so the axes are taken in turn.
    count = 1
    for size in sizes:
        count *= size
    if count != len(numbers):
        return None
    if is_by_column:
        numbers = [numbers[place] for place in _places_by_column(sizes)]
    nested: list[Any] = numbers
    for size in reversed(sizes[1:]):
        if not size:
            return [[[] for _ in range(sizes[0])]]
        nested = [nested[begin : begin + size] for begin in range(0, len(nested), size)]
    return [nested] if sizes else nested[:1]


def _places_by_column(sizes: list[int]) -> list[int]:
    """Give for each number in the order of rows where it stands in the order of columns."""
    places = [0]
    stride = 1
    strides: list[int] = []
    for size in sizes:
        strides.append(stride)
        stride *= size
    for size, step in zip(sizes, strides, strict=True):
        places = [place + n * step for place in places for n in range(size)]
    return places


def _path(parts: Sequence[Any]) -> str:
    texts = [str(each) for each in parts]
    if texts[:1] == ["/"]:
        return "/" + "/".join(texts[1:])
    return "/".join(texts)


def _date(arguments: Sequence[Any]) -> Any:
    if len(arguments) == 3 and all(type(each) is int for each in arguments):  # noqa: PLR2004 - year, month, day
        return f"{arguments[0]:04d}-{arguments[1]:02d}-{arguments[2]:02d}"
    return list(arguments)


def _zone(arguments: Sequence[Any]) -> Any:
    """Give the name of a zone, or how far it is from UTC."""
    first = as_map(arguments[0]) if arguments else {}
    parts = as_list(first.get("$value"))
    if len(arguments) > 1 or len(parts) != 3 or not all(type(each) is int for each in parts):  # noqa: PLR2004 - days, seconds, microseconds
        return arguments[1] if len(arguments) > 1 else list(arguments)
    minutes, seconds = divmod(parts[0] * 86_400 + parts[1], 60)
    if not minutes and not seconds:
        return "UTC"
    sign = "-" if minutes < 0 else "+"
    return f"UTC{sign}{abs(minutes) // 60:02d}:{abs(minutes) % 60:02d}"


def _time(fields: dict[str, Any]) -> Any:
    units = [fields.get(each, 0) for each in ("hour", "minute", "second", "microsecond")]
    if not all(type(each) is int for each in units):
        return fields
    text = f"{units[0]:02d}:{units[1]:02d}:{units[2]:02d}"
    if units[3]:
        text += f".{units[3]:06d}"
    zone = as_map(fields.get("tzinfo")).get("$value")
    return text + zone.removeprefix("UTC") if isinstance(zone, str) and zone != "UTC" else text


def _uuid(value: Any) -> Any:
    if not isinstance(value, str) or len(value) != 32:  # noqa: PLR2004 - its digits
        return value
    return "-".join((value[:8], value[8:12], value[12:16], value[16:20], value[20:]))


def _first(arguments: Sequence[Any]) -> Any:
    return next(islice(arguments, 1), None)


_WRITTEN: dict[str, Callable[[Sequence[Any]], Any]] = {
    "datetime.date": _date,
    "datetime.timezone": _zone,
    "datetime.timedelta": list,
    "re.compile": _first,
}
_CODES = {
    "b1": "?",
    "i1": "b",
    "u1": "B",
    "i2": "h",
    "u2": "H",
    "i4": "i",
    "u4": "I",
    "i8": "q",
    "u8": "Q",
    "f2": "e",
    "f4": "f",
    "f8": "d",
}
