"""What is watched on the Timeline: which values, where they are seen, and the way to a change."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import msgspec

from tt_debugger.core.inspection import Inspection
from tt_debugger.core.refs import Fragment
from tt_debugger.core.watch import Watch
from tt_debugger.tui.loader import Opened, Regrown
from tt_debugger.tui.screens import watch_choices
from tt_debugger.tui.screens.chooser import ChooserScreen
from tt_debugger.tui.screens.panes import PanesScreen, Place
from tt_debugger.tui.tracker import ChangeFound, Tracked, TrackFailed, Tracking
from tt_debugger.tui.watching import Leap, Watching
from tt_debugger.tui.widgets.checkpoint_tree import ColumnNames
from tt_debugger.tui.widgets.inspector import Said, Shown, Waiting
from tt_debugger.tui.widgets.scrubber import WatchedLine
from tt_debugger.tui.widgets.state_tree import StateTree
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.row import RowView, WatchedValue
from tt_debugger.views.watched import cell_text, short_name


class WatchedScreen(PanesScreen):
    """The panes with what is watched in them: in the inspector, the tree and the graph."""

    def __init__(
        self,
        location: str,
        fragment: Fragment,
        palette: Palette,
        glyphs: Glyphs,
        place: Place | None = None,
    ) -> None:
        super().__init__(location, fragment, palette, glyphs, place)
        self.watching = Watching(glyphs.arrow)
        self.watching.on_missing = self._look_later
        self._line: WatchedLine | None = None

    @abstractmethod
    def go_to(self, row: int, *, is_new: bool = True) -> str:
        """Go to a row from wherever one is."""

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return super().is_settled and self.watching.is_settled

    # What the panes are told

    def on_opened(self, message: Opened) -> None:
        """Watch what was watched when one left the session."""
        self.watching.adopt(message.session, self.loader.tracker())
        texts = () if self._place is None else self._place.watches
        self.watching.watches = tuple(map(Watch.parse, texts))
        self.watching.chosen = self.watching.watches[-1] if texts else None
        self.set_class(bool(texts), "watching")

    def _grow(self, message: Regrown) -> None:
        self.watching.adopt(message.opened.session, self.loader.tracker(), message.kept)
        super()._grow(message)
        self._look()

    def inspect(self, shown: Shown) -> None:
        """Show something in each inspector that is seen, and what is watched there."""
        super().inspect(shown)
        self._tell_inspectors(shown)

    def _show(self) -> None:
        super()._show()
        if self.watching.watches:
            self._look()
            self._draw_line()

    @property
    def _row_view(self) -> RowView:
        view = super()._row_view
        watch = self.watching.chosen
        if watch is None or not self.watching.shows_column:
            return view
        column = WatchedValue(self._short_name(watch), self._at)
        return msgspec.structs.replace(view, watched=column)

    def _short_name(self, watch: Watch) -> Callable[[int], str]:
        return lambda width: short_name(watch.path, watch.name, width, self._glyphs)

    def _at(self, row: int) -> tuple[str, bool] | None:
        found = self.watching.cell(row)
        return None if found is None else (cell_text(found[0]), found[1])

    def _look_later(self) -> None:
        self.call_later(self._look)

    def _look(self) -> None:
        row = self._row
        if row is not None:
            self.watching.look_at(row)

    def _tell_inspectors(self, shown: Shown) -> None:
        row = None
        if isinstance(shown, (Inspection, Waiting)):
            row = shown.row
        elif isinstance(shown, Said):
            row = shown.row if shown.is_error else None
        inspection = shown if isinstance(shown, Inspection) else None
        self.inspector.tell_watched(() if row is None else self.watching.seen(row, inspection))

    def draw_rows(self) -> None:
        """Draw the rows of the tree anew, and the names of their columns."""
        view = self._row_view
        self.tree_pane.draw_with(view)
        self.query_one(ColumnNames).update_from(view)

    def _draw_line(self) -> None:
        """Draw the chosen value in the graph, on the branch of the row one is at."""
        watch, row, line = self.watching.chosen, self._row, None
        if watch is not None and row is not None:
            track = self.watching.track(watch, row)
            line = self._line
            if line is None or line.track is not track or line.watch is not watch:
                line = WatchedLine(self._short_name(watch), track, watch)
        self._line = line
        self.scrubber.draw_watched(line)
        self.draw_range()

    def _tell_watched(self) -> None:
        """Show all anew that tells of what is watched."""
        self.set_class(bool(self.watching.watches), "watching")
        self.draw_rows()
        self._tell_inspectors(self.inspector.shown)
        self._draw_line()
        self._look()

    # What the tracker tells

    def on_tracked(self, message: Tracked) -> None:
        """Take in where a value changed, and go there if one waits for that."""
        if not self.watching.hear(message):
            return
        self.watching.forget_missing()
        self._tell_inspectors(self.inspector.shown)
        self._draw_line()
        if self.watching.chosen is not None and self.watching.shows_column:
            self.draw_rows()
        self._look()
        self._leap(self.watching.awaited())

    def on_tracking(self, message: Tracking) -> None:
        """Tell how far a walk is."""
        if self.watching.hear_progress(message):
            self._tell_inspectors(self.inspector.shown)
        if self.watching.awaits(message.asked):
            name, percent = message.asked.watch.name, message.percent
            self.say(f"looking for a change of {name}: {percent}%", stays=True)

    def on_track_failed(self, message: TrackFailed) -> None:
        """Tell why it is not known where a value changed."""
        if self.watching.hear_failure(message):
            self.say(f"{message.asked.watch.name}: {message.error.message}", is_error=True)
            self._tell_inspectors(self.inspector.shown)

    def on_change_found(self, message: ChangeFound) -> None:
        """Go to the change that was looked for."""
        self._leap(self.watching.found(message))

    # What the keys do

    def action_watch(self) -> None:
        """Watch what is under the cursor of the state, or no longer; elsewhere ask what."""
        focused = self.focused
        if isinstance(focused, StateTree):
            if focused.cursor_path:
                self._toggle(Watch.at(focused.cursor_path))
        elif self._session is not None and len(self._session):
            self._ask_what()

    def _ask_what(self) -> None:
        shown = self.inspector.shown
        state = shown.state if isinstance(shown, Inspection) else None
        watched = self.watching.watches
        screen = ChooserScreen(
            "watch",
            lambda typed: watch_choices.offered(state, typed, watched),
            self._palette,
            self._glyphs,
            asked="a path, /a/pointer, JMESPath or a condition",
            preview=lambda typed, choice: watch_choices.preview_lines(
                state, typed, choice, self._palette
            ),
        )
        self.app.push_screen(screen, self._watch_text)

    def _watch_text(self, text: str | None) -> None:
        if text is None:
            return
        try:
            watch = Watch.parse(text)
        except ValueError as error:
            self.say(str(error), is_error=True)
        else:
            self._toggle(watch)

    def _toggle(self, watch: Watch) -> None:
        is_watched = self.watching.toggle(watch)
        if is_watched:
            self.say(f"{watch.name} is watched: r R last and next change, w again: no longer")
        else:
            self.say(f"{watch.name} is watched no longer")
        self._tell_watched()

    def action_watches(self) -> None:
        """Let one of the watched values be chosen, or taken off."""
        row, watching = self._row, self.watching
        if not watching.watches or row is None:
            self.say("nothing is watched: w on a value of the state, or in the tree")
            return
        cursor = next((n for n, each in enumerate(watching.watches) if each is watching.chosen), 0)
        offered = watch_choices.watched(watching.watches, watching.seen(row))
        self.choose("watched", offered, self._choose_watch, cursor)

    def _choose_watch(self, chosen: watch_choices.Chosen | None) -> None:
        if chosen is None:
            return
        if chosen.is_dropped:
            self._toggle(chosen.watch)
        else:
            self.watching.chosen = chosen.watch
            self.say(f"r R go by {chosen.watch.name}")
            self._tell_watched()

    def action_column(self) -> None:
        """Show the watched value in the tree, or no longer."""
        if self.watching.chosen is None:
            self.say("nothing is watched: w on a value of the state, or in the tree")
            return
        self.watching.shows_column = not self.watching.shows_column
        self.say("" if self.watching.shows_column else "the tree shows no watched value; | does")
        self._tell_watched()

    def action_change(self, step: int) -> None:
        """Go to the last change of what is watched, or to the next one.

        In the state that is the value under the cursor.
        """
        row, focused = self._row, self.focused
        watch = self.watching.chosen
        if isinstance(focused, StateTree) and focused.cursor_path:
            watch = Watch.at(focused.cursor_path)
            self._use(watch)
        if row is None or self._session is None:
            return
        if watch is None:
            self.say("nothing is watched: w on a value of the state, or in the tree")
            return
        self.say(f"looking for a change of {watch.name}", stays=True)
        self._leap(self.watching.leap(watch, row, step))

    def _use(self, watch: Watch) -> None:
        """Let keys, column and graph go by a watch, if it is one."""
        known = self.watching.known(watch)
        if known is not None and known is not self.watching.chosen:
            self.watching.chosen = known
            self._tell_watched()

    def _leap(self, leap: Leap | None) -> None:
        if leap is None:
            return
        if leap.start != self._row:
            self.say("")
        elif leap.row is None:
            self.say(leap.said)
        else:
            note = self.go_to(leap.row)
            self.say("; ".join(filter(None, (leap.said, note))))
