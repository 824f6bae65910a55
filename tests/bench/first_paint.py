"""A widget with much in it, by itself: the seconds from being told until what it says is painted.

python -m bench.first_paint NAME COUNT
"""

from __future__ import annotations

import sys
from time import perf_counter
from typing import ClassVar

from bench.sessions import session_in_memory, state_of
from rich.console import RenderableType
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.widgets import Tree

from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.outline import outline
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.palette import ANSI, UNICODE
from tt_debugger.views.row import RowView
from tt_debugger.views.state import Marks


class FirstPaint(App[float]):
    """An app of one widget, which ends with the seconds once a frame holds the wanted text."""

    wanted: ClassVar[str]

    def __init__(self, count: int) -> None:
        super().__init__()
        self._began = 0.0
        self.prepare(count)

    def prepare(self, count: int) -> None:
        """Make what is shown; not timed."""

    def fill(self) -> None:
        """Tell the widget what to show."""

    def on_mount(self) -> None:
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        self._began = perf_counter()
        self.fill()

    def _display(self, screen: Screen[object], renderable: RenderableType | None) -> None:
        super()._display(screen, renderable)
        # Without a terminal a frame is not made into text, so that is done and timed here.
        if self._began and isinstance(renderable, CompositorUpdate):
            painted = renderable.render_segments(self.console)
            if self.wanted in painted:
                self.exit(perf_counter() - self._began)


class OurTree(FirstPaint):
    """The tree of a session: outline and lanes included, and whatever they need of the session."""

    wanted = "0 the parser reads"

    def prepare(self, count: int) -> None:
        self._session = session_in_memory(count)

    def compose(self) -> ComposeResult:
        yield CheckpointTree()

    def fill(self) -> None:
        lines = outline(self._session, folding=Folding(FoldRule.NOTHING))
        view = RowView(ANSI, UNICODE, len(str(len(self._session))))
        self.query_one(CheckpointTree).update_from(self._session, lines, view, 0)


class OurKnownTree(OurTree):
    """The same where the session's columns are worked out, as the loader leaves them."""

    def prepare(self, count: int) -> None:
        super().prepare(count)
        _ = self._session.context_sizes
        outline(self._session)


class StockTree(FirstPaint):
    """The stock tree with a plain label for each row."""

    wanted = "0 the parser reads"

    def prepare(self, count: int) -> None:
        self._labels = [f"{row} the parser reads each line" for row in range(count)]

    def compose(self) -> ComposeResult:
        yield Tree("session")

    def fill(self) -> None:
        root = self.query_one(Tree).root
        for row, label in enumerate(self._labels):
            root.add_leaf(label, data=row)
        root.expand()


class OurState(FirstPaint):
    """A state with its messages unfolded."""

    wanted = "toolResult"

    def prepare(self, count: int) -> None:
        self._state = state_of(count)

    def compose(self) -> ComposeResult:
        yield StateTree(ANSI, UNICODE)

    def fill(self) -> None:
        tree = self.query_one(StateTree)
        tree.update_from(self._state, Marks())
        tree.unfold()


class StockState(FirstPaint):
    """The same state as a stock tree of JSON, its messages expanded."""

    wanted = "{} 3"

    def prepare(self, count: int) -> None:
        self._state = state_of(count)

    def compose(self) -> ComposeResult:
        yield Tree("state")

    def fill(self) -> None:
        tree = self.query_one(Tree)
        tree.add_json(self._state)
        tree.root.expand()
        for node in tree.root.children:
            node.expand()
            for inner in node.children:
                inner.expand()


WIDGETS = {
    "our-tree": OurTree,
    "our-known-tree": OurKnownTree,
    "stock-tree": StockTree,
    "our-state": OurState,
    "stock-state": StockState,
}

if __name__ == "__main__":
    seconds = WIDGETS[sys.argv[1]](int(sys.argv[2])).run(headless=True, size=(160, 50))
    sys.stdout.write(f"{seconds}\n")
