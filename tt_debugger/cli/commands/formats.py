"""`ttdbg formats`: what can be opened, and what each format says of a location."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, located, unshielded
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.text import safe_line
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import Claim, claims, known_formats
from tt_debugger.opening import format_of
from tt_debugger.storage.probe import probe
from tt_debugger.store import Follows, Store

if TYPE_CHECKING:
    from rich.text import Text


@click.command("formats")
@click.argument("location", metavar="[LOCATION]", required=False, callback=unshielded)
@json_option
def command(location: str | None, *, as_json: bool) -> None:
    """List the formats that can be opened.

    With a LOCATION, tell which of them reads it and why, and what the others say.
    """
    if location is not None:
        _explain(located(location)[0], as_json=as_json)
        return
    stores = sorted(known_formats(), key=lambda each: each.format)
    if as_json:
        output.json_line({"ttdbg": VERSION, "formats": [_answer(each) for each in stores]})
        return
    from rich.text import Text

    width = max(len(each.format) for each in stores)
    palette = output.palette()
    output.lines(
        line
        for each in stores
        for line in (
            Text.assemble((f"{each.format:<{width}}  ", "bold"), each.about),
            Text(f"{'':<{width}}  verified: {each.verified}", palette.dim),
        )
    )


def _answer(store: type[Store]) -> dict[str, Any]:
    return {
        "format": store.format,
        "about": store.about,
        "verified": store.verified,
        "follows": issubclass(store, Follows),
    }


def _explain(location: str, *, as_json: bool) -> None:
    """Tell what each format says of a location. Raises CannotReadError where none claims it."""
    seen = probe(location)
    said = claims(seen)
    refused: CannotReadError | None = None
    try:
        found = format_of(seen)
    except CannotReadError as error:
        found, refused = None, error
    won = None if found is None else found.format
    if as_json:
        output.json_line(
            {
                "ttdbg": VERSION,
                "location": location,
                "format": won,
                "claims": [
                    {
                        "format": each.store.format,
                        "score": each.match.score,
                        "reason": each.match.reason,
                    }
                    for each in said
                    if each.match is not None
                ],
                "without_claim": [each.store.format for each in said if each.match is None],
            }
        )
    else:
        output.lines(_lines(won, said))
    if refused is not None:
        raise refused
    if won is None:
        output.narrate(f"{location} holds nothing")


def _lines(won: str | None, said: tuple[Claim, ...]) -> Iterator[Text]:
    from rich.text import Text

    palette = output.palette()
    width = max(len(each.store.format) for each in said)
    for each in said:
        name = f"{each.store.format:<{width}}"
        if each.match is None:
            yield Text(f"{name}       no claim", palette.dim)
            continue
        is_won = each.store.format == won
        yield Text.assemble(
            (name, palette.strong if is_won else palette.text),
            (f"  {each.match.score:>3}  ", palette.quiet),
            "reads it: " if is_won else "would read it too: ",
            safe_line(each.match.reason),
        )
