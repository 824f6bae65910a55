"""Paths: addresses in a state, written as JSON Pointers (RFC 6901).

A path is a tuple of keys and indexes; its text form is the pointer. The root is `()` and `""`.
"""

from __future__ import annotations

from typing import Any

from tt_debugger.core.json import as_list, as_map

Key = str | int
Path = tuple[Key, ...]

ROOT: Path = ()
LONGEST_INDEX = 18
"""Digits of the largest index; more of them are a key."""


def pointer(path: Path) -> str:
    """Give the JSON Pointer of a path: `("a/b", 3)` is `/a~1b/3`."""
    return "".join(f"/{_escaped(str(key))}" for key in path)


def parse_pointer(text: str) -> Path:
    """Give the path of a JSON Pointer; parts that are decimal numbers become indexes.

    Raises ValueError where the text does not begin with a slash.
    """
    if not text:
        return ROOT
    if not text.startswith("/"):
        message = f"a JSON Pointer begins with '/': {text!r}"
        raise ValueError(message)
    return tuple(_key(part) for part in text[1:].split("/"))


def value_at(state: Any, path: Path) -> Any:
    """Give the value at a path. Raises KeyError where the state has no such place."""
    value: Any = state
    for depth, key in enumerate(path):
        is_map = isinstance(value, dict)
        # A text has indexes too, but no places.
        container: Any = as_map(value) if is_map else as_list(value)
        try:
            value = container[str(key) if is_map else key]
        except (KeyError, IndexError, TypeError) as error:
            raise KeyError(pointer(path[: depth + 1])) from error
    return value


def dotted(path: Path) -> str:
    """Give a path as people read it: `messages[9].content`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _key(part: str) -> Key:
    is_number = part.isascii() and part.isdecimal() and len(part) <= LONGEST_INDEX
    if is_number and (part == "0" or part[0] != "0"):
        return int(part)
    return part.replace("~1", "/").replace("~0", "~")
