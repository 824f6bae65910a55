"""The inspector: what a checkpoint changed, said, left as state, is, and is stored as."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from tt_debugger.core.changes import Append, Change
from tt_debugger.core.findings import Finding
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Session
from tt_debugger.core.paths import Path, value_at
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.changes import change_lines
from tt_debugger.views.checkpoint import finding_lines, meta_lines, title_line
from tt_debugger.views.message import message_lines, messages_in
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.raw import raw_lines
from tt_debugger.views.values import preview

TABS = ("changes", "message", "state", "meta", "raw")


class Inspected(msgspec.Struct, frozen=True):
    """What the inspector shows of one checkpoint. `before` is the state before it."""

    session: Session
    row: int
    changes: tuple[Change, ...]
    before: Any
    state: Any
    raw: bytes
    findings: tuple[Finding, ...]


class TabBar(Widget):
    """The names of the tabs, the current one marked."""

    DEFAULT_CSS = "TabBar { height: 1; }"
    current = reactive("changes")

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette

    def render(self) -> Text:
        """Draw the names with their keys; the current one stands in brackets too."""
        line = Text(no_wrap=True, overflow="ellipsis")
        for number, name in enumerate(TABS, 1):
            if name == self.current:
                line.append(f"[{name.capitalize()}]", self.palette.accent)
            else:
                line.append(f" {name.capitalize()} ", self.palette.dim)
            line.append(f"{number} ", self.palette.dim)
        return line


class Inspector(Vertical):
    """Tabs over one checkpoint."""

    DEFAULT_CSS = """
    Inspector ContentSwitcher { height: 1fr; }
    Inspector Lines, Inspector StateTree { height: 1fr; padding-right: 1; }
    """
    tab = reactive("changes")

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.palette = palette
        self.glyphs = glyphs
        self._shown: Inspected | None = None
        self._filled: set[str] = set()

    def compose(self) -> ComposeResult:
        """Lay out the tab names over the tabs."""
        yield TabBar(self.palette)
        with ContentSwitcher(initial="changes"):
            for name in TABS:
                yield StateTree(id=name) if name == "state" else Lines(id=name)

    @property
    def row(self) -> int | None:
        """The row that is shown, None while it is waited for."""
        return None if self._shown is None else self._shown.row

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

    def update_from(self, shown: Inspected) -> None:
        """Show another checkpoint, in the tab that is seen; the others when they are."""
        self._shown = shown
        self._filled.clear()
        self._fill()

    def wait_for(self, session: Session, row: int) -> None:
        """Show what the index knows of a checkpoint while the rest is on its way."""
        self._shown = None
        self._filled.clear()
        waiting = Text(f"reading {self.glyphs.ellipsis}", self.palette.dim)
        lines = [title_line(session, row, self.palette), Text(), waiting]
        if self.tab == "meta":
            lines = list(meta_lines(session, row, self.palette))
        if self.tab != "state":
            self.query_one(f"#{self.tab}", Lines).update_from(lines)

    def fail(self, text: str) -> None:
        """Show why a checkpoint cannot be shown."""
        self._shown = None
        self.query_one("#changes", Lines).update_from([Text(text, self.palette.bad)])

    def _fill(self) -> None:
        shown = self._shown
        if shown is None or self.tab in self._filled:
            return
        self._filled.add(self.tab)
        if self.tab == "state":
            paths = [_written(change, shown) for change in shown.changes]
            self.query_one("#state", StateTree).update_from(
                shown.state, paths, self.palette, self.glyphs
            )
        else:
            self.query_one(f"#{self.tab}", Lines).update_from(self._lines(shown))

    def _lines(self, shown: Inspected) -> Iterable[Text]:
        match self.tab:
            case "changes":
                return self._changes(shown)
            case "message":
                return self._message(shown)
            case "meta":
                return self._meta(shown)
            case _:
                return raw_lines(shown.raw, self.palette)

    def _changes(self, shown: Inspected) -> Iterator[Text]:
        yield title_line(shown.session, shown.row, self.palette)
        yield from finding_lines(shown.findings, self.palette)
        yield Text()
        changed = False
        for line in change_lines(shown.changes, shown.before, self.palette, self.glyphs):
            changed = True
            yield line
        if not changed:
            yield Text("nothing in the state changed here", self.palette.dim)
        for message in messages_in(shown.changes):
            yield Text()
            yield Text(f"{self.glyphs.line * 2} message", self.palette.dim)
            yield from message_lines(message, self.palette, self.glyphs)

    def _message(self, shown: Inspected) -> Iterator[Text]:
        messages = messages_in(shown.changes)
        if not messages:
            summary = shown.session.heads[shown.row].summary
            yield Text("no message here", self.palette.dim)
            yield Text(preview(summary)[1:-1] if summary else "")
        for number, message in enumerate(messages):
            if number:
                yield Text()
            yield from message_lines(message, self.palette, self.glyphs)

    def _meta(self, shown: Inspected) -> Iterator[Text]:
        yield from meta_lines(shown.session, shown.row, self.palette)
        yield from finding_lines(shown.findings, self.palette)


def _written(change: Change, shown: Inspected) -> Path:
    """Give the path that a change wrote, down to the new item of a list."""
    if isinstance(change, Append):
        length = len(as_list(value_at(shown.state, change.path)))
        return (*change.path, length - 1)
    return change.path
