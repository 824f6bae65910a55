"""JSONB, the binary form in which SQLite keeps JSON, turned back into text.

Each element begins with a byte that has its type in the lower half and its size in the upper one,
or how many bytes the size has that follows. What stands in an element is text again, so the whole
becomes JSON text, and is then read as all JSON is. SQLite itself trusts what is in it; here every
size is checked, and no text may end before its element does.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple

from tt_debugger.formats.shared.records import DEEPEST

_CONSTANTS = {0: "null", 1: "true", 2: "false"}
_INT, _INT5, _FLOAT, _FLOAT5, _TEXT, _TEXTJ, _TEXT5, _TEXT_RAW, _ARRAY, _OBJECT = range(3, 13)
_TEXTS = frozenset((_TEXT, _TEXTJ, _TEXT5, _TEXT_RAW))
_SIZE_BYTES = {12: 1, 13: 2, 14: 4, 15: 8}
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_HEX = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]{1,1024})")
_LOOSE = re.compile(r"([+-]?)(\d*)(?:\.(\d*))?([eE][+-]?\d+)?", re.ASCII)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|\r\n|.)|\"", re.DOTALL)
_JSON_ESCAPES = frozenset('"\\/bfnrtu')
_OTHER_ESCAPES = {"0": "\\u0000", "v": "\\u000b", "'": "'", '"': '\\"'}
_LINE_ENDS = frozenset(("\n", "\r", "\r\n", "\u2028", "\u2029"))


class _Element(NamedTuple):
    kind: int
    begin: int
    end: int


class _Opened:
    """A container whose elements are being read, and how many there were."""

    def __init__(self, end: int, *, is_object: bool) -> None:
        self.end = end
        self.is_object = is_object
        self.count = 0

    def separator(self, kind: int, place: int) -> str:
        """Give what stands before one more element, which is a key, a value or an item."""
        is_key = self.is_object and self.count % 2 == 0
        if is_key and kind not in _TEXTS:
            raise _broken("a key that is no text", place)
        self.count += 1
        if self.count == 1:
            return ""
        return "," if is_key or not self.is_object else ":"

    def closed(self, place: int) -> str:
        """Give what stands at its end."""
        if self.is_object and self.count % 2:
            raise _broken("a key without a value", place)
        return "}" if self.is_object else "]"


def json_text(data: bytes) -> bytes:
    """Give the JSON text of a value in JSONB. Raises ValueError, in words, where it is none."""
    out: list[str] = []
    opened: list[_Opened] = []
    place = 0
    while place < len(data) or opened:
        inner = opened[-1] if opened else None
        if inner is not None and place == inner.end:
            out.append(inner.closed(place))
            opened.pop()
            continue
        if inner is None and out:
            raise _broken("more than one value", place)
        element = _element(data, place, len(data) if inner is None else inner.end)
        if inner is not None:
            out.append(inner.separator(element.kind, place))
        if element.kind in {_ARRAY, _OBJECT}:
            if len(opened) == DEEPEST:
                raise _broken(f"more than {DEEPEST} levels", place)
            is_object = element.kind == _OBJECT
            opened.append(_Opened(element.end, is_object=is_object))
            out.append("{" if is_object else "[")
            place = element.begin
        else:
            out.append(_scalar(element.kind, data[element.begin : element.end], place))
            place = element.end
    if not out:
        raise _broken("nothing", 0)
    return "".join(out).encode()


def _element(data: bytes, place: int, limit: int) -> _Element:
    """Give the element that stands at a place, which must end before a limit."""
    kind, size = data[place] & 15, data[place] >> 4
    begin = place + 1
    if size in _SIZE_BYTES:
        length = _SIZE_BYTES[size]
        if begin + length > limit:
            raise _broken("a size that is cut", place)
        size = int.from_bytes(data[begin : begin + length], "big")
        begin += length
    if begin + size > limit:
        raise _broken("an element that is longer than what holds it", place)
    return _Element(kind, begin, begin + size)


def _scalar(kind: int, data: bytes, place: int) -> str:
    if kind in _CONSTANTS:
        if data:
            raise _broken("a constant with a content", place)
        return _CONSTANTS[kind]
    try:
        text = data.decode()
    except UnicodeDecodeError:
        text = data.decode(errors="replace")
    if kind in {_TEXT, _TEXT_RAW}:
        return json.dumps(text)
    if kind in {_TEXTJ, _TEXT5}:
        return _escaped(_strict(text) if kind == _TEXT5 else text, place)
    if kind in {_INT, _INT5, _FLOAT, _FLOAT5}:
        return _number(text, place)
    raise _broken(f"the unknown type {kind}", place)


def _escaped(text: str, place: int) -> str:
    """Give a text that has escapes already; one that ends early could write JSON of its own."""
    try:
        value: object = json.loads(f'"{text}"', strict=False)
    except ValueError as error:
        raise _broken("a text with a wrong escape", place) from error
    return json.dumps(value)


def _strict(text: str) -> str:
    """Give a text with the escapes of JSON in the place of those that only JSON5 has."""
    return _ESCAPE.sub(_strict_escape, text)


def _strict_escape(match: re.Match[str]) -> str:
    escaped = match[1]
    if escaped is None:
        return '\\"'
    if escaped in _LINE_ENDS:
        return ""
    if escaped[0] == "x":
        return f"\\u00{escaped[1:]}" if len(escaped) > 1 else match[0]
    if escaped in _JSON_ESCAPES:
        return match[0]
    return _OTHER_ESCAPES.get(escaped, escaped)


def _number(text: str, place: int) -> str:
    if _NUMBER.fullmatch(text):
        return text
    if (match := _HEX.fullmatch(text)) is not None:
        return f"{match[1].replace('+', '')}{int(match[2], 16)}"
    bare = text.lstrip("+-")
    if bare in {"Infinity", "NaN"}:
        return text.lstrip("+")
    if (match := _LOOSE.fullmatch(text)) is None or not (match[2] or match[3]):
        raise _broken("a number that is none", place)
    sign, whole, part, power = match[1].replace("+", ""), match[2], match[3], match[4]
    fraction = "" if part is None else f".{part or 0}"
    return f"{sign}{whole.lstrip('0') or '0'}{fraction}{power or ''}"


def _broken(what: str, place: int) -> ValueError:
    return ValueError(f"it is no JSONB: {what} at byte {place}")
