"""Texts as lines of a diff: `-` in the old one, `+` in the new one, a space in both."""

from __future__ import annotations

from collections.abc import Iterator

from tt_debugger.core.diff.texts import CONTEXT, TextRow, hunks, text_rows


def rows_of(old: str | None, new: str | None) -> list[TextRow]:
    """Give the lines of two texts aligned; None for one that is not there at all."""
    if old is None:
        lines = (new or "").split("\n")
        return [TextRow("add", None, place, None, line) for place, line in enumerate(lines)]
    if new is None:
        lines = old.split("\n")
        return [TextRow("remove", place, None, line, None) for place, line in enumerate(lines)]
    return text_rows(old, new)


def hunk_lines(old: str | None, new: str | None, context: int = CONTEXT) -> Iterator[str]:
    """Give the hunks of two texts, each but a single one with a line that says where it is."""
    found = hunks(rows_of(old, new), context)
    for number, hunk in enumerate(found):
        first = hunk.rows[0]
        if number or first.old_line or first.new_line:
            yield f"@@ line {1 + max(first.old_line or 0, first.new_line or 0)} @@"
        yield from diff_lines(hunk.rows)


def diff_lines(rows: tuple[TextRow, ...] | list[TextRow]) -> Iterator[str]:
    """Give rows as lines with their sign; of changed ones all that are gone, then what came."""
    waiting: list[str] = []
    for row in rows:
        if row.op == "equal":
            yield from waiting
            waiting.clear()
            yield f" {row.old}"
            continue
        if row.op == "add":
            waiting.append(f"+{row.new}")
        elif row.op == "remove":
            yield from waiting
            waiting.clear()
            yield f"-{row.old}"
        else:
            yield f"-{row.old}"
            waiting.append(f"+{row.new}")
    yield from waiting
