"""The panes of the Timeline: tree, inspector and scrubber, and which of them has the keys."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import PurePath
from threading import Thread
from typing import TYPE_CHECKING

import msgspec
from textual import events
from textual.app import ComposeResult
from textual.containers import Container, Vertical

from tt_debugger.core.filters import Chosen, Filter
from tt_debugger.core.folds import Fold, Folding
from tt_debugger.core.growth import nearest_row
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Session
from tt_debugger.core.outline import Outline
from tt_debugger.core.refs import Fragment
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.tui.finder import Finder
from tt_debugger.tui.keys import TIMELINE
from tt_debugger.tui.loader import (
    Failed,
    ForksFound,
    Glimpsed,
    InspectFailed,
    Loader,
    Opened,
    OpenFailed,
    Opening,
    Outlined,
    Regrown,
    RowGlimpsed,
    RowInspected,
    Unchanged,
)
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.widgets.bars import BottomBar, TopBar
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree, ColumnNames
from tt_debugger.tui.widgets.inspector import Folded, Inspector, Said, Shown, Waiting
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.tui.widgets.range_line import RangeLine
from tt_debugger.tui.widgets.scrubber import Scrubber
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.fold import reason_row
from tt_debugger.views.judged import Judged
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView

if TYPE_CHECKING:
    from tt_debugger.core.fork.made import Made
    from tt_debugger.tui.comparer import Aim

Pane = CheckpointTree | StateTree | Lines
WIDE, WIDEST = 100, 200
"""Columns from which the inspector stands beside the tree, and a second one beside both."""
TALL, TALLEST = 30, 44
"""Rows from which the scrubber is shown, and from which it is taller."""
PATIENCE = 0.05
"""Seconds for which the first frame waits for something to show."""

LOOK_AGAIN = 5.0
"""Seconds between two looks whether a session is still being written."""


class Place(msgspec.Struct, frozen=True):
    """Where one was in a session when one left it."""

    row: int
    filter: Chosen
    folding: Folding
    tab: str
    watches: tuple[str, ...] = ()
    """What was watched, the chosen one last."""


class Panes(Container):
    """Tree and inspector, beside or below each other."""

    BLANK = True
    """All of it is covered; drawn as any widget it would cost at each key what a pane costs."""


class TreePane(Vertical):
    """The tree below the names of its columns."""

    BLANK = True


class PanesScreen(KeyedScreen[Place | None]):
    """Opens a session and shows it; gives where one was when it is left."""

    CSS_PATH = "panes.tcss"
    BLANK = True
    HORIZONTAL_BREAKPOINTS = [(0, "narrow"), (WIDE, "wide"), (WIDEST, "widest")]  # noqa: RUF012 - typed above
    VERTICAL_BREAKPOINTS = [(0, "short"), (TALL, "tall"), (TALLEST, "tallest")]  # noqa: RUF012 - typed above

    def __init__(
        self,
        location: str,
        fragment: Fragment,
        palette: Palette,
        glyphs: Glyphs,
        place: Place | None = None,
    ) -> None:
        super().__init__(palette, glyphs)
        self._location = location
        self._place = place
        self._is_aimed = place is not None or bool(fragment.points)
        """Whether it is known already where to look."""
        self._session: Session | None = None
        self._tail: Session | None = None
        """The newest checkpoints, while the session is still being read."""
        self._outline: Outline | None = None
        self._filter: Chosen = place.filter if place else Filter.DEFAULT
        self._folding = place.folding if place else Folding()
        self._facts: tuple[str, ...] = ("", location)
        self._wanted = NO_ROW
        self._reason: int | None = None
        """The row that tells why the fold under the cursor was left, while it is read."""
        self._aim: int | None = None
        """The row that the cursor goes to once the lines that were asked for are there."""
        self._reveals = False
        """Whether that row is to have a line of its own, whatever would fold it."""
        self._marks: Mapping[str, str] = {}
        self._forks: Mapping[str, Sequence[Made]] = {}
        """The forks that were made of the session, by the checkpoint they begin at."""
        self._follows = True
        """Whether what is written to the session is to be shown."""
        self._may_have_grown = False
        """Whether there may be more to read, once this screen is on top and nothing is read."""
        self._judged: Judged | None = None
        """What a bisect knows of rows."""
        self._regrown: Regrown | None = None
        """What the session has become while another screen was on top."""
        self._follow_error = ""
        self.beside: Inspector | None = None
        """The second inspector, once the screen was wide enough for it."""
        self._held = ExitStack()
        """Keeps the first frame back until it has something to show."""
        self.loader = Loader(self, location, fragment)
        self.finder = Finder(self.loader)

    def compose(self) -> ComposeResult:
        """Lay out bars, scrubber, tree and inspectors."""
        yield TopBar(self._palette)
        yield Scrubber(self._palette, self._glyphs, id="scrubber")
        yield RangeLine(self._palette)
        with Panes(id="panes"):
            with TreePane(id="tree-pane"):
                yield ColumnNames()
                yield CheckpointTree(id="tree")
            yield Inspector(self._palette, self._glyphs, id="inspector")
        yield BottomBar(TIMELINE, self._palette, self._glyphs)

    async def on_mount(self) -> None:
        """Begin to read. What is read at once is in the first frame."""
        self.tree_pane.on_cursor = self._move
        self.tree_pane.focus()
        if self._place is not None:
            self.inspector.tab = self._place.tab
        await self._make_room(self.app.size.width)
        self.query_one(TopBar).update_from(self._facts, "reading")
        self.loader.open(self._filter, self._folding, self._place.row if self._place else None)
        if await self.loader.answers_within(PATIENCE):
            self._held.enter_context(self.app.batch_update())

    def stop(self) -> None:
        """Begin to read nothing more."""
        self._held.close()
        self.loader.stop()

    def on_unmount(self) -> None:
        """Let go of the session; not here, where a worker that still reads would be waited for."""
        self.stop()
        Thread(target=self.loader.close, daemon=True).start()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        outline = self._outline
        if outline is None or self._is_waiting_for_lines or self.finder.is_waiting:
            return False
        if self.loader.is_reading_on:
            return False
        return not len(outline) or self.inspector.row == self._wanted

    @property
    def _is_waiting_for_lines(self) -> bool:
        outline = self._outline
        return outline is None or (outline.chosen, outline.folding) != (
            self._filter,
            self._folding,
        )

    @property
    def tree_pane(self) -> CheckpointTree:
        """The tree."""
        return self.query_one(CheckpointTree)

    @property
    def inspector(self) -> Inspector:
        """The inspector."""
        return self.query_one("#inspector", Inspector)

    @property
    def inspectors(self) -> tuple[Inspector, ...]:
        """The inspectors that there are, the first one first."""
        return (self.inspector,) if self.beside is None else (self.inspector, self.beside)

    @property
    def inspector_in_use(self) -> Inspector:
        """The inspector that the keys go to, the first one while they go to the tree."""
        return next((each for each in self.inspectors if each.has_focus_within), self.inspector)

    def inspect(self, shown: Shown) -> None:
        """Show something in each inspector that is seen."""
        self.inspector.update_from(shown)
        if self.beside is not None and self.beside.display:
            self.beside.update_from(shown)

    async def on_resize(self, event: events.Resize) -> None:
        """Fill the second inspector where there is room for it now."""
        await self._make_room(event.size.width)
        self.call_after_refresh(self._fill_beside)

    async def _make_room(self, width: int) -> None:
        """Add the second inspector where the screen is wide enough for it."""
        if width >= WIDEST and self.beside is None:
            beside = Inspector(self._palette, self._glyphs, id="beside")
            await self.query_one(Panes).mount(beside)
            beside.tab = "state"
            beside.mark(self.finder.query)
            beside.tell_forks(self._forks)
            self.beside = beside

    def _fill_beside(self) -> None:
        if self.beside is not None and self.beside.display:
            self.beside.update_from(self.inspector.shown)

    @property
    def scrubber(self) -> Scrubber:
        """The scrubber."""
        return self.query_one(Scrubber)

    def say(self, text: str, *, is_error: bool = False, stays: bool = False) -> None:
        """Say something in the bar at the bottom."""
        self.query_one(BottomBar).say(text, is_error=is_error, stays=stays)

    def show_judged(self, judged: Judged | None, text: str) -> None:
        """Show what is known of rows, and say a text for as long as that is; None for no more."""
        self._judged = judged
        self.query_one(BottomBar).standing = text
        self.query_one(BottomBar).hush()
        self.tree_pane.draw_with(self._row_view)
        self.draw_range()
        self.set_class(judged is not None, "bisecting")

    def draw_range(self) -> None:
        """Draw below the graph what is known of rows."""
        scrubber = self.scrubber
        is_watching = scrubber.watched is not None
        range_line = self.query_one(RangeLine)
        range_line.update_from(scrubber.index, self._judged, is_watching=is_watching)
        index = scrubber.index
        self.set_class(index is not None and not index.largest, "uncounted")

    def on_descendant_focus(self) -> None:
        """Name the keys of the pane that they go to now."""
        match self.focused:
            case StateTree():
                pane = "state"
            case Lines():
                pane = "lines"
            case Scrubber():
                pane = "graph"
            case _:
                pane = ""
        self.query_one(BottomBar).show_keys_of(pane)

    # What was asked for arrives

    def on_opening(self, message: Opening) -> None:
        """Tell how much is read."""
        if self._outline is None:
            self.query_one(TopBar).update_from(self._facts, f"reading {message.percent}%")

    def on_open_failed(self, message: OpenFailed) -> None:
        """Go back and say why; if there is no way back, let the command line say it."""
        self._held.close()
        if self.is_first:
            self.app.exit(message.error)
            return
        self.pop_until_active()
        self.dismiss(None)
        self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))

    def on_glimpsed(self, message: Glimpsed) -> None:
        """Show the newest checkpoints, to be looked at until all are read."""
        if self._session is None:
            self._tail = message.tail
            self._facts = (
                message.tail.format or "",
                *session_names(message.tail, self._location),
                f"the newest {counted(len(message.tail), 'checkpoint')}",
            )
            self.query_one(TopBar).update_from(self._facts, "reading")
            view = RowView(self._palette, self._glyphs, 0)
            self.query_one(ColumnNames).update_from(view)
            self.tree_pane.update_from(
                message.tail, message.outlined.outline, view, message.outlined.row
            )
            self._show()
        self._held.close()
        self.call_after_refresh(self.loader.read_on)

    def _row_after(self, session: Session, opened: int) -> int:
        """Give the row to begin at: where the cursor was moved to meanwhile, if it was."""
        tail, row = self._tail, self.tree_pane.cursor_row
        if tail is None or row in (None, tail.active):
            return opened
        return session.heads.row_at(tail.heads.offset(row) or 0)

    def on_opened(self, message: Opened) -> None:
        """Show the tree, and the checkpoint that was asked for."""
        session, outline = message.session, message.outlined.outline
        row = self._row_after(session, message.outlined.row)
        self._session, self._tail, self._aim = session, None, None
        self._filter, self._folding = outline.chosen, outline.folding
        if len(session):
            self._wanted = row
        self._marks = dict(message.marks)
        self._facts = session_facts(session, self._location)
        self.query_one(ColumnNames).update_from(self._row_view)
        self.scrubber.update_from(message.scrubbed, row)
        self._take_lines(Outlined(outline, row))
        self._held.close()
        self.call_after_refresh(self._go_on_after_opening)
        if session.compared is not None and not self._is_aimed:
            self.call_after_refresh(self.compare, *session.compared)

    def _go_on_after_opening(self) -> None:
        """Do what may wait until the first rows are painted."""
        self.loader.prepare()
        self.loader.find_forks()
        if not self.loader.can_fork:
            self.turn_off("fork")
        if self._follows and self.loader.can_follow:
            self.loader.watch()
        self._tell_live()
        self.set_interval(LOOK_AGAIN, self._tell_live)

    # What is written meanwhile

    @property
    def follows(self) -> bool:
        """Whether what is written to the session is shown."""
        return self._follows and self.loader.can_follow

    def _tell_live(self) -> None:
        """Mark a session that is being written, and one that is not followed any more."""
        mark, style = "", self._palette.dim
        if not self.follows:
            mark = f"{self._glyphs.custom} not followed" if self.loader.can_follow else ""
        elif self.loader.is_fresh():
            mark, style = f"{self._glyphs.user} live", self._palette.good
        self.query_one(TopBar).mark_with(mark, style)

    def on_may_have_grown(self) -> None:
        """Read what there may be more, unless that is being done."""
        self._may_have_grown = True
        self._read_more()

    def _read_more(self) -> None:
        """Read what was added, once this screen is seen: others show rows as they were asked."""
        is_due = self._may_have_grown and self.follows and self.is_current
        if not is_due or self._session is None or self.loader.is_reading_on:
            return
        rest = self.loader.rest()
        if rest:
            self.set_timer(rest, self._read_more)
            return
        self._may_have_grown = False
        self.loader.read_more(self._filter, self._folding)

    def on_screen_resume(self) -> None:
        """Show what came while another screen was on top."""
        regrown, self._regrown = self._regrown, None
        if regrown is not None:
            self.on_regrown(regrown)
        self._read_more()

    def on_unchanged(self, message: Unchanged) -> None:
        """Go on; what cannot be read any more is told once."""
        self.loader.done_reading_on(is_taken=False)
        error = "" if message.error is None else message.error.message
        if error and error != self._follow_error:
            self.say(error, is_error=True)
        self._follow_error = error
        self._read_more()

    def on_regrown(self, message: Regrown) -> None:
        """Show what the session has become, unless other lines are wanted by now."""
        if not self.is_current:
            # What it asked was asked of the rows as they were.
            self._regrown = message
            return
        outline = message.opened.outlined.outline
        folding = Folding(self._folding.rule) if message.is_anew else self._folding
        is_wanted = (outline.chosen, outline.folding) == (self._filter, folding)
        self.loader.done_reading_on(is_taken=is_wanted)
        if is_wanted:
            self._grow(message)
        else:
            self._may_have_grown = True
        self._read_more()

    def _grow(self, message: Regrown) -> None:
        before, opened = self._session, message.opened
        if before is None:
            return
        session, outline = opened.session, opened.outlined.outline
        row = self._row_in(before, session, message)
        if message.is_anew:
            self.say(f"{PurePath(self._location).name} was cut or replaced; it is shown anew")
        self._follow_error = ""
        self._session, self._outline = session, outline
        self._aim, self._reveals = None, False
        self._filter, self._folding = outline.chosen, outline.folding
        self._marks = dict(opened.marks)
        self._facts = session_facts(session, self._location)
        self.finder.grow(outline, message.kept)
        self.forget_rows(partial(_row_now, before, message))
        self._tell_live()
        self.query_one(ColumnNames).update_from(self._row_view)
        self.tree_pane.grow(session, outline, self._row_view, row)
        shown = self.tree_pane.cursor_row
        self.scrubber.update_from(opened.scrubbed, max(row, 0) if shown is None else shown)
        self.draw_range()
        if shown is None:
            self._show_no_row()
        elif shown == self._wanted < message.kept and self.tree_pane.cursor_fold is None:
            # It stays in view; only what came may tell more of it.
            self.loader.inspect(shown)
            self._tell_place()
        else:
            self._wanted = NO_ROW
            self._show()

    def forget_rows(self, row_now: Callable[[int], int | None]) -> None:
        """Forget what was worked out of the rows; it is told which row each one is now.

        None is one that is there no longer.
        """

    def _row_in(self, before: Session, session: Session, message: Regrown) -> int:
        """Give the row for the cursor: where it was, or the active leaf if it stood at that."""
        row = self._row
        if session.active is not None and (row is None or self._is_at_leaf(before, row)):
            is_there = message.is_anew and row is not None and before.ids[row] in session.rows
            if not is_there:
                return session.active
        if not len(session):
            return NO_ROW
        if row is None:
            return 0
        return row if row < message.kept else nearest_row(before, session, row)

    def _is_at_leaf(self, before: Session, row: int) -> bool:
        """Tell whether a row is the active leaf, or all that is shown of it."""
        outline, active = self._outline, before.active
        if active is None or outline is None:
            return False
        return row == active or outline.places[row] == outline.places[active]

    @abstractmethod
    def compare(self, old: Aim, new: Aim) -> None:
        """Compare two points, each a row or a ref."""

    def on_outlined(self, message: Outlined) -> None:
        """Show other lines, unless others again are wanted by now, or of what came meanwhile."""
        outline = message.outline
        is_of_session = outline.tree.session is self._session
        if is_of_session and (outline.chosen, outline.folding) == (self._filter, self._folding):
            self._take_lines(message)

    def _take_lines(self, message: Outlined) -> None:
        if self._session is None:
            return
        outline, row = message.outline, message.row if self._aim is None else self._aim
        if self._reveals and outline.mask[row] and not outline.has_line(row):
            # What hides it here was not there to be opened in the lines before.
            self._want_lines(self._filter, outline.revealing(row), row)
            return
        self._outline, self._aim, self._reveals = outline, None, False
        self.finder.show_only(outline)
        self.tree_pane.update_from(self._session, outline, self._row_view, row)
        if self.tree_pane.cursor_row is None:
            self._show_no_row()
        else:
            self._show()

    def _show_no_row(self) -> None:
        session = self._session
        nothing = "This file holds no checkpoints."
        if session is not None and len(session):
            nothing = f"The filter {self._filter} shows none of {len(session):,} rows."
        self.inspect(Said(nothing, self._wanted))
        self._tell_place()

    @property
    def _row(self) -> int | None:
        """The row one is at; while other lines are waited for, the one the cursor will go to.

        None while rows of the tail alone are seen: which rows they are is not known yet.
        """
        if self._session is None:
            return None
        if self._aim is not None:
            return self._aim
        return self.tree_pane.cursor_row

    @property
    def _row_view(self) -> RowView:
        session = self._session
        if session is None:
            return RowView(self._palette, self._glyphs, 1)
        marks = {
            session.rows[own]: name for name, own in self._marks.items() if own in session.rows
        }
        forks = {row: len(made) for row, made in self.forks_seen.items()}
        width = len(str(len(session)))
        return RowView(
            self._palette,
            self._glyphs,
            width,
            self.finder.query,
            marks,
            forks,
            held=self.finder.held,
            judged=self._judged,
        )

    @property
    def forks_seen(self) -> Mapping[int, Sequence[Made]]:
        """The forks that were made, by the row on whose line they are marked.

        Those of a row that is folded or hidden are marked on the line that stands for it.
        """
        session, outline = self._session, self._outline
        seen: defaultdict[int, list[Made]] = defaultdict(list)
        for own, made in self._forks.items():
            row = None if session is None else session.rows.get(own)
            if row is not None and outline is not None:
                place = outline.places[row]
                seen[row if place == NO_ROW else outline.row_at(place)] += made
        return seen

    def on_row_inspected(self, message: RowInspected) -> None:
        """Show what was read, if it is still the row under the cursor and not shown yet."""
        row = message.inspection.row
        if row == self._wanted and _tells_more(message.inspection, self.inspector.shown):
            self.inspect(message.inspection)
        elif row == self._reason:
            self._show()

    def on_row_glimpsed(self, message: RowGlimpsed) -> None:
        """Show the last messages at the row under the cursor until its state is there."""
        if self._session is not None and message.row == self._wanted != self.inspector.row:
            self.inspect(Waiting(self._session, message.row, message.messages))

    def on_inspect_failed(self, message: InspectFailed) -> None:
        """Show why the row under the cursor cannot be shown."""
        if message.row == self._wanted:
            hint = f" ({message.error.hint})" if message.error.hint else ""
            text = f"{message.error.message}{hint}"
            self.inspect(Said(text, message.row, is_error=True))

    def on_forks_found(self, message: ForksFound) -> None:
        """Mark the rows that forks were made from, and tell of them where a row is inspected."""
        if message.forks or self._forks:
            self._forks = message.forks
            self.tree_pane.draw_with(self._row_view)
            for inspector in self.inspectors:
                inspector.tell_forks(self._forks)

    def on_failed(self, message: Failed) -> None:
        """Show what could not be done."""
        self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))

    def _move(self) -> None:
        """Follow the cursor; what was said of the row before is no longer of use."""
        if self.finder.is_done:
            self.query_one(BottomBar).hush()
        self._show()

    def _show(self) -> None:
        """Show the row under the cursor: at once if it is read already, else when it is."""
        session, row = self._session, self.tree_pane.cursor_row
        if self._tail is not None and row is not None:
            said = self._tail.heads[row].summary
            self.inspect(Said(f"{said}\n\nIts state is told when the rest is read.", row))
        if session is None or row is None:
            return
        self._wanted = row
        if self._aim is not None:
            self._aim = row
        fold = self.tree_pane.cursor_fold
        known = self.loader.known(row)
        self._reason = None
        if fold is not None:
            self._show_fold(session, fold)
        elif known is not None:
            self.inspect(known)
            self.loader.read_ahead(row)
        else:
            self.inspect(Waiting(session, row))
            self.loader.inspect(row)
        self.scrubber.cursor_row = row
        self._tell_place()

    def _show_fold(self, session: Session, fold: Fold) -> None:
        """Show what a fold holds; why it was left is told in full once that is read."""
        rows = self.tree_pane.cursor_rows
        reason = reason_row(session, fold.head, max(rows)) if fold.is_branch else None
        known = None if reason is None else self.loader.known(reason)
        self.inspect(Folded(session, fold, rows, known))
        if reason is not None and known is None:
            self._reason = reason
            self.loader.inspect(reason)

    def _tell_place(self) -> None:
        session, outline, row = self._session, self._outline, self.tree_pane.cursor_row
        if session is None or outline is None:
            return
        place = f"row {0 if row is None else row + 1:,}/{len(session):,}"
        shown = f"{self._filter} shows {outline.shown:,}"
        if outline.shown == len(session):
            shown = "all shown"
        self.query_one(TopBar).update_from(self._facts, f"{place} · {shown} ")

    def _want_lines(
        self, chosen: Chosen, folding: Folding, row: int | None, *, reveals: bool = False
    ) -> None:
        """Ask for other lines, with the cursor on a row or on what stands for it.

        Where no line is shown there is no row either: one goes back to where one was before.
        """
        row = self._wanted if row is None else row
        if row != NO_ROW and self._session is not None:
            self._filter, self._folding, self._aim = chosen, folding, row
            self._reveals = reveals
            self.loader.outline(chosen, folding, row)

    @property
    def _pane(self) -> Pane | None:
        """The pane that the keys go to."""
        focused = self.focused
        return focused if isinstance(focused, (CheckpointTree, StateTree, Lines)) else None

    def action_move(self, lines: int) -> None:
        """Move the cursor, scroll the inspector, or step through the marks of the graph."""
        if isinstance(self.focused, Scrubber):
            self.focused.to_mark(lines)
        elif self._pane is not None:
            self._pane.move_by(lines)

    def action_page(self, pages: int) -> None:
        """Move by the height of the pane."""
        if self._pane is not None:
            self._pane.move_by(pages * max(self._pane.size.height - 1, 1))

    # Panes and tabs

    def action_tab(self, name: str) -> None:
        """Show a tab of the inspector, and the inspector where the tree has the whole screen."""
        self.remove_class("zoom-tree")
        self.inspector_in_use.tab = name

    def action_next_tab(self, step: int) -> None:
        """Go to a tab beside this one."""
        self.inspector_in_use.next_tab(step)

    def action_switch(self) -> None:
        """Give the focus, and the screen if it is not shared, to the next pane."""
        to_inspector = self._in_tree
        if self._is_zoomed:
            self._zoom(to_inspector=to_inspector)
        pane = self.inspector.pane if to_inspector else self.tree_pane
        if self.inspector.has_focus_within and self.beside is not None and self.beside.display:
            pane = self.beside.pane
        # Not before the pane is displayed again: what is hidden takes no focus.
        self.call_after_refresh(self.set_focus, pane)
        self.remove_class("scrubbing")

    def action_tree(self) -> None:
        """Give the focus back to the tree; there, forget what was searched for."""
        if not self._in_tree:
            if self._is_zoomed:
                self._zoom(to_inspector=False)
            self.call_after_refresh(self.set_focus, self.tree_pane)
            self.remove_class("scrubbing")
        elif self.finder.sought is not None:
            self.finder.forget()
            self.mark_matches()
            self.say("")

    def mark_matches(self) -> None:
        """Mark what is searched for, in the tree and in what is inspected."""
        self.tree_pane.draw_with(self._row_view)
        for inspector in self.inspectors:
            inspector.mark(self.finder.query)

    def action_zoom(self) -> None:
        """Give the whole screen to the pane that has the focus, or share it again."""
        if self._is_zoomed:
            self.remove_class("zoom-tree", "zoom-inspector")
        else:
            self._zoom(to_inspector=not self._in_tree)

    def action_scrubber(self) -> None:
        """Give the keys to the graph, shown where it was not; again, back to the tree."""
        if isinstance(self.focused, Scrubber):
            self.action_tree()
        else:
            self.add_class("scrubbing")
            self.call_after_refresh(self.set_focus, self.scrubber)

    @property
    def _in_tree(self) -> bool:
        return isinstance(self.focused, CheckpointTree)

    @property
    def _is_zoomed(self) -> bool:
        return self.has_class("zoom-tree") or self.has_class("zoom-inspector")

    def _zoom(self, *, to_inspector: bool) -> None:
        self.set_class(to_inspector, "zoom-inspector")
        self.set_class(not to_inspector, "zoom-tree")


def _row_now(before: Session, grown: Regrown, row: int) -> int | None:
    """Give which row a checkpoint is now, None if it is there no longer."""
    if row < grown.kept:
        return row
    return None if grown.is_anew else grown.opened.session.rows.get(before.ids[row])


def _tells_more(read: Inspection, shown: Shown) -> bool:
    """Tell whether what was read of a row says other things than what is shown of it."""
    if not isinstance(shown, Inspection) or shown.row != read.row:
        return not (isinstance(shown, Folded) and shown.fold.first == read.row)
    if shown.session is read.session:
        return False
    if (shown.raw, shown.findings, shown.exchanges) != (read.raw, read.findings, read.exchanges):
        return True
    return _around_row(read) != _around_row(shown) or shown.changes != read.changes


def _around_row(seen: Inspection) -> tuple[object, ...]:
    session, row = seen.session, seen.row
    return session.labels.get(row), *session.tree.children(row), session.parents[row]


def session_facts(session: Session, location: str) -> tuple[str, ...]:
    """Give format, title, file and what the session holds, for the bar at the top."""
    leaves, findings = len(session.tree.leaves()), len(session.findings)
    facts = [
        counted(leaves, "branch", "branches") if leaves > 1 else "",
        counted(len(session), "checkpoint"),
        counted(findings, "finding") if findings else "",
    ]
    names = session_names(session, location)
    return (session.format or "no format", *names, " · ".join(filter(None, facts)))


def session_names(session: Session, location: str) -> tuple[str, ...]:
    """Give the title of a session, if it has one, and the name of its file."""
    name = PurePath(location).name
    return (session.title, name) if session.title else (name,)
