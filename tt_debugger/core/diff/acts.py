"""Acts: what a side of a comparison does along its path, one thing after the other.

What is known of an act is what tells two runs apart: who or what it came from, what it says
whatever its ids are, and which values it wrote. Settings, labels and what says nothing are none.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.diff.masks import bare, rule_for
from tt_debugger.core.diff.meaning import About, Aspect, aspects_of
from tt_debugger.core.diff.normal import MESSAGES
from tt_debugger.core.diff.side import Side
from tt_debugger.core.json import as_list, as_map, text_or_none
from tt_debugger.core.messages import (
    ROLES_OF_ASSISTANT,
    ROLES_OF_USER,
    Call,
    Part,
    Reading,
    Result,
    Section,
    Shell,
    Tool,
    is_message,
    messages_in,
    read_message,
)
from tt_debugger.core.model import Kind, Role
from tt_debugger.core.paths import Path
from tt_debugger.core.tree import NO_ROW


class From(StrEnum):
    """Where an act came from; of two that differ, the first of these is the cause."""

    EDIT = "edit"
    """Somebody wrote into the state."""
    UNKNOWN = "unknown"
    INTERRUPT = "interrupt"
    COMPACTION = "compaction"
    SUMMARY = "summary"
    ERROR = "error"
    SYSTEM = "system"
    USER = "user"
    TOOL = "tool"
    OTHER = "other"
    """A message that is of nobody of these, such as one of an extension."""
    MODEL = "model"
    STEP = "step"
    """A step that wrote values and said nothing."""


class Act(msgspec.Struct, frozen=True):
    """What a row does; `written` are the values that it wrote beside its messages, by path.

    `waits` tells that the run waited for a human after it, `error` what failed after it.
    """

    row: int
    source: From
    name: str
    parts: tuple[Part, ...]
    said: tuple[Aspect, ...]
    written: dict[Path, Any]
    waits: bool = False
    error: str = ""

    @property
    def text(self) -> str:
        """All that it says."""
        return "\n".join(each.text for each in self.said)

    def says_as(self, other: Act) -> bool:
        """Tell whether another act came from the same and says the same."""
        return (self.source, self.said) == (other.source, other.said)


def acts(side: Side, rows: Sequence[int]) -> Iterator[Act]:
    """Give what a side does along some rows of which each is the parent of the next."""
    for row, changes in zip(rows, side.changes_along(rows), strict=True):
        found = _act(side, row, changes)
        if found is not None:
            yield found


def aborts(reading: Reading) -> bool:
    """Tell whether a message says that a human stopped what was going on."""
    return "aborted" in reading.facts or any(
        isinstance(part, Shell) and part.failure == "cancelled" for part in reading.parts
    )


_STEPS = frozenset((Kind.SUPER_STEP, Kind.INTERRUPT))
_EDITS = frozenset(("update", "fork"))
"""What LangGraph calls the source of a checkpoint that nothing ran for."""
_STOPPED = frozenset(("stopped", "aborted"))
"""Names of rows that tell the model that it was stopped."""
_STAGE = frozenset((Kind.LABEL, Kind.SETTING, Kind.MODEL_CHANGE, Kind.GAP))
_SOURCES = {
    Kind.COMPACTION: From.COMPACTION,
    Kind.BRANCH_SUMMARY: From.SUMMARY,
    Kind.HANDOFF: From.SUMMARY,
    Kind.UNREADABLE: From.UNKNOWN,
}
_ASIDE = frozenset((MESSAGES, "title", "cwd", "usage"))
_OF_STEPS = frozenset(("tasks", "next", "metadata"))
"""What LangGraph keeps of a run beside the values of its user."""


def _act(side: Side, row: int, changes: Sequence[Change]) -> Act | None:
    head = side.session.heads[row]
    readings = [read_message(each) for change in changes for each in _messages(change)]
    parts = tuple(part for reading in readings for part in reading.parts)
    is_step = head.kind in _STEPS and bool(changes)
    written = dict(_written(changes, aside=_ASIDE | _OF_STEPS if is_step else _ASIDE))
    source = _source(side, row, readings, is_changing=bool(changes))
    if source is None:
        is_silent = head.kind in _STAGE or not (written or (is_step and head.failed))
        if is_silent and not (is_step and head.kind is Kind.INTERRUPT):
            return None
        source = From.STEP
    return Act(
        row,
        source,
        head.name,
        parts,
        tuple(_nameless(aspect) for part in parts for aspect in aspects_of(part)),
        written,
        waits=is_step and head.kind is Kind.INTERRUPT,
        error=head.summary if is_step and head.failed else "",
    )


def _source(
    side: Side, row: int, readings: Sequence[Reading], *, is_changing: bool
) -> From | None:
    """Give where an act came from, None for what nobody said."""
    head = side.session.heads[row]
    if head.kind in _SOURCES:
        is_done = is_changing or head.kind is Kind.UNREADABLE
        return _SOURCES[head.kind] if is_done else None
    if head.kind in _STEPS and is_changing:
        if head.name in _EDITS and _is_edit(side, row):
            # Of a thread that begins as a fork it is not known what of it was edited.
            is_root = side.session.parents[row] == NO_ROW
            return From.UNKNOWN if is_root else From.EDIT
    elif head.kind is Kind.INTERRUPT or any(map(aborts, readings)):
        return From.INTERRUPT
    elif head.role is Role.SYSTEM:
        return From.INTERRUPT if head.name in _STOPPED else From.SYSTEM
    if not readings:
        return From.ERROR if head.failed and head.kind is Kind.CUSTOM else None
    return _speaker(readings[0])


def _is_edit(side: Side, row: int) -> bool:
    metadata = as_map(as_map(side.state_at(row)).get("metadata"))
    return text_or_none(metadata.get("source")) in _EDITS


def _speaker(reading: Reading) -> From:
    if any(isinstance(part, Result) for part in reading.parts):
        return From.TOOL
    if reading.role in ROLES_OF_ASSISTANT or any(isinstance(part, Call) for part in reading.parts):
        return From.ERROR if reading.failed else From.MODEL
    if reading.role in ROLES_OF_USER or any(isinstance(part, Shell) for part in reading.parts):
        return From.USER
    is_system = any(isinstance(part, (Section, Tool)) for part in reading.parts)
    return From.SYSTEM if is_system or reading.role in _SYSTEM else From.OTHER


_SYSTEM = frozenset(("system", "developer"))


def _nameless(aspect: Aspect) -> Aspect:
    """Give an aspect as all wire shapes have it: not all say which tool a result is of."""
    if aspect.about is About.RESULT and aspect.name:
        return msgspec.structs.replace(aspect, name="")
    return aspect


def _messages(change: Change) -> list[dict[str, Any]]:
    """Give the messages that a change put into the state, those of a list that is new too."""
    found = messages_in((change,))
    match change:
        case Put(path=(name,), value=value) if name == MESSAGES and not found:
            return [each for each in map(as_map, as_list(value)) if is_message(each)]
        case Snapshot(value=value) if not found:
            held = as_list(as_map(value).get(MESSAGES))
            return [each for each in map(as_map, held) if is_message(each)]
        case _:
            return found


def _written(changes: Sequence[Change], aside: frozenset[str]) -> Iterator[tuple[Path, Any]]:
    """Give what some changes wrote beside messages; what was taken away is UNSET."""
    for change in changes:
        if any(key in aside or rule_for(key) for key in change.path):
            continue
        match change:
            case Snapshot(value=value):
                for key, each in as_map(value).items():
                    yield from () if key in aside else _values((key,), each)
            case Put(path=path, value=value):
                yield from _values(path, value)
            case Append(path=path, value=value):
                yield from () if messages_in((change,)) else _values(path, value)
            case Splice(path=path, values=values):
                yield from () if messages_in((change,)) else _values(path, list(values))
            case Drop(path=path):
                yield path, msgspec.UNSET


def _values(path: Path, value: Any) -> Iterator[tuple[Path, Any]]:
    """Give a value that was written, of one that holds messages all else that is in it."""
    if is_message(as_map(value)):
        return
    if not messages_in((Put(path, value),)):
        yield path, bare(value)
        return
    for key, each in as_map(value).items():
        yield from _values((*path, key), each)
