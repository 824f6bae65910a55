"""The chooser: one list to choose from, narrowed down by typing.

Palette, filters, themes and Go-to are each a chooser: they differ in what is offered.
"""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Input

from tt_debugger.tui.keys import CHOOSER, bindings
from tt_debugger.tui.screens.prompt import has_line, take_key
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.choice_list import Choice, ChoiceList
from tt_debugger.tui.widgets.lines import Lines
from tt_debugger.views.palette import Glyphs, Palette

ALIKE = 75
"""How alike a name must be to what is typed, of 100, where it does not hold it."""
_SHORTEST_ALIKE = 3

Offer = Callable[[str], Sequence[Choice]]
"""Gives the choices for what is typed, the best first."""
Preview = Callable[[str, Choice | None], Iterable[Text]]
"""Gives what is shown of what is typed and of the choice under the cursor."""


class ChooserScreen(ModalScreen[Any]):
    """Gives the value of what was chosen, None if nothing was."""

    CSS_PATH = "chooser.tcss"
    BINDINGS = bindings(CHOOSER)

    def __init__(  # noqa: PLR0913 - each is a part of what is seen
        self,
        title: str,
        offer: Offer,
        palette: Palette,
        glyphs: Glyphs,
        *,
        cursor: int = 0,
        asked: str = "type to narrow down",
        preview: Preview | None = None,
        on_move: Callable[[Choice], None] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._offer = offer
        self._palette = palette
        self._glyphs = glyphs
        self._cursor = cursor
        self._asked = asked
        self._preview = preview
        self._on_move = on_move
        self._typed = ""
        """What the choices are offered for."""

    @property
    def takes_keys(self) -> bool:
        """Whether the next key is for this screen."""
        return has_line(self)

    def compose(self) -> ComposeResult:
        """Lay out a line to type in over the choices."""
        with Vertical(id="box") as box:
            box.border_title = self._title
            line = Input(placeholder=self._asked, select_on_focus=False)
            line.cursor_blink = False
            yield line
            yield ChoiceList(self._palette, self._glyphs)
            if self._preview is not None:
                yield Lines(id="preview")
            yield BottomBar(CHOOSER, self._palette, self._glyphs)

    def on_mount(self) -> None:
        """Offer everything."""
        self._list.update_from(self._offer(""), self._cursor)
        self._show_preview()
        self.query_one(Input).focus()

    def offer_again(self) -> None:
        """Offer anew: what is offered has changed."""
        self._list.update_from(self._offer(self.query_one(Input).value))
        self.on_choice_list_moved()

    @property
    def _list(self) -> ChoiceList:
        return self.query_one(ChoiceList)

    def on_key(self, event: events.Key) -> None:
        """Take what is typed before the line is there; what comes behind it is for others."""
        take_key(self, event)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Offer what matches."""
        self._offer_for(message.value)
        self.on_choice_list_moved()

    def _offer_for(self, typed: str) -> None:
        """Offer what matches what is typed, unless that is what is offered."""
        if typed != self._typed:
            self._typed = typed
            self._list.update_from(self._offer(typed))

    def on_choice_list_moved(self) -> None:
        """Show what the choice under the cursor would lead to."""
        self._show_preview()
        chosen = self._list.chosen
        if self._on_move is not None and chosen is not None:
            self._on_move(chosen)

    def on_choice_list_taken(self) -> None:
        """Take what was clicked."""
        self.action_take()

    def on_bottom_bar_pressed(self, message: BottomBar.Pressed) -> None:
        """Do what the key that was clicked does."""
        self.call_later(self.run_action, message.action)

    def _show_preview(self) -> None:
        if self._preview is not None:
            lines = self._preview(self.query_one(Input).value, self._list.chosen)
            self.query_one("#preview", Lines).update_from(lines)

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self._list.move_by(lines)

    def action_complete(self) -> None:
        """Put the choice under the cursor into the line."""
        chosen = self._list.chosen
        if chosen is not None:
            line = self.query_one(Input)
            line.value = chosen.text
            line.cursor_position = len(chosen.text)

    def action_take(self) -> None:
        """Give what is chosen; stay where nothing matches."""
        # Enter may overtake the news of what was typed before it.
        self._offer_for(self.query_one(Input).value)
        chosen = self._list.chosen
        if chosen is None:
            self.app.bell()
        else:
            self.query_one(Input).disabled = True
            self.dismiss(chosen.value)

    def action_close(self) -> None:
        """Choose nothing."""
        line = self.query_one(Input)
        if not line.disabled:
            line.disabled = True
            self.dismiss(None)


def narrowed(choices: Sequence[Choice]) -> Offer:
    """Offer those of some choices whose text or detail holds what is typed, or nearly does."""

    def offer(typed: str) -> Sequence[Choice]:
        words = typed.casefold().split()
        scored = [(_score(words, each), -place) for place, each in enumerate(choices)]
        best = sorted((score for score in scored if score[0] > 0), reverse=True)
        return [choices[-place] for _, place in best]

    return offer


def _score(words: Sequence[str], choice: Choice) -> float:
    """Tell how well a choice fits: above 0 if each word is in it, best if its name begins so."""
    from rapidfuzz import fuzz

    name, whole = choice.text.casefold(), f"{choice.text} {choice.detail}".casefold()
    score = 1.0
    for word in words:
        if name.startswith(word):
            score += 4
        elif word in name:
            score += 3
        elif word in whole:
            score += 2
        elif len(word) < _SHORTEST_ALIKE or fuzz.partial_ratio(word, whole) < ALIKE:
            return 0
    return score
