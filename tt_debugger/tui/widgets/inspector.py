"""The inspector: what a checkpoint changed, said, left as state, is, and is stored as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tt_debugger.core.changes import written_paths
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Session
from tt_debugger.core.text import safe_line
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.changes import change_lines
from tt_debugger.views.checkpoint import finding_lines, meta_lines, title_line
from tt_debugger.views.message import message_lines, messages_in
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.raw import raw_lines

TABS = ("changes", "message", "state", "meta", "raw")


class Waiting(msgspec.Struct, frozen=True):
    """A checkpoint that is still being read: the index knows it already."""

    session: Session
    row: int


class Said(msgspec.Struct, frozen=True):
    """A sentence in the place of a checkpoint: there is none, or it cannot be read."""

    text: str
    row: int | None = None
    is_error: bool = False


Shown = Waiting | Said | Inspection


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


class Inspector(Vertical):
    """Tabs over one checkpoint."""

    DEFAULT_CSS = """
    Inspector ContentSwitcher { height: 1fr; }
    Inspector Lines, Inspector StateTree { height: 1fr; padding-right: 1; }
    """
    tab = reactive("changes")

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._shown: Shown = Said("")
        self._filled: set[str] = set()

    def compose(self) -> ComposeResult:
        """Lay out the tab names over the tabs."""
        yield TabBar(self.palette, self.glyphs)
        with ContentSwitcher(initial="changes"):
            for name in TABS:
                if name == "state":
                    yield StateTree(self.palette, self.glyphs, id=name)
                else:
                    yield Lines(id=name)

    def on_tab_bar_chosen(self, message: TabBar.Chosen) -> None:
        """Show the tab whose name was clicked."""
        self.tab = message.tab

    def on_descendant_focus(self) -> None:
        """Mark the tab names: the keys go here now."""
        self.query_one(TabBar).is_marked = True

    def on_descendant_blur(self) -> None:
        """Take the mark away."""
        self.query_one(TabBar).is_marked = False

    @property
    def row(self) -> int | None:
        """The row that is shown, None while it is waited for."""
        return None if isinstance(self._shown, Waiting) else self._shown.row

    @property
    def pane(self) -> Lines | StateTree:
        """The tab that is seen."""
        if self.tab == "state":
            return self.query_one("#state", StateTree)
        return self.query_one(f"#{self.tab}", Lines)

    def watch_tab(self, tab: str) -> None:
        """Show another tab, filled if it was not yet."""
        if not self.is_mounted:
            return
        had_focus = any(self.query(f"#{name}").first().has_focus for name in TABS)
        self.query_one(TabBar).current = tab
        self.query_one(ContentSwitcher).current = tab
        if had_focus:
            self.pane.focus()
        self._fill()

    def next_tab(self, step: int) -> None:
        """Go to a tab beside this one."""
        self.tab = TABS[(TABS.index(self.tab) + step) % len(TABS)]

    def update_from(self, shown: Shown) -> None:
        """Show another checkpoint, in the tab that is seen; the others when they are."""
        self._shown = shown
        self._filled.clear()
        self._fill()

    def _fill(self) -> None:
        if self.tab in self._filled:
            return
        self._filled.add(self.tab)
        if self.tab != "state":
            self.query_one(f"#{self.tab}", Lines).update_from(self._lines(self._shown))
            return
        state = self.query_one("#state", StateTree)
        match self._shown:
            case Inspection() as seen:
                state.update_from(seen.state, written_paths(seen.changes, seen.before))
            case Waiting():
                state.update_from({self.glyphs.ellipsis: "reading"}, ())
            case Said(text=text):
                state.update_from({"": text} if text else None, ())

    def _lines(self, shown: Shown) -> Iterable[Text]:
        match shown, self.tab:
            case Said(text=text, is_error=is_error), _:
                return [Text(safe_line(text), self.palette.bad if is_error else self.palette.dim)]
            case ((Waiting() | Inspection()), "meta"):
                return self._meta(shown)
            case Waiting(session=session, row=row), _:
                waiting = Text(f"reading {self.glyphs.ellipsis}", self.palette.dim)
                return [title_line(session, row, self.palette), waiting]
            case Inspection(), "changes":
                return self._changes(shown)
            case Inspection(), "message":
                return self._message(shown)
            case Inspection(raw=raw), _:
                return raw_lines(raw, self.palette)

    def _changes(self, seen: Inspection) -> Iterator[Text]:
        yield title_line(seen.session, seen.row, self.palette)
        yield from finding_lines(seen.findings, self.palette)
        changed = False
        for line in change_lines(seen.changes, seen.before, self.palette, self.glyphs):
            changed = True
            yield line
        if not changed:
            yield Text("nothing in the state changed here", self.palette.dim)
        for message in messages_in(seen.changes):
            yield Text(f"{self.glyphs.line * 2} message", self.palette.dim)
            yield from message_lines(message, self.palette, self.glyphs)

    def _message(self, seen: Inspection) -> Iterator[Text]:
        messages = messages_in(seen.changes)
        if not messages:
            yield Text("no message here; 5 shows the record", self.palette.dim)
        for number, message in enumerate(messages):
            if number:
                yield Text()
            yield from message_lines(message, self.palette, self.glyphs)

    def _meta(self, shown: Waiting | Inspection) -> Iterator[Text]:
        yield from meta_lines(shown.session, shown.row, self.palette)
        if isinstance(shown, Inspection):
            yield from finding_lines(shown.findings, self.palette)
