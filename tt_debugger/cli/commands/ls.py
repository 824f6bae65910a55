"""`ttdbg ls`: the sessions that are found, by project and agent."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from time import time as clock
from typing import TYPE_CHECKING, Any

import click

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, located, no_point, unshielded
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.families import families, projects
from tt_debugger.core.listing import Entry, Key, Sort, ordered, short_ids
from tt_debugger.core.model import iso_time
from tt_debugger.discovery import EVERYWHERE, Discovery

if TYPE_CHECKING:
    from rich.text import Text

SHOWN = 50
"""Sessions that are listed if nobody says how many."""
PAGE = 64
"""Sessions that are read before the first of them are shown."""


@click.command("ls")
@click.argument("location", metavar="[LOCATION]", required=False, callback=unshielded)
@click.option(
    "-n", "--limit", type=click.IntRange(1), metavar="N", help=f"List the newest N, not {SHOWN}."
)
@click.option("-a", "--all", "is_all", is_flag=True, help="List every session.")
@json_option
def command(location: str | None, *, limit: int | None, is_all: bool, as_json: bool) -> None:
    """List the sessions that agents keep, by project, newest first.

    They are looked for where agents keep them and in this folder, or in the folder LOCATION
    alone. Forks and copies stand under what they were made of. What stands in the column
    "session" can be given to every command as LOCATION. In JSON all are listed if no limit is set.
    """
    path = EVERYWHERE
    if location:
        path, fragment = located(location)
        no_point(fragment)
    most = None if is_all else limit or (None if as_json else SHOWN)
    discovery = Discovery(path)
    found = ordered((each for each in discovery if each is not None), Sort.NEWEST)
    try:
        pages = _pages(discovery, found, most)
        if as_json:
            listed = ordered((each for page in pages for each in page), Sort.NEWEST)
            sessions = [_answer(each) for each in listed]
            output.json_line({"ttdbg": VERSION, "sessions": sessions})
            count = len(sessions)
        else:
            count = _show(found, pages)
    finally:
        discovery.save()
    _tell(discovery, count, len(found), most)


def _pages(
    discovery: Discovery, found: Sequence[Entry], most: int | None
) -> Iterator[list[Entry]]:
    """Give sessions that are read, the newest files first; all at once if nearly all are known."""
    waiting = sum(each.facts is None for each in found)
    size = PAGE if waiting > PAGE else len(found)
    page: list[Entry] = []
    count = 0
    with output.progress("reading") as progress:
        for done, entry in enumerate(found, 1):
            page += discovery.read(entry).entries if entry.facts is None else (entry,)
            if waiting:
                progress(done, len(found))
            if most is not None and count + len(page) >= most:
                yield page[: most - count]
                return
            if len(page) >= size:
                yield page
                count, page = count + len(page), []
        if page:
            yield page


def _show(found: Sequence[Entry], pages: Iterator[list[Entry]]) -> int:
    """Show sessions by project, page by page; give how many there were."""
    from tt_debugger.views.projects import ProjectsView

    view = ProjectsView(output.palette(), output.glyphs(), clock(), output.width())
    short = short_ids(each.id for each in found)
    begun: set[tuple[str, str]] = set()
    below: dict[Key, bool] = {}
    listed: list[Entry] = []

    def shown() -> Iterator[Text]:
        for page in pages:
            if not listed:
                yield view.head()
            listed.extend(page)
            for each in projects(ordered(page, Sort.NEWEST)):
                below.update({one.entry.key: bool(one.trail) for one in each.relatives})
                refs = {one.entry.key: one.entry.ref(short) for one in each.relatives}
                home = (each.cwd, each.format)
                yield from view.lines(each, refs, is_more=home in begun)
                begun.add(home)

    output.lines(shown())
    if any(each.facts is None for each in found):
        _tell_apart(listed, below)
    return len(listed)


def _tell_apart(listed: Sequence[Entry], below: Mapping[Key, bool]) -> None:
    """Say on stderr how many stand apart from the original, which came on another page."""
    every = (each for family in families(listed) for each in family)
    apart = sum(bool(each.trail) and not below[each.entry.key] for each in every)
    if apart:
        forks = "fork or copy stands" if apart == 1 else "forks or copies stand"
        output.narrate(
            f"{apart:,} {forks} apart from the original, which was read later or before"
        )


def _answer(entry: Entry) -> dict[str, Any]:
    facts = entry.facts
    return {
        "id": entry.session or entry.id,
        "format": entry.format,
        "location": entry.location,
        "title": None if facts is None else facts.title or facts.first_words or None,
        "cwd": entry.cwd or None,
        "time": iso_time(entry.time),
        "checkpoints": None if facts is None else facts.checkpoints,
        "branches": None if facts is None else facts.branches,
        "findings": None if facts is None else facts.findings,
        "size": entry.size,
        "tokens": facts and (facts.tokens or None),
        "cost": facts and (facts.cost or None),
        "forked_from": (facts and facts.forked_from) or None,
        "failed": entry.failed,
    }


def _tell(discovery: Discovery, count: int, of: int, most: int | None) -> None:
    """Say on stderr what was not listed."""
    if not of:
        where = "where agents keep them, nor here" if discovery.location == EVERYWHERE else "there"
        output.narrate(f"no sessions are {where}")
    elif most is not None and count == most < of:
        output.narrate(f"the newest {count:,} of {of:,}; --all lists all of them")
    left = "; ".join(discovery.left.texts())
    if left:
        output.narrate(f"not listed: {left}")
