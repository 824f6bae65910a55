"""Lineage: what the header of a rollout says of the threads before it, and of itself.

A fork or a subagent may begin with a copy of another thread's history, written as it is born.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import msgspec

from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.formats.codex.records import Entry, birth_of, thread_of_file

_REQUIRED = ("id", "timestamp", "cwd", "originator", "cli_version")
"""What Codex must find in a header to resume; it accepts one that has no more."""
_LEFT_OUT = frozenset(("base_instructions", "instructions", "dynamic_tools"))
"""What a header may hold of which the index needs nothing."""


def header_of(payload: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the index needs of a header."""
    kept = {key: value for key, value in payload.items() if key not in _LEFT_OUT}
    # What is taken out of the cache later must be what was put in.
    return as_map(msgspec.json.decode(msgspec.json.encode(kept)))


def refusals(header: Mapping[str, Any], location: str) -> Iterator[str]:
    """Say why Codex does not resume a rollout with this header, at this place."""
    missing = [key for key in _REQUIRED if not isinstance(header.get(key), str)]
    if missing:
        yield f"Codex does not resume a rollout whose metadata has no {', '.join(missing)}"
    named = thread_of_file(PurePath(location).name)
    own = text_or_none(header.get("id"))
    if named and own and named.lower() != own.lower():
        yield f"Codex does not resume it: its file is named for {named}, the thread is {own:.60}"


def parent_of(header: Mapping[str, Any]) -> str | None:
    """Give the thread that started this one as its subagent."""
    spawn = as_map(as_map(as_map(header.get("source")).get("subagent")).get("thread_spawn"))
    named = text_or_none(header.get("parent_thread_id"))
    return named or text_or_none(spawn.get("parent_thread_id"))


def source_of(header: Mapping[str, Any]) -> str | None:
    """Give the thread whose history a rollout may begin with a copy of."""
    return text_or_none(header.get("forked_from_id")) or parent_of(header)


def is_own(header: Mapping[str, Any], record: Mapping[str, Any], entry: Entry) -> bool:
    """Tell whether with a record the history of the thread itself begins.

    The times of copied records are those of the copy, but their turns are older than the thread.
    """
    start, ordinal = header.get("subagent_history_start_ordinal"), record.get("ordinal")
    if isinstance(start, int) and isinstance(ordinal, int):
        return ordinal >= start
    born, begun = birth_of(header.get("id")), birth_of(entry.payload.get("turn_id"))
    return born is not None and begun is not None and begun >= born
