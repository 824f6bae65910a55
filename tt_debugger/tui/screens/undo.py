"""The Undo screen: the forks that ttdbg made, and taking one of them back."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath

from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen

from tt_debugger.core.fork.made import Made, MadeState
from tt_debugger.core.text import summary_line
from tt_debugger.tui.copying import resuming
from tt_debugger.tui.keys import UNDO, bindings
from tt_debugger.tui.screens.dialog import ErrorScreen
from tt_debugger.tui.screens.prompt import KeyScreen
from tt_debugger.tui.undoer import OperationsRead, Undoer, UndoFailed, Undone
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.choice_list import Choice, ChoiceList
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.checkpoint import time_text
from tt_debugger.views.fork import damage_text, operation_lines
from tt_debugger.views.palette import Glyphs, Palette

YES = "y"
"""The key that undoes; all others do not."""


class UndoScreen(ModalScreen[Made | None]):
    """Lists the forks that were made, the newest first; gives one that is to be opened."""

    CSS_PATH = "undo.tcss"
    BINDINGS = bindings(UNDO, types=False)

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._made: Sequence[Made] | None = None
        self._damaged = 0
        """Lines of the operation log that cannot be read."""
        self._is_undoing = False
        self._undoer = Undoer(self)

    def compose(self) -> ComposeResult:
        """Lay out the list over what is known of the fork under the cursor."""
        with Vertical(id="box") as box:
            box.border_title = "forks made by ttdbg"
            yield ChoiceList(self._palette, self._glyphs)
            yield Lines(id="told")
            yield BottomBar(UNDO, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Begin to read which there are."""
        self.query_one(Lines).update_from([Text("reading", self._palette.dim)])
        self._undoer.read()

    @property
    def is_settled(self) -> bool:
        """Whether all that was asked for is shown."""
        return self._made is not None and not self._is_undoing

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    @property
    def _chosen(self) -> Made | None:
        chosen = self._list.chosen
        return None if chosen is None else chosen.value

    def on_operations_read(self, message: OperationsRead) -> None:
        """List them; the cursor stays where it was."""
        place = 0
        before = self._chosen
        if before is not None:
            ids = [each.operation.id for each in message.made]
            own = before.operation.id
            place = ids.index(own) if own in ids else 0
        self._made, self._is_undoing = message.made, False
        self._damaged = message.damaged
        self._list.update_from([_choice(each) for each in message.made], place)
        self._draw()

    def on_choice_list_moved(self) -> None:
        """Tell of the fork under the cursor."""
        self._draw()

    def on_choice_list_taken(self) -> None:
        """Take the one that was clicked."""
        self.action_take()

    def _draw(self) -> None:
        self.query_one(Lines).update_from(self._lines())

    def _lines(self) -> Iterator[Text]:
        made = self._chosen
        if made is not None:
            yield from operation_lines(made, self._palette)
        elif self._made is not None:
            yield Text("ttdbg has made no fork yet", self._palette.dim)
        if self._damaged:
            yield Text()
            yield Text(damage_text(self._damaged), self._palette.change)

    def _say(self, text: str) -> None:
        self.query_one(BottomBar).say(text)

    def on_bottom_bar_pressed(self, message: BottomBar.Pressed) -> None:
        """Do what the key that was clicked does."""
        self.call_later(self.run_action, message.action)

    # Keys

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self._list.move_by(lines)

    def action_take(self) -> None:
        """Ask whether to undo the fork under the cursor."""
        made = self._chosen
        if made is None or self._is_undoing:
            return
        if made.state is MadeState.UNDONE:
            self._say("it is undone already")
            return
        operation = made.operation
        asked = f"remove {PurePath(operation.location).name}, session {operation.session}?"
        told = f"{summary_line(asked, 60)}   {YES} yes   any other key: no"
        self.app.push_screen(KeyScreen(told, self._palette), lambda key: self._undo(key, made))

    def _undo(self, key: str | None, made: Made) -> None:
        if key != YES:
            self._say("nothing is undone")
            return
        self._is_undoing = True
        self._undoer.undo(made)

    def on_undone(self, message: Undone) -> None:
        """Say what was undone, and list all anew."""
        self._say(f"undone: {message.what_went}")
        self._undoer.read()

    def on_undo_failed(self, message: UndoFailed) -> None:
        """Say why it is not undone."""
        self._made, self._is_undoing = self._made or (), False
        self.app.push_screen(ErrorScreen(message.error, self._palette, self._glyphs))
        self._draw()

    def action_copy(self) -> None:
        """Copy the command with which the agent goes on from the fork."""
        made = self._chosen
        if made is not None:
            copy = resuming(made.operation.resume_command)
            self.app.copy_to_clipboard(copy.text)
            self._say(copy.said)

    def action_open(self) -> None:
        """Open the fork under the cursor."""
        made = self._chosen
        if made is not None and not made.state.is_there:
            self._say(f"it is {made.state}")
        elif made is not None:
            self.dismiss(made)

    def action_close(self) -> None:
        """Go back."""
        self.dismiss(None)


def _choice(made: Made) -> Choice:
    operation = made.operation
    origin, _, point = operation.origin.rpartition("#")
    note = f"  {summary_line(operation.note)}" if operation.note else ""
    told = f"{made.state:<14}{PurePath(origin).name}#{point}{note}"
    return Choice(time_text(operation.time)[:16], told, made)
