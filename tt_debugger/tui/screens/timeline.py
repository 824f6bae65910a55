"""The Timeline: going somewhere in a session, searching, marking, filtering, folding, copying."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from textual.message import Message

from tt_debugger.core.bisect import Verdict
from tt_debugger.core.completion import Completer
from tt_debugger.core.filters import Filter, Where, shown_mask
from tt_debugger.core.folds import Folding, FoldRule
from tt_debugger.core.inspection import Inspection
from tt_debugger.core.journey import Journey
from tt_debugger.core.jumps import Found, jump_among
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.refs import Fragment, Resolver, parse_fragment, quoted
from tt_debugger.core.search import Jump
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import TtdbgError, UsageError
from tt_debugger.opening import split_location
from tt_debugger.tui.bisecting import Bisected, BisectFailed, Bisecting
from tt_debugger.tui.copying import ASKED, copied
from tt_debugger.tui.finder import typed_for, wrong_in, wrong_in_condition
from tt_debugger.tui.keys import TIMELINE, bindings
from tt_debugger.tui.loader import (
    Completes,
    Marked,
    Searched,
    Selected,
    Subsession,
    SubsessionsFound,
)
from tt_debugger.tui.screens import choices, versus
from tt_debugger.tui.screens.blamed import BlamedScreen
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.panes import Place
from tt_debugger.tui.screens.prompt import KeyScreen, LineScreen
from tt_debugger.tui.widgets.checkpoint_tree import CheckpointTree
from tt_debugger.tui.widgets.choice_list import Choice
from tt_debugger.tui.widgets.scrubber import Scrubber
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.palette import Glyphs, Palette

if TYPE_CHECKING:
    from tt_debugger.core.fork.made import Made
    from tt_debugger.core.fork.plan import Forked
    from tt_debugger.tui.comparer import Aim, Question
    from tt_debugger.tui.screens.compare import Arrival
    from tt_debugger.tui.screens.forked import Next


VERDICT_KEYS = ("+", "-", "0")
"""What is pressed to judge a row, and is no condition."""


class TimelineScreen(BlamedScreen):
    """The main screen: what its keys do."""

    KEYS = TIMELINE
    BINDINGS = bindings(TIMELINE, types=False)

    class FolderWanted(Message):
        """The sessions of a folder are to be shown."""

        def __init__(self, location: str) -> None:
            super().__init__()
            self.location = location

    class SessionWanted(Message):
        """A session that a checkpoint started is to be shown."""

        def __init__(self, location: str, fragment: Fragment) -> None:
            super().__init__()
            self.location = location
            self.fragment = fragment

    def __init__(
        self,
        location: str,
        fragment: Fragment,
        palette: Palette,
        glyphs: Glyphs,
        place: Place | None = None,
    ) -> None:
        super().__init__(location, fragment, palette, glyphs, place)
        self._journey = Journey()
        self._selected: str | None = None
        """The condition whose rows are waited for, to be shown alone."""
        self._completer: Completer | None = None
        self._resolver: Resolver | None = None
        self._ref_screen: ChooserScreen | None = None
        self.bisecting = Bisecting(self)

    def forget_rows(self, row_now: Callable[[int], int | None]) -> None:
        """Forget what was worked out of the rows, and the stops that are there no longer."""
        self._completer = self._resolver = None
        if self._session is not None:
            self.bisecting.grow(self._session, row_now)
        journey, left = self._journey, self._left
        here = None if journey.here is None else row_now(journey.here)
        behind, ahead = (
            tuple(row for row in map(row_now, stops) if row is not None)
            for stops in (journey.behind, journey.ahead)
        )
        self._journey = Journey(here, behind, ahead)
        aims = () if left is None else (left.question.old, left.question.new)
        if any(isinstance(aim, int) and row_now(aim) != aim for aim in aims):
            self._left = None

    def action_follow(self) -> None:
        """Show what is written to the session as it comes, or no longer."""
        if self._session is None:
            return
        if not self.loader.can_follow:
            self.say("what is open here cannot be followed")
            return
        self._follows = not self._follows
        if self._follows:
            self.loader.watch()
            self.say("what is written is shown as it comes; F: no longer")
        else:
            self.loader.unwatch()
            self.say("what is written from here on is not shown; F: shown again")
        self._tell_live()

    # Going somewhere

    def action_first(self) -> None:
        """Go to the first row."""
        if self._pane is not None:
            self._come_from_here()
            self._pane.to_start()

    def action_last(self) -> None:
        """Go to the last row."""
        if self._pane is not None:
            self._come_from_here()
            self._pane.to_end()

    def action_jump(self, aim: str, step: int) -> None:
        """Go to the next or previous one of something."""
        if isinstance(self.focused, StateTree) and aim == "compaction":
            if not self.focused.to_next_change(step):
                self.say(f"no change {'above' if step < 0 else 'below'} in this state")
            return
        row = self._row
        if self._session is None or self._outline is None or row is None:
            return
        to = jump_among(self._session, row, aim, step, self._outline.mask)
        if to is None:
            self.say(f"no {aim} {'above' if step < 0 else 'below'} this row")
        else:
            self._jump_to(to)

    def _jump_to(self, to: Found) -> None:
        note = self.go_to(to.row)
        if to.wrapped:
            self.say("; ".join(filter(None, ("went around the end of the session", note))))

    def go_to(self, row: int, *, is_new: bool = True) -> str:
        """Go to a row from wherever one is; what folds or hides it gives way.

        Says, and gives back for those who say more, whether the filter had to.
        """
        outline = self._outline
        if outline is None:
            return ""
        if is_new:
            self._come_from_here()
            self._journey = self._journey.visit(row)
        if outline.has_line(row):
            self.tree_pane.move_to_row(row)
            return ""
        chosen, note = self._filter, ""
        if not outline.mask[row]:
            note = f"all rows are shown: {chosen} hides row {row + 1}"
            self.say(note)
            chosen = Filter.ALL
        self._want_lines(chosen, outline.revealing(row), row, reveals=True)
        return note

    def _come_from_here(self) -> None:
        """Remember the row one leaves, to come back to."""
        row = self._row
        if row is not None:
            self._journey = self._journey.visit(row)

    def action_back(self) -> None:
        """Go back to where one was before the last jump."""
        self._come_from_here()
        self._travel(self._journey.back(), "back")

    def action_forward(self) -> None:
        """Go forward again after going back."""
        self._come_from_here()
        self._travel(self._journey.forward(), "forward")

    def _travel(self, journey: Journey, way: str) -> None:
        if journey is self._journey or journey.here is None:
            self.say(f"there is nowhere to go {way} to")
        else:
            self._journey = journey
            self.say("")
            self.go_to(journey.here, is_new=False)

    def action_go_to(self) -> None:
        """Ask for a ref and go there."""
        session = self._session
        if session is None or not len(session):
            return
        self._ref_screen = ChooserScreen(
            "go to",
            lambda typed: choices.ref_choices(self._completer, typed),
            self._palette,
            self._glyphs,
            preview=lambda typed, choice: choices.ref_preview(
                session, self._completer, typed, choice, self._palette
            ),
            asked="an id, @, root, row=14, label=NAME, line=7, time=..., then ~ or +",
        )
        self.app.push_screen(self._ref_screen, self._go_to_chosen)
        if self._completer is None:
            self.loader.complete()

    def on_completes(self, message: Completes) -> None:
        """Complete what is being typed, now that it can be."""
        self._completer = message.completer
        if self._ref_screen is not None and self._ref_screen.is_current:
            self._ref_screen.offer_again()

    def _go_to_chosen(self, row: int | None) -> None:
        if row is not None:
            self.go_to(row)

    def on_scrubber_chosen(self, message: Scrubber.Chosen) -> None:
        """Go to the row that was chosen in the graph."""
        self.go_to(message.row)

    # Marks

    def action_mark(self) -> None:
        """Ask for a letter and mark the row with it."""
        row = self._row
        if row is not None:
            self.app.push_screen(
                KeyScreen(f"mark row {row + 1} with the letter:", self._palette),
                lambda key: self._mark(key, row),
            )

    def _mark(self, key: str | None, row: int) -> None:
        if key is not None and key.isalnum():
            self.loader.mark(key, row)

    def on_marked(self, message: Marked) -> None:
        """Tell that a row is marked."""
        self._marks = dict(message.marks)
        self.tree_pane.draw_with(self._row_view)
        self.say(f"row {message.row + 1} is marked: ' {message.name} leads back to it")

    def action_to_mark(self) -> None:
        """Ask for the letter of a mark and go there."""
        session = self._session
        if session is None:
            return
        rows = {name: session.rows.get(own) for name, own in sorted(self._marks.items())}
        known = "  ".join(f"{name} {row + 1}" for name, row in rows.items() if row is not None)
        asked = f"go to mark ({known or 'none yet, m sets one'}), or ' to go back:"
        self.app.push_screen(KeyScreen(asked, self._palette), self._to_mark)

    def _to_mark(self, key: str | None) -> None:
        if key == "'":
            self.action_back()
        elif key is not None and self._session is not None:
            row = self._session.rows.get(self._marks.get(key, ""))
            if row is None:
                self.say(f"there is no mark {key}")
            else:
                self.go_to(row)

    # Search

    def action_search(self) -> None:
        """Ask what to look for."""
        if self._session is not None and len(self._session):
            line = LineScreen(
                "search:",
                self._palette,
                typed_for(self.finder.sought),
                hint="a text, or: when CONDITION, as in: when tool=bash and error",
                wrong_in=wrong_in,
            )
            self.app.push_screen(line, self._look_for)

    def _look_for(self, text: str | None) -> None:
        row = self._row
        if text is None or row is None:
            return
        # One search is one stop of the way back, however many matches one looks at.
        self._come_from_here()
        self.finder.look_for(text, row)
        self.mark_matches()
        self._tell_search()

    def on_searched(self, message: Searched) -> None:
        """Take in what was found, and go there if one waits for it."""
        self._go_to_match(self.finder.tell(message))
        if message.found.hits and self.finder.held:
            self.tree_pane.draw_with(self._row_view)

    def action_found(self, step: int) -> None:
        """Go to the next or previous match."""
        row = self._row
        if self.finder.sought is None or row is None:
            self.say("search first: press /")
        else:
            self._go_to_match(self.finder.beside(row, step))

    def _go_to_match(self, to: Jump | None) -> None:
        notes: list[str] = []
        if to is not None:
            for inspector in self.inspectors:
                inspector.reveal()
                if inspector.row == to.row:
                    inspector.mark(self.finder.query)
            notes = [self.go_to(to.row, is_new=False)]
            notes += ["went around the end"] if to.has_wrapped else []
        self._tell_search(*notes)

    def _tell_search(self, *notes: str) -> None:
        row = self._row
        if self.finder.sought is not None and row is not None:
            said = "   ".join(filter(None, (self.finder.said(row), *notes)))
            self.say(said, stays=not self.finder.is_done)

    # Bisecting

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return super().is_settled and not self.bisecting.is_waiting

    def action_bisect(self) -> None:
        """Ask what is looked for on the branch of the row."""
        if self._session is not None and self._row is not None:
            line = LineScreen(
                "bisect:",
                self._palette,
                hint="a condition such as cost>1, or just Enter: you judge row by row",
                wrong_in=_wrong_to_bisect,
            )
            self.app.push_screen(line, self._bisect)

    def _bisect(self, text: str | None) -> None:
        session, row = self._session, self._row
        if session is None or row is None or text is None:
            return
        self._come_from_here()
        if not text.strip():
            self.loader.stop_bisect()
            self.bisecting.begin(session, row)
            return
        try:
            question = self.bisecting.question(session, row, text)
        except UsageError as error:
            self.say(error.message, is_error=True)
        else:
            self.loader.bisect(question)

    def on_bisected(self, message: Bisected) -> None:
        """Go where a condition holds first."""
        self.bisecting.tell(message)

    def on_bisect_failed(self, message: BisectFailed) -> None:
        """Show why a condition cannot be tested."""
        if self.bisecting.fail(message):
            self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))

    def action_judge(self, verdict: str) -> None:
        """Say how the row is, and go to the one to be tested next."""
        row = self._row
        if row is None:
            return
        if self.tree_pane.cursor_fold is not None:
            self.say("a fold is many rows; l unfolds it")
            return
        try:
            self.bisecting.judge(row, Verdict(verdict))
        except UsageError as error:
            self.say(error.message)

    def action_tree(self) -> None:
        """Give the focus back to the tree; there, end a search, else a bisect."""
        if self._in_tree and self.finder.sought is None and self.bisecting.is_on:
            self.loader.stop_bisect()
            self.bisecting.end()
        else:
            super().action_tree()

    # Filters and folds

    def action_filter(self) -> None:
        """Let a filter be chosen."""
        session = self._session
        if session is not None:
            counts = {each: shown_mask(session, each).count(1) for each in Filter}
            every, chosen = list(Filter), self._filter
            cursor = len(every) if isinstance(chosen, Where) else every.index(chosen)
            screen = ChooserScreen(
                "rows to show",
                choices.filters_offered(counts),
                self._palette,
                self._glyphs,
                cursor=cursor,
                asked="type to narrow down, or a condition",
            )
            self.app.push_screen(screen, self._filter_chosen)

    def _filter_chosen(self, chosen: Filter | choices.Asked | str | None) -> None:
        match chosen:
            case choices.Asked():
                self.action_show_where()
            case None | Filter():
                self._take_filter(chosen)
            case str():
                self._show_where(chosen)

    def action_next_filter(self) -> None:
        """Take the next filter."""
        every, chosen = list(Filter), self._filter
        place = -1 if isinstance(chosen, Where) else every.index(chosen)
        self._take_filter(every[(place + 1) % len(every)])

    def action_show_where(self) -> None:
        """Ask for a condition, to show the rows alone at which it holds."""
        if self._session is None or not len(self._session):
            return
        line = LineScreen(
            "show where:",
            self._palette,
            self._filter.condition if isinstance(self._filter, Where) else "",
            hint="a condition, as in: tool=bash and error",
            wrong_in=wrong_in_condition,
        )
        self.app.push_screen(line, self._show_where)

    def _show_where(self, condition: str | None) -> None:
        if condition is not None and condition.strip():
            self._selected = condition.strip()
            self.say(f"looking where {self._selected}", stays=True)
            self.loader.select(self._selected)

    def on_selected(self, message: Selected) -> None:
        """Show the rows at which a condition holds, unless other ones are wanted by now."""
        if message.condition != self._selected:
            return
        self._selected = None
        where, session = message.where, self._session
        if isinstance(where, TtdbgError):
            self.say(where.message, is_error=True)
        elif 1 not in where.mask:
            self.say(f"{where}: no checkpoint")
        elif session is not None:
            count = counted(where.mask.count(1), "checkpoint")
            self.say(f"{where}: {count}")
            self._want_lines(where, self._folding, self.tree_pane.cursor_row)

    def action_show(self, name: str) -> None:
        """Take the filter of a name."""
        self._take_filter(Filter(name))

    def _take_filter(self, chosen: Filter | None) -> None:
        self._selected = None
        if chosen is not None and chosen != self._filter:
            self.say(f"{chosen}: {choices.FILTERS_TELL[chosen]}")
            self._want_lines(chosen, self._folding, self.tree_pane.cursor_row)

    def action_fold(self) -> None:
        """Fold what the cursor is in; elsewhere go to the tab or mark before."""
        match self.focused:
            case StateTree() as state:
                state.fold()
            case Scrubber() as scrubber:
                scrubber.to_mark(-1)
            case CheckpointTree():
                self._fold()
            case _:
                self.inspector_in_use.next_tab(-1)

    def _fold(self) -> None:
        row = self._row
        if self._outline is None or row is None:
            return
        folding = self._outline.closing(row)
        if self.tree_pane.fold_below is not None or self.tree_pane.cursor_fold is not None:
            self.say("this is folded already; l unfolds it")
        elif folding is None:
            self.say("nothing to fold here: branches and runs of plain steps fold")
        else:
            self._want_lines(self._filter, folding, row)

    def action_unfold(self) -> None:
        """Unfold what is under the cursor; elsewhere go to the tab or mark behind."""
        match self.focused:
            case StateTree() as state:
                state.unfold()
            case Scrubber() as scrubber:
                scrubber.to_mark(1)
            case CheckpointTree():
                self._unfold()
            case _:
                self.inspector_in_use.next_tab(1)

    def _unfold(self) -> None:
        if self._session is None:
            return
        fold = self.tree_pane.cursor_fold or self.tree_pane.fold_below
        if fold is None:
            self.say("nothing to unfold here")
        else:
            self._want_lines(self._filter, self._folding.opening(fold.head), fold.first)

    def on_checkpoint_tree_fold_clicked(self) -> None:
        """Open the fold that was clicked."""
        self._unfold()

    def action_fold_all(self) -> None:
        """Fold everything."""
        self._want_lines(self._filter, Folding(FoldRule.EVERYTHING), self.tree_pane.cursor_row)

    def action_unfold_all(self) -> None:
        """Unfold everything."""
        self._want_lines(self._filter, Folding(FoldRule.NOTHING), self.tree_pane.cursor_row)

    def action_open(self) -> None:
        """Open what is under the cursor: a fold, a value, the inspector."""
        match self.focused:
            case StateTree() as state if state.can_toggle:
                state.toggle()
            case StateTree():
                self.action_blame()
            case CheckpointTree() if self.tree_pane.cursor_fold is not None:
                self._unfold()
            case CheckpointTree():
                self._open_row()
            case Scrubber():
                self.action_tree()
            case _:
                pass

    def _open_row(self) -> None:
        """Look for what the row leads to; one that leads nowhere is inspected."""
        session, row = self._session, self._row
        if session is not None and row is not None and self._leads_on(session, row):
            self.loader.find_subsessions(row)
        else:
            self.action_switch()

    def _leads_on(self, session: Session, row: int) -> bool:
        """Tell whether a row started a session, is a commit, or tells of one."""
        if row in session.subsessions or row in self.forks_seen:
            return True
        if session.heads.kind(row) is Kind.COMMIT:
            self.say("looking for the session that made this commit")
            return True
        shown = self.inspector.shown
        return isinstance(shown, Inspection) and shown.row == row and bool(shown.commits)

    def on_subsessions_found(self, message: SubsessionsFound) -> None:
        """Open the session that the row started; of several ask which one."""
        session = self._session
        if session is None or message.row != self._row:
            return
        forks = self.forks_seen.get(message.row, ())
        found = [*message.found, *map(_as_subsession, forks)]
        there = [each for each in found if each.location is not None]
        if not found:
            self.say("no session was found that tells of this commit")
        elif not there:
            names = ", ".join(each.name for each in found)
            self.say(f"{names}: it is not where this session is kept")
        elif len(there) == 1:
            self._enter(there[0])
        else:
            offered = [Choice(each.name, str(each.location), each) for each in there]
            self.choose("open what this leads to", offered, self._enter)

    def _enter(self, subsession: Subsession | None) -> None:
        if subsession is None or subsession.location is None:
            return
        if subsession.row is not None:
            self.go_to(subsession.row)
        else:
            self.post_message(self.SessionWanted(subsession.location, subsession.fragment))

    # Comparing

    _left: Arrival | None = None
    """The comparison that was left for a checkpoint."""

    def action_diff(self) -> None:
        """Ask what to compare the row with."""
        session, row = self._session, self._row
        if session is None or row is None:
            return
        parent = session.parents[row]
        marks = {
            name: session.rows[own] for name, own in self._marks.items() if own in session.rows
        }
        asked = versus.asked(row, None if parent == NO_ROW else parent, session.active, marks)

        def take(key: str | None) -> None:
            self._diff(key, row, marks)

        self.app.push_screen(versus.VersusScreen(asked, self._palette), take)

    def _diff(self, key: str | None, row: int, marks: Mapping[str, int]) -> None:
        session = self._session
        if session is None or key is None:
            return
        match key:
            case versus.PARENT if session.parents[row] != NO_ROW:
                self.compare(session.parents[row], row)
            case versus.PARENT:
                self.say(f"row {row + 1} has no parent")
            case versus.ACTIVE if session.active is not None:
                self.compare(*sorted((row, session.active)))
            case versus.MARK if len(marks) == 1:
                self.compare(*sorted((next(iter(marks.values())), row)))
            case versus.MARK if marks:
                asked = f"compare row {row + 1} with the mark: {'  '.join(sorted(marks))}"
                self.app.push_screen(
                    KeyScreen(asked, self._palette),
                    lambda name: self._diff_mark(name, row, marks),
                )
            case versus.REF:
                self._diff_ref(row)
            case versus.MARK:
                self.say("there is no mark yet; m sets one")
            case _:
                self.say("nothing is compared")

    def _diff_mark(self, name: str | None, row: int, marks: Mapping[str, int]) -> None:
        if name is not None and name in marks:
            self.compare(*sorted((marks[name], row)))
        elif name is not None:
            self.say(f"there is no mark {name}")

    def _diff_ref(self, row: int) -> None:
        """Ask for a ref, here or in another file, to compare a row with."""
        self._ref_screen = ChooserScreen(
            f"compare row {row + 1} with",
            lambda typed: versus.ref_choices(self._completer, typed),
            self._palette,
            self._glyphs,
            asked="a ref as in go to, or of another file: FILE#REF",
        )
        self.app.push_screen(
            self._ref_screen, lambda aim: None if aim is None else self.compare(row, aim)
        )
        if self._completer is None:
            self.loader.complete()

    def compare(self, old: Aim, new: Aim) -> None:
        """Compare two points, each a row or a ref."""
        from tt_debugger.tui.comparer import Question

        self._push_comparison(Question(old, new))

    def _push_comparison(self, question: Question, block: int | None = None) -> None:
        from tt_debugger.tui.screens.compare import CompareScreen

        comparer = self.loader.comparer()
        if comparer is not None:
            screen = CompareScreen(question, comparer, self._palette, self._glyphs, block)
            self.app.push_screen(screen, self._arrive)

    def action_compare_again(self) -> None:
        """Go back to the comparison that was left for one of its checkpoints."""
        if self._left is None:
            self.say("no comparison was left for a checkpoint")
        else:
            self._push_comparison(self._left.question, self._left.block)

    def _arrive(self, arrival: Arrival | None) -> None:
        if arrival is not None:
            self._left = arrival
            note = self.go_to(arrival.row)
            self.say("; ".join(filter(None, (arrival.said, note, "D: back to the comparison"))))

    def action_stats(self) -> None:
        """Show the statistics of the session."""
        session, tallier = self._session, self.loader.tallier()
        if session is not None and len(session) and tallier is not None:
            from tt_debugger.tui.screens.stats import StatsScreen

            screen = StatsScreen(session, tallier, self._palette, self._glyphs)
            self.app.push_screen(screen, self._from_stats)

    def _from_stats(self, row: int | None) -> None:
        # Meanwhile the file may have been cut.
        if row is not None and self._session is not None and row < len(self._session):
            self.go_to(row)

    def action_export(self) -> None:
        """Ask how to export the branch that ends at the row, or the state there."""
        row, exporter = self._row, self.loader.exporter()
        if row is not None and exporter is not None:
            from tt_debugger.tui.screens.export import ExportScreen

            screen = ExportScreen((row,), exporter, self._palette, self._glyphs)
            self.app.push_screen(screen, lambda said: self.say(said or "nothing is written"))

    # Forking

    def action_fork(self) -> None:
        """Fork from the row, where the format can be forked."""
        session, row, forker = self._session, self._row, self.loader.forker()
        if session is None or row is None or forker is None:
            return
        if not self.loader.can_fork:
            self.say(f"ttdbg cannot fork sessions of the format {session.format or 'blank'}")
            return
        from tt_debugger.tui.screens.fork import ForkScreen

        screen = ForkScreen(row, forker, self._palette, self._glyphs)
        self.app.push_screen(screen, self._forked)

    def _forked(self, forked: Forked | None) -> None:
        """Tell of a fork that was written, and mark where it begins."""
        if forked is None:
            self.say("no fork is made")
            return
        from tt_debugger.tui.screens.forked import ForkedScreen

        self.loader.find_forks()
        # One in the session itself is seen in it.
        self.on_may_have_grown()
        screen = ForkedScreen(forked, self._palette, self._glyphs)
        self.app.push_screen(screen, lambda chosen: self._go_on_from(forked, chosen))

    def _go_on_from(self, forked: Forked, chosen: Next | None) -> None:
        from tt_debugger.tui.screens.forked import Next

        match chosen:
            case Next.OPEN:
                location, fragment = split_location(forked.ref)
                self.post_message(self.SessionWanted(location, fragment))
            case Next.UNDO:
                self.action_undo()
            case None:
                self.say("Enter on the row opens the fork; Z lists all forks")

    def action_undo(self) -> None:
        """Show the forks that were made, to undo one."""
        from tt_debugger.tui.screens.undo import UndoScreen

        self.app.push_screen(UndoScreen(self._palette, self._glyphs), self._after_undo)

    def _after_undo(self, chosen: Made | None) -> None:
        self.loader.find_forks()
        self.on_may_have_grown()
        if chosen is not None:
            self._enter(_as_subsession(chosen))

    # Copying

    def action_copy(self) -> None:
        """Ask what to copy and copy it."""
        if self._row is not None:
            self.app.push_screen(KeyScreen(ASKED, self._palette), self._copy)

    def _copy(self, key: str | None) -> None:
        session, row = self._session, self.tree_pane.cursor_row
        if key is None or session is None or row is None:
            return
        if self._resolver is None:
            self._resolver = Resolver(session)
        ref = self._resolver.short_id(row)
        seen = self.inspector_in_use.copyable()
        copy = None if seen is None else copied(key, seen, self._location, ref)
        if copy is None:
            self.say("nothing is copied")
            return
        self.app.copy_to_clipboard(copy.text.encode(errors="replace").decode())
        self.say(copy.said)

    # Other screens

    def commands(self) -> list[Choice]:
        """Give the commands of the keys, and each filter by its name."""
        return [*super().commands(), *choices.filter_commands()]

    def action_sessions(self) -> None:
        """Show the sessions beside this one: those of its location, else of its folder."""
        if not self.is_first:
            self._leave()
        elif self.loader.is_one_of_several:
            self.app.post_message(self.FolderWanted(self._location))
        else:
            folder = str(Path(self._location).absolute().parent)
            self.app.post_message(self.FolderWanted(folder))

    def action_quit(self) -> None:
        """Go back from a zoomed inspector, to the screen below, or leave where there is none."""
        if self.has_class("zoom-inspector"):
            self.action_tree()
        else:
            self._leave()

    def _leave(self) -> None:
        self.stop()
        if self.is_first:
            self.app.exit()
            return
        row = self._row
        place = None
        if row is not None:
            place = Place(
                row, self._filter, self._folding, self.inspector.tab, self.watching.texts
            )
        self.dismiss(place)


def _wrong_to_bisect(typed: str) -> str:
    """Tell what is wrong with a condition to bisect by; without one a person judges."""
    if typed.strip() in VERDICT_KEYS:
        return "to judge row by row leave this empty: Enter first, then + and -"
    return wrong_in_condition(typed)


def _as_subsession(made: Made) -> Subsession:
    """Give a fork as a session that a row leads to."""
    from tt_debugger.views.fork import made_name

    operation = made.operation
    fragment = parse_fragment(f"{quoted(operation.session)}:{quoted(operation.point)}")
    return Subsession(made_name(made), operation.location, fragment)
