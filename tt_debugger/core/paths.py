"""Paths: addresses in a state, written as JSON Pointers (RFC 6901).

A path is a tuple of keys and indexes; its text form is the pointer. The root is `()` and `""`.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map

Key = str | int
Path = tuple[Key, ...]

ROOT: Path = ()
LONGEST_INDEX = 18
"""Digits of the largest index; more of them are a key."""
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_FOREIGN_KEY = re.compile(
    r"""\[\s*(?P<index>-?\d{1,18})\s*\]"""
    r"""|\[\s*(?P<sign>['"])(?P<quoted>.+?)(?P=sign)\s*\]"""
    r"""|(?:^|[./])"(?P<named>[^"]+)"|(?:^|[./])(?P<plain>[^\s./\[\]'"`(){}|&=<>!?*@,:]+)""",
    re.ASCII,
)
"""A step of a path as other languages write it: `[1]`, `['a']`, `."a"`, `.a`, `/a`, `.1`."""
_FOREIGN_START = re.compile(r"\$(?=[./\[]|\Z)")
"""What stands for the root in them."""
_FOREIGN_POINTER = re.compile(r"#?[^\s\[\]\"'`(){}|&=<>!?*@,:]+")


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


def value_or_unset(state: Any, path: Path) -> Any:
    """Give the value at a path, UNSET where the state has no such place."""
    try:
        return value_at(state, path)
    except KeyError:
        return msgspec.UNSET


def dotted(path: Path) -> str:
    """Give a path as people read it: `messages[9].content`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            text += f".{key}" if text else key
    return text


def jmespath_of(path: Path) -> str:
    """Give a path as JMESPath writes it: `files."src/io.py".lines[0]`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            name = key if _PLAIN_NAME.match(key) else json.dumps(key, ensure_ascii=False)
            text += f".{name}" if text else name
    return text


def foreign_path(text: str) -> Path | None:
    """Give the path that a text names in another language, such as `$.plan[1]` and `plan/1`.

    None where it is none. An index may count from the end there.
    """
    begin = _FOREIGN_START.match(text)
    place = 0 if begin is None else begin.end()
    if "/" in text and _FOREIGN_POINTER.fullmatch(text, place):
        return parse_pointer("/" + text[place:].removeprefix("#").lstrip("/"))
    path: list[Key] = []
    while place < len(text):
        # The first key needs nothing before it.
        found = _FOREIGN_KEY.match(text[place:]) if not path else _FOREIGN_KEY.match(text, place)
        if found is None or not found.group():
            return None
        place += found.end() - found.start()
        if found["index"] is not None:
            path.append(int(found["index"]))
        else:
            path.append(found["quoted"] or found["named"] or _key(found["plain"]))
    return tuple(path)


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")


def _key(part: str) -> Key:
    is_number = part.isascii() and part.isdecimal() and len(part) <= LONGEST_INDEX
    if is_number and (part == "0" or part[0] != "0"):
        return int(part)
    return part.replace("~1", "/").replace("~0", "~")
