"""The prompt: one line at the bottom that waits for a single key, or for a line of text."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.geometry import Size
from textual.screen import ModalScreen, Screen
from textual.widget import Widget
from textual.widgets import Input

from tt_debugger.core.text import safe_line
from tt_debugger.views.palette import Palette


class _Said(Widget):
    DEFAULT_CSS = "_Said { height: 1; width: auto; }"

    def __init__(self, text: str, style: str, *, id: str | None = None) -> None:  # noqa: A002 - Textual's own word
        super().__init__(id=id)
        self._style = style
        self.say(text)

    def say(self, text: str) -> None:
        self._text = Text.assemble((safe_line(text), self._style), no_wrap=True)
        self.refresh(layout=True)

    def render(self) -> Text:
        return self._text

    def get_content_width(self, container: Size, viewport: Size) -> int:
        return self._text.cell_len


def take_key(screen: Screen[Any], event: events.Key) -> None:
    """Take a key that finds no line to type in: it is not there yet, or it is answered already.

    To be called by a screen that has one line; a line that is answered is disabled.
    """
    line = screen.query_one(Input)
    if line.disabled:
        screen.app.call_later(screen.app.simulate_key, event.key)
    elif not line.has_focus and event.is_printable and event.character:
        line.insert_text_at_cursor(event.character)


def has_line(screen: Screen[Any]) -> bool:
    """Tell whether the one line of a screen is there to type in, and not answered yet."""
    lines = screen.query(Input)
    return bool(lines) and lines.first().has_focus and not lines.first().disabled


class KeyScreen(ModalScreen[str | None]):
    """Gives the next key as its character; None for Escape and for keys that are none."""

    CSS_PATH = "prompt.tcss"

    def __init__(self, asked: str, palette: Palette) -> None:
        super().__init__()
        self._asked = asked
        self._palette = palette
        self._is_answered = False

    @property
    def takes_keys(self) -> bool:
        """Whether the next key is for this screen."""
        return not self._is_answered

    def compose(self) -> ComposeResult:
        """Lay out what is asked."""
        with Horizontal(id="line"):
            yield _Said(f" {self._asked}", self._palette.label)

    def on_key(self, event: events.Key) -> None:
        """Take the key, whatever it is; one that comes before the prompt is gone is for others."""
        event.stop()
        event.prevent_default()
        if self._is_answered:
            self.app.call_later(self.app.simulate_key, event.key)
            return
        self._is_answered = True
        self.dismiss(event.character if event.is_printable else None)

    def on_click(self) -> None:
        """Take nothing."""
        if not self._is_answered:
            self._is_answered = True
            self.dismiss(None)


class LineScreen(ModalScreen[str | None]):
    """Gives a line of text; None if it was left with Escape.

    A line in which something is wrong is not taken: above it is said what.
    """

    CSS_PATH = "prompt.tcss"
    BINDINGS = [("escape", "close", "close")]  # noqa: RUF012 - typed above

    def __init__(
        self,
        asked: str,
        palette: Palette,
        text: str = "",
        *,
        hint: str = "",
        wrong_in: Callable[[str], str] = lambda _: "",
    ) -> None:
        super().__init__()
        self._asked = asked
        self._palette = palette
        self._text = text
        self._hint = hint
        self._wrong_in = wrong_in

    @property
    def takes_keys(self) -> bool:
        """Whether the next key is for this screen."""
        return has_line(self)

    def compose(self) -> ComposeResult:
        """Lay out what is asked before the line, under what is wrong in it."""
        with Vertical(id="lines"):
            yield _Said("", self._palette.bad, id="wrong")
            with Horizontal(id="line"):
                yield _Said(f" {self._asked}", self._palette.label)
                line = Input(self._text, placeholder=self._hint)
                line.cursor_blink = False
                yield line

    def on_mount(self) -> None:
        """Begin to type."""
        self.query_one(Input).focus()

    def on_key(self, event: events.Key) -> None:
        """Take what is typed before the line is there; what comes after it is for others."""
        take_key(self, event)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Say what is wrong in what is typed so far."""
        self._tell_wrong(message.value)

    def _tell_wrong(self, typed: str) -> bool:
        wrong = self._wrong_in(typed)
        said = self.query_one("#wrong", _Said)
        said.say(f" {wrong}")
        said.set_class(bool(wrong), "shown")
        return bool(wrong)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Give the line."""
        # Enter may overtake the news of what was typed before it.
        if self._tell_wrong(message.value):
            self.app.bell()
            return
        message.input.disabled = True
        self.dismiss(message.value)

    def action_close(self) -> None:
        """Give nothing."""
        line = self.query_one(Input)
        if not line.disabled:
            line.disabled = True
            self.dismiss(None)
