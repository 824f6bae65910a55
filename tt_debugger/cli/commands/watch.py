"""`ttdbg watch`: where on a branch a value changed, and where it was written as it was."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

import click
import msgspec

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.asked import as_condition, condition_of, narrate_unmet
from tt_debugger.cli.mistakes import path_meant, refuse_swapped
from tt_debugger.cli.patience import LONGEST, answers_within
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.history import Moment, Watched, turns
from tt_debugger.core.nearby import MOST, nearby
from tt_debugger.core.paths import jmespath_of, pointer
from tt_debugger.core.text import counted
from tt_debugger.errors import UsageError

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.conditions import Condition
    from tt_debugger.core.refs import Fragment
    from tt_debugger.debugger import Debugger


@click.command("watch")
@location
@click.argument("path", metavar="[PATH]", required=False)
@click.option("--when", metavar="CONDITION", help="Watch whether a condition holds.")
@click.option("--no-rewrites", is_flag=True, help="Leave out what was written as it was.")
@click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="Only the last N.")
@click.option("--reverse", is_flag=True, help="The last one first.")
@click.option("--full", is_flag=True, help="Every line of a text that changed.")
@json_option
def command(
    location: str,
    path: str | None,
    *,
    when: str | None,
    limit: int | None,
    reverse: bool,
    as_json: bool,
    **shown: bool,
) -> None:
    """List where a value changed on a branch, from what to what.

    PATH is a JMESPath, such as usage.cost or length(messages), or a JSON Pointer, such as
    /messages/3/content. The branch is that of REF, else that of the active leaf; of a range A..B
    only what changed there is told. A checkpoint that wrote the value with the value it had is
    marked with = as a rewrite.

    With --when the checkpoints are listed at which a CONDITION begins to hold, or ceases to, such
    as "tokens>100k"; one that asks of single checkpoints, such as error or tool=Bash, wherever it
    holds.
    """
    refuse_swapped("watch", location, path)
    watched = _watched(path, when)
    if as_json and reverse:
        raise UsageError("with --json the history is told in order", "leave out --reverse")
    with opened(location) as (debugger, fragment):
        ends, no_rewrites = _ends(debugger, fragment), shown["no_rewrites"]
        asked = _Asked(debugger, watched, *ends, no_rewrites=no_rewrites)
        if as_json:
            head = {"ttdbg": VERSION, "path": path} | ({"when": when} if when else {})
            output.json_stream(head, "history", _answers(asked, limit))
        else:
            output.lines(_lines(asked, limit, reverse=reverse, is_full=shown["full"]))
        asked.narrate(limit)


def _watched(path: str | None, when: str | None) -> Watched | Condition:
    if (path is None) == (when is None):
        raise UsageError(
            "one thing is watched: a PATH, or with --when a CONDITION",
            "such as usage.cost, /messages/3, or --when error",
        )
    try:
        if path is not None:
            return Watched.parse(path)
        return condition_of(when or "")
    except ValueError as error:
        hint = "--when takes conditions, such as error, tool=Bash or tokens>100k"
        meant = as_condition(path or "") or path_meant(path or "")
        raise UsageError(f"{path!r}: {error}", meant or hint) from error


def _ends(debugger: Debugger, fragment: Fragment) -> tuple[int, int]:
    """Give the first and the last row that are asked for: of a branch, its root and its end."""
    if fragment.is_range:
        rows = debugger.resolver.rows((fragment.points[0], fragment.points[1]))
        return rows[0], rows[-1]
    last = debugger.point(fragment)
    return debugger.session.tree.root_of(last), last


class _Seen(Protocol):
    """What is known of a moment in any form."""

    @property
    def row(self) -> int: ...
    @property
    def is_rewrite(self) -> bool: ...


_T = TypeVar("_T", bound=_Seen)


class _Asked:
    """What is watched from one row to another, and how much of it was found."""

    def __init__(
        self,
        debugger: Debugger,
        watched: Watched | Condition,
        first: int,
        last: int,
        *,
        no_rewrites: bool,
    ) -> None:
        self.debugger = debugger
        self.watched = watched
        self._last = last
        self._no_rewrites = no_rewrites
        self._above = frozenset(debugger.session.tree.path_to(first)[:-1])
        self._found = self._told = 0

    @property
    def is_condition(self) -> bool:
        """Whether the value is that of a condition, true or false."""
        return not isinstance(self.watched, Watched)

    def moments(self) -> Iterator[Moment]:
        """Walk from the root; give the moments of the value, as long as each is live."""
        if isinstance(self.watched, Watched):
            return self.debugger.history(self._last, self.watched)
        path = self.debugger.session.tree.path_to(self._last)
        truths = self.debugger.following(self.watched, path)
        if self.watched.happens:
            truths = answers_within(LONGEST, truths, self.watched.text)
        return turns(path, truths, happens=self.watched.happens)

    def wanted(self, moments: Iterable[_T]) -> Iterator[_T]:
        """Give those moments that are asked for."""
        self._found = self._told = 0
        for each in moments:
            self._found += 1
            if each.row not in self._above and not (self._no_rewrites and each.is_rewrite):
                self._told += 1
                yield each

    def narrate(self, limit: int | None) -> None:
        """Say on stderr what an answer does not show: that there is nothing, or more."""
        if limit is not None and self._told > limit:
            output.narrate(f"{counted(self._told - limit, 'earlier change')} left out")
        if self._told:
            return
        text = self.watched.text or "the whole state"
        if not self._found:
            never = "never holds" if self.is_condition else "is never there"
            output.narrate(f"{text} {never} on this branch{self._instead()}")
            self._narrate_why()
        else:
            output.narrate(f"{text} does not change in this range")

    def _narrate_why(self) -> None:
        """Say why a condition never holds, or that a place is one."""
        watched = self.watched
        if not isinstance(watched, Watched):
            narrate_unmet(self.debugger, watched, self.debugger.session.tree.path_to(self._last))
        elif hint := as_condition(watched.text):
            output.narrate(f"hint: {hint}")

    def _instead(self) -> str:
        """Ask for places that are there and may have been meant."""
        watched = self.watched
        if not isinstance(watched, Watched):
            return ""
        formula, state = watched.formula, self.debugger.state(self._last)
        paths = (watched.path or (),) if formula is None else formula.reads
        found = dict.fromkeys(each for path in paths for each in nearby(state, path))
        named = pointer if formula is None else jmespath_of
        names = [named(each) for each in found][:MOST]
        return f"; did you mean {' or '.join(names)}?" if names else ""


def _lines(asked: _Asked, limit: int | None, *, reverse: bool, is_full: bool) -> Iterator[Text]:
    from tt_debugger.views.history import FEW_LINES, HistoryView, told

    debugger = asked.debugger
    moments = asked.wanted(told(asked.moments()))
    if limit is not None or reverse:
        kept = deque(moments, limit)
        moments = reversed(kept) if reverse else iter(kept)
    view = HistoryView(
        debugger.session,
        debugger.resolver.short_id,
        output.palette(),
        output.glyphs(),
        output.width(),
        asked.is_condition,
        None if is_full else FEW_LINES,
    )
    return view.lines(moments)


class _Answer(NamedTuple):
    """A moment in the form of CONTRACT."""

    row: int
    is_rewrite: bool
    form: dict[str, Any]


def _answers(asked: _Asked, limit: int | None) -> Iterator[dict[str, Any]]:
    """Give the history in the form of CONTRACT, one moment at a time.

    `absent` tells which of the two values, both null then or not, is not there.
    """
    if limit is None:
        return (each.form for each in asked.wanted(_encoded(asked)))
    # Only the last values are encoded, which of a long list each take a while: two walks are less.
    rows = deque(asked.wanted(_spots(asked)), limit)
    needed = frozenset(chain.from_iterable((each.row, each.before) for each in rows))
    told = frozenset(each.row for each in rows)
    answers = asked.wanted(_encoded(asked, needed))
    return (each.form for each in answers if each.row in told)


class _Spot(NamedTuple):
    """Where a moment is, and the row of the one before it."""

    row: int
    is_rewrite: bool
    before: int | None


def _spots(asked: _Asked) -> Iterator[_Spot]:
    before = None
    for moment in asked.moments():
        yield _Spot(moment.row, moment.is_rewrite, before)
        before = moment.row


def _encoded(asked: _Asked, needed: Container[int | None] | None = None) -> Iterator[_Answer]:
    """Give every moment; with rows that are needed, only those with what is told of them."""
    ids = asked.debugger.session.ids
    old: Any = msgspec.UNSET
    for moment in asked.moments():
        new = moment.value
        if asked.is_condition:
            old = not new
        elif new is not msgspec.UNSET:
            new = output.encoded(new) if needed is None or moment.row in needed else None
        form = {
            "checkpoint": ids[moment.row],
            "old": None if old is msgspec.UNSET else old,
            "new": None if new is msgspec.UNSET else new,
            "rewrite": moment.is_rewrite,
            "absent": "old" if old is msgspec.UNSET else "new" if new is msgspec.UNSET else None,
        }
        yield _Answer(moment.row, moment.is_rewrite, form)
        old = new
