"""A bar of words of which one is picked, each with the key that picks it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec
from rich.text import Text
from textual import events
from textual.message import Message
from textual.widget import Widget

from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Glyphs, Palette


class Word(msgspec.Struct, frozen=True):
    """A word, the key that picks it, and whether it can be picked at this time."""

    text: str
    key: str = ""
    is_off: bool = False


class WordBar(Widget, can_focus=True, inherit_bindings=False):
    """One line of words; whoever owns the bar moves from one to the next.

    The picked one stands in brackets, one that cannot be picked in parentheses.
    """

    DEFAULT_CSS = "WordBar { height: 1; }"

    class Clicked(Message):
        """A word was clicked."""

        def __init__(self, bar: WordBar, place: int) -> None:
            super().__init__()
            self.bar = bar
            self.place = place

    def __init__(self, palette: Palette, glyphs: Glyphs, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._palette = palette
        self._glyphs = glyphs
        self._words: Sequence[Word] = ()
        self._picked = 0
        self._said = ""

    def update_from(self, words: Sequence[Word], picked: int, said: str = "") -> None:
        """Show other words, and a sentence behind them."""
        self._words, self._picked, self._said = words, picked, said
        self.refresh()

    @property
    def picked(self) -> int:
        """The place of the word that is picked."""
        return self._picked

    def beside(self, step: int) -> int:
        """Give the place of the next word that can be picked in a direction, else its own."""
        place = self._picked + step
        while 0 <= place < len(self._words):
            if not self._words[place].is_off:
                return place
            place += step
        return self._picked

    def _parts(self) -> Iterator[tuple[Text, int]]:
        """Give each word as text, with its place."""
        palette = self._palette
        for place, word in enumerate(self._words):
            name = safe_line(word.text)
            key = (f"{word.key} ", palette.label if not word.is_off else palette.dim)
            if place == self._picked:
                yield Text.assemble("[", key, (name, palette.accent), "]"), place
            elif word.is_off:
                yield Text.assemble(" ", key, (f"({name})", palette.dim), " "), place
            else:
                yield Text.assemble(" ", key, (name, palette.text), " "), place

    def render(self) -> Text:
        """Draw the words; at the left it is told whether the keys go here."""
        sign = self._glyphs.cursor if self.has_focus else " "
        line = Text(no_wrap=True, overflow="ellipsis")
        line.append(sign, self._palette.accent)
        for text, _ in self._parts():
            line.append_text(text)
        if self._said:
            line.append(f"  {safe_line(self._said)}", self._palette.dim)
        return line

    def on_focus(self) -> None:
        """Tell that the keys go here."""
        self.refresh()

    def on_blur(self) -> None:
        """Tell that they do no longer."""
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        """Tell which word was clicked."""
        end = 1
        for text, place in self._parts():
            end += text.cell_len
            if event.x < end:
                if not self._words[place].is_off:
                    self.post_message(self.Clicked(self, place))
                return
