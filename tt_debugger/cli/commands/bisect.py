"""`ttdbg bisect`: the first checkpoint on a path from which on a condition holds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING, Any

import click
from msgspec import UNSET

from tt_debugger.cli import output
from tt_debugger.cli.arguments import json_option, location, opened
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

    from tt_debugger.core.conditions import Condition
    from tt_debugger.core.refs import Fragment
    from tt_debugger.debugger import Debugger

Judged = tuple[int, Verdict]

FORCED = "jmes:"
"""What a condition may begin with that is an expression."""
RESULTS = {Found: "found", FoundDespiteSkips: "found-despite-skips", NotFound: "not-found"}
VERDICTS = {0: Verdict.GOOD, 125: Verdict.SKIP}
LARGEST_BAD = 127
"""The exit codes of `git bisect run`: all others up to this one are bad."""
NOT_RUN = (126, 127)
"""What a shell exits with that cannot run a command, or does not find it."""


@click.command("bisect")
@location
@click.option("--when", metavar="CONDITION", help="What holds from there on.")
@click.option("--run", metavar="COMMAND", help="A test that fails from there on.")
@click.option("--scan", is_flag=True, help="Look at each in order, for the first of all.")
@click.option("--good", metavar="REF", help="It is behind this one.")
@click.option("--bad", metavar="REF", help="It is this one, or one before it.")
@click.option("--skip", multiple=True, metavar="REF", help="Test others in place of this one.")
@json_option
def command(location: str, *, as_json: bool, **asked: Any) -> int:
    """Find where a condition first holds, or a command first fails.

    It is looked for from the root to REF, or to the active leaf, or in a range A..B. What holds
    at a checkpoint is taken to hold at all behind it, so that few have to be tested; with --scan
    nothing is taken for granted.

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
        result, tested = search(test, begun)
        none = f", none {test.what}" if result == NotFound() else ""
        output.narrate(f"{tested:,} of {counted(len(begun.rows), 'checkpoint')} tested{none}")
        if as_json:
            output.json_line(_answer(debugger, test, result, tested))
        else:
            output.lines(_lines(debugger, test, result))
        return 1 if isinstance(result, NotFound) else 0


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


def _bisected(test: _Test, begun: Bisection) -> tuple[Result, int]:
    """Test where most is learnt; give the result, and how many were tested."""
    output.narrate(f"what {test.premise} from there on; --scan looks at each checkpoint")
    *_, known = begun, *bisected(begun, test.judge)
    return known.result or NotFound(), known.tested - begun.tested


def _scanned(test: _Test, begun: Bisection) -> tuple[Result, int]:
    """Look at each in order; give the result, and how many were tested."""
    known, tested = begun.verdicts, 0

    def counting(judged: Iterator[Judged]) -> Iterator[Judged]:
        nonlocal tested
        for row, verdict in judged:
            tested += row not in known
            yield row, verdict

    judged = test.along(begun)
    result = first_bad(counting(judged))
    test.look_on(judged)
    return result, tested


def _test(debugger: Debugger, when: str | None, run: str | None) -> _Test:
    if when is not None and run is None:
        from tt_debugger.core.conditions import parse_condition

        try:
            return _When(debugger, parse_condition(when))
        except ValueError as error:
            raise UsageError(f"{when!r} is no condition: {error}") from error
    if run is not None and when is None:
        return _Run(debugger, run)
    raise UsageError("it is not clear what is looked for", "give one of --when and --run")


class _When:
    """Tests whether a condition holds."""

    premise = "holds once is taken to hold"

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

    def along(self, begun: Bisection) -> Iterator[Judged]:
        """Test those that are left in order; only the first where it holds is told."""
        if self.happens:
            output.narrate(f"{self._condition.text} happens at a checkpoint: each is looked at")
        rows, known = begun.left, begun.verdicts
        path = self._debugger.session.tree.path_to(rows[-1]) if rows else []
        # It may sum up what was before, so it is told of that too.
        holds = self._debugger.following(self._condition, path)
        for row, each in islice(zip(path, holds, strict=True), len(path) - len(rows), None):
            yield row, known.get(row) or (Verdict.BAD if each else Verdict.GOOD)

    def look_on(self, rest: Iterator[Judged]) -> None:
        """Say where it does not hold any more, unless it simply happens."""
        if not self.happens:
            row = next((row for row, verdict in rest if verdict is Verdict.GOOD), None)
            if row is not None:
                _narrate(row, "holds not any more: without --scan another may be found")

    def values(self, row: int) -> tuple[Any, Any] | None:
        """Give the value of an expression before a checkpoint and after it.

        None where there is no single one, and where it can only be true or false.
        """
        from tt_debugger.core.expressions import JmesPath

        if self._condition.is_ready_made:
            return None
        debugger, parent = self._debugger, self._debugger.session.parents[row]
        try:
            expression = JmesPath.parse(self._condition.text.removeprefix(FORCED))
        except ValueError:
            # Several are joined.
            return None
        before = UNSET if parent == NO_ROW else expression.value(debugger.state(parent))
        after = expression.value(debugger.state(row))
        return None if isinstance(after, bool) else (before, after)

    def _said(self, row: int, *, holds: bool) -> Verdict:
        _narrate(row, "holds" if holds else "holds not")
        return Verdict.BAD if holds else Verdict.GOOD


class _Run:
    """Tests whether a command of the user fails."""

    premise = "fails once is taken to fail"
    happens = False
    what = "where the command fails"

    def __init__(self, debugger: Debugger, command: str) -> None:
        self._debugger = debugger
        self._command = command
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
        verdict = VERDICTS.get(code, Verdict.BAD)
        note = ", as where a shell cannot run it" if code in NOT_RUN else ""
        _narrate(row, f"{verdict} (exit code {code}{note})")
        return verdict

    def along(self, begun: Bisection) -> Iterator[Judged]:
        """Test those that are left in order."""
        known = begun.verdicts
        return ((row, known.get(row) or self.judge(row)) for row in begun.left)

    def look_on(self, rest: Iterator[Judged]) -> None:
        """Look at no more: each takes a run of the command."""

    def values(self, row: int) -> None:
        """Give nothing: a command has no value."""


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


def _lines(debugger: Debugger, test: _Test, result: Result) -> Iterator[Text]:
    from tt_debugger.views.bisection import BisectView, Cause

    session, row = debugger.session, first_row(result)
    scope = f"{quoted(session.id)}:" if debugger.is_one_of_several else ""

    def ref(row: int) -> str:
        return f"{debugger.location}#{scope}{debugger.resolver.short_id(row)}"

    view = BisectView(session, ref, output.palette(), output.glyphs())
    cause = None
    if row is not None:
        parent = session.parents[row]
        before = None if parent == NO_ROW else debugger.state(parent)
        cause = Cause(row, debugger.changes(row), before, test.values(row))
    return view.lines(result, cause, test.what)
