"""A comparison as it is read: what differs in the settings, then the messages side by side.

Rows are what screens and exports draw: each message or value that differs is one, and so is each
stretch of messages that are equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.diff.edits import Difference, Edit, InList, InObject, Op, edits
from tt_debugger.core.diff.meaning import ComparedAspect, compared_aspects
from tt_debugger.core.diff.states import diff
from tt_debugger.core.json import as_map

MESSAGES = "messages"


class Sign(StrEnum):
    """How an item stands on the two sides."""

    EQUAL = "="
    CHANGED = "~"
    ADDED = "+"
    REMOVED = "-"
    MOVED = ">"


SIGNS: Mapping[Op, Sign] = {
    Op.ADD: Sign.ADDED,
    Op.REMOVE: Sign.REMOVED,
    Op.CHANGE: Sign.CHANGED,
    Op.MOVE: Sign.MOVED,
}
WORDS: Mapping[Sign, str] = {
    Sign.EQUAL: "equal",
    Sign.CHANGED: "changed",
    Sign.ADDED: "added",
    Sign.REMOVED: "removed",
    Sign.MOVED: "moved",
}


class EqualRun(msgspec.Struct, frozen=True):
    """So many messages in a row that are equal on both sides, from these places on."""

    old_begin: int
    new_begin: int
    count: int


class ComparedMessage(msgspec.Struct, frozen=True, dict=True):
    """A message that was added, removed, moved or changed, with its place on each side.

    A moved one has a row where it stands now, and a row where it stood, in which `new` is UNSET;
    its `difference` says what changed in it besides, None where nothing did.
    """

    sign: Sign
    old_place: int | None
    new_place: int | None
    old: Any = msgspec.UNSET
    new: Any = msgspec.UNSET
    difference: Difference | None = None

    @cached_property
    def aspects(self) -> tuple[ComparedAspect, ...]:
        """What the message says and does on both sides, aspect by aspect."""
        return compared_aspects(
            {} if self.old is msgspec.UNSET else self.old,
            {} if self.new is msgspec.UNSET else self.new,
        )


class Counts(msgspec.Struct, frozen=True):
    """How many edits there are, by what they do."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    moved: int = 0

    @property
    def total(self) -> int:
        """All of them."""
        return self.added + self.removed + self.changed + self.moved

    def told(self) -> tuple[tuple[Sign, int], ...]:
        """Give how many there are of each sort that there is."""
        every = (
            (Sign.CHANGED, self.changed),
            (Sign.ADDED, self.added),
            (Sign.REMOVED, self.removed),
            (Sign.MOVED, self.moved),
        )
        return tuple(each for each in every if each[1])


class Comparison(msgspec.Struct, frozen=True):
    """Two states compared.

    `settings` are the edits of all but the messages; `messages` are the rows of the messages,
    empty where neither state has any; `counts` counts settings by edit and messages by message.
    """

    old: State
    new: State
    difference: Difference | None
    masked: Mapping[str, int]
    settings: tuple[Edit, ...]
    messages: tuple[ComparedMessage | EqualRun, ...]
    counts: Counts

    @property
    def equal(self) -> bool:
        """Whether nothing differs but what is masked."""
        return self.difference is None

    def edits(self) -> Iterator[Edit]:
        """Give the edits, as they stand in the states."""
        return edits(self.difference, self.old)


def compare(old: State, new: State, *, mask: bool = True) -> Comparison:
    """Compare two states."""
    found = diff(old, new, mask=mask)
    before, after = _messages(old), _messages(new)
    of_messages, of_rest = _split(found.difference)
    settings = tuple(edits(of_rest, old))
    rows: tuple[ComparedMessage | EqualRun, ...] = ()
    if of_messages is not None or (found.equal and before and after):
        rows = tuple(_rows(of_messages, before or [], after or []))
    signs = [row.sign for row in rows if isinstance(row, ComparedMessage)]
    ops = [edit.op for edit in settings]
    counts = Counts(
        ops.count(Op.ADD) + signs.count(Sign.ADDED),
        ops.count(Op.REMOVE) + signs.count(Sign.REMOVED),
        ops.count(Op.CHANGE) + signs.count(Sign.CHANGED),
        # A moved message has two rows.
        ops.count(Op.MOVE) + signs.count(Sign.MOVED) // 2,
    )
    return Comparison(old, new, found.difference, found.masked, settings, rows, counts)


def _messages(state: State) -> list[Any] | None:
    """Give the messages of a state, None where it has something else or nothing there."""
    messages = as_map(state).get(MESSAGES)
    return cast("list[Any]", messages) if isinstance(messages, list) else None


def _split(difference: Difference | None) -> tuple[InList | None, Difference | None]:
    """Give what differs in the list of messages, and what differs in all the rest."""
    if not isinstance(difference, InObject):
        return None, difference
    removed, added = dict(difference.removed), dict(difference.added)
    inside = dict(difference.inside)
    of_messages = inside.get(MESSAGES)
    if isinstance(of_messages, InList):
        del inside[MESSAGES]
        return of_messages, InObject(removed, added, inside)
    for values, is_removal in ((removed, True), (added, False)):
        messages = values.get(MESSAGES)
        if messages and isinstance(messages, list):
            del values[MESSAGES]
            items = tuple(enumerate(cast("list[Any]", messages)))
            of_messages = InList(items, (), (), ()) if is_removal else InList((), items, (), ())
            return of_messages, InObject(removed, added, inside)
    return None, difference


def _rows(
    difference: InList | None, old: list[Any], new: list[Any]
) -> Iterator[ComparedMessage | EqualRun]:
    """Give the messages of both sides in order; what is gone stands before what came."""
    rows_old, rows_new = _rows_by_place(difference or InList((), (), (), ()), old, new)
    one = other = 0
    while one < len(old) or other < len(new):
        gone, came = rows_old.get(one), rows_new.get(other)
        if gone is not None and gone.sign is not Sign.CHANGED:
            yield gone
            one += 1
        elif came is not None:
            yield came
            other += 1
            one += came.sign is Sign.CHANGED
        else:
            begin = one
            while one < len(old) and one not in rows_old and other + one - begin not in rows_new:
                one += 1
            yield EqualRun(begin, other, one - begin)
            other += one - begin


def _rows_by_place(
    difference: InList, old: list[Any], new: list[Any]
) -> tuple[dict[int, ComparedMessage], dict[int, ComparedMessage]]:
    """Give the row of each message that differs, by its old place and by its new one."""
    inside = {one: below for one, _, below in difference.inside}
    gone = {
        one: ComparedMessage(Sign.REMOVED, one, None, old=value)
        for one, value in difference.removed
    }
    came = {
        other: ComparedMessage(Sign.ADDED, None, other, new=value)
        for other, value in difference.added
    }
    for one, other, below in difference.inside:
        row = ComparedMessage(Sign.CHANGED, one, other, old[one], new[other], below)
        gone[one] = came[other] = row
    for one, other in difference.moved:
        below = inside.get(one)
        gone[one] = ComparedMessage(Sign.MOVED, one, other, old=old[one], difference=below)
        came[other] = ComparedMessage(Sign.MOVED, one, other, old[one], new[other], below)
    return gone, came
