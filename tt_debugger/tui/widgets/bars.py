"""The bars at the top and at the bottom: what is open, where one is, and which keys there are."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from textual.widget import Widget

from tt_debugger.core.text import safe_line
from tt_debugger.tui.keys import Key
from tt_debugger.views.palette import Palette


class TopBar(Widget):
    """One line: the session at the left, where one is at the right."""

    DEFAULT_CSS = "TopBar { height: 1; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._left: Sequence[str] = ()
        self._right = ""

    def update_from(self, left: Sequence[str], right: str) -> None:
        """Show format, title and facts at the left, and a place at the right."""
        self._left, self._right = left, right
        self.refresh()

    def render(self) -> Text:
        """Draw the line; what does not fit is cut before the place is."""
        line = Text(no_wrap=True)
        line.append(" ttdbg ", f"reverse {self.palette.accent}")
        for number, part in enumerate(self._left):
            style = self.palette.text if number == 1 else self.palette.dim
            line.append(f"  {safe_line(part)}", f"bold {style}" if number == 1 else style)
        room = self.size.width - len(self._right) - 1
        line.truncate(max(room, 0), overflow="ellipsis", pad=True)
        line.append(f" {self._right}", self.palette.dim)
        return line


class BottomBar(Widget):
    """One line with the keys that the table gives a word in the footer; as many as fit."""

    DEFAULT_CSS = "BottomBar { height: 1; }"

    def __init__(self, keys: Sequence[Key], palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._keys = [key for key in keys if key.footer]

    def render(self) -> Text:
        """Draw the keys."""
        line = Text(no_wrap=True)
        for key in self._keys:
            part = Text.assemble(
                (f" {key.keys[0] if len(key.keys[0]) == 1 else key.shown}", self.palette.accent),
                (f" {key.footer} ", self.palette.dim),
            )
            if line.cell_len + part.cell_len <= self.size.width:
                line.append_text(part)
        return line
