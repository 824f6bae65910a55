"""Holding: at which checkpoints of a session a condition holds, found in one walk over its tree.

Each row is asked once. A condition of single checkpoints needs no path, so that one can begin
anywhere. Any other is followed: what it has in mind where a branch leaves a path is copied, so
that the rows above are shared. Where it stays true, it is told where it becomes so.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from typing import overload

import msgspec

from tt_debugger.core.answers import arguments_line
from tt_debugger.core.changes import Change, LiveState, State
from tt_debugger.core.conditions import At, Condition, FollowingCondition
from tt_debugger.core.conditions.asked import NameAsked
from tt_debugger.core.conditions.forms import And, Atom, Form, Not, Or, Single
from tt_debugger.core.conditions.names import Pattern
from tt_debugger.core.messages import Call, Result, Said, messages_in, read_message
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Body
from tt_debugger.core.runs import ChangesAlong, runs
from tt_debugger.core.search import Found, Hit, Query
from tt_debugger.core.text import summary_line
from tt_debugger.core.tree import NO_ROW

BATCH_ROWS = 256


def _may_say_all(_: int, __: Query) -> bool:
    return True


class Rows(msgspec.Struct, frozen=True):
    """The rows of a session that a condition is asked of, and how they are read.

    `may_say` tells whether a text may be in the record of a row; only a no is certain.
    """

    session: Session
    changes_along: ChangesAlong
    body: Callable[[int], Body]
    may_say: Callable[[int, Query], bool] = _may_say_all

    def at(self, row: int, changes: Sequence[Change], state: State) -> At:
        """Give a row as a condition is asked of it."""
        body, may_say = partial(self.body, row), partial(self.may_say, row)
        return At(self.session, row, changes, state, body, may_say)

    def changes(self, row: int) -> Sequence[Change]:
        """Give what a row did, to be read when somebody looks at it."""
        return _Changes(row, self.changes_along)


class Occasions(msgspec.Struct, frozen=True):
    """A condition as something to look for; with `is_each` wherever it holds.

    Else one that stays true is found where it becomes true, and again after it was false.
    """

    condition: Condition
    is_each: bool = False

    @property
    def text(self) -> str:
        """What was asked."""
        return self.condition.text

    @property
    def begins_anywhere(self) -> bool:
        """Whether they can be looked for from any row on, without those above it."""
        return self.condition.is_of_checkpoints


def occasions(rows: Rows, sought: Occasions, start: int = 0) -> Iterator[Found]:
    """Find where a condition holds, a batch at a time; one of checkpoints from a row on.

    What is found is the text that was asked for, or what a call of a tool that was, or a result
    of it, says; else the summary of a row.
    """
    if sought.condition.is_of_checkpoints:
        yield from _one_by_one(rows, sought.condition, start)
    else:
        yield from _Walk(rows, sought).found()


def holding_along(rows: Rows, condition: Condition, path: Sequence[int]) -> Iterator[bool]:
    """Tell of each row of a path that begins at a root whether a condition holds there."""
    tip = _Tip(LiveState({}), condition.following())
    for _ in _steps(rows, condition, path, tip):
        yield tip.held


def _one_by_one(rows: Rows, condition: Condition, start: int) -> Iterator[Found]:
    size, done = len(rows.session), 0
    for begin, end in ((start, size), (0, start)):
        for batch in _batches(range(begin, end)):
            asked = (rows.at(row, rows.changes(row), None) for row in batch)
            hits = [_hit(at, condition.form) for at in asked if condition.holds(at)]
            done += len(batch)
            yield Found(tuple(hits), done, size, is_indexed=True)


class _Changes(Sequence[Change]):
    """What a row did, read when somebody looks: most conditions know from the index."""

    def __init__(self, row: int, changes_along: ChangesAlong) -> None:
        self._row = row
        self._changes_along = changes_along

    @cached_property
    def _known(self) -> tuple[Change, ...]:
        (changes,) = self._changes_along((self._row,))
        return changes

    def __len__(self) -> int:
        return len(self._known)

    @overload
    def __getitem__(self, index: int) -> Change: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...
    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self._known[index]

    def __iter__(self) -> Iterator[Change]:
        return iter(self._known)


def _batches(rows: Sequence[int]) -> Iterator[Sequence[int]]:
    return (rows[begin : begin + BATCH_ROWS] for begin in range(0, len(rows), BATCH_ROWS))


def _hit(at: At, form: Form) -> Hit:
    excerpts = (_excerpt(at, atom) for atom in _wanted(form))
    head = at.session.heads[at.row]
    summary = Hit(at.row, "", head.summary or head.name or str(head.kind), "")
    return next(filter(None, excerpts), summary)


def _wanted(form: Form) -> Iterator[Atom]:
    """Give what a form asks for, but not what it asks to be none."""
    match form:
        case Single(atom=atom):
            yield atom
        case And(forms=forms) | Or(forms=forms):
            for each in forms:
                yield from _wanted(each)
        case Not():
            pass


def _excerpt(at: At, atom: Atom) -> Hit | None:
    """Give what an atom found, None where that is no text or the summary tells it."""
    if atom.excerpt is not None:
        return atom.excerpt(at)
    match atom.asked:
        case NameAsked(what="tool", name=name):
            said = _said_of(at, name)
            return Hit(at.row, "", said, "") if said else None
        case _:
            return None


def _said_of(at: At, tool: str) -> str | None:
    """Give what is said of a tool where the summary, which tells of the first one, may not."""
    matches = Pattern.of(tool).matches
    if matches(at.session.heads[at.row].name):
        return None
    for message in messages_in(at.changes):
        for part in read_message(message).parts:
            if isinstance(part, Call) and matches(part.name):
                return f"{part.name} {arguments_line(part.arguments)}".strip()
            if isinstance(part, Result) and matches(part.name):
                texts = (each.text for each in part.parts if isinstance(each, Said))
                return f"{part.name} {summary_line(' '.join(texts))}".strip()
    return None


class _Tip(msgspec.Struct):
    """How far one way down the tree is: the state there, and what the condition has in mind."""

    live: LiveState
    following: FollowingCondition
    held: bool = False

    def parted(self) -> _Tip:
        """Give another one at the same place; the state of both is written to by neither."""
        state = self.live.value
        self.live = LiveState(state)
        return _Tip(LiveState(state), self.following.copied(), self.held)


class _Walk:
    """A walk over the whole tree, each row after its parent, in storage order where it can be."""

    def __init__(self, rows: Rows, sought: Occasions) -> None:
        self._rows = rows
        self._session = session = rows.session
        self._condition = sought.condition
        self._is_each = sought.is_each or sought.condition.happens
        self._awaited = Counter(session.parents[run[0]] for run in runs(session, session.order))
        """How many runs are yet to begin below a row."""
        self._tips: dict[int, _Tip] = {}

    def found(self) -> Iterator[Found]:
        """Walk, and tell in batches."""
        session, done = self._session, 0
        size, is_in_order = len(session), session.tree.has_parents_first
        for run in runs(session, session.order):
            tip = self._tip_above(run[0])
            for rows in _batches(run):
                hits = tuple(self._down(rows, tip))
                done += len(rows)
                # Only rows in storage order are counted from the first.
                told = done if is_in_order or done == size else 0
                yield Found(hits, told, size, is_indexed=True)

    def _tip_above(self, row: int) -> _Tip:
        """Give where a run goes on from; the last that does takes what is there itself."""
        parent = self._session.parents[row]
        if parent == NO_ROW:
            return _Tip(LiveState({}), self._condition.following())
        self._awaited[parent] -= 1
        return self._tips[parent].parted() if self._awaited[parent] else self._tips.pop(parent)

    def _down(self, rows: Sequence[int], tip: _Tip) -> Iterator[Hit]:
        held = tip.held
        for at in _steps(self._rows, self._condition, rows, tip):
            if tip.held and (self._is_each or not held):
                yield _hit(at, self._condition.form)
            held = tip.held
            if self._awaited.get(at.row):
                self._tips[at.row] = tip.parted()


def _steps(rows: Rows, condition: Condition, path: Sequence[int], tip: _Tip) -> Iterator[At]:
    """Go down some rows, each the parent of the next; the tip is told each."""
    along = rows.changes_along(path) if condition.needs_state else map(rows.changes, path)
    for row, changes in zip(path, along, strict=True):
        if condition.needs_state:
            tip.live.apply(changes)
        at = rows.at(row, changes, tip.live.value)
        tip.held = tip.following.holds(at)
        yield at
