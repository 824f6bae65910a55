"""The app: themes, the wall against control characters, and the first screen."""

from __future__ import annotations

import locale
from collections.abc import Sequence

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
        palette = palette_of(self.current_theme)
        self.push_screen(TimelineScreen(self._location, self._fragment, palette, glyphs()))

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
