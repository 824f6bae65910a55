"""Checkpoints of CrewAI: states of a run, of which each names its parent and its branch."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import msgspec

from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.model import Head, Kind
from tt_debugger.core.text import summary_line
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.transcript import Entry, Piece, with_entries

MAIN = "main"


class Named(msgspec.Struct, frozen=True):
    """What the row or the name of a file says of a checkpoint, beside its body."""

    id: str
    parent: str | None
    branch: str
    time: float | None
    file: str = ""


def checkpoint(named: Named, state: dict[str, Any], body: dict[str, Any]) -> Entry:
    """Give the entry of a checkpoint; `body` is the record that holds its state."""
    entities = [as_map(each) for each in as_list(state.get("entities"))]
    kinds = [text_or_none(each.get("entity_type")) or "entity" for each in entities]
    record = as_map(state.get("event_record"))
    count = len(as_map(record.get("nodes")))
    parts = [", ".join(kinds)] if kinds else []
    parts += [f"{count} event{'' if count == 1 else 's'}"] if count else []
    parts += [text_or_none(state.get("trigger")) or ""]
    parts += [f"branch {named.branch}"] if named.branch != MAIN else []
    return Entry(
        head=Head(Kind.SNAPSHOT, None, "state", summary_line(" · ".join(filter(None, parts)))),
        body=body,
        own_id=named.id,
        parent=named.parent,
        time=named.time or time_in(state),
    )


def time_of(name: str) -> float | None:
    """Give the seconds since 1970 with which an id begins, as `20260131T083000_1a2b3c4d`."""
    text, _, _ = name.partition("_")
    if len(text) != len("20260131T083000") or not (text[:8] + text[9:]).isdecimal():
        return None
    day, hour = text[:8], text[9:]
    iso = f"{day[:4]}-{day[4:6]}-{day[6:]}T{hour[:2]}:{hour[2:4]}:{hour[4:]}+00:00"
    return time_in({"time": iso})


def parents_first(found: Sequence[Named]) -> list[Named]:
    """Give checkpoints in their order, but each behind its parent, made in the same second."""
    ids = {each.id for each in found}
    waiting: dict[str | None, list[Named]] = {}
    ordered: list[Named] = []
    placed: set[str] = set()
    for each in found:
        if each.parent in ids and each.parent not in placed:
            waiting.setdefault(each.parent, []).append(each)
            continue
        ready = deque([each])
        while ready:
            now = ready.popleft()
            ordered.append(now)
            placed.add(now.id)
            ready += waiting.pop(now.id, ())
    # What hangs on itself comes last.
    return [*ordered, *chain.from_iterable(waiting.values())]


def labelled(pieces: Sequence[Piece], found: Iterable[Named]) -> list[Piece]:
    """Give pieces in which the newest checkpoint of each branch is called by it.

    Where all is one branch, none needs a name.
    """
    branches = {each.id: each.branch for each in found}
    if len(set(branches.values())) < 2:  # noqa: PLR2004 - one has nothing to be told from
        return list(pieces)
    entries = [each for each in pieces if isinstance(each, Entry)]
    newest = {branches[str(each.own_id)]: each.own_id for each in entries}
    return with_entries(pieces, _with_labels(entries, {own: name for name, own in newest.items()}))


def _with_labels(entries: Iterable[Entry], names: Mapping[object, str]) -> Iterable[Entry]:
    for each in entries:
        label = names.get(each.own_id)
        yield each if label is None else msgspec.structs.replace(each, label=label)
