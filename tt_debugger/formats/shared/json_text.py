"""JSON text with other values in it: what stays the same keeps its bytes.

So a number that a parser would round, the order of keys and the white space are what they were,
and of what a fork writes only what was edited is new.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from tt_debugger.core.between import is_same
from tt_debugger.core.json import as_list, as_map
from tt_debugger.errors import UnsupportedError
from tt_debugger.formats.shared.transcript_json import Member, members

_SPACE = b" \t\r\n"
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def written(value: Any) -> bytes:
    """Give a value as compact JSON. Raises UnsupportedError where it is no text of JSON."""
    try:
        return msgspec.json.encode(value)
    except (UnicodeEncodeError, RecursionError, TypeError) as error:
        raise UnsupportedError(
            "a value cannot be written as JSON", "a text with half of a surrogate pair, perhaps"
        ) from error


def with_value(data: bytes, before: Any, after: Any) -> bytes:
    """Give the text of a value of which `before` is what it was read as, and `after` is wanted."""
    if is_same(before, after):
        return data
    if isinstance(before, dict) and isinstance(after, dict):
        return _with_members(data, as_map(before), as_map(after))
    if isinstance(before, list) and isinstance(after, list):
        return _with_items(data, as_list(before), as_list(after))
    return written(after)


def spread(data: bytes) -> tuple[bytes, bytes]:
    """Give the white space before the first item of a list or object, and behind its last one."""
    inner = data.strip(_SPACE)[1:-1]
    bare = inner.lstrip(_SPACE)
    first = inner[: len(inner) - len(bare)]
    return (first, bare[len(bare.rstrip(_SPACE)) :]) if bare else (b"", b"")


def _with_members(data: bytes, before: dict[str, Any], after: dict[str, Any]) -> bytes:
    places = list(members(data))
    if {each.key for each in places} != before.keys() or any(each.end is None for each in places):
        return written(after)
    # Of a key that is given twice the last one counts.
    last = {each.key: each for each in places}
    kept = [each for each in last.values() if each.key in after]
    parts = [_member(data, each, before, after) for each in kept]
    parts += [
        written(key) + _colon(data, kept) + written(value)
        for key, value in after.items()
        if key not in before
    ]
    return _joined(data, b"{}", parts)


def _member(data: bytes, place: Member, before: dict[str, Any], after: dict[str, Any]) -> bytes:
    text = with_value(data[place.value : place.end], before[place.key], after[place.key])
    return data[place.begin : place.value] + text


def _colon(data: bytes, kept: list[Member]) -> bytes:
    """Give a colon with the white space that another member has around its own."""
    if not kept:
        return b":"
    between = data[kept[0].begin : kept[0].value]
    return b":" + between[between.rindex(b":") + 1 :]


def _with_items(data: bytes, before: list[Any], after: list[Any]) -> bytes:
    items = _items(data)
    if len(items) != len(before):
        return written(after)
    same = _same_at_begin(before, after)
    end = _same_at_begin(before[same:][::-1], after[same:][::-1])
    old = range(same, len(before) - end)
    new = after[same : len(after) - end]
    changed = [
        with_value(items[old[at]], before[old[at]], value) if at < len(old) else written(value)
        for at, value in enumerate(new)
    ]
    return _joined(data, b"[]", [*items[:same], *changed, *items[len(items) - end :]])


def _items(data: bytes) -> list[bytes]:
    try:
        return list(map(bytes, _decode_list(data)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return []


def _same_at_begin(before: Iterable[Any], after: Iterable[Any]) -> int:
    count = 0
    for one, other in zip(before, after, strict=False):
        if not is_same(one, other):
            break
        count += 1
    return count


def _joined(data: bytes, brackets: bytes, parts: list[bytes]) -> bytes:
    """Put parts together with the white space of what they come from."""
    first, last = spread(data)
    between = b"," + (first or _between(data))
    if not parts:
        return brackets
    return b"".join((brackets[:1], first, between.join(parts), last, brackets[1:]))


def _between(data: bytes) -> bytes:
    """Give the blank that stands behind the first comma, as Python writes one, if there is one."""
    bare = data.strip(_SPACE)
    if bare[:1] == b"{":
        end = next((each.end or 0 for each in members(bare)), 0)
    else:
        items = _items(bare)
        end = bare.index(items[0]) + len(items[0]) if items else 0
    return b" " if bare[end : end + 2] == b", " else b""
