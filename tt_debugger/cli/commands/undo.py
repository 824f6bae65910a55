"""`ttdbg undo`: takes back what `ttdbg fork` wrote, as long as nobody has changed it since."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.model import iso_time
from tt_debugger.core.text import safe_line
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from tt_debugger.storage.operations import Operation


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
        _list(operations.all(), as_json=as_json)
        return
    chosen = operations.newest() if name is None else operations.named(name)
    if chosen is None:
        raise UsageError("there is nothing to undo", "`ttdbg undo --list` lists what was written")
    undo(chosen)
    if as_json:
        output.json_line({"ttdbg": VERSION, "undone": chosen.id, "location": chosen.location})
    else:
        output.narrate(safe_line(f"undone: {what_went(chosen)}"))


def _list(operations: Sequence[Operation], *, as_json: bool) -> None:
    if as_json:
        listed = [_operation_json(each) for each in operations]
        output.json_line({"ttdbg": VERSION, "operations": listed})
    else:
        output.plain_lines(_lines(operations))


def _operation_json(operation: Operation) -> dict[str, Any]:
    return {
        "id": operation.id,
        "time": iso_time(operation.time),
        "state": _state_of(operation),
        "origin": operation.origin,
        "location": operation.location,
        "session": operation.session,
        "point": operation.point,
        "resume_command": operation.resume_command,
        "note": operation.note,
    }


def _state_of(operation: Operation) -> str:
    if operation.undone is not None:
        return "undone"
    return "done" if operation.is_finished else "unfinished"


def _lines(operations: Sequence[Operation]) -> Iterator[str]:
    for each in operations:
        note = f"  {each.note}" if each.note else ""
        told = f"{each.id}  {iso_time(each.time)}  {_state_of(each):10}  {each.location}{note}"
        yield safe_line(told)
        yield safe_line(f"    from {each.origin}")
