"""`ttdbg log`: the graph of a session."""

from __future__ import annotations

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, no_point, opened, whole_location
from tt_debugger.cli.following import changed_from, follow_option
from tt_debugger.cli.session_json import session_json
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UsageError


@click.command("log")
@whole_location
@json_option
@follow_option
def command(location: str, *, as_json: bool, follows: bool) -> None:
    """Draw the tree of a session, oldest first.

    With --follow a line is added for each checkpoint that is written, once its record is
    complete. Where the file is cut or replaced, that is said on stderr and all is drawn anew.
    """
    if as_json and follows:
        raise UsageError(
            "the answer of `log --json` is one object, which has no end while it is followed",
            f"a line for each checkpoint: ttdbg replay {location} --follow --json",
        )
    with opened(location) as (debugger, fragment):
        no_point(fragment)
        if as_json:
            output.json_line(session_json(debugger.session, debugger.location))
            return
        if not len(debugger.session):
            output.narrate(f"{debugger.location} holds no checkpoints")
        _draw(debugger, 0)
        if follows:
            for row in changed_from(debugger):
                _draw(debugger, row)


def _draw(debugger: Debugger, first: int) -> None:
    """Draw the lines of the rows from one on."""
    session = debugger.session
    if first >= len(session):
        return
    from tt_debugger.views.graph import graph_lines, plain_graph_lines

    shown = session, debugger.resolver, output.palette(), output.glyphs()
    if output.is_terminal():
        output.lines(graph_lines(*shown, output.width(), first))
    else:
        output.plain_lines(plain_graph_lines(*shown, first))
