"""The keys: one table from which bindings, footer, help and palette are made."""

from __future__ import annotations

from collections.abc import Mapping

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
    elsewhere: Mapping[str, str] = msgspec.field(default_factory=dict[str, str])
    """The word in the footer while another pane than the first has the keys, by its name."""

    @property
    def shown(self) -> str:
        """The keys as people know them."""
        return " ".join(map(key_name, self.keys))

    def told(self, *, is_off: bool) -> str:
        """Give what it does; in brackets where that cannot be done."""
        return f"({self.title})" if is_off else self.title


def key_name(key: str) -> str:
    """Give a key as people know it."""
    return _NAMES.get(key, key)


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
    "comma": ",",
    "full_stop": ".",
    "slash": "/",
    "colon": ":",
    "apostrophe": "'",
    "question_mark": "?",
    "vertical_line": "|",
    "plus": "+",
    "minus": "-",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "alt+left": "Alt-Left",
    "alt+right": "Alt-Right",
    "ctrl+c": "Ctrl-C",
    "ctrl+b": "Ctrl-B",
    "ctrl+d": "Ctrl-D",
    "ctrl+g": "Ctrl-G",
    "ctrl+n": "Ctrl-N",
    "ctrl+o": "Ctrl-O",
    "ctrl+p": "Ctrl-P",
    "ctrl+s": "Ctrl-S",
    "ctrl+t": "Ctrl-T",
    "ctrl+u": "Ctrl-U",
    "shift+tab": "Shift-Tab",
}

_SIBLING = "jump('branch', 1)"
_FORK_POINT = "jump('fork point', 1)"

_DOWN = {"lines": "down", "state": "down", "graph": "next mark"}
_UP = {"lines": "up", "graph": "mark before"}
_BACK = {"lines": "tab before", "state": "fold"}
_ON = {"lines": "next tab", "state": "unfold"}
_OPEN = {"state": "open", "graph": "to the tree"}
_CHANGE = {"state": "next change"}
_PANE = {"lines": "pane", "state": "pane"}
_ZOOM = {"lines": "zoom"}
_COPY = {"lines": "copy", "state": "copy"}
_DIFF = {"lines": "diff", "state": "diff"}
_WATCH = {"state": "watch"}
_LAST_CHANGE = {"state": "last change"}
_BLAME = {"state": "blame"}
_SEARCH = {"lines": "search"}
_TREE = {"lines": "to the tree", "state": "to the tree", "graph": "to the tree"}
_HELP = {"lines": "help", "state": "help", "graph": "help"}
_QUIT = {"lines": "quit", "state": "quit", "graph": "quit"}

TIMELINE = (
    Key(("j", "down"), "move(1)", "next row", "Move", "down", _DOWN),
    Key(("k", "up"), "move(-1)", "previous row", "Move", "", _UP),
    Key(("pagedown", "ctrl+d"), "page(1)", "a page down", "Move"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page up", "Move"),
    Key(("g", "home"), "first", "first row", "Move"),
    Key(("G", "end"), "last", "last row", "Move"),
    Key(("K", "p"), "jump('parent', -1)", "parent checkpoint", "Jump"),
    Key(("J",), "jump('child', 1)", "child: on the active path, else the newest", "Jump"),
    Key(
        ("left_square_bracket",),
        "jump('branch', -1)",
        "previous sibling branch, else one above",
        "Jump",
    ),
    Key(
        ("right_square_bracket",),
        _SIBLING,
        "next sibling branch, else one below",
        "Jump",
        "branch",
    ),
    Key(("left_curly_bracket",), "jump('fork point', -1)", "fork point above", "Jump"),
    Key(("right_curly_bracket",), "jump('fork point', 1)", "fork point below", "Jump"),
    Key(("e",), "jump('error', 1)", "next error", "Jump", "error"),
    Key(("E",), "jump('error', -1)", "previous error", "Jump"),
    Key(
        ("c",),
        "jump('compaction', 1)",
        "next compaction; in the state change",
        "Jump",
        "",
        _CHANGE,
    ),
    Key(
        ("C",),
        "jump('compaction', -1)",
        "previous compaction, or change",
        "Jump",
    ),
    Key(("u",), "jump('message of the user', 1)", "next message of the user", "Jump"),
    Key(("U",), "jump('message of the user', -1)", "previous message of the user", "Jump"),
    Key(("a",), "jump('active leaf', 1)", "active leaf: where the agent would go on", "Jump"),
    Key(("A",), "jump('leaf', 1)", "leaf of this branch", "Jump"),
    Key(("colon",), "go_to", "go to a ref: an id, label=, row=, @~3 ...", "Jump", "go to"),
    Key(("alt+left", "ctrl+o"), "back", "back to where one was", "Jump"),
    Key(("alt+right",), "forward", "forward again", "Jump"),
    Key(
        ("slash",),
        "search",
        "search all that was said, or: when CONDITION",
        "Find",
        "search",
        _SEARCH,
    ),
    Key(("n",), "found(1)", "next match", "Find"),
    Key(("N",), "found(-1)", "previous match", "Find"),
    Key(("m",), "mark", "mark this row with a letter", "Find"),
    Key(("apostrophe",), "to_mark", "go to a mark; ' again: back", "Find"),
    Key(("v",), "filter", "choose which rows are shown", "Rows", "filter"),
    Key(("V",), "next_filter", "next filter", "Rows"),
    Key(
        ("h", "left"),
        "fold",
        "fold branch or run; in the inspector previous tab",
        "Rows",
        "",
        _BACK,
    ),
    Key(("l", "right"), "unfold", "unfold; in the inspector next tab", "Rows", "unfold", _ON),
    Key(("H",), "fold_all", "fold everything", "Rows"),
    Key(("L",), "unfold_all", "unfold everything", "Rows"),
    Key(("B",), "bisect", "bisect: the first bad row, or where a condition holds", "Bisect"),
    Key(("plus",), "judge('bad')", "this row is bad", "Bisect"),
    Key(("minus",), "judge('good')", "this row is good", "Bisect"),
    Key(("0",), "judge('skip')", "it cannot be told of this row", "Bisect"),
    Key(("f",), "fork", "fork from here: a new branch that the agent resumes", "Fork", "fork"),
    Key(("Z",), "undo", "the forks that ttdbg made, to undo one", "Fork"),
    Key(("1",), "tab('changes')", "what changed here", "Inspector"),
    Key(("2",), "tab('message')", "the message, a call with its result", "Inspector"),
    Key(("3",), "tab('state')", "the state after this checkpoint", "Inspector"),
    Key(("4",), "tab('meta')", "ids, time, place, tokens, findings", "Inspector"),
    Key(("5",), "tab('raw')", "the record as stored, escaped", "Inspector"),
    Key(("comma",), "next_tab(-1)", "previous tab", "Inspector"),
    Key(("full_stop",), "next_tab(1)", "next tab", "Inspector"),
    Key(
        ("tab",),
        "switch",
        "between tree and inspector, which j k scroll",
        "Inspector",
        "pane",
        _PANE,
    ),
    Key(
        ("enter", "space"),
        "open",
        "open: a fold, a subagent, the inspector, a value",
        "Inspector",
        "",
        _OPEN,
    ),
    Key(("z",), "zoom", "the whole screen for this pane, or share it", "Inspector", "zoom", _ZOOM),
    Key(("y",), "copy", "copy: value, path, ref or command", "Inspector", "copy", _COPY),
    Key(
        ("w",),
        "watch",
        "watch this value; in the tree a path or a condition",
        "Watch",
        "watch",
        _WATCH,
    ),
    Key(
        ("r",),
        "change(-1)",
        "last change of what is watched; in the state of this",
        "Watch",
        "last change",
        _LAST_CHANGE,
    ),
    Key(("R",), "change(1)", "next change of it", "Watch"),
    Key(("W",), "watches", "what is watched: by which r R go, what no longer", "Watch"),
    Key(("vertical_line",), "column", "the watched value in the tree, or not", "Watch"),
    Key(
        ("b",),
        "blame",
        "in the state: to the row that last wrote this value",
        "Blame",
        "",
        _BLAME,
    ),
    Key(("O",), "origin", "in the state: to where this text was first said", "Blame"),
    Key(("i",), "gutter", "in the state: the row that wrote each line, or not", "Blame"),
    Key(
        ("d",),
        "diff",
        "compare with: d parent, @ active leaf, ' mark, : a ref",
        "Compare",
        "diff",
        _DIFF,
    ),
    Key(("D",), "compare_again", "back to the comparison one came from", "Compare"),
    Key(("x",), "export", "export the branch that ends here, or the state", "Compare", "export"),
    Key(("F",), "follow", "follow what is written, or stop to", "View"),
    Key(("s",), "scrubber", "the graph at the top: its marks are told, h l step", "View"),
    Key(("escape",), "tree", "back to the tree; forget the search", "View", "", _TREE),
    Key(("t",), "stats", "statistics: tokens, cost, time, errors, loops", "View"),
    Key(("o",), "sessions", "other sessions here", "View"),
    Key(("T",), "theme", "choose a theme", "View"),
    Key(("ctrl+p",), "palette", "all commands by name", "View"),
    Key(("question_mark",), "help", "this help", "View", "help", _HELP),
    Key(("q",), "quit", "back to the sessions, or quit", "View", "quit", _QUIT),
    Key(("ctrl+c",), "app.leave", "quit at once", "View"),
)

SESSIONS = (
    Key(("j", "down"), "move(1)", "next session", "Move", "down"),
    Key(("k", "up"), "move(-1)", "previous session", "Move", "up"),
    Key(("pagedown", "ctrl+d"), "page(1)", "a page down", "Move"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page up", "Move"),
    Key(("g", "home"), "first", "first session", "Move"),
    Key(("G", "end"), "last", "last session", "Move"),
    Key(("enter",), "open", "open the session", "Sessions", "open"),
    Key(
        ("slash",),
        "search",
        "search all that was said; Enter opens where it was",
        "Sessions",
        "search",
    ),
    Key(("f",), "filter", "filter: Enter keeps it, Esc takes it away", "Sessions", "filter"),
    Key(("escape",), "clear", "take filter or search away; back to the list", "Sessions"),
    Key(("p",), "group", "by project and agent, or all in one list", "Sessions", "projects"),
    Key(("s",), "sort", "sort by the next column", "Sessions", "sort"),
    Key(("S",), "reverse", "sort the other way round", "Sessions", "reverse"),
    Key(("r",), "rescan", "look again for sessions", "Sessions", "rescan"),
    Key(("tab",), "switch", "between list and preview, which j k scroll", "View", "pane"),
    Key(("question_mark",), "help", "this help", "View", "help"),
    Key(("T",), "theme", "choose a theme", "View"),
    Key(("ctrl+p",), "palette", "all commands by name", "View"),
    Key(("q",), "quit", "back to the session, or quit", "View", "quit"),
    Key(("ctrl+c",), "app.leave", "quit at once", "View"),
)

COMPARE = (
    Key(("j", "down"), "move(1)", "next line", "Move"),
    Key(("k", "up"), "move(-1)", "previous line", "Move"),
    Key(("pagedown", "ctrl+d"), "page(1)", "a page down", "Move"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page up", "Move"),
    Key(("g", "home"), "first", "first line", "Move"),
    Key(("G", "end"), "last", "last line", "Move"),
    Key(("n",), "change(1)", "next change", "Move", "next"),
    Key(("N",), "change(-1)", "previous change", "Move", "previous"),
    Key(
        ("enter", "space"),
        "open",
        "open what is folded; on a message go to its checkpoint",
        "Compare",
        "open",
    ),
    Key(("l", "right"), "unfold", "show all of this message or stretch", "Compare"),
    Key(("h", "left"), "fold", "fold it again", "Compare"),
    Key(("i",), "masks", "compare what is masked too, or mask it again", "Compare", "masks"),
    Key(
        ("u",),
        "uncompacted",
        "all that was ever said, or what is in the context",
        "Compare",
    ),
    Key(("o",), "swap", "the other way round: A and B change places", "Compare"),
    Key(("y",), "copy", "copy: line, message or command", "Compare"),
    Key(("x",), "export", "export the comparison", "Compare", "export"),
    Key(("s",), "layout", "side by side, or one below the other", "View", "layout"),
    Key(("T",), "theme", "choose a theme", "View"),
    Key(("ctrl+p",), "palette", "all commands by name", "View"),
    Key(("question_mark",), "help", "this help", "View", "help"),
    Key(("q", "escape"), "quit", "back to the session", "View", "back"),
    Key(("ctrl+c",), "app.leave", "quit at once", "View"),
)

STATS = (
    Key(("j", "down"), "move(1)", "next line", "Statistics", "down"),
    Key(("k", "up"), "move(-1)", "previous line", "Statistics", "up"),
    Key(("pagedown", "ctrl+d"), "page(1)", "a page down", "Statistics"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page up", "Statistics"),
    Key(("g", "home"), "first", "first line", "Statistics"),
    Key(("G", "end"), "last", "last line", "Statistics"),
    Key(
        ("enter",),
        "open",
        "go to the branch, the longest call or the loop",
        "Statistics",
        "go to",
    ),
    Key(("T",), "theme", "choose a theme", "View"),
    Key(("ctrl+p",), "palette", "all commands by name", "View"),
    Key(("question_mark",), "help", "this help", "View", "help"),
    Key(("q", "escape", "t"), "quit", "back to the session", "View", "back"),
    Key(("ctrl+c",), "app.leave", "quit at once", "View"),
)

HELP = (
    Key(("j", "down"), "scroll(1)", "down", "Help", "down"),
    Key(("k", "up"), "scroll(-1)", "up", "Help", "up"),
    Key(("pagedown", "space"), "page(1)", "a page down", "Help"),
    Key(("pageup",), "page(-1)", "a page up", "Help"),
    Key(("escape", "q", "question_mark", "enter"), "close", "close", "Help", "close"),
)

CHOOSER = (
    Key(("down", "ctrl+n"), "move(1)", "next", "Choose", "next"),
    Key(("up",), "move(-1)", "previous", "Choose", "previous"),
    Key(("pagedown",), "move(10)", "ten on", "Choose"),
    Key(("pageup",), "move(-10)", "ten back", "Choose"),
    Key(("tab",), "complete", "complete what is typed", "Choose"),
    Key(("enter",), "take", "take it", "Choose", "take"),
    Key(("escape",), "close", "close", "Choose", "close"),
)

EXPORT = (
    Key(("j", "down"), "move(1)", "next form", "Export", "next"),
    Key(("k", "up"), "move(-1)", "previous form", "Export", "previous"),
    Key(("pagedown", "space", "ctrl+d"), "page(1)", "a page of it down", "Export", "scroll"),
    Key(("pageup", "ctrl+u"), "page(-1)", "a page of it up", "Export"),
    Key(("s",), "structure", "leave all content out, or take it in", "Export", "structure only"),
    Key(("enter",), "take", "write it: asks where", "Export", "write"),
    Key(("escape", "q"), "close", "close, and write nothing", "Export", "close"),
)

FORK = (
    Key(("1",), "way('unchanged')", "go on from here as it is", "What is otherwise"),
    Key(("2",), "way('say more')", "add a message of the user", "What is otherwise"),
    Key(
        ("3",),
        "way('say instead')",
        "another message in place of this one of the user",
        "What is otherwise",
    ),
    Key(("4",), "way('message')", "edit the message of this checkpoint", "What is otherwise"),
    Key(("5",), "way('state')", "edit the state as JSON", "What is otherwise"),
    Key(("6",), "way('paths')", "edit places of the state: PATH=JSON", "What is otherwise"),
    Key(("left", "h"), "beside(-1)", "the one before", "What is otherwise"),
    Key(("right", "l"), "beside(1)", "the next one", "What is otherwise"),
    Key(("tab",), "field(1)", "the next field", "Fork", "next field"),
    Key(("shift+tab",), "field(-1)", "the field before", "Fork"),
    Key(("enter",), "enter", "into the field; on a button do it", "Fork"),
    Key(("ctrl+s",), "write", "write the fork", "Fork", "write it"),
    Key(("ctrl+g",), "editor", "edit the text in $EDITOR", "Fork", "$EDITOR"),
    Key(
        ("ctrl+b",), "in_place", "in the session itself, or in one of its own", "Fork", "in place"
    ),
    Key(("ctrl+t",), "target", "write it to another place", "Fork", "to"),
    Key(("ctrl+o",), "agent", "let another agent go on from it", "Fork", "agent"),
    Key(("pagedown",), "page(1)", "a page of the preview down", "Fork", "scroll"),
    Key(("pageup",), "page(-1)", "a page of the preview up", "Fork"),
    Key(("down", "j"), "scroll(1)", "in the preview: a line down", "Fork"),
    Key(("up", "k"), "scroll(-1)", "in the preview: a line up", "Fork"),
    Key(("question_mark",), "help", "this help", "Fork", "help"),
    Key(
        ("escape",),
        "close",
        "out of the field; there: cancel, nothing is written",
        "Fork",
        "cancel",
    ),
    Key(("ctrl+c",), "app.leave", "quit at once", "Fork"),
)

FORKED = (
    Key(("enter", "o"), "open", "open the fork", "Fork", "open it"),
    Key(("y",), "copy", "copy the command to go on from it", "Fork", "copy the command"),
    Key(("U",), "undo", "undo it", "Fork", "undo"),
    Key(("escape", "q"), "close", "back to the original", "Fork", "back"),
)

UNDO = (
    Key(("j", "down"), "move(1)", "next fork", "Undo", "next"),
    Key(("k", "up"), "move(-1)", "previous fork", "Undo", "previous"),
    Key(("pagedown", "ctrl+d"), "move(10)", "ten on", "Undo"),
    Key(("pageup", "ctrl+u"), "move(-10)", "ten back", "Undo"),
    Key(("enter",), "take", "undo it: asks first", "Undo", "undo it"),
    Key(("y",), "copy", "copy the command to go on from it", "Undo", "copy the command"),
    Key(("o",), "open", "open the fork", "Undo", "open it"),
    Key(("escape", "q"), "close", "close", "Undo", "close"),
)

DIALOG = (Key(("escape", "enter", "q", "space"), "close", "close", "Dialog", "close"),)


KEYS = (
    *TIMELINE,
    *SESSIONS,
    *COMPARE,
    *STATS,
    *HELP,
    *CHOOSER,
    *EXPORT,
    *FORK,
    *FORKED,
    *UNDO,
    *DIALOG,
)


def bindings(table: tuple[Key, ...], *, types: bool = True) -> list[Binding]:
    """Give Textual's bindings for a table of keys.

    On a screen where nobody `types` all of them come before what has the focus: each key is done
    before the next is looked at, so that what follows a `:` is typed where that leads. Else only
    those do that a focused widget or Textual itself would take.
    """
    return [
        Binding(key, each.action, each.title, show=False, priority=not types or key in _FIRST)
        for each in table
        for key in each.keys
    ]


_FIRST = frozenset(
    ("tab", "shift+tab", "escape", "enter", "up", "down", "pageup", "pagedown", "ctrl+c", "ctrl+p")
)
