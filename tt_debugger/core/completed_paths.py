"""Completed paths: the places of a state that what is being typed may become."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map
from tt_debugger.core.paths import Path, jmespath_of, parse_pointer, pointer, value_or_unset

MOST = 200
"""Members of one container that are looked through."""
ENDS = 20
"""Items at each end of a list that are offered: what lies between is for those who type it."""

_PART = re.compile(r'\.?([A-Za-z_][A-Za-z0-9_]*)|\.?("(?:[^"\\]|\\.)*")|\[(\d{1,9})\]')


def completed_paths(state: Any, typed: str) -> Iterator[tuple[str, Path]]:
    """Give the paths of a state that begin with what is typed, as text in the form that it has.

    That is a JSON Pointer behind a slash, else a path as JMESPath writes it. Of what names a
    container already, its members are given too.
    """
    is_pointer = typed.startswith("/")
    written = pointer if is_pointer else jmespath_of
    wanted = typed.casefold()
    for holder in _holders(typed, is_pointer=is_pointer):
        for path in _members(state, holder):
            text = written(path)
            if text.casefold().startswith(wanted):
                yield text, path


def _holders(typed: str, *, is_pointer: bool) -> Iterator[Path]:
    """Give the paths below which what is typed may lie, the nearer one first."""
    if is_pointer:
        above, _, name = typed.rpartition("/")
        yield parse_pointer(above)
        if name:
            yield parse_pointer(typed)
        return
    keys, end = _keys(typed)
    if end == len(typed):
        yield from dict.fromkeys((keys[:-1], keys))
    elif typed[end:] in (".", "[") or typed[end:].startswith(('."', "[")):
        yield keys


def _keys(typed: str) -> tuple[Path, int]:
    """Give the keys at the beginning of what is typed, and where what is none begins."""
    keys: list[str | int] = []
    end = 0
    while part := _PART.match(typed, end):
        name, quoted, index = part.groups()
        if index is not None:
            keys.append(int(index))
        elif name is not None and (typed[end] == ".") == bool(keys):
            keys.append(name)
        elif quoted is not None and (typed[end] == ".") == bool(keys):
            try:
                keys.append(msgspec.json.decode(quoted, type=str))
            except msgspec.DecodeError:
                break
        else:
            break
        end = part.end()
    return tuple(keys), end


def _members(state: Any, holder: Path) -> Iterator[Path]:
    container = value_or_unset(state, holder)
    if isinstance(container, dict):
        yield from ((*holder, key) for key in islice(as_map(container), MOST))
        return
    size = len(as_list(container))
    first = range(min(size, ENDS))
    last = range(max(size - ENDS, len(first)), size)
    # What was added last is what one mostly looks for.
    yield from ((*holder, index) for index in chain(reversed(last), reversed(first)))
