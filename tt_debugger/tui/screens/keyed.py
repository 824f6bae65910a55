"""What all full screens share: their keys come from a table, and so do help and palette."""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from textual.screen import Screen

from tt_debugger.tui.keys import Key
from tt_debugger.tui.screens import choices
from tt_debugger.tui.screens.chooser import ChooserScreen, narrowed
from tt_debugger.tui.screens.help import HelpScreen
from tt_debugger.tui.widgets.bars import BottomBar
from tt_debugger.tui.widgets.choice_list import Choice
from tt_debugger.views.palette import Glyphs, Palette

T = TypeVar("T")


class KeyedScreen(Screen[T]):
    """A screen whose keys are in `KEYS`; in the footer they can be clicked."""

    KEYS: ClassVar[tuple[Key, ...]] = ()

    def __init__(self, palette: Palette, glyphs: Glyphs) -> None:
        super().__init__()
        self._palette = palette
        self._glyphs = glyphs
        self._off: frozenset[str] = frozenset()
        """The actions that cannot be done here."""

    def turn_off(self, *actions: str) -> None:
        """Mark some actions, wherever keys are named, as what cannot be done here."""
        self._off = frozenset(actions)
        self.query_one(BottomBar).turn_off(*actions)

    def on_compose(self) -> None:
        """Take the classes of the size before there is anything to style.

        Textual gives them when it tells the size, and then styles and lays out all of it again.
        """
        width, height = self.app.size
        self.add_class(
            *self._get_breakpoint_classes(width, self.HORIZONTAL_BREAKPOINTS or []),
            *self._get_breakpoint_classes(height, self.VERTICAL_BREAKPOINTS or []),
        )

    @property
    def is_first(self) -> bool:
        """Whether no screen lies below this one."""
        return self.app.screen_stack[0] is self

    def choose(
        self,
        title: str,
        offered: Sequence[Choice],
        take: Callable[[Any], None],
        cursor: int = 0,
        *,
        on_move: Callable[[Choice], None] | None = None,
    ) -> None:
        """Let one of some choices be chosen."""
        screen = ChooserScreen(
            title,
            narrowed(offered),
            self._palette,
            self._glyphs,
            cursor=cursor,
            on_move=on_move,
        )
        self.app.push_screen(screen, take)

    def action_theme(self) -> None:
        """Let a theme be chosen; each is seen as the cursor comes to it."""
        before, offered = self.app.theme, choices.theme_choices()
        cursor = next((n for n, each in enumerate(offered) if each.value == before), 0)
        self.choose(
            "theme",
            offered,
            lambda chosen: self.action_use_theme(chosen or before),
            cursor,
            on_move=lambda choice: self.action_use_theme(choice.value),
        )

    def action_use_theme(self, name: str) -> None:
        """Take a theme."""
        self.app.theme = name

    def action_palette(self) -> None:
        """Offer every command by its name."""
        self.choose("commands", self.commands(), self._run)

    def commands(self) -> list[Choice]:
        """Give what the palette offers; the values are actions."""
        return choices.command_choices(self.KEYS, self._off)

    def _run(self, action: str | None) -> None:
        if action is not None:
            self.call_later(self.run_action, action)

    def on_bottom_bar_pressed(self, message: BottomBar.Pressed) -> None:
        """Do what the key that was clicked does."""
        self._run(message.action)

    def action_help(self) -> None:
        """Show all keys."""
        self.app.push_screen(HelpScreen(self.KEYS, self._palette, self._glyphs, self._off))

    def stop(self) -> None:
        """Begin nothing more: the screen is being left."""
