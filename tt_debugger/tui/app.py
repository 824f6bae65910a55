"""The app: themes, the wall against control characters, and the first screen."""

from __future__ import annotations

import asyncio
import locale
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress

from rich.console import RenderableType
from rich.segment import Segments
from rich.traceback import Traceback
from textual.app import App
from textual.filter import LineFilter

from tt_debugger.core.refs import Fragment
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.palette import DARK, THEMES, palette_of
from tt_debugger.tui.safety import SafetyFilter
from tt_debugger.tui.screens.timeline import TimelineScreen
from tt_debugger.views.palette import ASCII, UNICODE, Glyphs


class TtdbgApp(App[TtdbgError]):
    """The terminal UI of one location; ends with an error where it cannot be opened."""

    TITLE = "ttdbg"
    ENABLE_COMMAND_PALETTE = False

    def __init__(self, location: str, fragment: Fragment) -> None:
        self.safety = SafetyFilter()
        super().__init__()
        self.ended_by = 0
        """The signal that ended the app, 0 for none."""
        self._location = location
        self._fragment = fragment
        for theme in THEMES:
            self.register_theme(theme)
        self.theme = DARK.name

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Put our wall before all other filters."""
        return (self.safety, *super().get_line_filters())

    def on_mount(self) -> None:
        """Open the Timeline."""
        if not self.is_headless:
            self._leave_on_signals()
        palette = palette_of(self.current_theme)
        self.push_screen(TimelineScreen(self._location, self._fragment, palette, glyphs()))

    def _leave_on_signals(self) -> None:
        """Leave in order when told to end: else the terminal stays as the UI has set it."""
        for name in ("SIGTERM", "SIGHUP", "SIGQUIT"):
            number = getattr(signal, name, None)
            if number is not None:
                with suppress(NotImplementedError):
                    asyncio.get_running_loop().add_signal_handler(number, self._end_by, number)

    def _end_by(self, number: int) -> None:
        self.ended_by = number
        self.exit()

    def _fatal_error(self) -> None:
        """Say what broke without showing variables: they hold the user's data."""
        self.bell()
        trace = Traceback(show_locals=False, width=None)
        rendered: RenderableType = Segments(self.console.render(trace, self.console.options))
        self._exit_renderables.append(rendered)
        self._close_messages_no_wait()


def glyphs() -> Glyphs:
    """Give the signs that the terminal's encoding has."""
    encoding = locale.getpreferredencoding(do_setlocale=False).lower().replace("-", "")
    return UNICODE if encoding == "utf8" else ASCII


def run(location: str, fragment: Fragment) -> None:
    """Run the UI until it is left. Raises the error for which it could not open."""
    app = TtdbgApp(location, fragment)
    error = app.run()
    if error is not None:
        raise error
    if app.ended_by:
        # As a shell reports a program that a signal ended.
        sys.exit(128 + app.ended_by)
