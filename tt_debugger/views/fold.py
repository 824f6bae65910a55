"""A fold in words: what it holds, how it went and ended, and why it was left."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

from rich.text import Text

from tt_debugger.core.folds import Fold
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.messages import messages_in
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.text import counted, safe_line
from tt_debugger.core.tree import NO_ROW
from tt_debugger.views.checkpoint import time_text
from tt_debugger.views.fact import fact_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import duration_text

FAILURES_LISTED = 10
LEAVES_LISTED = 5
_ASIDE = frozenset((Kind.LABEL, Kind.SETTING, Kind.CUSTOM))
"""What an agent may still write between leaving a branch and summing it up."""


def fold_lines(
    session: Session,
    fold: Fold,
    rows: Sequence[int],
    palette: Palette,
    glyphs: Glyphs,
    reason: Inspection | None = None,
) -> Iterator[Text]:
    """Give what a fold stands for as lines; `rows` are those that it hides.

    `reason` is the checkpoint at `reason_row`; until it is read its summary stands for it.
    """
    first, last = min(rows), max(rows)
    span = f"row {first + 1}" if first == last else f"rows {first + 1}-{last + 1}"
    if last - first + 1 != len(rows):
        span = f"among {span}"
    what = "a branch that was left" if fold.is_branch else "steps without an event"
    yield Text.assemble(
        (counted(len(rows), "checkpoint"), palette.strong),
        (f", {span}, folded: {what}", palette.dim),
    )
    head = _named(session, fold.head, palette, glyphs)
    yield fact_line("after", head, palette)
    yield from _time_lines(session, (first, last), palette)
    if fold.leaves > 1:
        yield fact_line("branches", f"{fold.leaves:,} inside", palette)
    if fold.is_branch:
        yield from _end_lines(session, rows, palette, glyphs)
    yield from _failure_lines(session, fold, rows, palette, glyphs)
    yield from _reason_lines(session, fold, last, palette, glyphs, reason)


def reason_row(session: Session, head: int, last: int) -> int | None:
    """Give the row of the branch summary that tells of a branch, None where there is none.

    `head` is the first row of the branch, `last` its last one. An agent that sums up a branch
    does so when it leaves it, above where the branch began; else a summary beside its head may
    tell of it.
    """
    tree, kind = session.tree, session.heads.kind
    after = next((row for row in range(last + 1, len(session)) if kind(row) not in _ASIDE), None)
    parent = session.parents[head]
    if after is not None and kind(after) is Kind.BRANCH_SUMMARY:
        above = session.parents[after]
        if above == NO_ROW or (parent != NO_ROW and tree.is_ancestor(above, parent)):
            return after
    beside = tree.children(parent)
    return next((row for row in beside if row > last and kind(row) is Kind.BRANCH_SUMMARY), None)


def _named(session: Session, row: int, palette: Palette, glyphs: Glyphs) -> Text:
    """Give a row by its number, name and what it says."""
    head = session.heads[row]
    line = Text.assemble((f"{row + 1} ", palette.strong), (safe_line(head.name), palette.dim))
    if head.failed:
        line.append(f" {glyphs.bad} failed", palette.bad)
    if head.summary:
        line.append(f"  {safe_line(head.summary)}", palette.text)
    return line


def _time_lines(session: Session, rows: tuple[int, int], palette: Palette) -> Iterator[Text]:
    begin, end = map(session.heads.time, rows)
    if begin is not None:
        yield fact_line("began", time_text(begin), palette)
    if end is not None:
        took = "" if begin is None or end < begin else f", after {duration_text(end - begin)}"
        yield fact_line("ended", time_text(end) + took, palette)


def _end_lines(
    session: Session, rows: Sequence[int], palette: Palette, glyphs: Glyphs
) -> Iterator[Text]:
    """Give the leaves, newest first; where a filter hides them all, the last row."""
    leaves = [row for row in rows if not session.tree.child_count(row)] or [max(rows)]
    leaves.sort(reverse=True)
    for place, row in enumerate(leaves[:LEAVES_LISTED]):
        name = "" if place else "ends with"
        yield fact_line(name, _named(session, row, palette, glyphs), palette)
        said = _said_last(session, row)
        if said is not None:
            yield fact_line("", _named(session, said, palette, glyphs), palette)
    more = len(leaves) - LEAVES_LISTED
    if more > 0:
        more_leaves = f"{glyphs.ellipsis} {counted(more, 'more leaf', 'more leaves')}"
        yield fact_line("", more_leaves, palette)


def _said_last(session: Session, row: int) -> int | None:
    """Give what stands before a leaf that says nothing itself: a label, a setting."""
    if session.heads.kind(row) not in _ASIDE:
        return None
    above = islice(session.tree.ancestors(row), 1, 64)
    return next((each for each in above if session.heads.kind(each) not in _ASIDE), None)


def _reason_lines(
    session: Session,
    fold: Fold,
    last: int,
    palette: Palette,
    glyphs: Glyphs,
    reason: Inspection | None,
) -> Iterator[Text]:
    if not fold.is_branch:
        return
    row = reason_row(session, fold.head, last)
    yield Text()
    if row is None:
        yield Text("no summary tells why it was left", palette.dim)
        return
    yield Text.assemble(
        ("why it was left", palette.heading), (f"  as row {row + 1} sums it up", palette.dim)
    )
    if reason is None or reason.row != row:
        yield Text(safe_line(session.heads[row].summary), palette.text)
        return
    # The first rows of a session need not wait for it.
    from tt_debugger.views.message import message_lines

    for message in messages_in(reason.changes):
        yield from message_lines(message, palette, glyphs, is_drawn=True)


def _failure_lines(
    session: Session, fold: Fold, rows: Sequence[int], palette: Palette, glyphs: Glyphs
) -> Iterator[Text]:
    if not fold.failed:
        return
    yield Text()
    yield Text(f"{glyphs.bad} {counted(fold.failed, 'error')}", palette.bad)
    failed = (row for row in rows if session.heads.failed(row))
    for row in islice(failed, FAILURES_LISTED):
        yield Text.assemble("  ", _named(session, row, palette, glyphs))
    more = fold.failed - FAILURES_LISTED
    if more > 0:
        yield Text(f"  {glyphs.ellipsis} {counted(more, 'more error')}", palette.dim)
