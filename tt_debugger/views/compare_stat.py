"""A comparison in brief: a line for each thing that differs, with how many lines it is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from rich.text import Text

from tt_debugger.core.diff.comparing import SIGNS, ComparedMessage, Comparison, Sign
from tt_debugger.core.diff.edits import edits
from tt_debugger.core.diff.texts import text_rows
from tt_debugger.core.paths import dotted
from tt_debugger.core.text import safe_line
from tt_debugger.views.compare_message import MessageView, field_edits
from tt_debugger.views.compare_text import TextView, sign_style
from tt_debugger.views.palette import Glyphs, Palette

WIDTH = 60
"""Cells of the title of a message."""
BAR = 20
"""Signs that tell at most how many lines came and went."""


def stat_lines(comparison: Comparison, palette: Palette, glyphs: Glyphs) -> Iterator[Text]:
    """Give what differs, a line each: sign, places, title, and lines added and removed."""
    for edit in comparison.settings:
        sign = SIGNS[edit.op]
        yield Text.assemble((f"{sign} ", sign_style(sign, palette)), safe_line(dotted(edit.path)))
    rows = [row for row in comparison.messages if isinstance(row, ComparedMessage)]
    rows = [row for row in rows if row.sign is not Sign.MOVED or row.new is not msgspec.UNSET]
    places = [_places(row, glyphs) for row in rows]
    width = max(map(len, places), default=0)
    for row, place in zip(rows, places, strict=True):
        line = Text.assemble(
            (f"{row.sign} ", sign_style(row.sign, palette)), (f"{place:<{width}}  ", palette.dim)
        )
        title = MessageView(TextView(palette, glyphs)).title(_told(row))
        title.truncate(WIDTH, overflow="ellipsis", pad=True)
        yield Text.assemble(line, title, *_bar(row, palette))


def _told(row: ComparedMessage) -> Any:
    return row.old if row.new is msgspec.UNSET else row.new


def _places(row: ComparedMessage, glyphs: Glyphs) -> str:
    """Give the places of a message, counted from 1: both where they differ."""
    places = [str(each + 1) for each in (row.old_place, row.new_place) if each is not None]
    return f" {glyphs.arrow} ".join(dict.fromkeys(places))


def _bar(row: ComparedMessage, palette: Palette) -> Iterator[tuple[str, str]]:
    removed = added = 0
    for aspect in row.aspects:
        old = "" if aspect.old is None else aspect.old.text
        new = "" if aspect.new is None else aspect.new.text
        for each in () if aspect.equal else text_rows(old, new):
            removed += each.op in {"remove", "change"} and aspect.old is not None
            added += each.op in {"add", "change"} and aspect.new is not None
    if not removed + added:
        # Nothing that it says: its fields alone.
        fields = dict.fromkeys(
            safe_line(dotted(each.path))
            for each in field_edits(row, edits(row.difference, row.old))
        )
        yield f"  also: {', '.join(fields)}", palette.dim
        return
    total = removed + added
    share = min(BAR / total, 1)
    yield f"  {removed + added:>5} ", palette.dim
    yield "+" * round(added * share), palette.add
    yield "-" * round(removed * share), palette.remove
