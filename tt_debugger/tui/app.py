"""The app: themes, the wall against control characters, and the first screen."""

from __future__ import annotations

import asyncio
import locale
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType
from rich.segment import Segments
from textual import events
from textual.app import App
from textual.binding import Binding
from textual.filter import LineFilter
from textual.screen import Screen
from textual.theme import Theme

from tt_debugger.core.refs import Fragment
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.safety import AsciiFilter, SafetyFilter
from tt_debugger.tui.screens.keyed import KeyedScreen
from tt_debugger.tui.themes import LOOKS, NAMED, SIXTEEN, look_for
from tt_debugger.tui.typing import Typing
from tt_debugger.views.palette import ASCII, UNICODE, Glyphs

if TYPE_CHECKING:
    from tt_debugger.tui.screens.panes import Place
    from tt_debugger.tui.screens.timeline import TimelineScreen

GRACE = 2.0
"""Seconds in which the app may end in order once its terminal is gone."""


class TtdbgApp(App[TtdbgError]):
    """The terminal UI of one location; ends with an error where it cannot be opened.

    It begins with the Timeline of a session; `shows_sessions` says that the location is a folder
    to choose one from.
    """

    TITLE = "ttdbg"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [Binding("ctrl+c", "leave", "quit at once", show=False, priority=True)]  # noqa: RUF012 - typed above

    def __init__(
        self,
        location: str,
        fragment: Fragment,
        environment: Mapping[str, str] = os.environ,
        clock: Callable[[], float] = time.time,
        *,
        shows_sessions: bool = False,
    ) -> None:
        self.safety = SafetyFilter()
        self._glyphs = glyphs(environment)
        self._last = (AsciiFilter(),) if self._glyphs is ASCII else ()
        look = look_for(environment)
        # Set any later, it would have all styles parsed once more before the first frame.
        self.set_reactive(App.theme, look.name)
        # Without colour, greys would still be colours: the terminal's own two must do.
        super().__init__(ansi_color=True if "NO_COLOR" in environment else None)
        self.ended_by = 0
        """The signal that ended the app, 0 for none."""
        self._location = location
        self._fragment = fragment
        self._clock = clock
        self._shows_sessions = shows_sessions
        self._typing = Typing(self, super().on_event)
        self._places: dict[tuple[str, str | None], Place] = {}
        self.watch_theme(look.name)

    @property
    def available_themes(self) -> dict[str, Theme]:
        """The themes that can be chosen, by name: ours alone."""
        return {each.name: each.theme for each in LOOKS}

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Put our wall before all other filters, and plain ASCII after them if it must be."""
        return (self.safety, *super().get_line_filters(), *self._last)

    def get_default_screen(self) -> Screen[Any]:
        """Begin with the Timeline of a session, or with the sessions of a folder.

        Not by pushing it over a first screen that is empty: that one would be laid out too.
        """
        if self._shows_sessions:
            first = self._sessions(self._location)
        else:
            first = self._timeline(self._location, self._fragment)
        # Textual reads them itself for every screen but the first.
        self.stylesheet.read_all(first.css_path)
        return first

    def on_mount(self) -> None:
        """Watch for what ends the app from outside."""
        if not self.is_headless:
            self._leave_on_signals()
            if hasattr(select, "poll") and sys.__stdin__ is not None and sys.__stdin__.isatty():
                Thread(
                    target=_end_with_terminal, args=(sys.__stdin__.fileno(),), daemon=True
                ).start()

    async def on_event(self, event: events.Event) -> None:
        """Take keys one by one; what ends the app waits for none."""
        is_typed = isinstance(event, events.Key) and not event.is_forwarded
        if isinstance(event, events.Key) and is_typed and event.key != "ctrl+c":
            self._typing.take(event)
        else:
            await super().on_event(event)

    def watch_theme(self, name: str) -> None:
        """Give the names of styles the meaning that they have in a theme."""
        look = next((each for each in LOOKS if each.name == name), SIXTEEN)
        if self._is_styled:
            self.console.pop_theme()
        self.console.push_theme(look.style_names)
        self._is_styled = True
        for screen in self.screen_stack if self._running else ():
            for widget in screen.walk_children():
                widget.refresh()

    _is_styled = False

    def action_leave(self) -> None:
        """Leave at once, whatever is open."""
        for screen in self.screen_stack:
            if isinstance(screen, KeyedScreen):
                screen.stop()
        self.exit()

    def open_folder(self, location: str) -> None:
        """Show the sessions of a folder."""
        self.push_screen(self._sessions(location))

    def _sessions(self, location: str) -> Screen[Any]:
        from tt_debugger.tui.screens.sessions import SessionsScreen

        return SessionsScreen(location, NAMED, self._glyphs, self._open_session, self._clock)

    def on_timeline_screen_folder_wanted(self, message: TimelineScreen.FolderWanted) -> None:
        """Show the sessions beside the one that was open."""
        self.open_folder(message.location)

    def on_timeline_screen_session_wanted(self, message: TimelineScreen.SessionWanted) -> None:
        """Show a session that a checkpoint of another one started; leaving it leads back."""
        self.push_screen(self._timeline(message.location, message.fragment))

    def _open_session(self, location: str, fragment: Fragment) -> None:
        key = location, fragment.session

        def left(place: Place | None) -> None:
            if place is not None:
                self._places[key] = place

        place = None if fragment.points else self._places.get(key)
        self.push_screen(self._timeline(location, fragment, place), left)

    def _timeline(
        self, location: str, fragment: Fragment, place: Place | None = None
    ) -> TimelineScreen:
        # Who chooses a session first sees those to choose from before this is imported.
        from tt_debugger.tui.screens.timeline import TimelineScreen

        return TimelineScreen(location, fragment, NAMED, self._glyphs, place)

    def _leave_on_signals(self) -> None:
        """Leave in order when told to end: else the terminal stays as the UI has set it."""
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None:
                with suppress(NotImplementedError):
                    asyncio.get_running_loop().add_signal_handler(number, self._end_by, number)

    def _end_by(self, number: int) -> None:
        self.ended_by = number
        self.action_leave()

    def _fatal_error(self) -> None:
        """Say what broke without showing variables: they hold the user's data."""
        from rich.traceback import Traceback

        self.bell()
        trace = Traceback(show_locals=False, width=None)
        rendered: RenderableType = Segments(self.console.render(trace, self.console.options))
        self._exit_renderables.append(rendered)
        self._close_messages_no_wait()


def _end_with_terminal(terminal: int) -> None:
    """End when the terminal is gone. Without one the app waits for ever to write to it."""
    hangs_up = select.poll()
    # For no event: that it was hung up is told all the same.
    hangs_up.register(terminal, 0)
    if any(event & (select.POLLHUP | select.POLLERR) for _, event in hangs_up.poll()):
        time.sleep(GRACE)
        os._exit(128 + signal.SIGHUP)


def glyphs(environment: Mapping[str, str] = os.environ) -> Glyphs:
    """Give the signs that the terminal has, as its encoding and the locale that was set tell."""
    encodings = (
        locale.getpreferredencoding(do_setlocale=False),
        sys.__stderr__ and sys.__stderr__.encoding,
    )
    names = (environment.get(name) for name in ("LC_ALL", "LC_CTYPE", "LANG"))
    wanted = next(filter(None, names), "")
    # Python itself takes UTF-8 for the locale C; who sets all of it to C does not want that.
    is_plain = wanted in {"C", "POSIX"} or ("." in wanted and not _is_unicode(wanted))
    return UNICODE if all(map(_is_unicode, encodings)) and not is_plain else ASCII


def _is_unicode(encoding: str | None) -> bool:
    return "utf8" in (encoding or "utf8").lower().replace("-", "")


def run(
    location: str, fragment: Fragment, theme: str | None = None, *, shows_sessions: bool = False
) -> None:
    """Run the UI until it is left. Raises the error for which it could not open."""
    # How long a thread that reads may keep the one that paints waiting.
    sys.setswitchinterval(0.001)
    environment = dict(os.environ)
    if theme is not None:
        environment["TTDBG_THEME"] = theme
    app = TtdbgApp(location, fragment, environment, shows_sessions=shows_sessions)
    error = app.run()
    if error is not None:
        raise error
    if app.ended_by:
        # As a shell reports a program that a signal ended.
        sys.exit(128 + app.ended_by)
