"""The palette of the current theme: styles for views, out of the theme's own colours."""

from __future__ import annotations

from textual.theme import Theme

from tt_debugger.views.palette import Palette

DARK = Theme(
    name="ttdbg-dark",
    primary="#6cb6ff",
    foreground="#c8d3e5",
    background="#14181f",
    surface="#14181f",
    panel="#1c222b",
    success="#7fd1a4",
    error="#ff8a8a",
    warning="#f0a45d",
    accent="#6cb6ff",
    variables={
        "dim": "#7a879e",
        "lane": "#b79cf2",
        "label": "#e8cf6a",
        "cursor": "#24395a",
        "cursor-far": "#1f2937",
        "rule": "#38465c",
    },
)
THEMES = (DARK,)


def palette_of(theme: Theme) -> Palette:
    """Give the styles of a theme; one of Textual's own lacks a few, which its colours replace."""
    own = theme.variables
    text = theme.foreground or "default"
    return Palette(
        text=text,
        dim=own.get("dim", "dim"),
        accent=f"bold {theme.primary}",
        add=theme.primary,
        change=theme.warning or "yellow",
        remove=theme.warning or "yellow",
        good=theme.success or "green",
        bad=theme.error or "red",
        lane=own.get("lane", theme.secondary or "magenta"),
        label=own.get("label", theme.warning or "yellow"),
        cursor=f"on {own['cursor']}" if "cursor" in own else "reverse",
        cursor_far=f"on {own['cursor-far']}" if "cursor-far" in own else "underline",
    )
