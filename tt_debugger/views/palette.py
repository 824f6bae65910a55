"""Palettes: which style each meaning has. Every meaning is also told by a sign or a word."""

from __future__ import annotations

import msgspec


class Palette(msgspec.Struct, frozen=True):
    """A Rich style for each meaning. An empty style is the terminal's own colour."""

    text: str = ""
    dim: str = "dim"
    accent: str = "bold blue"
    """Titles, the user's own words, and what has the focus."""
    add: str = "blue"
    change: str = "yellow"
    remove: str = "yellow"
    good: str = "green"
    bad: str = "red"
    lane: str = "magenta"
    label: str = "yellow"
    cursor: str = "reverse"
    cursor_far: str = "underline"
    """The cursor of a pane that has not the focus."""


ANSI = Palette()
"""The sixteen colours that a terminal's own theme gives."""


class Glyphs(msgspec.Struct, frozen=True):
    """One-cell signs, none of which a terminal draws as an emoji; each has an ASCII twin."""

    user: str = "●"
    assistant: str = "●"
    call: str = "▸"
    result: str = "◂"
    setting: str = "◇"
    compaction: str = "◆"
    branch: str = "◈"
    label: str = "⚑"
    custom: str = "○"
    gap: str = "✗"
    snapshot: str = "■"
    good: str = "✓"
    bad: str = "✗"
    fork: str = "┬"
    arrow: str = "→"
    cursor: str = "▌"
    cursor_far: str = "▏"
    active: str = "@"
    """The active leaf, named as in a ref."""
    open: str = "▾"
    closed: str = "▸"
    ellipsis: str = "…"
    line: str = "─"
    lines: tuple[str, ...] = tuple(" ╵╷│╴╯╮┤╶╰╭├─┴┬┼")
    """Box drawing by the sum of the directions of `core.lanes`."""


UNICODE = Glyphs()
ASCII = Glyphs(
    user="*",
    assistant="*",
    call=">",
    result="<",
    setting="o",
    compaction="#",
    branch="@",
    label="!",
    custom="o",
    gap="x",
    snapshot="=",
    good="ok",
    bad="x",
    fork="Y",
    arrow="->",
    cursor=">",
    cursor_far="-",
    open="v",
    closed=">",
    ellipsis="...",
    line="-",
    lines=tuple(" ||||'.|-`,|-+++"),
)
