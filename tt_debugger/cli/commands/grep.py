"""`ttdbg grep`: where something was said or a condition holds, in all sessions found or in one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import closing
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
import msgspec

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, unshielded
from tt_debugger.cli.asked import condition_of, narrate_unmet
from tt_debugger.cli.patience import LONGEST, each_within
from tt_debugger.cli.scopes import Failed, Opened, Scope
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.model import Role, checkpoint_json
from tt_debugger.core.search import Hit, Query, Regex
from tt_debugger.core.text import counted, safe_line
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, TtdbgError, UsageError
from tt_debugger.formats import is_session
from tt_debugger.opening import exists
from tt_debugger.storage.servers import is_server
from tt_debugger.storage.stdin import STDIN

if TYPE_CHECKING:
    from tt_debugger.core.holding import Occasions


class _Count:
    """How much was looked through and found."""

    def __init__(self) -> None:
        self.hits = self.sessions = self.failed = 0

    def text(self, of: int) -> str:
        """Give the counts in one line; `of` is how many sessions there are."""
        if self.hits:
            found = f"{self.hits:,} found in {self.sessions:,} of {counted(of, 'session')}"
        else:
            found = f"nothing found in {counted(of, 'session')}"
        return f"{found}; {self.failed:,} cannot be read" if self.failed else found


class _Sought(msgspec.Struct, frozen=True):
    """What is looked for: a text, where a condition holds, or a text where one does."""

    text: Query | Regex | None
    occasions: Occasions | None

    def hits_in(self, debugger: Debugger) -> Iterator[Hit]:
        """Find it in a session; what takes for ever is given up with an error."""
        if self.text is None:
            yield from self._held(debugger, is_each=False)
            return
        found = debugger.search(self.text)
        if isinstance(self.text, Regex):
            found = each_within(LONGEST, found, _late(self.text.text, debugger, "leave out -E"))
        rows = {hit.row for hit in self._held(debugger, is_each=True)}
        is_asked = self.occasions is not None
        yield from (hit for each in found for hit in each.hits if not is_asked or hit.row in rows)

    def _held(self, debugger: Debugger, *, is_each: bool) -> Iterator[Hit]:
        """Give where the condition holds; `is_each` of one that stays true all that time."""
        sought = self.occasions
        if sought is None:
            return
        sought = msgspec.structs.replace(sought, is_each=is_each or sought.is_each)
        late = _late(sought.text, debugger, "ask for less")
        for found in each_within(LONGEST, debugger.occasions(sought), late):
            yield from found.hits


@click.command("grep")
@click.argument("pattern", required=False, callback=unshielded)
@click.argument("location", metavar="[LOCATION]", required=False, callback=unshielded)
@click.option("-e", "--pattern", "given", metavar="PATTERN", help="PATTERN, given so.")
@click.option("--when", metavar="CONDITION", help="Find checkpoints where CONDITION holds.")
@click.option("-a", "--all", "is_each", is_flag=True, help="All of them, not where it begins to.")
@click.option("-i", "--ignore-case", is_flag=True, help="Capitals in PATTERN match small letters.")
@click.option("-E", "--regex", is_flag=True, help="PATTERN is a regular expression.")
@click.option("--role", type=click.Choice([str(each) for each in Role]), help="Who said it.")
@click.option("--family", is_flag=True, help="Search the forks and copies of LOCATION too.")
@click.option("-m", "--max-count", type=click.IntRange(1), metavar="N", help="N in each session.")
@click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="Stop after N in all.")
@json_option
def command(  # noqa: PLR0913 - one for each option
    pattern: str | None,
    location: str | None,
    *,
    given: str | None,
    when: str | None,
    is_each: bool,
    ignore_case: bool,
    regex: bool,
    role: str | None,
    family: bool,
    max_count: int | None,
    limit: int | None,
    as_json: bool,
) -> int:
    """Search all that was said in every session that is found.

    A PATTERN without capitals is found whatever the case. Sessions are looked for where agents
    keep them and in this folder; LOCATION is one of them, or a folder to look in. What each line
    begins with can be given to `ttdbg open` and `ttdbg show`. Exits with 1 if nothing is found.

    With --when a single argument is the LOCATION. A condition such as `error`, `tool=bash` or
    `cost > 1 and not error` is told with what the checkpoints there say; one that stays true, as
    JMESPath over the state may, where it becomes true. With a PATTERN too that is looked for in
    the checkpoints where the condition holds.
    """
    pattern, location = _parted(pattern, location, given, is_optional=when is not None)
    sought = _Sought(
        None if pattern is None else _text(pattern, ignores_case=ignore_case, is_regex=regex),
        None if when is None else _occasions(when, is_each=is_each),
    )
    scope, count = Scope(location, sought.text, is_family=family), _Count()
    newest: tuple[str, str] | None = None
    if as_json:
        asked = {"pattern": pattern, "condition": when, "location": location or None}
        output.json_line({"ttdbg": VERSION, **asked})
    with closing(iter(scope)) as opened:
        for each in opened:
            if isinstance(each, Failed):
                count.failed += 1
                _tell_failed(each, as_json=as_json)
                continue
            newest = newest or (each.debugger.location, each.debugger.session.id)
            heads = each.debugger.session.heads
            wanted = (
                hit for hit in sought.hits_in(each.debugger) if role in {None, heads.role(hit.row)}
            )
            left = None if limit is None else limit - count.hits
            most = min((most for most in (max_count, left) if most is not None), default=None)
            before = count.hits
            try:
                for hit in islice(wanted, most):
                    count.hits += 1
                    _tell(each, hit, is_first=count.hits == before + 1, as_json=as_json)
            except CannotReadError as error:
                count.failed += 1
                _tell_failed(Failed(each.debugger.location, error), as_json=as_json)
            count.sessions += count.hits > before
            if count.hits == limit:
                break
    output.narrate(count.text(scope.count))
    if not count.hits:
        _narrate_unmet(sought, newest, scope.count)
    return 0 if count.hits else 1


def _narrate_unmet(sought: _Sought, newest: tuple[str, str] | None, count: int) -> None:
    """Say why a condition holds nowhere in a session, the newest of several."""
    if sought.occasions is None or newest is None:
        return
    location, session = newest
    try:
        # It is closed by then: who finds something pays nothing.
        with Debugger.open(location, session) as debugger:
            where = None if count == 1 else f"the newest, {location}"
            narrate_unmet(debugger, sought.occasions.condition, where=where)
    except TtdbgError:
        # It was there when it was searched; of what became of it since nothing was asked.
        return


def _parted(
    pattern: str | None, location: str | None, given: str | None, *, is_optional: bool
) -> tuple[str | None, str | None]:
    """Tell the pattern from the location, where one of two arguments is left out."""
    if given is not None or (is_optional and location is None):
        if location is not None:
            raise UsageError("there are two patterns", "with -e a single argument is the LOCATION")
        return given, pattern
    if pattern is None and not is_optional:
        raise UsageError("there is nothing to look for", "give a PATTERN, or --when CONDITION")
    if pattern and location and _is_turned_round(pattern, location):
        turned = shlex.join(("ttdbg", "grep", location, pattern))
        raise UsageError(
            f"{pattern} is a session, where the PATTERN is wanted",
            f"`{turned}`; -e {shlex.quote(pattern)} looks for the name itself",
        )
    return pattern, location


def _is_turned_round(pattern: str, location: str) -> bool:
    """Tell whether the first of two arguments is a session, and the second no place to look in."""
    path, place = (each.partition("#")[0] for each in (pattern, location))
    # An address would be asked, and stdin read, only to say that it is no text.
    is_here = bool(path) and path != STDIN and not is_server(path) and exists(path)
    return is_here and not exists(place) and is_session(path)


def _text(pattern: str, *, ignores_case: bool, is_regex: bool) -> Query | Regex:
    if not pattern:
        raise UsageError("there is nothing to look for", "give a PATTERN")
    is_exact = not ignores_case and pattern != pattern.lower()
    if not is_regex:
        return Query.of(pattern, is_exact=is_exact)
    try:
        return Regex.parse(pattern, ignores_case=not is_exact)
    except ValueError as error:
        raise UsageError(
            f"{pattern!r} is no regular expression: {error}", "without -E it is a text"
        ) from error


def _occasions(when: str, *, is_each: bool) -> Occasions:
    # Only who asks for a condition pays for the import.
    from tt_debugger.core.holding import Occasions

    return Occasions(condition_of(when), is_each)


def _late(text: str, debugger: Debugger, way: str) -> CannotReadError:
    return CannotReadError(
        f"{text!r} takes more than {LONGEST:g} s in {debugger.location}",
        f"repeat less within what is repeated, or {way}",
    )


def _tell(found: Opened, hit: Hit, *, is_first: bool, as_json: bool) -> None:
    debugger = found.debugger
    if as_json:
        output.json_line(_answer(debugger, hit))
        return
    session = debugger.session
    head = session.heads[hit.row]
    title = safe_line(session.title or session.id)
    ref = safe_line(f"{found.scope}{debugger.resolver.short_id(hit.row)}")
    said_by = safe_line(head.role or head.kind)
    if not output.is_terminal():
        # Rich takes longer to import than most searches take.
        titles = [title] if is_first else []
        output.plain_lines([*titles, f"  {ref}  {said_by:<9}  {safe_line(hit.excerpt)}"])
        return
    from rich.text import Text

    from tt_debugger.views.hit import hit_text

    palette = output.palette()
    if is_first:
        output.lines([Text(title, palette.strong)])
    line = Text.assemble("  ", (ref, palette.code), "  ", no_wrap=True)
    is_part = bool(hit.before or hit.after) or hit.found != head.summary
    line.append(hit_text(said_by, hit, palette, is_marked=is_part))
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


def _tell_failed(failed: Failed, *, as_json: bool) -> None:
    if as_json:
        output.json_line({"location": failed.location, "failed": failed.error.message})
    output.narrate(f"not searched: {failed.error.message}")
