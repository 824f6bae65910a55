"""What the arguments of a tool call are about: a file, a command, an edit.

Agents call the same things by different names; these tables know them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none

PATHS = ("path", "file_path", "filePath", "filename", "file", "notebook_path")
"""Keys under which a call names the file it is about, the surest first."""
COMMANDS = ("command", "cmd")
CONTENTS = ("content", "file_text", "contents")
EDITS = (
    ("oldText", "newText"),
    ("old_string", "new_string"),
    ("old_str", "new_str"),
    ("oldString", "newString"),
)
"""Keys under which an edit has its old and its new text."""


class TextEdit(msgspec.Struct, frozen=True):
    """One replacement in a file; `rest` is what else is said of it."""

    old: str
    new: str
    rest: Mapping[str, Any]


def first_text(members: Mapping[str, Any], keys: Iterable[str]) -> str:
    """Give the first text under any of some keys, empty where there is none."""
    return next(filter(None, (text_or_none(members.get(key)) for key in keys)), "")


def first_key(members: Mapping[str, Any], keys: Iterable[str]) -> str | None:
    """Give the first of some keys that holds a text."""
    return next((key for key in keys if isinstance(members.get(key), str)), None)


def text_edits(arguments: Mapping[str, Any]) -> tuple[tuple[TextEdit, ...], dict[str, Any]]:
    """Give the edits that some arguments hold, and the other arguments."""
    rest = dict(arguments)
    listed = list(map(as_map, as_list(rest.get("edits"))))
    if listed and all(map(_edit_keys, listed)):
        del rest["edits"]
        return tuple(map(_text_edit, listed)), rest
    keys = _edit_keys(rest)
    if keys is None:
        return (), rest
    edit = TextEdit(rest.pop(keys[0]), rest.pop(keys[1]), {})
    return (edit,), rest


def _text_edit(members: Mapping[str, Any]) -> TextEdit:
    rest = dict(members)
    old, new = _edit_keys(rest) or ("", "")
    return TextEdit(rest.pop(old), rest.pop(new), rest)


def _edit_keys(members: Mapping[str, Any]) -> tuple[str, str] | None:
    for old, new in EDITS:
        if isinstance(members.get(old), str) and isinstance(members.get(new), str):
            return old, new
    return None
