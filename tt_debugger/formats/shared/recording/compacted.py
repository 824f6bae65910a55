"""Messages without their compactions: where a place among the messages is when none was made."""

from __future__ import annotations

import msgspec

from tt_debugger.core.changes import Change, Drop, Put, Snapshot, Splice
from tt_debugger.core.recording.entries import MESSAGES


class Summary(msgspec.Struct, frozen=True, gc=False):
    """A message that is a summary: its place, and how many messages stand there instead."""

    index: int
    width: int


Summaries = tuple[Summary, ...]
"""All summaries among the messages of a state, in their order."""


def with_summary(summaries: Summaries, index: int, count: int) -> Summaries:
    """Give the summaries after `count` messages from an index on gave way to one."""
    width = _moved(summaries, index + count) - _moved(summaries, index)
    before, after = _around(summaries, index, count, 1)
    return (*before, Summary(index, width), *after)


def uncompacted(summaries: Summaries, change: Change) -> tuple[Change | None, Summaries]:
    """Give a change as it is to a state without compactions, and the summaries after it.

    None for a change within a summary. Where messages are taken away that are summaries, so are
    those that they stand for.
    """
    match change:
        case Snapshot():
            return change, ()
        case Put(path=(key,)) | Drop(path=(key,)) if key == MESSAGES:
            return change, ()
        case Splice(path=(key,), index=index, count=count, values=values) if key == MESSAGES:
            return _spliced(summaries, index, count, len(values), change)
        case Drop(path=(key, int(index))) if key == MESSAGES:
            return _spliced(summaries, index, 1, 0, Splice((MESSAGES,), index, 1, ()))
        case _:
            return _within(summaries, change), summaries


def _spliced(
    summaries: Summaries, index: int, count: int, added: int, splice: Splice
) -> tuple[Change, Summaries]:
    begin, end = _moved(summaries, index), _moved(summaries, index + count)
    before, after = _around(summaries, index, count, added)
    moved = msgspec.structs.replace(splice, index=begin, count=end - begin)
    return moved, (*before, *after)


def _within(summaries: Summaries, change: Change) -> Change | None:
    """Give a change that leaves the messages where they are, None for one within a summary."""
    match change.path:
        case (key, int(index), *inner) if key == MESSAGES:
            if any(each.index == index for each in summaries):
                return None
            path = (key, _moved(summaries, index), *inner)
            return msgspec.structs.replace(change, path=path)
        case _:
            return change


def _moved(summaries: Summaries, index: int) -> int:
    """Give where the messages from an index on begin when no summary stands before them."""
    return index + sum(each.width - 1 for each in summaries if each.index < index)


def _around(
    summaries: Summaries, index: int, count: int, added: int
) -> tuple[Summaries, Summaries]:
    """Give the summaries before a stretch, and those behind it moved to where they are then."""
    before = tuple(each for each in summaries if each.index < index)
    after = tuple(
        Summary(each.index + added - count, each.width)
        for each in summaries
        if each.index >= index + count
    )
    return before, after
