"""`ttdbg open`: browse a session in the terminal."""

from __future__ import annotations

import gc
import sys

import click

from tt_debugger.cli.arguments import located, unshielded
from tt_debugger.core.refs import Fragment
from tt_debugger.errors import UsageError
from tt_debugger.formats import is_session
from tt_debugger.opening import format_of, is_folder
from tt_debugger.storage.probe import probe
from tt_debugger.storage.stdin import STDIN, keys_from_terminal
from tt_debugger.views.palette import THEMES


@click.command("open")
@click.argument("location", metavar="[LOCATION[#REF]]", required=False, callback=unshielded)
@click.option("--theme", metavar="NAME", help=f"Colours: {', '.join(THEMES)}.")
def command(location: str | None, theme: str | None) -> None:
    """Browse a session in the terminal, at its active leaf or at REF.

    A folder shows the sessions in it to choose from, unless it is itself a session; without a
    LOCATION those are shown that agents keep, and those in this folder. The id of such a session
    or its beginning is a LOCATION too. Of - what is piped in is shown.
    """
    browse(location, theme)


def browse(location: str | None = None, theme: str | None = None) -> None:
    """Open the UI. Raises what keeps it from being opened, before the screen is taken over."""
    path, fragment = _everywhere() if location is None else located(location)
    if fragment.is_range:
        raise UsageError("the UI opens at one point, not at a range")
    if theme is not None and theme not in THEMES:
        raise UsageError(f"there is no theme {theme!r}", f"themes: {', '.join(THEMES)}")
    shows_sessions = location is None or _holds_sessions(path)
    if path == STDIN:
        keys_from_terminal()
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "`ttdbg open` needs a terminal", "for a pipe, use `ttdbg log` or `ttdbg show`"
        )
    # What is imported now stays: to go over it again and again is a tenth of the way to the first
    # frame, and later what makes a key wait.
    gc.set_threshold(20_000, 20, 20)
    from tt_debugger.tui.app import run

    run(path, fragment, theme, shows_sessions=shows_sessions)


def _everywhere() -> tuple[str, Fragment]:
    # Only who chooses a session pays for this import.
    from tt_debugger.discovery import EVERYWHERE

    return EVERYWHERE, Fragment()


def _holds_sessions(path: str) -> bool:
    """Tell whether a path is a folder to choose a session from.

    Raises CannotReadError where it is neither that nor a session.
    """
    if is_folder(path):
        return not is_session(path)
    format_of(probe(path))
    return False
