"""`ttdbg undo`: takes back what `ttdbg fork` wrote, as long as nobody has changed it since."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.model import iso_time
from tt_debugger.core.text import safe_line
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from tt_debugger.core.fork.made import Made
    from tt_debugger.core.fork.operation import Operation
    from tt_debugger.storage.operations import Operations


@click.command("undo")
@click.argument("name", metavar="[OPERATION]", required=False)
@click.option("--list", "lists", is_flag=True, help="List what was written, and undo nothing.")
@json_option
def command(name: str | None, *, lists: bool, as_json: bool) -> None:
    """Take back a fork: the one named, else the last.

    What was written is removed if it is still what it was; if an agent went on from it, it stays,
    and that is said.
    """
    from tt_debugger.forking import undo, what_went
    from tt_debugger.storage.operations import Operations

    operations = Operations()
    if lists:
        if name is not None:
            raise UsageError("--list lists all operations", "leave out the name, or --list")
        _list(operations, as_json=as_json)
        return
    chosen = operations.newest() if name is None else operations.named(name)
    if chosen is None:
        raise UsageError("there is nothing to undo", "`ttdbg undo --list` lists what was written")
    if name is None:
        _narrate_unfinished(operations, chosen)
    undo(chosen)
    if as_json:
        output.json_line({"ttdbg": VERSION, "undone": chosen.id, "location": chosen.location})
    else:
        output.narrate(safe_line(f"undone: {what_went(chosen)}"))


def _narrate_unfinished(operations: Operations, chosen: Operation) -> None:
    """Say which later forks cannot be undone, since nobody knows what there is of them."""
    for each in operations.all():
        if each.time >= chosen.time and not each.is_finished and each.undone is None:
            output.narrate(
                f"{each.id} was made later but never finished, so it is passed over:"
                f" look at {each.location} yourself"
            )


def _list(operations: Operations, *, as_json: bool) -> None:
    """List all operations, the newest last, and say what cannot be listed."""
    from tt_debugger.forking.made import made_of
    from tt_debugger.views.fork import damage_text, made_list

    made = [made_of(each) for each in operations.all()]
    if as_json:
        output.json_line({"ttdbg": VERSION, "operations": [_made_json(each) for each in made]})
    else:
        output.lines(made_list(made, output.palette(), output.glyphs(), output.width()))
        if not made:
            output.narrate("nothing was written by ttdbg yet")
    if operations.damaged:
        output.narrate(damage_text(operations.damaged))


def _made_json(made: Made) -> dict[str, Any]:
    operation = made.operation
    return {
        "id": operation.id,
        "time": iso_time(operation.time),
        "state": made.state,
        "origin": operation.origin,
        "location": operation.location,
        "session": operation.session,
        "point": operation.point,
        "resume_command": operation.resume_command,
        "note": operation.note,
    }
