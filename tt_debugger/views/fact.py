"""A fact: a name and its value, on as many lines as it takes."""

from __future__ import annotations

from rich.text import Text

from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Palette

NAME_WIDTH = 11
"""Cells of a name with the room behind it."""


class Fact(Text):
    """A line whose value, where it takes several lines, stays behind the name."""

    hang = NAME_WIDTH


def fact_line(name: str, value: str | Text, palette: Palette) -> Fact:
    """Give a name and its value; a value that is drawn already stays as it is."""
    line = Fact(f"{name:<{NAME_WIDTH}}")
    line.stylize(palette.dim)
    line.append_text(value if isinstance(value, Text) else Text(safe_line(value)))
    return line
