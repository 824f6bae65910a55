"""The keys: one table from which bindings, footer, help and palette are made."""

from __future__ import annotations

import msgspec
from textual.binding import Binding


class Key(msgspec.Struct, frozen=True):
    """One action of a screen: its keys as Textual names them, and what it does in few words."""

    keys: tuple[str, ...]
    action: str
    title: str
    group: str
    footer: str = ""
    """The word in the footer; empty for keys that only help names."""

    @property
    def shown(self) -> str:
        """The keys as people know them."""
        return " ".join(_NAMES.get(key, key) for key in self.keys)


_NAMES = {
    "down": "Down",
    "up": "Up",
    "pagedown": "PgDn",
    "pageup": "PgUp",
    "home": "Home",
    "end": "End",
    "left": "Left",
    "right": "Right",
    "tab": "Tab",
    "enter": "Enter",
    "escape": "Esc",
    "space": "Space",
    "question_mark": "?",
    "ctrl+d": "Ctrl-D",
    "ctrl+u": "Ctrl-U",
    "ctrl+p": "Ctrl-P",
}

TIMELINE = (
    Key(("j", "down"), "move(1)", "next row", "Move", "step"),
    Key(("k", "up"), "move(-1)", "previous row", "Move"),
    Key(("pagedown", "ctrl+d"), "page(1)", "a page down", "Move"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page up", "Move"),
    Key(("g", "home"), "first", "first row", "Move"),
    Key(("G", "end"), "last", "last row", "Move"),
    Key(("p",), "parent", "parent checkpoint", "Jump", "parent"),
    Key(("n",), "child", "child: on the active path, else the newest", "Jump", "child"),
    Key(("a",), "active_leaf", "active leaf: where the agent would go on", "Jump", "leaf"),
    Key(("1",), "tab('changes')", "what changed here", "Inspector", "tabs"),
    Key(("2",), "tab('message')", "the message", "Inspector"),
    Key(("3",), "tab('state')", "the state after this checkpoint", "Inspector"),
    Key(("4",), "tab('meta')", "ids, time, place, tokens, findings", "Inspector"),
    Key(("5",), "tab('raw')", "the record as stored, escaped", "Inspector"),
    Key(("h", "left"), "next_tab(-1)", "previous tab; in the state fold", "Inspector"),
    Key(("l", "right"), "next_tab(1)", "next tab; in the state unfold", "Inspector"),
    Key(("enter", "space"), "open", "to the inspector; in the state fold or unfold", "Inspector"),
    Key(("tab",), "switch", "between tree and inspector, which j k scroll", "View", "pane"),
    Key(("escape",), "tree", "back to the tree", "View"),
    Key(("z",), "zoom", "the whole screen for this pane, or share it", "View", "zoom"),
    Key(("question_mark",), "help", "this help", "View", "help"),
    Key(("q",), "quit", "quit", "View", "quit"),
)

HELP = (
    Key(("j", "down"), "scroll(1)", "down", "Help"),
    Key(("k", "up"), "scroll(-1)", "up", "Help"),
    Key(("escape", "q", "question_mark"), "close", "close", "Help", "close"),
)

KEYS = (*TIMELINE, *HELP)


def bindings(table: tuple[Key, ...]) -> list[Binding]:
    """Give Textual's bindings for a table of keys."""
    return [
        Binding(
            ",".join(each.keys), each.action, each.title, show=False, priority="tab" in each.keys
        )
        for each in table
    ]
