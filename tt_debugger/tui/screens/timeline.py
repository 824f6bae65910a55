"""The Timeline: the tree of a session and, beside or below it, the inspector."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from pathlib import PurePath
from threading import Thread

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from tt_debugger.core.model import Session
from tt_debugger.core.outline import Outline
from tt_debugger.core.refs import Fragment
from tt_debugger.core.tree import NO_ROW
from tt_debugger.tui.keys import TIMELINE, bindings
from tt_debugger.tui.loader import (
    InspectFailed,
    Loader,
    Opened,
    OpenFailed,
    Opening,
    RowInspected,
)
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.inspector import Inspector, Said, Waiting
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView
from tt_debugger.views.values import counted

Pane = CheckpointTree | StateTree | Lines
WIDE = 100
"""Columns from which the inspector stands beside the tree."""


class TimelineScreen(Screen[None]):
    """The main screen."""

    CSS_PATH = "timeline.tcss"
    BINDINGS = bindings(TIMELINE)
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (WIDE, "wide")]  # noqa: RUF012 - typed above

    def __init__(
        self, location: str, fragment: Fragment, palette: Palette, glyphs: Glyphs
    ) -> None:
        super().__init__()
        self._location = location
        self._palette = palette
        self._glyphs = glyphs
        self._session: Session | None = None
        self._outline: Outline | None = None
        self._facts: tuple[str, ...] = ("", location)
        self._wanted = NO_ROW
        self.loader = Loader(self, location, fragment)

    def compose(self) -> ComposeResult:
        """Lay out bars, tree and inspector."""
        yield TopBar(self._palette)
        with Container(id="panes"):
            yield CheckpointTree(id="tree")
            yield Inspector(self._palette, self._glyphs, id="inspector")
        yield BottomBar(TIMELINE, self._palette)

    def on_mount(self) -> None:
        """Begin to read."""
        self.tree_pane.on_cursor = self._show
        self.tree_pane.focus()
        self.query_one(TopBar).update_from(self._facts, "reading")
        self.loader.open()

    def on_unmount(self) -> None:
        """Let go of the session; not here, where a worker that still reads would be waited for."""
        self.loader.stop()
        Thread(target=self.loader.close, daemon=True).start()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        if self._outline is None:
            return False
        return not self._outline.rows or self.inspector.row == self._wanted

    @property
    def tree_pane(self) -> CheckpointTree:
        """The tree."""
        return self.query_one(CheckpointTree)

    @property
    def inspector(self) -> Inspector:
        """The inspector."""
        return self.query_one(Inspector)

    def on_opening(self, message: Opening) -> None:
        """Tell how much is read."""
        if self._outline is None:
            self.query_one(TopBar).update_from(self._facts, f"reading {message.percent}%")

    def on_open_failed(self, message: OpenFailed) -> None:
        """Leave, and let the command line say why."""
        self.app.exit(message.error)

    def on_opened(self, message: Opened) -> None:
        """Show the tree, and the checkpoint that was asked for."""
        session = message.session
        self._session, self._outline = session, message.outline
        self._facts = session_facts(session, self._location)
        view = RowView(self._palette, self._glyphs, len(str(len(session))))
        self.tree_pane.update_from(session, message.outline, view, message.row)
        row = self.tree_pane.cursor_row
        if row is None:
            self.inspector.update_from(Said("This file holds no checkpoints."))
            self._tell_place()
        else:
            self._show(row)

    def on_row_inspected(self, message: RowInspected) -> None:
        """Show what was read, if it is still the row under the cursor and not shown yet."""
        row = message.inspection.row
        if row == self._wanted and self.inspector.row != row:
            self.inspector.update_from(message.inspection)

    def on_inspect_failed(self, message: InspectFailed) -> None:
        """Show why the row under the cursor cannot be shown."""
        if message.row == self._wanted:
            hint = f" ({message.error.hint})" if message.error.hint else ""
            text = f"{message.error.message}{hint}"
            self.inspector.update_from(Said(text, message.row, is_error=True))

    def _show(self, row: int) -> None:
        """Show a row in the inspector: at once if it is read already, else when it is."""
        if self._session is None:
            return
        self._wanted = row
        known = self.loader.known(row)
        if known is not None:
            self.inspector.update_from(known)
            self.loader.read_ahead(row)
        else:
            self.inspector.update_from(Waiting(self._session, row))
            self.loader.inspect(row)
        self._tell_place()

    def _tell_place(self) -> None:
        if self._outline is None:
            return
        lines = len(self._outline.rows)
        place = self.tree_pane.cursor_place + 1 if lines else 0
        self.query_one(TopBar).update_from(self._facts, f"{place:,}/{lines:,} ")

    @property
    def _pane(self) -> Pane | None:
        """The pane that the keys go to."""
        focused = self.focused
        return focused if isinstance(focused, (CheckpointTree, StateTree, Lines)) else None

    def action_move(self, lines: int) -> None:
        """Move the cursor, or scroll the inspector where it has the focus."""
        if self._pane is not None:
            self._pane.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Move by the height of the pane."""
        if self._pane is not None:
            self._pane.move_by(pages * max(self._pane.size.height - 1, 1))

    def action_first(self) -> None:
        """Go to the first row."""
        if self._pane is not None:
            self._pane.to_start()

    def action_last(self) -> None:
        """Go to the last row."""
        if self._pane is not None:
            self._pane.to_end()

    def action_parent(self) -> None:
        """Go to the parent."""
        row = self.tree_pane.cursor_row
        if row is not None and self._session is not None:
            self._go_to(self._session.parents[row])

    def action_child(self) -> None:
        """Go to the child on the active path, else to the newest."""
        row = self.tree_pane.cursor_row
        if row is not None and self._session is not None:
            self._go_to(self._session.heir(row))

    def action_active_leaf(self) -> None:
        """Go to where the agent would go on."""
        if self._session is not None and self._session.active is not None:
            self._go_to(self._session.active)

    def _go_to(self, row: int) -> None:
        if row == NO_ROW:
            self.app.bell()
        else:
            self.tree_pane.move_to_row(row)

    def action_tab(self, name: str) -> None:
        """Show a tab of the inspector."""
        self.inspector.tab = name

    def action_next_tab(self, step: int) -> None:
        """Go to a tab beside this one; in the state fold or unfold."""
        focused = self.focused
        if not isinstance(focused, StateTree):
            self.inspector.next_tab(step)
        elif step > 0:
            focused.unfold()
        else:
            focused.fold()

    def action_open(self) -> None:
        """Fold or unfold in the state; in the tree go to the inspector."""
        if isinstance(self.focused, StateTree):
            self.focused.toggle()
        elif isinstance(self.focused, CheckpointTree):
            self.action_switch()

    def action_switch(self) -> None:
        """Give the focus, and the screen if it is not shared, to the other pane."""
        to_inspector = self._in_tree
        if self._is_zoomed:
            self._zoom(to_inspector=to_inspector)
        # Not before the pane is displayed again: what is hidden takes no focus.
        self.call_after_refresh(
            self.set_focus, self.inspector.pane if to_inspector else self.tree_pane
        )

    def action_tree(self) -> None:
        """Give the focus back to the tree."""
        if not self._in_tree:
            self.action_switch()

    def action_zoom(self) -> None:
        """Give the whole screen to the pane that has the focus, or share it again."""
        if self._is_zoomed:
            self.remove_class("zoom-tree", "zoom-inspector")
        else:
            self._zoom(to_inspector=not self._in_tree)

    @property
    def _in_tree(self) -> bool:
        return isinstance(self.focused, CheckpointTree)

    @property
    def _is_zoomed(self) -> bool:
        return self.has_class("zoom-tree") or self.has_class("zoom-inspector")

    def _zoom(self, *, to_inspector: bool) -> None:
        self.set_class(to_inspector, "zoom-inspector")
        self.set_class(not to_inspector, "zoom-tree")

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpScreen(TIMELINE, self._palette, self._glyphs))

    def action_quit(self) -> None:
        """Leave."""
        self.loader.stop()
        self.app.exit()


def session_facts(session: Session, location: str) -> tuple[str, ...]:
    """Give format, title, file and what the session holds, for the bar at the top."""
    leaves, findings = len(session.tree.leaves()), len(session.findings)
    facts = [
        counted(leaves, "branch", "branches") if leaves > 1 else "",
        counted(len(session), "checkpoint"),
        counted(findings, "finding") if findings else "",
    ]
    name = PurePath(location).name
    title = (session.title, name) if session.title else (name,)
    return (session.format or "no format", *title, " · ".join(filter(None, facts)))
