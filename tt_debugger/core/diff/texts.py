"""The difference of two texts: by line, then by word inside the lines that changed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from typing import Any, Literal

import msgspec

from tt_debugger.core.diff.align import Likeness, matched_by_likeness, matched_in_order
from tt_debugger.core.diff.likeness import common_words
from tt_debugger.core.text import common_start

CONTEXT = 3
"""Equal lines that a hunk keeps on each side of what changed."""
LONGEST_LINE = 4000
"""Characters of a line beyond which it is not looked into for words."""

_OF_LINES = Likeness(lambda line: bool(line.strip()), common_words, least=0.5)
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")

RowOp = Literal["equal", "change", "remove", "add"]
Span = tuple[int, int]
"""Where something begins and ends in a line, in characters."""


class TextRow(msgspec.Struct, frozen=True):
    """A line in both texts, or in one of them; lines are counted from 0, without line end.

    The spans of a changed line are those of its words that differ.
    """

    op: RowOp
    old_line: int | None
    new_line: int | None
    old: str | None
    new: str | None
    old_spans: tuple[Span, ...] = ()
    new_spans: tuple[Span, ...] = ()


class Hunk(msgspec.Struct, frozen=True):
    """Rows that changed, with some equal ones around them, and the lines that stand before it."""

    rows: tuple[TextRow, ...]
    old_before: int
    new_before: int

    @property
    def old_count(self) -> int:
        """Lines of the old text."""
        return sum(row.old is not None for row in self.rows)

    @property
    def new_count(self) -> int:
        """Lines of the new text."""
        return sum(row.new is not None for row in self.rows)


def text_rows(old: str, new: str) -> list[TextRow]:
    """Give all lines of two texts, aligned: equal, changed, removed and added ones in order."""
    old_lines, new_lines = old.split("\n"), new.split("\n")
    rows: list[TextRow] = []
    one = other = 0
    for end, new_end in (
        *matched_in_order(old_lines, new_lines),
        (len(old_lines), len(new_lines)),
    ):
        rows += _gap_rows(old_lines, new_lines, range(one, end), range(other, new_end))
        if end < len(old_lines):
            rows.append(TextRow("equal", end, new_end, old_lines[end], new_lines[new_end]))
        one, other = end + 1, new_end + 1
    return rows


def signed_lines(old: str, new: str) -> Iterator[tuple[str, str]]:
    """Give the lines of two texts, each with its sign: `-` and `+`, a space for what stayed.

    Nothing has no lines, and an end of the last line begins no other.
    """
    before, after = _lines(old), _lines(new)
    one = other = 0
    for end, new_end in (*matched_in_order(before, after), (len(before), len(after))):
        yield from (("-", line) for line in before[one:end])
        yield from (("+", line) for line in after[other:new_end])
        yield from ((" ", line) for line in before[end : end + 1])
        one, other = end + 1, new_end + 1


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def changed_words(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Give the spans of the words of two lines that differ."""
    if max(len(old), len(new)) > LONGEST_LINE:
        return _changed_middle(old, new)
    old_words, new_words = _WORDS.findall(old), _WORDS.findall(new)
    pairs = matched_in_order(old_words, new_words)
    return (
        _unmatched(old_words, {one for one, _ in pairs}),
        _unmatched(new_words, {other for _, other in pairs}),
    )


def hunks(rows: Sequence[TextRow], context: int = CONTEXT) -> list[Hunk]:
    """Give the rows that changed in hunks, each with so many equal rows around it."""
    changed = [place for place, row in enumerate(rows) if row.op != "equal"]
    found: list[Hunk] = []
    old_before = new_before = done = 0
    for begin, end in stretches(changed, len(rows), context):
        old_before += sum(row.old is not None for row in rows[done:begin])
        new_before += sum(row.new is not None for row in rows[done:begin])
        found.append(Hunk(tuple(rows[begin:end]), old_before, new_before))
        done = begin
    return found


def stretches(places: Iterable[int], size: int, context: int = CONTEXT) -> list[Span]:
    """Give the stretches of so many rows that hold some places with what is around them."""
    found: list[Span] = []
    for place in places:
        begin, end = max(place - context, 0), min(place + context + 1, size)
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], end)
        else:
            found.append((begin, end))
    return found


def beside(rows: Iterable[TextRow]) -> Iterator[tuple[TextRow | None, TextRow | None]]:
    """Give rows for two columns: what was removed stands beside what was added there."""
    for is_one_sided, group in groupby(rows, lambda row: row.op in {"remove", "add"}):
        if not is_one_sided:
            yield from ((row, row) for row in group)
            continue
        found = list(group)
        removed = [row for row in found if row.op == "remove"]
        added = [row for row in found if row.op == "add"]
        yield from zip_longest(removed, added)


def hunk_json(hunk: Hunk) -> dict[str, Any]:
    """Give a hunk in the form of CONTRACT: where it begins, counted from 1, and its lines."""
    return {
        "old_start": hunk.old_before + 1,
        "old_count": hunk.old_count,
        "new_start": hunk.new_before + 1,
        "new_count": hunk.new_count,
        "lines": [_row_json(row) for row in hunk.rows],
    }


def _row_json(row: TextRow) -> dict[str, Any]:
    line: dict[str, Any] = {"op": row.op, "old": row.old, "new": row.new}
    if row.op == "change":
        line |= {"old_words": row.old_spans, "new_words": row.new_spans}
    return line


def _gap_rows(
    old: Sequence[str], new: Sequence[str], rows: range, columns: range
) -> list[TextRow]:
    """Give the lines between two equal ones: those that are alike as changed ones."""
    here, there = [old[place] for place in rows], [new[place] for place in columns]
    pairs = matched_by_likeness(here, there, _OF_LINES) if here and there else []
    found: list[TextRow] = []
    one, other = rows.start, columns.start
    for before, after in (*pairs, (len(here), len(there))):
        end, new_end = rows.start + before, columns.start + after
        found += [TextRow("remove", place, None, old[place], None) for place in range(one, end)]
        found += [TextRow("add", None, place, None, new[place]) for place in range(other, new_end)]
        if before < len(here):
            spans = changed_words(old[end], new[new_end])
            found.append(TextRow("change", end, new_end, old[end], new[new_end], *spans))
        one, other = end + 1, new_end + 1
    return found


def _unmatched(words: Sequence[str], matched: set[int]) -> tuple[Span, ...]:
    """Give where the words stand that have no equal, those beside each other as one."""
    spans: list[Span] = []
    begin = 0
    for place, word in enumerate(words):
        end = begin + len(word)
        if place not in matched:
            if spans and spans[-1][1] == begin:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((begin, end))
        begin = end
    return tuple(spans)


def _changed_middle(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Give what lies between the equal ends of two lines."""
    begin = common_start(old, new)
    end = common_start(old[begin:][::-1], new[begin:][::-1])
    return (
        ((begin, len(old) - end),) if len(old) - end > begin else (),
        ((begin, len(new) - end),) if len(new) - end > begin else (),
    )
