"""The context of a conversation as a list of items: which entries give messages, and how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from tt_debugger.core.changes import Splice

MESSAGES = ("messages",)


class Item(msgspec.Struct, frozen=True, gc=False):
    """One entry in the context: its row, how many messages it gives, and how they were edited."""

    row: int
    count: int = 1
    edit: Any = msgspec.UNSET


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
