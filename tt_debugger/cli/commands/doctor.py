"""`ttdbg doctor`: what reading a session found wrong or lossy."""

from __future__ import annotations

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, located, no_point, whole_location
from tt_debugger.cli.session_json import VERSION, extent_json
from tt_debugger.core.findings import counted_by_severity, finding_json, is_serious
from tt_debugger.core.text import counted
from tt_debugger.debugger import Debugger


@click.command("doctor")
@whole_location
@click.option("--deep", is_flag=True, help="Decode every body too: slower, finds more.")
@json_option
def command(location: str, *, deep: bool, as_json: bool) -> int:
    """List what is wrong or lossy in a session, each with its place.

    What the index knows comes at once; --deep also decodes and replays every record, and finds
    keys given twice, numbers kept as text, tool results without a call, and replay that fails.

    Exits with 1 where there is any error or warning.
    """
    path, fragment = located(location)
    no_point(fragment)
    with Debugger.open(path, fragment.session) as debugger:
        output.narrate_others(debugger.others, path)
        session, findings = debugger.session, debugger.session.findings
        if deep:
            with output.progress("examined") as progress:
                findings = debugger.examined(progress)
        if as_json:
            answer = {"findings": [finding_json(each) for each in findings]}
            output.json_line({"ttdbg": VERSION, **answer, "bytes": extent_json(session)})
        else:
            from rich.text import Text

            from tt_debugger.views.checkpoint import finding_lines

            output.lines(finding_lines(findings, output.palette()))
            extent = session.extent
            shown = f", {extent.shown:,} of {extent.size:,} bytes shown" if extent else ""
            what = counted_by_severity(findings) or "nothing found"
            output.lines([Text(f"{what}: {counted(len(session), 'checkpoint')}{shown}")])
        return 1 if is_serious(findings) else 0
