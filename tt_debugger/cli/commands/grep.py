"""`ttdbg grep`: where something was said, in all sessions that are found or in one."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import click
import msgspec

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, located, no_point, unshielded
from tt_debugger.cli.patience import each_within
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.listing import Entry, Sort, ordered, short_ids
from tt_debugger.core.model import Role, checkpoint_json
from tt_debugger.core.refs import quoted
from tt_debugger.core.search import Expression, Hit, Query
from tt_debugger.core.text import counted, safe_line
from tt_debugger.debugger import Debugger, is_folder
from tt_debugger.discovery import EVERYWHERE, Discovery
from tt_debugger.discovery.sieve import may_hold
from tt_debugger.errors import CannotReadError, TtdbgError, UsageError
from tt_debugger.formats import is_session

Sought = Query | Expression

LONGEST = 10.0
"""Seconds that an expression has for a megabyte of a session: some would take for ever."""


class _Hits(msgspec.Struct, frozen=True):
    """What is being found in one session; its refs begin with `scope`."""

    debugger: Debugger
    scope: str
    hits: Iterator[Hit]


class _Failed(msgspec.Struct, frozen=True):
    """A session that cannot be read."""

    location: str
    error: TtdbgError


class _Count:
    """How much was looked through and found."""

    def __init__(self) -> None:
        self.hits = self.sessions = self.of = self.failed = 0

    @property
    def text(self) -> str:
        """The counts in one line."""
        found = f"{self.hits:,} found in {self.sessions:,} of {counted(self.of, 'session')}"
        return f"{found}; {self.failed:,} cannot be read" if self.failed else found


@click.command("grep")
@click.argument("pattern")
@click.argument("location", metavar="[LOCATION]", required=False, callback=unshielded)
@click.option("-i", "--ignore-case", is_flag=True, help="Capitals in PATTERN match small letters.")
@click.option("-E", "--regex", is_flag=True, help="PATTERN is a regular expression.")
@click.option("--role", type=click.Choice([str(each) for each in Role]), help="Who said it.")
@click.option("-m", "--max-count", type=click.IntRange(1), metavar="N", help="N in each session.")
@click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="Stop after N in all.")
@json_option
def command(  # noqa: PLR0913 - one for each option
    pattern: str,
    location: str | None,
    *,
    ignore_case: bool,
    regex: bool,
    role: str | None,
    max_count: int | None,
    limit: int | None,
    as_json: bool,
) -> int:
    """Search all that was said in every session that is found.

    A PATTERN without capitals is found whatever the case. Sessions are looked for where agents
    keep them and in this folder; LOCATION is one of them, or a folder to look in. What each line
    begins with can be given to `ttdbg open` and `ttdbg show`. Exits with 1 if nothing is found.
    """
    sought = _sought(pattern, ignores_case=ignore_case, is_regex=regex)
    count = _Count()
    if as_json:
        output.json_line({"ttdbg": VERSION, "pattern": pattern, "location": location or None})
    with closing(_searched(location, sought, count)) as searched:
        for each in searched:
            if isinstance(each, _Failed):
                count.failed += 1
                _tell_failed(each, as_json=as_json)
                continue
            session = each.debugger.session
            wanted = (hit for hit in each.hits if role in {None, session.heads.role(hit.row)})
            left = None if limit is None else limit - count.hits
            most = min((most for most in (max_count, left) if most is not None), default=None)
            before = count.hits
            try:
                for hit in islice(wanted, most):
                    count.hits += 1
                    _tell(each, hit, is_first=count.hits == before + 1, as_json=as_json)
            except CannotReadError as error:
                count.failed += 1
                _tell_failed(_Failed(each.debugger.location, error), as_json=as_json)
            count.sessions += count.hits > before
            if count.hits == limit:
                break
    output.narrate(count.text)
    return 0 if count.hits else 1


def _sought(pattern: str, *, ignores_case: bool, is_regex: bool) -> Sought:
    if not pattern:
        raise UsageError("there is nothing to look for", "give a PATTERN")
    is_exact = not ignores_case and pattern != pattern.lower()
    if not is_regex:
        return Query.of(pattern, is_exact=is_exact)
    try:
        return Expression.parse(pattern, ignores_case=not is_exact)
    except ValueError as error:
        raise UsageError(
            f"{pattern!r} is no regular expression: {error}", "without -E it is a text"
        ) from error


def _searched(location: str | None, sought: Sought, count: _Count) -> Generator[_Hits | _Failed]:
    """Search one session after the other, the newest first; those without a hit are passed by."""
    path, fragment = located(location) if location else (EVERYWHERE, None)
    if fragment is not None and not (is_folder(path) and not is_session(path)):
        no_point(fragment)
        others: Sequence[str] = ()
        with Debugger.open(path, fragment.session) as debugger:
            count.of += 1
            scope = f"{quoted(debugger.session.id)}:" if debugger.is_one_of_several else ""
            yield _Hits(debugger, f"{path}#{scope}", _hits(debugger, sought))
            others = debugger.others
        for name in reversed(others):
            with Debugger.open(path, name) as debugger:
                count.of += 1
                yield _Hits(debugger, f"{path}#{quoted(name)}:", _hits(debugger, sought))
        return
    discovery = Discovery(path)
    found = ordered((each for each in discovery if each is not None), Sort.NEWEST)
    short = short_ids(each.id for each in found)
    try:
        with output.progress("searching") as progress:
            for done, entry in enumerate(found, 1):
                progress(done, len(found))
                for each in _sessions(discovery, entry, sought):
                    count.of += 1
                    if may_hold(each, sought):
                        yield from _in_session(each, sought, short)
    finally:
        discovery.save()


def _sessions(discovery: Discovery, entry: Entry, sought: Sought) -> Sequence[Entry]:
    """Give the sessions of an entry, with what is to be known of them for the sieve."""
    if entry.facts is None and isinstance(sought, Query):
        return discovery.read(entry).entries
    return discovery.sessions_of(entry)


def _in_session(entry: Entry, sought: Sought, short: dict[str, str]) -> Iterator[_Hits | _Failed]:
    try:
        with Debugger.open(entry.location, entry.session) as debugger:
            own = f"{entry.location}#{entry.scope}"
            scope = f"{entry.ref(short)}#" if entry.is_kept else own
            yield _Hits(debugger, scope, _hits(debugger, sought))
    except TtdbgError as error:
        yield _Failed(entry.location, error)


def _hits(debugger: Debugger, sought: Sought) -> Iterator[Hit]:
    found = debugger.search(sought)
    if isinstance(sought, Expression):
        late = CannotReadError(
            f"{sought.text!r} takes more than {LONGEST:g} s in {debugger.location}",
            "repeat less within what is repeated, or leave out -E",
        )
        found = each_within(LONGEST, found, late)
    return (hit for each in found for hit in each.hits)


def _tell(found: _Hits, hit: Hit, *, is_first: bool, as_json: bool) -> None:
    debugger = found.debugger
    if as_json:
        output.json_line(_answer(debugger, hit))
        return
    from rich.text import Text

    from tt_debugger.views.hit import hit_text

    session, palette = debugger.session, output.palette()
    head = session.heads[hit.row]
    if is_first:
        output.lines([Text(safe_line(session.title or session.id), palette.strong)])
    ref = f"{found.scope}{debugger.resolver.short_id(hit.row)}"
    line = Text.assemble("  ", (safe_line(ref), palette.code), "  ", no_wrap=True)
    line.append(hit_text(head.role or head.kind, hit, palette))
    output.lines([line])


def _answer(debugger: Debugger, hit: Hit) -> dict[str, Any]:
    session = debugger.session
    return {
        "location": debugger.location,
        "format": session.format,
        "session": session.id,
        "title": session.title,
        "ref": debugger.ref(hit.row),
        "checkpoint": checkpoint_json(session.checkpoint(hit.row)),
        "before": hit.before,
        "found": hit.found,
        "after": hit.after,
    }


def _tell_failed(failed: _Failed, *, as_json: bool) -> None:
    if as_json:
        output.json_line({"location": failed.location, "failed": failed.error.message})
    output.narrate(f"not searched: {failed.error.message}")
