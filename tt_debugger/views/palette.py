"""Palettes: which style each meaning has. Every meaning is also told by a sign or a word."""

from __future__ import annotations

import msgspec


class Palette(msgspec.Struct, frozen=True):
    """A Rich style for each meaning. An empty style is the terminal's own colour.

    A value may be the name of a style that only a console knows, so a view never puts two of
    them into one string.
    """

    text: str = ""
    strong: str = "bold"
    dim: str = "dim"
    quiet: str = "dim italic"
    """What was thought and not said."""
    accent: str = "bold blue"
    """Titles, the user's own words, and what has the focus."""
    brand: str = "bold reverse blue"
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
    found: str = "bold yellow"
    """What a search or a filter matched."""
    graph: str = "blue"
    graph_aside: str = "dim blue"
    """The area of the scrubber: on the active path, and off it."""
    heading: str = "bold"
    code: str = "cyan"
    """Code inside a sentence, and code that no lexer knows."""
    code_keyword: str = "magenta"
    code_name: str = "blue"
    code_string: str = "green"
    code_number: str = "cyan"
    code_comment: str = "dim italic"
    removed_word: str = "bold underline yellow"
    added_word: str = "bold underline blue"
    """Words in which a changed line differs from the other side."""


THEMES = ("dark", "light", "high-contrast", "16-colours")
"""The names of the themes that the UI has."""

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
    fold: str = "⋯"
    """What stands for rows that are folded."""
    open: str = "▾"
    closed: str = "▸"
    ellipsis: str = "…"
    line: str = "─"
    bar: str = "│"
    bullet: str = "•"
    levels: tuple[str, ...] = tuple("▁▂▃▄▅▆▇█")
    """Eighths of a cell from below, for small graphs."""
    marker: str = "▲"
    lines: tuple[str, ...] = tuple(" ╵╷│╴╯╮┤╶╰╭├─┴┬┼")
    """Box drawing by the sum of the directions of `core.lanes`."""
    interrupt: str = "‖"
    """Where the agent stopped to be told how to go on."""
    turn: str = "·"
    """A message of the user, where it should stay in the background."""
    inside: str = "»"
    """A session of its own that was started here."""
    forked: str = "↳"
    """A fork that ttdbg made from here."""
    stop: str = "•"
    """Where a watched value changed."""


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
    fold="~",
    open="v",
    closed=">",
    ellipsis="...",
    line="-",
    bar="|",
    bullet="-",
    levels=tuple("__..::##"),
    marker="^",
    lines=tuple(" ||||'.|-`,|-+++"),
    interrupt="?",
    inside=">>",
    turn=".",
    forked="+>",
    stop="*",
)
