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

from tt_debugger.core.between import keys_between
from tt_debugger.core.changes import Append, Change, Drop, Put, State, fold, written_paths
from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.messages import Said, is_message, read_message
from tt_debugger.core.paths import Key, Path, dotted, parse_pointer, value_at
from tt_debugger.core.text import summary_line
from tt_debugger.errors import UsageError

BEHIND_LAST = "-"
"""The place behind the last item of a list (RFC 6901)."""
_LISTS = (("messages",), ("values", "messages"))
"""Where messages stand in a state that is written as a whole."""
_PART = re.compile(r'\.?([^.\[\]]+)|\[(-?\d{1,9}|-)\]|\[("(?:[^"\\]|\\.)*")\]')


def parse_path(text: str) -> Path:
    """Give the path that a text names. Raises UsageError."""
    if not text or text.startswith("/"):
        return parse_pointer(text)
    parts: list[Key] = []
    place = 0
    while place < len(text):
        part = _PART.match(text, place)
        if part is None or (part[3] and _decoded(part[3]) is None):
            raise UsageError(
                f"{text!r} is no path", "write it like messages[3].content or /messages/3/content"
            )
        parts.append(_key_of(*part.groups()))
        place = part.end()
    return tuple(parts)


def _decoded(text: str) -> str | None:
    """Give the text that a JSON text is, None where it is none."""
    try:
        return msgspec.json.decode(text, type=str)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None


def _key_of(name: str | None, index: str | None, quoted: str | None) -> Key:
    if quoted is not None:
        return _decoded(quoted) or ""
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
    keys = keys_between(before, after)
    drops = (Drop((key,)) for key in keys if key not in after)
    return (*drops, *(Put((key,), after[key]) for key in keys if key in after))


def messages_put(changes: Iterable[Change], before: State, after: State) -> tuple[Path, ...]:
    """Give the paths of the messages that a checkpoint put into a state."""
    found: dict[Path, None] = {}
    for written in written_paths(changes, before):
        for path in (written, *((*written, *keys) for keys in _LISTS)):
            value = _value_or_none(after, path)
            if is_message(as_map(value)):
                found[path] = None
            elif as_list(value) and is_message(as_map(as_list(value)[-1])):
                # Of a list that is written as a whole, what is new stands at its end.
                found[*path, len(as_list(value)) - 1] = None
    return tuple(found)


def stands(state: State, other: State, path: Path) -> bool:
    """Tell whether the same value is at a path of two states."""
    value = _value_or_none(state, path)
    return value is not None and value == _value_or_none(other, path)


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


def _value_or_none(state: State, path: Path) -> Any:
    try:
        return value_at(state, path)
    except KeyError:
        return None


def told_edit(state: State, edit: Change) -> str:
    """Say in a line what an edit does to a state."""
    match edit:
        case Append(path=path, value=value):
            said = read_message(value)
            texts = " ".join(each.text for each in said.parts if isinstance(each, Said))
            who = f"{said.role}: {summary_line(texts)}" if texts else "an item"
            return f"added to {dotted(path)}: {who}"
        case Drop(path=path):
            return f"taken away: {dotted(path)}"
        case Put(path=path) if _is_new(state, path):
            known = ", ".join(map(str, as_map(_value_or_none(state, path[:-1]))))
            return f"new: {dotted(path)}; there were {known or 'no others'}"
        case _:
            return f"edited: {dotted(edit.path)}"


def _is_new(state: State, path: Path) -> bool:
    above = _value_or_none(state, path[:-1])
    return isinstance(above, dict) and str(path[-1]) not in above
