"""`ttdbg formats`: what can be opened, and what each format can do."""

from __future__ import annotations

from typing import Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option
from tt_debugger.cli.session_json import VERSION
from tt_debugger.formats import known_formats
from tt_debugger.store import Follows, Store


@click.command("formats")
@json_option
def command(*, as_json: bool) -> None:
    """List the formats that can be opened."""
    stores = sorted(known_formats(), key=lambda each: each.format)
    if as_json:
        output.json_line({"ttdbg": VERSION, "formats": [_answer(each) for each in stores]})
        return
    from rich.text import Text

    width = max(len(each.format) for each in stores)
    output.lines(
        Text.assemble((f"{each.format:<{width}}  ", "bold"), each.about) for each in stores
    )


def _answer(store: type[Store]) -> dict[str, Any]:
    return {"format": store.format, "about": store.about, "follows": issubclass(store, Follows)}
