"""The inspector: what a checkpoint changed, said, left as state, is, and is stored as."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tt_debugger.core.changes import change_json
from tt_debugger.core.folds import Fold
from tt_debugger.core.inspection import Exchange, Inspection
from tt_debugger.core.json import as_map
from tt_debugger.core.messages import messages_in
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.paths import dotted, pointer
from tt_debugger.core.search import Query
from tt_debugger.core.text import counted, safe_line
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StatePane, StateTree
from tt_debugger.tui.widgets.watch_pane import WatchPane
from tt_debugger.views.changes import change_lines
from tt_debugger.views.checkpoint import (
    finding_lines,
    meta_lines,
    rule_line,
    spent_on_path,
    title_line,
)
from tt_debugger.views.fold import fold_lines
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.raw import raw_lines
from tt_debugger.views.state import marks_of
from tt_debugger.views.values import json_text, message_text
from tt_debugger.views.watched import Seen

if TYPE_CHECKING:
    from tt_debugger.core.fork.made import Made

TABS = ("changes", "message", "state", "meta", "raw")
SCROLLS_KEPT = 512
AIRY = 16
"""Lines from which the parts of a tab stand apart."""


class Waiting(msgspec.Struct, frozen=True):
    """A checkpoint that is still being read: the index knows it already.

    `messages` are the last ones of its state, where they were sooner there than all of it.
    """

    session: Session
    row: int
    messages: tuple[Any, ...] = ()


class Said(msgspec.Struct, frozen=True):
    """A sentence in the place of a checkpoint: there is none, or it cannot be read."""

    text: str
    row: int | None = None
    is_error: bool = False


class Folded(msgspec.Struct, frozen=True):
    """A fold in the place of a checkpoint, with the rows that it hides."""

    session: Session
    fold: Fold
    rows: Sequence[int]
    reason: Inspection | None = None
    """The checkpoint that tells why the branch was left, once it is read."""


Shown = Waiting | Said | Folded | Inspection


class Copyable(msgspec.Struct, frozen=True):
    """What can be copied: a value as text, how to name it in few words, and its path.

    A value without a place in the state has an empty path.
    """

    value: str
    what: str
    path: str = ""
    pointer: str = ""


class TabBar(Widget):
    """The names of the tabs, the current one marked."""

    DEFAULT_CSS = "TabBar { height: 1; }"
    current = reactive("changes")
    is_marked = reactive(default=False)
    """Whether the keys go to the tab below."""

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self.palette = palette
        self.glyphs = glyphs

    class Chosen(Message):
        """A name was clicked."""

        def __init__(self, tab: str) -> None:
            super().__init__()
            self.tab = tab

    def _parts(self) -> list[tuple[str, str]]:
        """Give each tab with its text; where not all names fit, only the current one has its."""
        names = [(name, f" {number} {name.capitalize()} ") for number, name in enumerate(TABS, 1)]
        if sum(len(text) for _, text in names) >= self.size.width:
            names = [(name, text if name == self.current else text[:3]) for name, text in names]
        return [
            (name, f"[{text[1:-1]}]" if name == self.current else text) for name, text in names
        ]

    def render(self) -> Text:
        """Draw the names with their keys; the current one stands in brackets too."""
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(self.glyphs.cursor if self.is_marked else " ", self.palette.accent)
        for name, text in self._parts():
            line.append(text, self.palette.accent if name == self.current else self.palette.dim)
        return line

    def on_click(self, event: events.Click) -> None:
        """Tell which name was clicked."""
        end = 1
        for name, text in self._parts():
            end += len(text)
            if event.x < end:
                self.post_message(self.Chosen(name))
                return


class Tabs(ContentSwitcher):
    """The tabs, of which one is seen."""

    BLANK = True


class Inspector(Vertical):
    """Tabs over one checkpoint, or over a fold."""

    DEFAULT_CSS = """
    Inspector ContentSwitcher { height: 1fr; }
    Inspector Lines, Inspector StatePane { height: 1fr; }
    """
    tab = reactive("changes")

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._shown: Shown = Said("")
        self._filled: set[str] = set()
        self._query: Query | None = None
        self._is_revealing = False
        self._scrolls: OrderedDict[_Seen, int] = OrderedDict()
        self._spent: dict[int, Usage] = {}
        self._forks: Mapping[str, Sequence[Made]] = {}
        self._width = self._height = 0
        self._watched: Sequence[Seen] = ()

    def compose(self) -> ComposeResult:
        """Lay out the tab names over the tabs."""
        yield TabBar(self.palette, self.glyphs)
        with Tabs(initial="changes"):
            for name in TABS:
                if name == "state":
                    yield StatePane(self.palette, self.glyphs, id=name)
                else:
                    yield Lines(id=name)
        yield WatchPane(self.palette, self.glyphs)

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        """Show the tab whose name was clicked."""
        self.tab = message.tab

    def on_descendant_focus(self) -> None:
        """Mark the tab names: the keys go here now."""
        self.query_one(TabBar).is_marked = True

    def on_descendant_blur(self) -> None:
        """Take the mark away."""
        self.query_one(TabBar).is_marked = False

    def on_resize(self) -> None:
        """Lay out anew what was laid out for another width."""
        if self.size.width != self._width:
            self._width = self.size.width
            self._remember()
            self._filled.discard("changes")
            # Not before the pane below has its new width too.
            self.call_after_refresh(self._fill)
        if self.size.height != self._height:
            self._height = self.size.height
            self.tell_watched(self._watched)

    @property
    def shown(self) -> Shown:
        """What is shown."""
        return self._shown

    @property
    def row(self) -> int | None:
        """The row that is shown, of a fold the first one; None while it is waited for."""
        match self._shown:
            case Waiting():
                return None
            case Folded(fold=fold):
                return fold.first
            case Said(row=row) | Inspection(row=row):
                return row

    @property
    def pane(self) -> Lines | StateTree:
        """The tab that is seen."""
        if self.tab == "state":
            return self.state_tree
        return self._lines_of(self.tab)

    @property
    def state_tree(self) -> StateTree:
        """The tree of the state, seen or not."""
        return self.query_one("#state", StatePane).state_tree

    def _lines_of(self, tab: str) -> Lines:
        return self.query_one(f"#{tab}", Lines)

    def watch_tab(self, tab: str) -> None:
        """Show another tab, filled if it was not yet."""
        if not self.is_mounted:
            return
        had_focus = self.has_focus_within
        self.query_one(TabBar).current = tab
        self.query_one(ContentSwitcher).current = tab
        if had_focus:
            self.pane.focus()
        self._fill()

    def next_tab(self, step: int) -> None:
        """Go to a tab beside this one."""
        self.tab = TABS[(TABS.index(self.tab) + step) % len(TABS)]

    def to_next_change(self, step: int) -> bool:
        """Show the next changed leaf of the state, or the one before; False: there is none."""
        self.tab = "state"
        return self.state_tree.to_next_change(step)

    def update_from(self, shown: Shown) -> None:
        """Show another checkpoint, in the tab that is seen; the others when they are."""
        self._remember()
        if getattr(shown, "session", None) is not getattr(self._shown, "session", None):
            self._spent.clear()
        self._shown = shown
        self._filled.clear()
        self._fill()

    def _remember(self) -> None:
        """Keep how far each tab is scrolled, for when one comes back to this row."""
        for tab in self._filled - {"state"}:
            seen = _seen(self._shown, tab)
            if seen is not None:
                self._scrolls.pop(seen, None)
                top = self._lines_of(tab).scroll_offset.y
                if top:
                    self._scrolls[seen] = top
        while len(self._scrolls) > SCROLLS_KEPT:
            self._scrolls.popitem(last=False)

    def _fill(self) -> None:
        tab = self.tab
        # What was to be done after a refresh may come when the screen is already left.
        if tab in self._filled or not self.is_attached:
            return
        self._filled.add(tab)
        if tab == "state":
            self._fill_state()
            return
        seen = _seen(self._shown, tab)
        top = 0 if seen is None else self._scrolls.get(seen, 0)
        pane, lines = self._lines_of(tab), self._lines(self._shown, tab)
        if self._query is None:
            pane.update_from(lines, top)
            return
        pane.update_from(self._marked(lines, self._query), top)
        if self._is_revealing and isinstance(self._shown, Inspection):
            self._is_revealing = False
            pane.show_match(self._query)

    def mark(self, query: Query | None) -> None:
        """Mark what a search looks for, None for nothing."""
        self._remember()
        self._query = query
        self._filled.clear()
        self._fill()

    def tell_forks(self, forks: Mapping[str, Sequence[Made]]) -> None:
        """Tell which forks were made of the session, by the checkpoint they begin at."""
        self._remember()
        self._forks = forks
        self._filled.discard("meta")
        self._fill()

    def tell_watched(self, watched: Sequence[Seen]) -> None:
        """Tell what is watched at the checkpoint that is shown."""
        self._watched = watched
        self.watch_pane.update_from(watched, self.size.height)

    @property
    def watch_pane(self) -> WatchPane:
        """What is watched, below the tabs."""
        return self.query_one(WatchPane)

    def reveal(self) -> None:
        """Scroll to what is marked, in the checkpoint that is shown next."""
        self._is_revealing = True

    def _marked(self, lines: Iterable[Text], query: Query) -> Iterator[Text]:
        for line in lines:
            for begin, end in query.spans(line.plain):
                line.stylize(self.palette.found, begin, end)
            yield line

    def _fill_state(self) -> None:
        match self._shown:
            case Inspection() as seen:
                self.state_tree.update_from(seen.state, marks_of(seen.changes, seen.before))
            case Waiting():
                self.state_tree.say("reading", self.glyphs.ellipsis)
            case Folded(fold=fold):
                folded = counted(fold.count, "checkpoint")
                self.state_tree.say(f"{folded} folded here; unfold them to see their states")
            case Said(text=text):
                self.state_tree.say(text)

    def _lines(self, shown: Shown, tab: str) -> Iterable[Text]:
        match shown:
            case Said(text=text, is_error=is_error):
                style = self.palette.bad if is_error else self.palette.dim
                return [Text(safe_line(line), style) for line in text.split("\n")]
            case Folded(session=session, fold=fold, rows=rows, reason=reason):
                return fold_lines(session, fold, rows, self.palette, self.glyphs, reason)
            case Waiting():
                if tab == "meta":
                    return self._meta(shown)
                return self._waiting(shown)
            case Inspection():
                tabs = {"changes": self._changes, "message": self._message, "meta": self._meta}
                return tabs[tab](shown) if tab in tabs else self._raw(shown)

    def _raw(self, seen: Inspection) -> Iterator[Text]:
        return raw_lines(seen.raw, self.palette, seen.session.heads.length(seen.row))

    def _changes(self, seen: Inspection) -> Iterator[Text]:
        width = self._lines_of("changes").text_width
        gap = [Text()] if self.size.height >= AIRY else []
        yield title_line(seen.session, seen.row, self.palette)
        if seen.findings:
            yield from gap
            yield from finding_lines(seen.findings, self.palette)
        yield from gap
        changes = change_lines(
            seen.changes, seen.before, self.palette, self.glyphs, width=width, is_brief=True
        )
        first = next(changes, None)
        yield (
            Text("nothing in the state changed here", self.palette.dim) if first is None else first
        )
        yield from changes
        for message in messages_in(seen.changes):
            yield from gap
            yield rule_line("message", width, self.palette, self.glyphs)
            yield from self._message_lines(message, seen.exchanges)

    def _message(self, seen: Inspection) -> Iterator[Text]:
        messages = messages_in(seen.changes)
        if not messages:
            yield Text("no message here; 5 shows the record", self.palette.dim)
        for number, message in enumerate(messages):
            if number:
                yield Text()
            yield from self._message_lines(message, seen.exchanges)

    def _message_lines(
        self, message: dict[str, Any], exchanges: Sequence[Exchange] = ()
    ) -> Iterator[Text]:
        # The first rows of a session need not wait for it.
        from tt_debugger.views.message import message_lines

        return message_lines(message, self.palette, self.glyphs, exchanges, is_drawn=True)

    def _waiting(self, shown: Waiting) -> Iterator[Text]:
        yield title_line(shown.session, shown.row, self.palette)
        yield Text(f"reading {self.glyphs.ellipsis}", self.palette.dim)
        if shown.messages:
            yield Text()
            yield Text("the last messages up to here", self.palette.heading)
        for message in shown.messages:
            yield Text()
            yield from self._message_lines(as_map(message))

    def _meta(self, shown: Waiting | Inspection) -> Iterator[Text]:
        spent = spent_on_path(shown.session, shown.row, self._spent)
        commits = shown.commits if isinstance(shown, Inspection) else ()
        yield from meta_lines(shown.session, shown.row, self.palette, spent=spent, commits=commits)
        forks = self._forks.get(shown.session.ids[shown.row], ())
        if forks:
            from tt_debugger.views.fork import made_lines

            yield from made_lines(forks, self.palette)
        if isinstance(shown, Inspection) and shown.findings:
            yield Text()
            yield from finding_lines(shown.findings, self.palette)

    def copyable(self) -> Copyable | None:
        """Give what one would copy from the tab that is seen, None where it shows nothing."""
        match self._shown:
            case Inspection() as seen:
                return self._copyable_state() if self.tab == "state" else self._copyable_of(seen)
            case Said(text=text):
                return Copyable(text, _length(text)) if text else None
            case Folded(fold=fold) as shown:
                what = f"what {counted(fold.count, 'checkpoint')} hold"
                return Copyable(self._plain(shown), what)
            case Waiting(row=row) as shown:
                return Copyable(self._plain(shown), f"facts of checkpoint {row + 1}")

    def _copyable_of(self, seen: Inspection) -> Copyable:
        messages = messages_in(seen.changes)
        if self.tab == "changes":
            text = "\n".join(json_text(change_json(each), indent=0) for each in seen.changes)
            what = f"{counted(len(seen.changes), 'change')} as JSON"
        elif self.tab == "meta":
            text, what = self._plain(seen), "facts"
        elif self.tab == "message" and messages:
            text, what = "\n\n".join(map(message_text, messages)), "message"
        else:
            text, what = seen.raw.decode(errors="replace"), "record"
        return Copyable(text, f"{what} of checkpoint {seen.row + 1}, {_length(text)}")

    def _copyable_state(self) -> Copyable | None:
        path = self.state_tree.cursor_path
        if path is None:
            return None
        value = self.state_tree.cursor_value
        text = value if isinstance(value, str) else json_text(value)
        name = safe_line(dotted(path))
        return Copyable(text, f"{name}, {_length(text)}", dotted(path), pointer(path))

    def _plain(self, shown: Shown) -> str:
        return "\n".join(line.plain for line in self._lines(shown, "meta"))


_Seen = tuple[str, int, str]
"""A session, a row or the fold behind one, and a tab."""


def _seen(shown: Shown, tab: str) -> _Seen | None:
    match shown:
        case Inspection(session=session, row=row):
            return session.id, row, tab
        case Folded(session=session, fold=fold):
            return session.id, ~fold.head, tab
        case Waiting() | Said():
            return None


def _length(text: str) -> str:
    return counted(len(text), "character")
