"""`ttdbg show`: one checkpoint, what it changed, what it says, and the state after it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.changes import change_json
from tt_debugger.core.findings import finding_json
from tt_debugger.core.model import checkpoint_json
from tt_debugger.core.replay import Resumed
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.inspection import Inspection
    from tt_debugger.core.replay import Repair
    from tt_debugger.debugger import Debugger


@click.command("show")
@location
@json_option
@click.option("--resume", is_flag=True, help="What the agent would load and send from here.")
@click.option("--uncompacted", is_flag=True, help="Replay without compaction: nothing is dropped.")
def command(location: str, *, as_json: bool, resume: bool, uncompacted: bool) -> None:
    """Show a checkpoint: what changed, its message, the state in brief.

    Without a ref the active leaf is shown. With --json the whole state is given.
    """
    if resume and uncompacted:
        raise UsageError("--resume and --uncompacted exclude each other")
    with opened(location) as (debugger, fragment):
        seen = debugger.inspect(debugger.point(fragment), uncompacted=uncompacted)
        reading = debugger.resumed(seen.row) if resume else Resumed(seen.state)
        if as_json:
            output.json_line(_answer(debugger, seen, reading))
        else:
            output.lines(_lines(seen, reading, resume=resume))


def _answer(debugger: Debugger, seen: Inspection, reading: Resumed) -> dict[str, Any]:
    return {
        "ttdbg": VERSION,
        "checkpoint": checkpoint_json(seen.session.checkpoint(seen.row)),
        "state": reading.state,
        "changes": [change_json(each) for each in seen.changes],
        "repairs": [_repair_json(each) for each in reading.repairs],
        "findings": [finding_json(each) for each in debugger.findings_on_path(seen.row)],
    }


def _repair_json(repair: Repair) -> dict[str, Any]:
    return {"index": repair.index, "kind": repair.kind, "why": repair.why}


def _lines(seen: Inspection, reading: Resumed, *, resume: bool) -> Iterator[Text]:
    from rich.text import Text

    from tt_debugger.views.changes import change_lines
    from tt_debugger.views.checkpoint import (
        brief_lines,
        finding_lines,
        meta_lines,
        repair_lines,
        title_line,
    )
    from tt_debugger.views.message import message_lines, messages_in
    from tt_debugger.views.raw import raw_lines

    palette, glyphs = output.palette(), output.glyphs()
    yield title_line(seen.session, seen.row, palette)
    yield from meta_lines(seen.session, seen.row, palette, commits=seen.commits)
    parts = [
        ("findings", finding_lines(seen.findings, palette)),
        ("changes", change_lines(seen.changes, seen.before, palette, glyphs)),
    ]
    messages = messages_in(seen.changes)
    parts += [("message", message_lines(each, palette, glyphs)) for each in messages]
    if not messages:
        parts.append(("raw", raw_lines(seen.raw, palette, seen.session.heads.length(seen.row))))
    parts += [
        ("mended on resume", repair_lines(reading.repairs, palette) if resume else iter(())),
        ("sent on resume" if resume else "state", brief_lines(reading.state, palette)),
    ]
    for name, lines in parts:
        first = next(lines, None)
        if first is not None:
            yield Text()
            yield Text(name, palette.accent)
            yield first
            yield from lines
