"""The context of a conversation: a list of items that says which entries give messages."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, Put, Splice
from tt_debugger.core.findings import Code, Finding
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.placed import finding_at

MESSAGES = ("messages",)


class Item(msgspec.Struct, frozen=True, gc=False):
    """One entry in the context: its row, how many messages it gives, and how they were edited."""

    row: int
    count: int = 1
    edit: Any = msgspec.UNSET


# Not gc=False: only tracked structs are freed without recursing, and a spine can be 50,000 long.
class Spine(msgspec.Struct, frozen=True):
    """A list of items that shares its beginning: adding one leaves the old list as it was."""

    before: Spine | None
    item: Any
    length: int

    @staticmethod
    def added(spine: Spine | None, item: Any) -> Spine:
        """Give the spine with one more item at its end."""
        return Spine(spine, item, 1 if spine is None else spine.length + 1)

    @staticmethod
    def of(items: Iterable[Any]) -> Spine | None:
        """Give the spine of these items."""
        spine: Spine | None = None
        for item in items:
            spine = Spine.added(spine, item)
        return spine

    @staticmethod
    def backwards(spine: Spine | None) -> Iterator[Any]:
        """Go over the items, last one first."""
        while spine is not None:
            yield spine.item
            spine = spine.before

    @staticmethod
    def items(spine: Spine | None) -> list[Any]:
        """Give all items in order."""
        items = list(Spine.backwards(spine))
        items.reverse()
        return items


def splice_between(
    old: Sequence[Item], new: Sequence[Item], messages_of: Callable[[Item], Sequence[Any]]
) -> Splice:
    """Give the smallest splice of the messages that leads from one context to another."""
    shorter = min(len(old), len(new))
    start = 0
    while start < shorter and old[start] == new[start]:
        start += 1
    end = 0
    while end < shorter - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return Splice(
        MESSAGES,
        sum(item.count for item in old[:start]),
        sum(item.count for item in old[start : len(old) - end]),
        tuple(each for item in new[start : len(new) - end] for each in messages_of(item)),
    )


def used(total: Usage | None, usage: Usage | None) -> tuple[Usage | None, tuple[Change, ...]]:
    """Give what a path has used with one more entry, and the change that says so, if any."""
    if usage is None:
        return total, ()
    total = usage if total is None else total + usage
    return total, (Put(("usage",), msgspec.structs.asdict(total)),)


def kept_row(session: Session, row: int, first: object) -> int | None:
    """Give the row from which a compaction keeps, if it is before it on the path."""
    kept = session.row_of(first) if isinstance(first, str) else None
    return _if_before(session, row, kept)


def _if_before(session: Session, row: int, kept: int | None) -> int | None:
    is_before = kept is not None and kept != row and session.tree.is_ancestor(kept, row)
    return kept if is_before else None


def kept_entries_missing(
    session: Session, compactions: Iterable[tuple[int, object]], agent: str
) -> list[Finding]:
    """Say which compactions keep nothing though they name an entry to keep from.

    Of each, its row and the id it names; one that names none or itself keeps nothing on purpose.
    """
    named = list(compactions)
    rows = session.rows_of({first for _, first in named if isinstance(first, str)})
    return [
        finding_at(
            session,
            row,
            Code.KEPT_ENTRY_MISSING,
            f"the compaction keeps from {first!r:.60}, which is not before it on the path",
            f"{agent} keeps nothing but the summary",
        )
        for row, first in named
        if first not in (None, session.ids[row])
        and _if_before(session, row, rows.get(first) if isinstance(first, str) else None) is None
    ]
