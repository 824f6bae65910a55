"""The bars at the top and at the bottom: what is open, where one is, and which keys there are."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.text import Text
from textual import events
from textual.message import Message
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from tt_debugger.core.text import safe_line
from tt_debugger.tui.keys import Key, key_name
from tt_debugger.views.palette import Glyphs, Palette

SAID_FOR = 6.0
"""Seconds for which the bottom bar shows what was said; the next word comes at once."""


class TopBar(Widget):
    """One line: the session at the left, where one is at the right."""

    DEFAULT_CSS = "TopBar { height: 1; }"

    def __init__(self, palette: Palette) -> None:
        super().__init__()
        self.palette = palette
        self._left: Sequence[str] = ()
        self._right = ""
        self._mark = ("", "")

    @property
    def mark(self) -> str:
        """What is marked behind the place, sign and word; empty for nothing."""
        return self._mark[0]

    def mark_with(self, text: str, style: str) -> None:
        """Show a sign and a word behind the place."""
        if (text, style) != self._mark:
            self._mark = (text, style)
            self.refresh()

    def update_from(self, left: Sequence[str], right: str) -> None:
        """Show format, title and facts at the left, and a place at the right."""
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Draw the line. Not by `render`, which costs a millisecond more at each key."""
        console = self.app.console
        line = self.text()
        return Strip(line.render(console), line.cell_len).apply_style(self.rich_style)

    def text(self) -> Text:
        """Give the line; what does not fit is cut before the place is."""
        line = Text(no_wrap=True, end="")
        line.append(" ttdbg ", self.palette.brand)
        for number, part in enumerate(self._left):
            style = self.palette.strong if number == 1 else self.palette.dim
            line.append(f"  {safe_line(part)}", style)
        text, style = self._mark
        mark = Text.assemble(("· ", self.palette.dim), (f"{text} ", style)) if text else Text()
        room = self.size.width - len(self._right) - 1 - mark.cell_len
        line.truncate(max(room, 0), overflow="ellipsis", pad=True)
        line.append(f" {self._right}", self.palette.dim)
        return line.append_text(mark)


class BottomBar(Widget):
    """One line with the keys that the table gives a word in the footer; as many as fit.

    What was just done may be said in their place for a while.
    """

    DEFAULT_CSS = "BottomBar { height: 1; }"

    class Pressed(Message):
        """A key was clicked."""

        def __init__(self, action: str) -> None:
            super().__init__()
            self.action = action

    def __init__(self, keys: Sequence[Key], palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self.palette = palette
        self.glyphs = glyphs
        self._keys = keys
        self._pane = ""
        self._off: frozenset[str] = frozenset()
        self._said: tuple[str, bool] | None = None
        self._standing = ""
        self._timer: Timer | None = None

    def show_keys_of(self, pane: str) -> None:
        """Show the keys of another pane, by its name; "" is the first one."""
        if pane != self._pane:
            self._pane = pane
            self.refresh()

    def turn_off(self, *actions: str) -> None:
        """Show the keys of some actions as those of what cannot be done here."""
        self._off = frozenset(actions)
        self.refresh()

    @property
    def said(self) -> str:
        """What is said at this moment, empty for nothing."""
        return self._said[0] if self._said else ""

    @property
    def standing(self) -> str:
        """What stands in place of the keys while nothing is said; empty for nothing."""
        return self._standing

    @standing.setter
    def standing(self, text: str) -> None:
        if text != self._standing:
            self._standing = safe_line(text)
            self.refresh()

    def say(self, text: str, *, is_error: bool = False, stays: bool = False) -> None:
        """Say something in place of the keys, for a while or until something else is said."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._said = (safe_line(text), is_error) if text else None
        if text and not stays:
            self._timer = self.set_timer(SAID_FOR, self.hush)
        self.refresh()

    def hush(self) -> None:
        """Show the keys again."""
        if self._said is not None:
            self.say("")

    def _parts(self) -> Iterator[tuple[Key, Text]]:
        """Give the keys that fit, each as text; the last one always has its place."""
        pane = self._pane
        words = [(key, key.elsewhere.get(pane) if pane else key.footer) for key in self._keys]
        named = [(key, word) for key, word in words if word]
        texts = [
            Text.assemble(
                (f" {key_name(key.keys[0])}", self._key_style(key)),
                (f" ({word}) " if key.action in self._off else f" {word} ", self.palette.dim),
            )
            for key, word in named
        ]
        room = self.size.width - sum(text.cell_len for text in texts[-2:])
        for place, ((key, _), text) in enumerate(zip(named, texts, strict=True)):
            is_last = place >= len(texts) - 2
            if is_last or text.cell_len <= room:
                room -= 0 if is_last else text.cell_len
                yield key, text

    def _key_style(self, key: Key) -> str:
        return self.palette.dim if key.action in self._off else self.palette.accent

    def render(self) -> Text:
        """Draw what is said, else the keys."""
        line = Text(no_wrap=True, overflow="ellipsis")
        if self._said is not None:
            text, is_error = self._said
            sign = self.glyphs.bad if is_error else " "
            line.append(f"{sign} {text}", self.palette.bad if is_error else self.palette.label)
            return line
        if self._standing:
            line.append(f"  {self._standing}", self.palette.label)
            return line
        for _, text in self._parts():
            line.append_text(text)
        return line

    def on_click(self, event: events.Click) -> None:
        """Tell which key was clicked."""
        if self._said is not None:
            self.hush()
            return
        if self._standing:
            return
        end = 0
        for key, text in self._parts():
            end += text.cell_len
            if event.x < end:
                self.post_message(self.Pressed(key.action))
                return
