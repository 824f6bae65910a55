"""What a bisect found, in words: the checkpoint, what it changed, and what else it may be."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import msgspec
from msgspec import UNSET
from rich.text import Text

from tt_debugger.core.bisect import Found, FoundDespiteSkips, NotFound, Result
from tt_debugger.core.changes import Change, State
from tt_debugger.core.model import Session
from tt_debugger.core.text import counted, safe_line
from tt_debugger.views.changes import change_lines
from tt_debugger.views.checkpoint import title_line
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.values import preview

MOST_LISTED = 20
"""Candidates that are listed; of more the last ones, which stand next to what is bad."""


class FirstBad(msgspec.Struct, frozen=True):
    """The checkpoint that was found, with what it did."""

    row: int
    changes: Sequence[Change]
    before: State
    """The state that the changes were made to, None at a root."""
    values: tuple[Any, Any] | None
    """What an expression gives before it and after it; UNSET for nothing."""
    figures: Sequence[tuple[str, Any, Any]] = ()
    """The figures that are compared, before it and after it; UNSET for one that is none."""


class BisectView(msgspec.Struct, frozen=True):
    """How the result of a search in a session is told; `ref` gives a row as a complete ref."""

    session: Session
    ref: Callable[[int], str]
    palette: Palette
    glyphs: Glyphs

    def lines(self, result: Result, first: FirstBad | None, what: str) -> Iterator[Text]:
        """Give a result as lines; `what` says what a bad checkpoint is, in words."""
        match result:
            case Found(row=row):
                yield self._said(self.ref(row), f"is the first checkpoint {what}")
            case FoundDespiteSkips(candidates=candidates):
                count = f"one of {counted(len(candidates), 'checkpoint')}"
                yield self._said(count, f"is the first {what}; all but the last were skipped")
                yield from self._listed(candidates)
                yield Text()
            case NotFound(candidates=candidates) if candidates:
                count = counted(len(candidates), "checkpoint")
                yield self._said(count, "could not be tested; one of them may be it")
                yield from self._listed(candidates)
            case NotFound():
                pass
        if first is not None:
            yield from self._first(first)

    def _said(self, strong: str, text: str) -> Text:
        return Text.assemble((safe_line(strong), self.palette.strong), f" {safe_line(text)}")

    def _listed(self, candidates: Sequence[int]) -> Iterator[Text]:
        more = len(candidates) - MOST_LISTED
        if more > 0:
            yield Text(f"  {self.glyphs.ellipsis} {more:,} before these", self.palette.dim)
        for row in candidates[-MOST_LISTED:]:
            line = Text.assemble("  ", (safe_line(self.ref(row)), self.palette.code), "  ")
            yield line.append_text(title_line(self.session, row, self.palette))

    def _first(self, first: FirstBad) -> Iterator[Text]:
        palette = self.palette
        yield title_line(self.session, first.row, palette)
        summary = self.session.heads[first.row].summary
        if summary:
            yield Text(safe_line(summary), palette.text)
        changes = change_lines(first.changes, first.before, palette, self.glyphs, is_brief=True)
        values = () if first.values is None else (("value", *first.values),)
        told = [self._values(*each) for each in (*values, *first.figures)]
        for line in chain(told, changes):
            yield Text.assemble("  ", line)

    def _values(self, name: str, before: Any, after: Any) -> Text:
        old, new = ("not there" if each is UNSET else _said(each) for each in (before, after))
        arrow = (f" {self.glyphs.arrow} ", self.palette.dim)
        return Text.assemble((f"{name} ", self.palette.dim), old, arrow, new)


def _said(value: Any) -> str:
    """Give a value in a few words; a fraction, which may be a sum, to its first four digits."""
    return f"{value:.4g}" if isinstance(value, float) else preview(value)
