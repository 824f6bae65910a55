"""The names of both sides of a comparison, in a rule over them."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from rich.text import Text
from textual.strip import Strip
from textual.widget import Widget

from tt_debugger.core.text import safe_line
from tt_debugger.views.compare_layout import Layout
from tt_debugger.views.palette import Glyphs, Palette

Name = tuple[str, str]
"""What a side is called, and what is there."""
_CROSS = 14
"""The place among box drawings of a rule from which a line goes down."""


class SideNames(Widget):
    """One line: both names over their halves, or, where there are no halves, in a row."""

    DEFAULT_CSS = "SideNames { height: 1; }"

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._names: tuple[Name, Name] = (("", ""), ("", ""))
        self._is_side_by_side = False

    def update_from(self, old: Name, new: Name, *, is_side_by_side: bool) -> None:
        """Show other names, or in the other way."""
        if ((old, new), is_side_by_side) != (self._names, self._is_side_by_side):
            self._names, self._is_side_by_side = (old, new), is_side_by_side
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line."""
        line = self.text(self.size.width)
        return Strip(line.render(self.app.console), line.cell_len).apply_style(self.rich_style)

    def text(self, width: int) -> Text:
        """Give the line in so many cells, the last two of which are those of the mini-map."""
        palette, glyphs = self._palette, self._glyphs
        old, new = self._names
        line = Text(glyphs.line, palette.remove, no_wrap=True, end="")
        layout = Layout(max(width - 3, 0), 0, palette, glyphs)
        if self._is_side_by_side:
            left, right = layout.halves
            line.append_text(self._titled("A", old, palette.remove, left))
            line.append_text(Text(glyphs.line, palette.remove))
            line.append_text(Text(glyphs.lines[_CROSS], palette.dim))
            line.append_text(Text(glyphs.line, palette.add))
            line.append_text(self._titled("B", new, palette.add, right))
        else:
            half = (width - 3) // 2
            line.append_text(self._titled("A", old, palette.remove, half))
            line.append_text(self._titled("B", new, palette.add, width - 3 - half))
        line.truncate(width)
        return line

    def _titled(self, letter: str, name: Name, style: str, width: int) -> Text:
        """Give a name in a rule of so many cells."""
        called, about = map(safe_line, name)
        line = Text.assemble((f" {letter} ", style), (called, self._palette.strong), no_wrap=True)
        if about:
            line.append(f"  {about}", self._palette.dim)
        if line.cell_len > width - 2:
            room = max(width - 2 - len(self._glyphs.ellipsis), 0)
            line.truncate(room)
            line.append(self._glyphs.ellipsis, self._palette.dim)
        line.append(" ")
        line.append(self._glyphs.line * max(width - line.cell_len, 0), style)
        return line
