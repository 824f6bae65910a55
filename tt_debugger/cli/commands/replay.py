"""`ttdbg replay`: changes or states along a range, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.following import changed_from, follow_option
from tt_debugger.cli.session_json import session_header
from tt_debugger.core.changes import change_json
from tt_debugger.core.model import checkpoint_json
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.refs import Fragment
    from tt_debugger.debugger import Debugger


@click.command("replay")
@location
@json_option
@click.option("--states", is_flag=True, help="Give the whole state at each checkpoint too.")
@click.option("--uncompacted", is_flag=True, help="Replay without compaction: nothing is dropped.")
@follow_option
def command(
    location: str, *, as_json: bool, states: bool, uncompacted: bool, follows: bool
) -> None:
    """Give what each checkpoint changed, in a session or a range A..B.

    A range goes along one path. Checkpoints come in storage order; with --json one JSON object a
    line, a header first.

    With --follow each checkpoint is told once, when its record is complete. Headers then have
    "from_row": the row that comes next, 1 in the first. A further header says that what was told
    from that row on no longer holds: of a file that was cut or replaced that is all, and the
    session begins anew. It holds, too, the findings and the active leaf as they are by then.
    """
    with opened(location) as (debugger, fragment):
        if follows and fragment.points:
            raise UsageError(
                "a point or a range does not grow, so it cannot be followed",
                "leave out what follows the #, or --follow",
            )

        def tell(rows: Sequence[int]) -> None:
            answer = _tell_json if as_json else _tell_lines
            answer(debugger, rows, states=states, uncompacted=uncompacted)

        if as_json:
            _tell_header(debugger, {"from_row": 1} if follows else {})
        tell(_rows(debugger, fragment))
        if follows:
            told = len(debugger.session)
            for row in changed_from(debugger):
                # Of a file that held nothing, the first header could not say what it is.
                if as_json and (row < told or not told):
                    _tell_header(debugger, {"from_row": row + 1})
                told = len(debugger.session)
                tell(range(row, told))


def _tell_header(debugger: Debugger, more: dict[str, Any]) -> None:
    output.json_line(session_header(debugger.session, debugger.location) | more)


def _tell_json(
    debugger: Debugger, rows: Sequence[int], *, states: bool, uncompacted: bool
) -> None:
    for answer in _answers(debugger, rows, states=states, uncompacted=uncompacted):
        output.json_line(answer)


def _tell_lines(
    debugger: Debugger, rows: Sequence[int], *, states: bool, uncompacted: bool
) -> None:
    output.lines(_lines(debugger, rows, states=states, uncompacted=uncompacted))


def _rows(debugger: Debugger, fragment: Fragment) -> Sequence[int]:
    if not fragment.points:
        return range(len(debugger.session))
    if not fragment.is_range:
        return (debugger.row(fragment.points[0]),)
    return sorted(debugger.resolver.rows((fragment.points[0], fragment.points[1])))


def _answers(
    debugger: Debugger, rows: Sequence[int], *, states: bool, uncompacted: bool
) -> Iterator[dict[str, Any]]:
    for row in rows:
        answer: dict[str, Any] = {
            "checkpoint": checkpoint_json(debugger.session.checkpoint(row)),
            "changes": [
                change_json(each) for each in debugger.changes(row, uncompacted=uncompacted)
            ],
        }
        if states:
            answer["state"] = debugger.state(row, uncompacted=uncompacted)
        yield answer


def _lines(
    debugger: Debugger, rows: Sequence[int], *, states: bool, uncompacted: bool
) -> Iterator[Text]:
    from rich.text import Text

    from tt_debugger.core.tree import NO_ROW
    from tt_debugger.views.changes import change_lines
    from tt_debugger.views.checkpoint import brief_lines, title_line

    palette, glyphs = output.palette(), output.glyphs()
    session = debugger.session
    for row in rows:
        parent = session.parents[row]
        before = None if parent == NO_ROW else debugger.state(parent, uncompacted=uncompacted)
        yield title_line(session, row, palette)
        changes = debugger.changes(row, uncompacted=uncompacted)
        yield from (
            Text.assemble("  ", line) for line in change_lines(changes, before, palette, glyphs)
        )
        if states:
            state = debugger.state(row, uncompacted=uncompacted)
            yield from (Text.assemble("    ", line) for line in brief_lines(state, palette))
