"""`ttdbg bisect`: the first checkpoint on a path from which on a condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from msgspec import UNSET

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
from tt_debugger.cli.asked import condition_of, narrate_unmet
from tt_debugger.cli.patience import LONGEST, answers_within
from tt_debugger.cli.running import exit_code
from tt_debugger.cli.session_json import VERSION
from tt_debugger.core.bisect import (
    Bisection,
    Found,
    FoundDespiteSkips,
    NotFound,
    Result,
    Verdict,
    bisected,
    first_bad,
    first_row,
)
from tt_debugger.core.refs import parse_fragment, quoted
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import UsageError
from tt_debugger.exports.json_forms import encoded

if TYPE_CHECKING:
    from rich.text import Text

    from tt_debugger.core.conditions import At, Condition
    from tt_debugger.core.refs import Fragment
    from tt_debugger.debugger import Debugger

RESULTS = {Found: "found", FoundDespiteSkips: "found-despite-skips", NotFound: "not-found"}
VERDICTS = {0: Verdict.GOOD, 125: Verdict.SKIP}
LARGEST_BAD = 127
"""The exit codes of `git bisect run`: all others up to this one are bad."""
NOT_RUN = (126, 127)
"""What a shell exits with that cannot run a command, or does not find it."""


@click.command("bisect")
@location
@click.option("--when", metavar="CONDITION", help="The condition to look for.")
@click.option("--run", metavar="COMMAND", help="A test to run, which fails from there on.")
@click.option("--scan", is_flag=True, help="Look at each in order, for the first of all.")
@click.option("--good", metavar="REF", help="REF and all before it are good.")
@click.option("--bad", metavar="REF", help="REF and all behind it are bad.")
@click.option("--skip", multiple=True, metavar="REF", help="Test others in place of REF.")
@json_option
def command(location: str, *, as_json: bool, **asked: Any) -> int:
    """Find where a condition first holds, or a command first fails.

    It is looked for from the root to REF, or to the active leaf, or in a range A..B. What holds
    at a checkpoint is taken to hold at all behind it, so that few have to be tested; with --scan
    nothing is taken for granted. Where a CONDITION does not hold at the last one, each is looked
    at too.

    A CONDITION is one such as error, tool=bash, cost>1 or 'tokens>100k and not tool=bash', or a
    JMESPath over the state, such as 'length(messages) > 10'. What happens at a checkpoint, as an
    error does, does not hold from there on: it is looked for in order.

    COMMAND is run by the shell. On its stdin is the state as JSON, in its environment are
    TTDBG_LOCATION, TTDBG_CHECKPOINT, TTDBG_ROW, and TTDBG_REF, which `ttdbg show` takes. As for
    `git bisect run`, an exit code of 0 is good, 125 says that it cannot be told, and any other up
    to 127 is bad. Exits with 1 if nothing is found.
    """
    with opened(location) as (debugger, fragment):
        test = _test(debugger, asked["when"], asked["run"])
        begun = _narrowed(debugger, fragment, asked)
        search = _scanned if asked["scan"] or test.happens else _bisected
        searched = search(test, begun)
        result, tested = searched.result, len(searched.tested)
        is_all = searched.tested >= {*begun.left} - begun.verdicts.keys()
        none = f", none {test.what}" if result == NotFound() and is_all else ""
        output.narrate(f"{tested:,} of {counted(len(begun.rows), 'checkpoint')} tested{none}")
        if result == NotFound():
            test.narrate_why(begun)
        if as_json:
            output.json_line(_answer(debugger, test, result, tested))
        else:
            output.lines(_lines(debugger, test, searched))
        return 1 if isinstance(result, NotFound) else 0


class _Searched(NamedTuple):
    """What a search came to, and the rows that were tested for it."""

    result: Result
    tested: frozenset[int]
    later: str = ""
    """How it went on behind the one that was found, in words."""


def _narrowed(debugger: Debugger, fragment: Fragment, asked: Mapping[str, Any]) -> Bisection:
    """Give what is known of the path before anything is tested."""
    if fragment.is_range:
        path = debugger.resolver.rows((fragment.points[0], fragment.points[1]))
    else:
        path = debugger.session.tree.path_to(debugger.point(fragment))
    known = Bisection.of(path)
    told = [(asked["good"], Verdict.GOOD), (asked["bad"], Verdict.BAD)]
    for ref, verdict in (*told, *((ref, Verdict.SKIP) for ref in asked["skip"])):
        if ref is not None:
            known = known.told(_row(debugger, ref), verdict)
    return known


def _row(debugger: Debugger, ref: str) -> int:
    fragment = parse_fragment(ref.removeprefix("#"))
    if fragment.session not in {None, debugger.session.id}:
        raise UsageError(f"{ref} is in another session", "name a checkpoint of this one")
    return debugger.point(fragment)


def _bisected(test: _Test, begun: Bisection) -> _Searched:
    """Test where most is learnt; where the end is good, what that leaves to be done."""
    output.narrate(f"what {test.premise} from there on; --scan looks at each checkpoint")
    *_, known = begun, *bisected(begun, test.judge)
    tested = frozenset(known.verdicts.keys() - begun.verdicts.keys())
    is_new = known.good > begun.good
    if isinstance(known.result, NotFound) and is_new and len(begun.left) > 1:
        row = known.rows[known.good]
        at = f"at {'the last one, ' if row == known.rows[-1] else ''}row {row + 1}"
        output.narrate(f"it does not {test.verb} {at}{test.then}")
        if test.is_cheap:
            return _scanned(test, begun, tested)
    return _Searched(known.result or NotFound(), tested)


def _scanned(test: _Test, begun: Bisection, tested: frozenset[int] = frozenset()) -> _Searched:
    """Look at each in order; some were tested before."""
    known, looked_at = begun.verdicts, list[int]()

    def noting(judged: Iterator[tuple[int, Verdict]]) -> Iterator[tuple[int, Verdict]]:
        for row, verdict in judged:
            looked_at.append(row)
            yield row, verdict

    judged = test.along(begun)
    result = first_bad(noting(judged))
    tested |= frozenset(looked_at) - known.keys()
    later = "" if isinstance(result, NotFound) else test.later(looked_at[-1], judged)
    return _Searched(result, tested, later)


def _test(debugger: Debugger, when: str | None, run: str | None) -> _Test:
    if when is not None and run is None:
        return _When(debugger, condition_of(when))
    if run is not None and when is None:
        if not run.strip():
            raise UsageError("there is no command to run", "give one, as --run 'exit 1'")
        return _Run(debugger, run)
    raise UsageError(
        "give --when CONDITION or --run COMMAND",
        "such as --when 'cost>1', or --run 'grep -q denied && exit 1'",
    )


class _When:
    """Tests whether a condition holds."""

    premise, verb = "holds once is taken to hold", "hold"
    then = ": each is looked at"
    is_cheap = True
    """Whether each may be looked at without being asked to."""

    def __init__(self, debugger: Debugger, condition: Condition) -> None:
        self._debugger = debugger
        self._condition = condition
        self.happens = condition.happens
        """Whether it asks something of single checkpoints, so that it does not hold on."""
        self.facts = {"condition": condition.text}
        self.what = f"where {condition.text} holds"

    def judge(self, row: int) -> Verdict:
        """Test a checkpoint, and say how that came out."""
        return self._said(row, holds=self._debugger.holds(self._condition, row))

    def along(self, begun: Bisection) -> Iterator[tuple[int, Verdict]]:
        """Test those that are left in order; only the first where it holds is told."""
        if self.happens:
            output.narrate(f"{self._condition.text} happens at a checkpoint: each is looked at")
        rows, known = begun.left, begun.verdicts
        path = self._debugger.session.tree.path_to(rows[-1]) if rows else []
        # It may sum up what was before, so it is told of that too.
        holds = self._debugger.following(self._condition, path)
        if self.happens:
            holds = answers_within(LONGEST, holds, self._condition.text)
        for row, each in islice(zip(path, holds, strict=True), len(path) - len(rows), None):
            yield row, known.get(row) or (Verdict.BAD if each else Verdict.GOOD)

    def later(self, row: int, rest: Iterator[tuple[int, Verdict]]) -> str:
        """Say until where it holds on from a row, and where it does again; not if it happens."""
        if self.happens:
            return ""
        first = row
        for place, verdict in rest:
            if verdict is Verdict.GOOD:
                until = "at that one alone" if row == first else f"until row {row + 1}"
                again = next((row for row, verdict in rest if verdict is Verdict.BAD), None)
                more = "" if again is None else f", and again from row {again + 1}"
                return f"; it held {until}{more}"
            row = place
        return ""

    def narrate_why(self, begun: Bisection) -> None:
        """Say why it holds nowhere, if that is seen."""
        path = self._debugger.session.tree.path_to(begun.rows[-1])
        narrate_unmet(self._debugger, self._condition, path)

    def values(self, row: int) -> tuple[Any, Any] | None:
        """Give the value of an expression before a checkpoint and after it.

        None where there is no single one, and where it can only be true or false.
        """
        expression = self._condition.expression
        if expression is None:
            return None
        debugger, parent = self._debugger, self._debugger.session.parents[row]
        before = UNSET if parent == NO_ROW else expression.value(debugger.state(parent))
        after = expression.value(debugger.state(row))
        return None if isinstance(after, bool) else (before, after)

    def figures(self, row: int) -> list[tuple[str, Any, Any]]:
        """Give the figures that it compares, each before a checkpoint and after it."""
        from tt_debugger.core.conditions.asked import FigureAsked
        from tt_debugger.core.conditions.figures import figure_of
        from tt_debugger.core.conditions.forms import atoms_of

        parent = self._debugger.session.parents[row]
        atoms = [each for each in atoms_of(self._condition.form) if not each.happens]
        asked = [each.asked for each in atoms]
        names = dict.fromkeys(each.name for each in asked if isinstance(each, FigureAsked))

        def told(name: str) -> Iterator[Any]:
            figure = figure_of(name)
            for each in (parent, row):
                known = None if each == NO_ROW else figure(self._at(each))
                yield UNSET if known is None else known

        return [(name, *told(name)) for name in names]

    def _at(self, row: int) -> At:
        from tt_debugger.core.conditions import At

        debugger, condition = self._debugger, self._condition
        state = debugger.state(row) if condition.needs_state else None
        return At(debugger.session, row, (), state, partial(debugger.body, row))

    def _said(self, row: int, *, holds: bool) -> Verdict:
        _narrate(row, "holds" if holds else "does not hold")
        return Verdict.BAD if holds else Verdict.GOOD


class _Run:
    """Tests whether a command of the user fails."""

    premise, verb = "fails once is taken to fail", "fail"
    then = "; whether it did before is not known: --scan tests each"
    is_cheap = happens = False
    what = "where the command fails"

    def __init__(self, debugger: Debugger, command: str) -> None:
        self._debugger = debugger
        self._command = command
        self._has_run = False
        self.facts = {"command": command}

    def judge(self, row: int) -> Verdict:
        """Test a checkpoint, and say how that came out."""
        debugger = self._debugger
        told = {
            "TTDBG_LOCATION": debugger.location,
            "TTDBG_CHECKPOINT": quoted(debugger.session.ids[row]),
            "TTDBG_ROW": str(row + 1),
            "TTDBG_REF": debugger.ref(row),
        }
        code = exit_code(self._command, encoded(debugger.state(row)).encode(), told)
        if code > LARGEST_BAD:
            raise UsageError(
                f"the command exits with {code} at row {row + 1}, which ends the search",
                "0 is good, 125 cannot be told, and any other up to 127 is bad",
            )
        if code in NOT_RUN and not self._has_run:
            raise UsageError(
                f"the shell cannot run {self._command}",
                f"it exits with {code} at row {row + 1}, the first that is tested; a test that "
                "fails there exits with any other up to 125",
            )
        self._has_run = True
        verdict = VERDICTS.get(code, Verdict.BAD)
        note = ", as where a shell cannot run it" if code in NOT_RUN else ""
        _narrate(row, f"{verdict} (exit code {code}{note})")
        return verdict

    def along(self, begun: Bisection) -> Iterator[tuple[int, Verdict]]:
        """Test those that are left in order."""
        known = begun.verdicts
        return ((row, known.get(row) or self.judge(row)) for row in begun.left)

    def later(self, _row: int, _rest: Iterator[tuple[int, Verdict]]) -> str:
        """Look at no more: each takes a run of the command."""
        return ""

    def narrate_why(self, begun: Bisection) -> None:
        """Say nothing: a command tells no more than that it does not fail."""

    def values(self, row: int) -> None:
        """Give nothing: a command has no value."""

    def figures(self, _row: int) -> list[tuple[str, Any, Any]]:
        """Give none: what a command compares is its own."""
        return []


_Test = _When | _Run


def _narrate(row: int, text: str) -> None:
    output.narrate(f"row {row + 1}  {text}")


def _answer(debugger: Debugger, test: _Test, result: Result, tested: int) -> dict[str, Any]:
    ids, row = debugger.session.ids, first_row(result)
    candidates = () if isinstance(result, Found) else result.candidates
    return {
        "ttdbg": VERSION,
        "result": RESULTS[type(result)],
        "checkpoint": None if row is None else ids[row],
        "tested": tested,
        "row": None if row is None else row + 1,
        "ref": None if row is None else debugger.ref(row),
        "candidates": [ids[each] for each in candidates],
        **test.facts,
    }


def _lines(debugger: Debugger, test: _Test, searched: _Searched) -> Iterator[Text]:
    from tt_debugger.views.bisection import BisectView, FirstBad

    session, row = debugger.session, first_row(searched.result)
    scope = f"{quoted(session.id)}:" if debugger.is_one_of_several else ""

    def ref(row: int) -> str:
        return f"{debugger.location}#{scope}{debugger.resolver.short_id(row)}"

    view = BisectView(session, ref, output.palette(), output.glyphs())
    first = None
    if row is not None:
        parent = session.parents[row]
        before = None if parent == NO_ROW else debugger.state(parent)
        first = FirstBad(row, debugger.changes(row), before, test.values(row), test.figures(row))
    return view.lines(searched.result, first, f"{test.what}{searched.later}")
