"""The themes: the colours of the screens, and under which names views ask for them.

What a view draws carries names of styles (`ttdbg.dim`), which the app's console resolves when a
line is painted: so a change of theme is a repaint, and nothing that was drawn goes stale. Added
is blue, removed and changed is orange; green and red only ever accompany a sign.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from rich.theme import Theme as StyleNames
from textual.theme import Theme

from tt_debugger.views.palette import ANSI, Palette

_FIELDS = Palette.__struct_fields__
NAMED = Palette(**{field: f"ttdbg.{field}" for field in _FIELDS})
"""The palette that all screens and widgets draw with."""


class Look(msgspec.Struct, frozen=True):
    """A theme: its title, the colours of frames and grounds, and the styles of what is drawn."""

    title: str
    theme: Theme
    palette: Palette

    @property
    def name(self) -> str:
        """The name by which it is chosen."""
        return self.theme.name

    @property
    def style_names(self) -> StyleNames:
        """The styles by the names that `NAMED` gives them."""
        names = {f"ttdbg.{field}": getattr(self.palette, field) or "none" for field in _FIELDS}
        return StyleNames(names, inherit=False)


def _look(name: str, title: str, colours: Mapping[str, str], *, is_dark: bool) -> Look:
    """Give a theme of true colours."""
    c = colours
    theme = Theme(
        name=name,
        dark=is_dark,
        primary=c["accent"],
        accent=c["accent"],
        foreground=c["text"],
        background=c["ground"],
        surface=c["ground"],
        panel=c["panel"],
        success=c["good"],
        error=c["bad"],
        warning=c["change"],
        variables={
            "dim": c["dim"],
            "rule": c["rule"],
            "input-cursor-background": c["text"],
            "input-cursor-foreground": c["ground"],
            "input-selection-background": c["cursor"],
        },
    )
    palette = Palette(
        text=c["text"],
        strong=f"bold {c['text']}",
        dim=c["dim"],
        quiet=f"italic {c['dim']}",
        accent=f"bold {c['accent']}",
        brand=f"bold {c['ground']} on {c['accent']}",
        add=c["accent"],
        change=c["change"],
        remove=c["change"],
        good=c["good"],
        bad=c["bad"],
        lane=c["lane"],
        label=c["label"],
        cursor=f"on {c['cursor']}",
        cursor_far=f"on {c['cursor_far']}",
        found=f"bold underline {c['label']}",
        graph=c["accent"],
        graph_aside=c["rule"],
        heading=f"bold {c['accent']}",
        code=c["code"],
        code_keyword=c["lane"],
        code_name=c["accent"],
        code_string=c["good"],
        code_number=c["label"],
        code_comment=f"italic {c['dim']}",
        removed_word=f"bold {c['change']} on {c['change_ground']}",
        added_word=f"bold {c['accent']} on {c['accent_ground']}",
    )
    return Look(title, theme, palette)


DARK = _look(
    "dark",
    "Dark",
    {
        "text": "#c8d3e5",
        "ground": "#14181f",
        "panel": "#1c222b",
        "dim": "#8a97ae",
        "rule": "#38465c",
        "accent": "#6cb6ff",
        "change": "#f0a45d",
        "good": "#7fd1a4",
        "bad": "#ff8a8a",
        "lane": "#b79cf2",
        "label": "#e8cf6a",
        "code": "#8fd3d8",
        "cursor": "#24395a",
        "cursor_far": "#1f2937",
        "change_ground": "#46311c",
        "accent_ground": "#1d3a5c",
    },
    is_dark=True,
)
LIGHT = _look(
    "light",
    "Light",
    {
        "text": "#1d2530",
        "ground": "#fbfcfd",
        "panel": "#f0f3f7",
        "dim": "#5a6779",
        "rule": "#b9c3d0",
        "accent": "#0a58a8",
        "change": "#9a4a00",
        "good": "#166b3f",
        "bad": "#b3202f",
        "lane": "#6739b7",
        "label": "#755600",
        "code": "#0b6470",
        "cursor": "#cfe2f8",
        "cursor_far": "#e6ebf2",
        "change_ground": "#fde4cb",
        "accent_ground": "#d6e8fb",
    },
    is_dark=False,
)
HIGH_CONTRAST = _look(
    "high-contrast",
    "High contrast",
    {
        "text": "#ffffff",
        "ground": "#000000",
        "panel": "#000000",
        "dim": "#c4c4c4",
        "rule": "#a0a0a0",
        "accent": "#6fd3ff",
        "change": "#ffb347",
        "good": "#7dffb0",
        "bad": "#ffa0a0",
        "lane": "#dcbcff",
        "label": "#ffff6b",
        "code": "#9df3f3",
        "cursor": "#00407a",
        "cursor_far": "#333333",
        "change_ground": "#3a2200",
        "accent_ground": "#003050",
    },
    is_dark=True,
)
SIXTEEN = Look(
    "16 colours of the terminal",
    Theme(
        name="16-colours",
        ansi=True,
        primary="ansi_blue",
        accent="ansi_blue",
        foreground="ansi_default",
        background="ansi_default",
        surface="ansi_default",
        panel="ansi_default",
        boost="ansi_default",
        success="ansi_green",
        error="ansi_red",
        warning="ansi_yellow",
        variables={
            "dim": "ansi_bright_black",
            "rule": "ansi_bright_black",
            "ansi-background": "ansi_default",
            "ansi-foreground": "ansi_default",
            "input-cursor-text-style": "reverse",
        },
    ),
    ANSI,
)
LOOKS = (DARK, LIGHT, HIGH_CONTRAST, SIXTEEN)


def look_for(environment: Mapping[str, str]) -> Look:
    """Give the theme that a terminal's environment asks for.

    `TTDBG_THEME` names one. Else: a terminal that has no more than sixteen colours gets those,
    one that tells of a light ground (`COLORFGBG`, as rxvt and Konsole set it) the light theme.
    """
    for look in LOOKS:
        if look.name == environment.get("TTDBG_THEME"):
            return look
    kind = environment.get("TERM", "")
    has_many = environment.get("COLORTERM") or "256" in kind or "direct" in kind
    if "NO_COLOR" in environment or (kind and not has_many):
        return SIXTEEN
    ground = environment.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT if ground in _LIGHT_GROUNDS else DARK


_LIGHT_GROUNDS = frozenset(("7", "15"))
