"""Inner JSON: values that stand in a text as JSON, and how they are written back into it."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

import msgspec

_INDENT = re.compile(r"[\[{]\r?\n( +)")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Inner(NamedTuple):
    """A value that was read from a text."""

    value: Any
    is_strict: bool
    """Whether it is JSON by the letter: no lone surrogates, no NaN, no number without end."""


def is_json(text: str) -> bool:
    """Tell whether a text is bracketed as JSON is."""
    begin, end = text[:1], text[-1:]
    if begin.isspace() or end.isspace():
        whole = text.strip()
        begin, end = whole[:1], whole[-1:]
    return (begin, end) in {("{", "}"), ("[", "]"), ('"', '"')}


def read(text: str) -> Inner | None:
    """Give the value that a text is, None where it is no JSON or nested without end."""
    try:
        return Inner(msgspec.json.decode(text), is_strict=True)
    except (msgspec.DecodeError, UnicodeEncodeError):
        pass
    except RecursionError:
        return None
    try:
        return Inner(json.loads(text, parse_int=_number, strict=False), is_strict=False)
    except (ValueError, RecursionError):
        return None


def written(value: Any, like: str, *, is_strict: bool) -> str:
    """Give a value as JSON, with the blanks of the text that it was read from.

    Raises RecursionError where it is nested deeper than can be written.
    """
    found = _INDENT.match(like.lstrip())
    indent = len(found[1]) if found else 0 if '": ' in like else None
    if is_strict:
        encoded = msgspec.json.encode(value)
        return (
            encoded if indent is None else msgspec.json.format(encoded, indent=indent)
        ).decode()
    blanks = (",", ":") if indent is None else None
    text = json.dumps(value, ensure_ascii=False, indent=indent or None, separators=blanks)
    return _SURROGATE.sub(lambda each: f"\\u{ord(each[0]):04x}", text)


def _number(digits: str) -> int | str:
    """Give a number; one of more digits than Python reads stays a text."""
    try:
        return int(digits)
    except ValueError:
        return digits
