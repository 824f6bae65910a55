"""`ttdbg log`: the graph of a session."""

from __future__ import annotations

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, no_point, opened, whole_location
from tt_debugger.cli.session_json import session_json


@click.command("log")
@whole_location
@json_option
def command(location: str, *, as_json: bool) -> None:
    """Draw the tree of a session, oldest first."""
    with opened(location) as (debugger, fragment):
        no_point(fragment)
        session = debugger.session
        if as_json:
            output.json_line(session_json(session, debugger.location))
            return
        if not len(session):
            output.narrate(f"{debugger.location} holds no checkpoints")
            return
        from tt_debugger.views.graph import graph_lines, plain_graph_lines

        shown = session, debugger.resolver, output.palette(), output.glyphs()
        if output.is_terminal():
            output.lines(graph_lines(*shown, output.width()))
        else:
            output.plain_lines(plain_graph_lines(*shown))
