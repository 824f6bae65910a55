"""Areas: small graphs of filled columns, of the eighths of a cell that glyphs have."""

from __future__ import annotations

from collections.abc import Sequence

from tt_debugger.views.palette import Glyphs


def area_line(
    sizes: Sequence[float], largest: float, y: int, height: int, glyphs: Glyphs
) -> list[str]:
    """Give the sign of each column on one line, `y` lines below the top of an area."""
    levels = glyphs.levels
    below = (height - 1 - y) * len(levels)
    signs: list[str] = []
    for size in sizes:
        # Rounded up: whatever is known is seen.
        level = int(-(-size * height * len(levels) // (largest or 1))) - below
        signs.append(levels[min(level, len(levels)) - 1] if level > 0 else " ")
    return signs
