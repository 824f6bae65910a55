"""The graph of a session as lines, as `git log --graph` draws one, but oldest first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tt_debugger.core.filters import Filter
from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.lanes import LaneRow
from tt_debugger.core.model import Session
from tt_debugger.core.outline import outline
from tt_debugger.core.refs import Resolver
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView

if TYPE_CHECKING:
    from rich.text import Text


def graph_lines(
    session: Session,
    resolver: Resolver,
    palette: Palette,
    glyphs: Glyphs,
    width: int | None,
    first: int = 0,
) -> Iterator[Text]:
    """Give one line a checkpoint from a row on, with the shortest unique prefix of its id."""
    from rich.text import Text

    view = RowView(palette, glyphs, len(str(len(session))))
    for name, row, lanes in _named_rows(session, resolver, first):
        rest = None if width is None else max(width - len(name), 0)
        line = Text(no_wrap=True).append(name, palette.label)
        yield line.append_text(view.text(session, row, lanes, rest))


def plain_graph_lines(
    session: Session, resolver: Resolver, palette: Palette, glyphs: Glyphs, first: int = 0
) -> Iterator[str]:
    """Give the same lines as text alone, as long as they are."""
    view = RowView(palette, glyphs, len(str(len(session))))
    for name, row, lanes in _named_rows(session, resolver, first):
        yield name + view.plain(session, row, lanes)


def _named_rows(
    session: Session, resolver: Resolver, first: int
) -> Iterator[tuple[str, int, LaneRow]]:
    """Give each row from one on with the prefix of its id, all of one width, and its lanes."""
    shown = outline(session, Filter.ALL, Folding(FoldRule.NOTHING))
    places = [place for place, row in enumerate(shown.lines) if row >= first]
    ids = [resolver.short_id(shown.lines[place]) for place in places]
    width = max(map(len, ids), default=0)
    for place, name in zip(places, ids, strict=True):
        yield f"{name:<{width}} ", shown.lines[place], shown.lanes[place]
