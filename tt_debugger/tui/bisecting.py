"""Bisecting: one search for the first bad row of a branch, by hand or by a condition.

By hand a person says of row after row whether it is good or bad; which row is next is told by
`core.bisect`. A condition is tested in a thread, whose answer carries its question.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec
from textual.message import Message

from tt_debugger.core.bisect import (
    Bisection,
    Found,
    FoundDespiteSkips,
    NotFound,
    Result,
    Verdict,
    first_row,
    stands,
)
from tt_debugger.core.jumps import leaf_of
from tt_debugger.core.model import Session
from tt_debugger.core.text import counted
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError, UsageError, outside_errors
from tt_debugger.views.judged import BY_CONDITION, BY_HAND, Judged

if TYPE_CHECKING:
    from tt_debugger.core.conditions import Condition

MOST_NAMED = 4
"""Rows that are named in a line."""
NO_PLACE = -1


class Question(msgspec.Struct, frozen=True, eq=False):
    """From where on a condition holds on a path of a session."""

    session: Session
    path: tuple[int, ...]
    condition: Condition


class Bisected(Message):
    """What is known of a path once a condition was tested as often as it takes.

    `until` is the last row of those in a row at which it holds, where it is known not to stay.
    """

    def __init__(
        self, question: Question, known: Bisection, tested: int, until: int | None = None
    ) -> None:
        super().__init__()
        self.question = question
        self.known = known
        self.tested = tested
        self.until = until


class BisectFailed(Message):
    """A condition could not be tested."""

    def __init__(self, question: Question, error: TtdbgError) -> None:
        super().__init__()
        self.question = question
        self.error = error


def answer(
    debugger: Debugger, question: Question, is_wanted: Callable[[], bool]
) -> Bisected | BisectFailed | None:
    """Test a condition, in a thread; None once nobody wants to know, or the rows are gone."""
    try:
        with outside_errors(question.session.format or "blank"):
            known = Bisection.of(question.path)
            if not question.condition.happens:
                known = _bisected(debugger, question, known, is_wanted)
            if isinstance(known.result, Found):
                return Bisected(question, known, known.tested)
            # Where it does not hold at the last row, it may have held before.
            return _scanned(debugger, question, known, is_wanted)
    except TtdbgError as error:
        # Of a file that was cut meanwhile the screen is told soon.
        is_there = max(question.path) < len(debugger.session)
        return BisectFailed(question, error) if is_there else None


def _bisected(
    debugger: Debugger, question: Question, known: Bisection, is_wanted: Callable[[], bool]
) -> Bisection:
    """Test where most is learnt, as long as somebody wants to know; gives what is known then."""
    while isinstance(row := known.asked, int) and is_wanted():
        holds = debugger.holds(question.condition, row)
        known = known.told(row, Verdict.BAD if holds else Verdict.GOOD)
    return known


def _scanned(
    debugger: Debugger, question: Question, known: Bisection, is_wanted: Callable[[], bool]
) -> Bisected | None:
    """Look at each for where it holds first, and until where; None once nobody wants to know."""
    path, condition = question.path, question.condition
    first, last = NO_PLACE, NO_PLACE
    place = 0
    for place, holds in enumerate(debugger.following(condition, path)):
        if not is_wanted():
            return None
        if holds:
            first, last = place if first == NO_PLACE else first, place
        if first != NO_PLACE and (condition.happens or not holds):
            break
    tested = min(known.tested + place + 1, len(path))
    begun = Bisection.of(path)
    if first == NO_PLACE:
        return Bisected(question, begun.told(path[-1], Verdict.GOOD), tested)
    above = begun.told(path[first - 1], Verdict.GOOD) if first else begun
    return Bisected(question, above.told(path[first], Verdict.BAD), tested, path[last])


class Shows(Protocol):
    """What the screen does for a bisect."""

    def go_to(self, row: int) -> str:
        """Go to a row."""
        ...

    def show_judged(self, judged: Judged | None, text: str) -> None:
        """Show what is known of rows, and say a text for as long as that is; None for no more."""
        ...


class Bisecting:
    """The bisect of a screen, if there is one."""

    def __init__(self, screen: Shows) -> None:
        self._screen = screen
        self._session: Session | None = None
        self._known: Bisection | None = None
        self._condition: Condition | None = None
        """What is asked of rows; None for what a person thinks of them."""
        self._tested = 0
        self._until: int | None = None
        """The row until which the condition held, where it is known not to stay."""
        self._awaited: Question | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a condition is being tested."""
        return self._awaited is not None

    @property
    def is_on(self) -> bool:
        """Whether there is something to end."""
        return self._known is not None or self.is_waiting

    def begin(self, session: Session, row: int) -> None:
        """Begin to judge rows of the branch of a row by hand."""
        self._session, self._awaited, self._condition = session, None, None
        self._take(Bisection.of(session.tree.path_to(leaf_of(session, row))), 0)

    def question(self, session: Session, row: int, text: str) -> Question:
        """Begin to wait for where a condition holds on the branch of a row; gives what to test.

        Raises UsageError for what is no condition.
        """
        # Only who asks for a condition pays for the import.
        from tt_debugger.core.conditions import parse_condition

        try:
            condition = parse_condition(text)
        except ValueError as error:
            hint = getattr(error, "hint", None)
            raise UsageError(f"{text!r} is no condition: {error}", hint) from error
        path = session.tree.path_to(leaf_of(session, row))
        self.end()
        self._session, self._condition = session, condition
        self._awaited = Question(session, tuple(path), condition)
        self._screen.show_judged(None, f"bisect {text}: testing; Esc ends")
        return self._awaited

    def judge(self, row: int, verdict: Verdict) -> None:
        """Say how a row is. Raises UsageError where that cannot be."""
        if self._known is None:
            raise UsageError("no bisect is on; B begins one")
        known = self._known.told(row, verdict)
        self._condition = None
        self._take(known, known.tested)

    def tell(self, message: Bisected) -> None:
        """Hear where a condition holds, unless nobody waits for that any more."""
        if message.question is self._awaited:
            self._awaited = None
            self._take(message.known, message.tested, message.until)

    def fail(self, message: BisectFailed) -> bool:
        """Hear that a condition cannot be tested; tell whether somebody waited for it."""
        is_awaited = message.question is self._awaited
        if is_awaited:
            self.end()
        return is_awaited

    def end(self) -> None:
        """Know nothing any more, and wait for nothing."""
        self._known = self._awaited = self._session = None
        self._screen.show_judged(None, "")

    def grow(self, session: Session, row_now: Callable[[int], int | None]) -> None:
        """Go on in what the session has become, unless its rows are others now."""
        known = self._known
        rows = () if known is None else known.rows
        if self._awaited is not None:
            rows = self._awaited.path
        if rows and row_now(max(rows)) != max(rows):
            self.end()
        elif rows:
            self._session = session
            if known is not None:
                self._show(known)

    def _take(self, known: Bisection, tested: int, until: int | None = None) -> None:
        self._known, self._tested, self._until = known, tested, until
        self._show(known)
        row = known.asked if known.result is None else first_row(known.result)
        if isinstance(row, int):
            self._screen.go_to(row)

    def _show(self, known: Bisection) -> None:
        if self._session is not None:
            asked = known.asked
            row = asked if isinstance(asked, int) else None
            all_stand = stands(known, len(self._session), self._until)
            found = asked.row if isinstance(asked, Found) else None
            words = BY_HAND if self._condition is None else BY_CONDITION
            judged = Judged(all_stand, known.verdicts, row, found, len(known.left), words)
            self._screen.show_judged(judged, f"bisect: {self._said(known)}")

    def _said(self, known: Bisection) -> str:
        """Tell in a line what is known."""
        count = len(known.rows)
        if known.result is None:
            tests = f"about {counted(known.steps, 'test')}"
            return (
                f"{len(known.left):,} of {count:,} left, {tests}: + bad, - good, 0 skip, Esc ends"
            )
        found = self._found(known.result, known.rows[-1])
        return f"{found} ({self._tested:,} of {count:,} tested); Esc ends"

    def _found(self, result: Result, last: int) -> str:
        if self._condition is not None:
            return self._held(self._condition, first_row(result))
        match result:
            case Found(row=row):
                return f"row {row + 1} is the first bad one"
            case FoundDespiteSkips(candidates=rows):
                return f"the first bad one is among {_named(rows)}: all but the last were skipped"
            case NotFound(candidates=()):
                return f"row {last + 1}, the last one, is no bad one"
            case NotFound(candidates=rows):
                return f"none is known for a bad one; {_named(rows)} were skipped"

    def _held(self, condition: Condition, row: int | None) -> str:
        if row is None:
            return f"there is none where {condition.text} holds"
        if self._until is None:
            return f"{condition.text} holds from row {row + 1} on, if it lasts"
        until = "" if condition.happens else f", until row {self._until + 1}"
        return f"row {row + 1} is the first where {condition.text} holds{until}"


def _named(rows: tuple[int, ...]) -> str:
    """Name some rows, if they are many by the first and the last."""
    if len(rows) > MOST_NAMED:
        return f"rows {rows[0] + 1} to {rows[-1] + 1}"
    return f"row{'s' if len(rows) > 1 else ''} {', '.join(str(row + 1) for row in rows)}"
