"""The graph of a session as lines, as `git log --graph` draws one, but oldest first."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from tt_debugger.core.filters import Filter
from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.model import Session
from tt_debugger.core.outline import outline
from tt_debugger.core.refs import Resolver
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView


def graph_lines(
    session: Session,
    resolver: Resolver,
    palette: Palette,
    glyphs: Glyphs,
    width: int | None,
) -> Iterator[Text]:
    """Give one line a checkpoint, with the shortest unique prefix of its id."""
    shown = outline(session, Filter.ALL, Folding(FoldRule.NOTHING))
    view = RowView(palette, glyphs, len(str(len(session))))
    ids = [resolver.short_id(row) for row in shown.lines]
    id_width = max(map(len, ids), default=0)
    for row, name, lanes in zip(shown.lines, ids, shown.lanes, strict=True):
        rest = None if width is None else max(width - id_width - 1, 0)
        line = Text(no_wrap=True).append(f"{name:<{id_width}} ", palette.label)
        yield line.append_text(view.text(session, row, lanes, rest))
