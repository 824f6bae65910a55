"""The Timeline: the tree of a session and, beside or below it, the inspector."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import Screen

from tt_debugger.core.model import Session
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
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree, VisibleRows
from tt_debugger.tui.widgets.inspector import Inspector
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView
from tt_debugger.views.values import counted

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
        self._rows: VisibleRows | None = None
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
        self.query_one(TopBar).update_from(("", self._location), "reading")
        self.loader.open()

    def on_unmount(self) -> None:
        """Let go of the session."""
        self.loader.close()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        if self._rows is None:
            return False
        return not self._rows.order or self.inspector.row == self._wanted

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
        if self._rows is None:
            self.query_one(TopBar).update_from(("", self._location), f"reading {message.percent}%")

    def on_open_failed(self, message: OpenFailed) -> None:
        """Leave, and let the command line say why."""
        self.app.exit(message.error)

    def on_opened(self, message: Opened) -> None:
        """Show the tree, and the checkpoint that was asked for."""
        self._rows = message.rows
        session = message.rows.session
        view = RowView(self._palette, self._glyphs, len(str(len(session))))
        self.tree_pane.update_from(message.rows, view, message.row)
        if len(session):
            self._show(message.row)
        else:
            self._tell_place()

    def on_row_inspected(self, message: RowInspected) -> None:
        """Show what was read, if it is still the row under the cursor."""
        if message.inspected.row == self._wanted:
            self.inspector.update_from(message.inspected)

    def on_inspect_failed(self, message: InspectFailed) -> None:
        """Show why the row under the cursor cannot be shown."""
        if message.row == self._wanted:
            hint = f" ({message.error.hint})" if message.error.hint else ""
            self.inspector.fail(f"{message.error.message}{hint}")

    def _show(self, row: int) -> None:
        """Show a row in the inspector: at once if it is read already, else when it is."""
        if self._rows is None:
            return
        self._wanted = row
        known = self.loader.known(row)
        if known is not None:
            self.inspector.update_from(known)
        else:
            self.inspector.wait_for(self._rows.session, row)
        self.loader.inspect(row)
        self._tell_place()

    def _tell_place(self) -> None:
        rows = self._rows
        if rows is None:
            return
        place = f"{self.tree_pane.cursor_place + 1}/{len(rows.order)}" if rows.order else "0/0"
        self.query_one(TopBar).update_from(session_facts(rows.session, self._location), place)

    def action_move(self, lines: int) -> None:
        """Move the cursor, or scroll the inspector where it has the focus."""
        focused = self.focused
        if isinstance(focused, (StateTree, CheckpointTree)):
            focused.move_by(lines)
        elif isinstance(focused, Lines):
            focused.scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        """Move by the height of the pane."""
        height = self.focused.size.height if self.focused is not None else 1
        self.action_move(pages * max(height - 1, 1))

    def action_first(self) -> None:
        """Go to the first row."""
        self.action_move(-(1 << 40))

    def action_last(self) -> None:
        """Go to the last row."""
        self.action_move(1 << 40)

    def action_parent(self) -> None:
        """Go to the parent."""
        row = self.tree_pane.cursor_row
        if row is not None and self._rows is not None:
            self._go_to(self._rows.session.parents[row])

    def action_child(self) -> None:
        """Go to the child on the active path, else to the newest."""
        row, rows = self.tree_pane.cursor_row, self._rows
        if row is None or rows is None:
            return
        children = rows.session.tree.children(row)
        active = (child for child in children if rows.session.on_active_path[child])
        self._go_to(next(active, children[-1] if children else NO_ROW))

    def action_active_leaf(self) -> None:
        """Go to where the agent would go on."""
        if self._rows is not None and self._rows.session.active is not None:
            self._go_to(self._rows.session.active)

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
        self.app.push_screen(HelpScreen(TIMELINE, self._palette))

    def action_quit(self) -> None:
        """Leave."""
        self.app.exit()


def session_facts(session: Session, location: str) -> tuple[str, ...]:
    """Give format, title and what the session holds, for the bar at the top."""
    leaves = len(session.tree.leaves())
    serious = len(session.findings)
    facts = [counted(leaves, "branch").replace("branchs", "branches") if leaves > 1 else ""]
    facts.append(counted(len(session), "checkpoint"))
    facts.append(counted(serious, "finding") if serious else "")
    about = " · ".join(fact for fact in facts if fact)
    return (session.format or "empty", session.title or location, about)
