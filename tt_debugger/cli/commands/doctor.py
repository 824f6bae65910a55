"""`ttdbg doctor`: what reading a session found wrong."""

from __future__ import annotations

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, no_point, whole_location
from tt_debugger.cli.session_json import VERSION, extent_json
from tt_debugger.core.findings import counted_by_severity, finding_json, is_serious
from tt_debugger.debugger import Debugger, split_location


@click.command("doctor")
@whole_location
@json_option
def command(location: str, *, as_json: bool) -> int:
    """List what is wrong in a session.

    Or lossy, each with its place.

    Exits with 1 where there is any error or warning.
    """
    path, fragment = split_location(location)
    no_point(fragment)
    with Debugger.open(path, fragment.session) as debugger:
        session = debugger.session
        if as_json:
            findings = [finding_json(each) for each in session.findings]
            output.json_line(
                {"ttdbg": VERSION, "findings": findings, "bytes": extent_json(session)}
            )
        else:
            from rich.text import Text

            from tt_debugger.views.checkpoint import finding_lines
            from tt_debugger.views.values import counted

            output.lines(finding_lines(session.findings, output.palette()))
            extent = session.extent
            shown = f", {extent.shown:,} of {extent.size:,} bytes shown" if extent else ""
            what = counted_by_severity(session.findings) or "nothing found"
            output.lines([Text(f"{what}: {counted(len(session), 'checkpoint')}{shown}")])
        return 1 if is_serious(session.findings) else 0
