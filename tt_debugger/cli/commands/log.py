"""`ttdbg log`: the graph of a session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, no_point, opened, whole_location
from tt_debugger.cli.following import changed_from, follow_option
from tt_debugger.cli.session_json import session_json
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from tt_debugger.core.stats import Stats


@click.command("log")
@whole_location
@json_option
@follow_option
@click.option("--stat", is_flag=True, help="Tokens, cost, time, errors and loops instead.")
def command(location: str, *, as_json: bool, follows: bool, stat: bool) -> None:
    """Draw the tree of a session, oldest first.

    With --follow a line is added for each checkpoint that is written, once its record is
    complete. Where the file is cut or replaced, that is said on stderr and all is drawn anew.

    With --stat it tells what each branch, tool and model took, the most expensive first, how the
    context and the cost grew, and which calls were made again and again.
    """
    if stat and follows:
        raise UsageError("`--stat` tells of a session as it is, not as it grows", "leave one out")
    if as_json and follows:
        raise UsageError(
            "the answer of `log --json` is one object, which has no end while it is followed",
            f"a line for each checkpoint: ttdbg replay {location} --follow --json",
        )
    with opened(location) as (debugger, fragment):
        no_point(fragment)
        if as_json:
            answer = session_json(debugger.session, debugger.location)
            output.json_line(answer | (_stats_json(debugger) if stat else {}))
            return
        if not len(debugger.session):
            output.narrate(f"{debugger.location} holds no checkpoints")
        if stat:
            _draw_stats(debugger)
            return
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


def _stats(debugger: Debugger) -> Stats:
    from tt_debugger.core.stats import stats_of

    with output.progress("reading") as progress:
        return stats_of(debugger.session, debugger.answers(progress))


def _stats_json(debugger: Debugger) -> dict[str, Any]:
    from tt_debugger.cli.stats_json import stats_json

    return {"stats": stats_json(_stats(debugger))}


def _draw_stats(debugger: Debugger) -> None:
    if not len(debugger.session):
        return
    from tt_debugger.views.stats import WIDTH, StatsView

    short, width = debugger.resolver.short_id, output.width() or WIDTH
    view = StatsView(output.palette(), output.glyphs(), short, width)
    output.lines(line.text for line in view.lines(_stats(debugger)))
