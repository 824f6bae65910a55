"""`ttdbg open`: browse a session in the terminal."""

from __future__ import annotations

import sys

import click

from tt_debugger.cli.arguments import location
from tt_debugger.debugger import format_of, split_location
from tt_debugger.errors import UsageError
from tt_debugger.storage.probe import probe


@click.command("open")
@location
def command(location: str) -> None:
    """Browse a session in the terminal.

    At its active leaf, or at REF.
    """
    path, fragment = split_location(location)
    if fragment.is_range:
        raise UsageError("the UI opens at one point, not at a range")
    # What cannot be opened is said before the screen is taken over.
    format_of(probe(path))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise UsageError(
            "`ttdbg open` needs a terminal", "for a pipe, use `ttdbg log` or `ttdbg show`"
        )
    from tt_debugger.tui.app import run

    run(path, fragment)
