"""Edits: what is to be otherwise at a fork, as changes to its state.

An edit names its place as a JSON Pointer, or as people read a path: `messages[3].content`, and
`files["a.py"]` for a key that is no word. In a list `-1` counts from its end, and `-` is the place
behind its last item.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, State, fold
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Key, Path, dotted, parse_pointer, value_at
from tt_debugger.errors import UsageError

BEHIND_LAST = "-"
"""The place behind the last item of a list (RFC 6901)."""
_PART = re.compile(r'\.?([^.\[\]]+)|\[(-?\d+|-)\]|\[("(?:[^"\\]|\\.)*")\]')


def parse_path(text: str) -> Path:
    """Give the path that a text names. Raises UsageError."""
    if not text or text.startswith("/"):
        return parse_pointer(text)
    parts: list[Key] = []
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None:
            raise UsageError(
                f"{text!r} is no path", "write it like messages[3].content or /messages/3/content"
            )
        parts.append(_key_of(*part.groups()))
        place = part.end()
    return tuple(parts)


def _key_of(name: str | None, index: str | None, quoted: str | None) -> Key:
    if quoted is not None:
        return str(msgspec.json.decode(quoted))
    if index is not None:
        return int(index) if index.isdecimal() else index
    return name or ""


def parse_assignment(text: str) -> tuple[Path, Any]:
    """Give the path and the value of PATH=JSON. Raises UsageError."""
    name, sign, value = text.partition("=")
    if not sign:
        raise UsageError(f"{text!r} has no =", "write PATH=JSON, like title='\"another\"'")
    try:
        return parse_path(name.strip()), msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        raise UsageError(
            f"the value of {name.strip()} is no JSON", "a text stands in quotes: '\"like this\"'"
        ) from None


def putting(state: State, path: Path, value: Any) -> Change:
    """Give the change that puts a value at a path of a state. Raises UsageError."""
    if not path:
        raise UsageError("the whole state cannot be set by one value", "name a key of it")
    above = _resolved(state, path[:-1])
    container = _at(state, above)
    if isinstance(container, list) and path[-1] == BEHIND_LAST:
        return Append(above, value)
    if isinstance(container, dict):
        return Put((*above, str(path[-1])), value)
    return Put(_resolved(state, path), value)


def dropping(state: State, path: Path) -> Change:
    """Give the change that takes away what is at a path of a state. Raises UsageError."""
    if not path:
        raise UsageError("the whole state cannot be taken away", "name a key of it")
    return Drop(_resolved(state, path))


def edited(state: State, edits: Iterable[Change]) -> State:
    """Give a state after some edits. Raises UsageError where one names no place of it."""
    try:
        return fold(state, edits)
    except (KeyError, IndexError, TypeError) as error:
        raise UsageError(f"an edit names a place that is not there: {error}") from error


def edits_between(before: State, after: State) -> tuple[Change, ...]:
    """Give the edits that make one state of another, key by key of its top."""
    changes: list[Change] = [Drop((key,)) for key in before if key not in after]
    changes += [
        Put((key,), value)
        for key, value in after.items()
        if key not in before or before[key] != value
    ]
    return tuple(changes)


def _resolved(state: State, path: Path) -> Path:
    """Give a path of a state with the places of lists as they are counted from the front."""
    found: Path = ()
    for key in path:
        container = _at(state, found)
        found = (*found, _key_in(container, key, found))
        _at(state, found)
    return found


def _key_in(container: Any, key: Key, above: Path) -> Key:
    if isinstance(container, dict):
        return str(key)
    length = len(as_list(container))
    if isinstance(key, str) and re.fullmatch(r"-\d+", key):
        key = length + int(key)
    if not isinstance(container, list) or not isinstance(key, int) or not 0 <= key < length:
        where = dotted(above) or "the state"
        about = f"has {length} items" if isinstance(container, list) else "is no list and no map"
        raise UsageError(f"there is no {key} in {where}: it {about}")
    return key


def _at(state: State, path: Path) -> Any:
    try:
        return value_at(state, path)
    except KeyError:
        keys = ", ".join(map(str, as_map(value_at(state, path[:-1]))))
        raise UsageError(
            f"there is no {dotted(path)} in the state", f"there are: {keys}" if keys else None
        ) from None
