"""A listing by projects, line by line: numbers first, so that titles may be of any length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec
from rich.cells import cell_len
from rich.text import Text

from tt_debugger.core.families import Project, Relative
from tt_debugger.core.listing import Entry, Sort
from tt_debugger.core.text import safe_line
from tt_debugger.views.listing import age_text, number_text, trail_text
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import count_text

_WIDEST_REF = 48
_HEADS = (
    ("age", 7),
    ("size", 6),
    ("ckpts", 6),
    ("branches", 9),
    ("tokens", 7),
    ("cost", 7),
)
_NUMBERS = (Sort.CHECKPOINTS, Sort.BRANCHES, Sort.TOKENS, Sort.COST)


class ProjectsView(msgspec.Struct, frozen=True):
    """How a listing by projects is drawn: at which time, and how wide where that matters."""

    palette: Palette
    glyphs: Glyphs
    now: float
    width: int | None = None

    def head(self) -> Text:
        """Give the heads of the columns."""
        numbers = "".join(f"{head:>{width}}" for head, width in _HEADS)
        return self._cut(Text(f"{numbers}  session  title", self.palette.dim, no_wrap=True))

    def lines(
        self, project: Project, refs: Mapping[tuple[str, int], str], *, is_more: bool = False
    ) -> Iterator[Text]:
        """Give a project: its heading, and each of its sessions, called as `refs` says.

        `is_more` says that the same project was begun above.
        """
        title = safe_line(project.cwd) or "no project"
        heading = Text.assemble(
            (title, self.palette.strong), f" {self.glyphs.turn} ", no_wrap=True
        )
        heading.append(safe_line(project.format), self.palette.lane)
        if is_more:
            heading.append(" (more)", self.palette.dim)
        yield self._cut(heading)
        names = [safe_line(refs[each.entry.key]) for each in project.relatives]
        widest = min(max(map(cell_len, names)), _WIDEST_REF)
        for relative, name in zip(project.relatives, names, strict=True):
            yield self._cut(self._line(relative, name, widest))

    def _line(self, relative: Relative, name: str, widest: int) -> Text:
        entry, palette = relative.entry, self.palette
        cells = zip(self._numbers(entry), _HEADS, strict=True)
        line = Text("".join(f"{text:>{width}}" for text, (_, width) in cells), no_wrap=True)
        line.stylize(palette.dim)
        space = " " * max(widest - cell_len(name), 0)
        line.append("  ").append(name, palette.code).append(f"{space}  ")
        line.append(trail_text(relative.trail, self.glyphs), palette.lane)
        if entry.failed is not None:
            return line.append(f"{self.glyphs.bad} {safe_line(entry.failed)}", palette.bad)
        return line.append(safe_line(entry.title), palette.text)

    def _numbers(self, entry: Entry) -> tuple[str, ...]:
        facts = entry.facts
        return (
            age_text(entry.time, self.now),
            count_text(entry.size) if entry.size else "",
            *("" if facts is None else number_text(facts, each) for each in _NUMBERS),
        )

    def _cut(self, line: Text) -> Text:
        if self.width is not None and line.cell_len > self.width:
            line.truncate(self.width - cell_len(self.glyphs.ellipsis))
            line.append(self.glyphs.ellipsis, self.palette.dim)
        return line
