"""A hit of a search in one line: who said it, and what was said before and after."""

from __future__ import annotations

from rich.text import Text

from tt_debugger.core.search import Hit
from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Palette


def hit_text(said_by: str, hit: Hit, palette: Palette, *, is_marked: bool = True) -> Text:
    """Give a hit with what was found in it marked, unless all of it was."""
    return Text.assemble(
        (f"{safe_line(said_by):<9}  ", palette.dim),
        (safe_line(hit.before), palette.text),
        (safe_line(hit.found), palette.found if is_marked else palette.text),
        (safe_line(hit.after), palette.text),
    )
