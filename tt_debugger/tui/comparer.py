"""The comparer: works out in threads what the Compare screen shows, and posts what it found.

An answer carries its question, so that the screen can drop one it no longer wants.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path, PurePath
from threading import Event, Lock
from typing import TYPE_CHECKING, Any

import msgspec
from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.changes import Change
from tt_debugger.core.diff.cause import cause
from tt_debugger.core.diff.cause_told import cause_sentences
from tt_debugger.core.diff.comparing import Comparison
from tt_debugger.core.diff.divergence import divergence
from tt_debugger.core.diff.parting import relation
from tt_debugger.core.diff.side import Side
from tt_debugger.core.diff.side_by_side import compare_sides
from tt_debugger.core.origins import row_that_put
from tt_debugger.core.refs import Fragment, parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, TtdbgError
from tt_debugger.opening import exists, split_location
from tt_debugger.tui.sparing import sparingly
from tt_debugger.views.branches import sentences

if TYPE_CHECKING:
    from tt_debugger.tui.exporter import Exporter

Aim = int | str
"""One side as it was asked for: a row of the session that is open, or a ref, or LOCATION#REF."""


class Question(msgspec.Struct, frozen=True):
    """What is to be compared, whether what says nothing is masked, and whether all ever said."""

    old: Aim
    new: Aim
    mask: bool = True
    uncompacted: bool = False


class End(msgspec.Struct, frozen=True):
    """One of the two that are compared: what it is called, and what is there."""

    name: str
    about: str
    row: int
    ref: str
    is_own: bool
    """Whether it is a checkpoint of the session that is open."""


class Compared(Message):
    """What was asked for is compared; `relation` tells how the two checkpoints are related."""

    def __init__(
        self,
        question: Question,
        ends: tuple[End, End],
        relation: str,
        comparison: Comparison,
        *,
        is_normal: bool,
    ) -> None:
        super().__init__()
        self.question = question
        self.ends = ends
        self.relation = relation
        self.comparison = comparison
        self.is_normal = is_normal
        """Whether states of two formats are compared by what both can say."""

    def compares_the_same(self, other: Compared) -> bool:
        """Tell whether it is about the same two states."""
        are_alike = self.question.uncompacted == other.question.uncompacted
        return are_alike and self.ends == other.ends


class Parted(Message):
    """Why and where both ends part, and whether they meet again, is found; in sentences."""

    def __init__(
        self, question: Question, words: tuple[str, ...], why: tuple[str, ...] = ()
    ) -> None:
        super().__init__()
        self.question = question
        self.words = words
        self.why = why


class CompareFailed(Message):
    """What was asked for cannot be compared."""

    def __init__(self, question: Question, error: TtdbgError) -> None:
        super().__init__()
        self.question = question
        self.error = error


class Located(Message):
    """The row that put a message into the state is found."""

    def __init__(self, row: int, place: int) -> None:
        super().__init__()
        self.row = row
        self.place = place


class LocateFailed(Message):
    """The row that put a message into the state cannot be found."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class _NoLongerWantedError(Exception):
    """The work was given up while it was done."""


def looks_elsewhere(aim: str) -> bool:
    """Tell whether something typed seems to name a file rather than a point of the session."""
    return "/" in aim or PurePath(aim).suffix in _SUFFIXES


_SUFFIXES = frozenset((".jsonl", ".json", ".ttdbg", ".sqlite", ".db"))


class Comparer:
    """Compares checkpoints of an open session with each other, and with those of other files."""

    def __init__(self, screen: Screen[Any], debugger: Debugger) -> None:
        self._screen = screen
        self._debugger = debugger
        self._others: dict[tuple[str, str | None], Debugger] = {}
        self._opening = Lock()
        self._is_left = Event()

    def compare(self, question: Question) -> None:
        """Begin to compare; what was asked for before is no longer of use."""
        self._begin("compare", self._compare, question)

    def locate(self, question: Question, end: End, place: int) -> None:
        """Begin to look for the row that put a message into the state of a side."""
        self._begin("locate", self._locate, question, end, place)

    def exporter(self, screen: Screen[Any]) -> Exporter:
        """Give what exports for a dialog."""
        from tt_debugger.tui.exporter import Exporter

        return Exporter(screen, self._debugger)

    def close(self) -> None:
        """Begin nothing more, and let go of other files."""
        self._is_left.set()
        while self._others:
            self._others.popitem()[1].close()

    def _begin(self, group: str, work: Callable[..., None], *arguments: object) -> None:
        self._screen.run_worker(
            sparingly(partial(work, *arguments)), thread=True, group=group, exclusive=True
        )

    def _compare(self, question: Question) -> None:
        worker = get_current_worker()

        def is_wanted() -> bool:
            return not (self._is_left.is_set() or worker.is_cancelled)

        try:
            (mine, old_end), (theirs, new_end) = map(self._end, (question.old, question.new))
            old = mine.side(old_end.row, uncompacted=question.uncompacted)
            new = theirs.side(new_end.row, uncompacted=question.uncompacted)
        except TtdbgError as error:
            self._tell_if(is_wanted, CompareFailed(question, error))
            return
        finally:
            if self._is_left.is_set():
                self.close()
        related = ""
        if mine is theirs:
            # What was read meanwhile is a session of its own, but the tree of both rows.
            old = msgspec.structs.replace(old, session=new.session)
            related = relation(new.session.tree, old.row, new.row)
        compared = compare_sides(old, new, mask=question.mask)
        answer = Compared(
            question,
            (old_end, new_end),
            related,
            compared.comparison,
            is_normal=compared.is_normal,
        )
        self._tell_if(is_wanted, answer)
        # Where they part may take a walk along both paths: what differs is told before.
        with suppress(_NoLongerWantedError):
            words, why = (), ()
            try:
                one, other = _while(is_wanted, old), _while(is_wanted, new)
                found = divergence(one, other)
                words = tuple(sentences(compared, found))
                why = tuple(cause_sentences(cause(one, other, found)))
            except TtdbgError as error:
                words = (*words, error.message)
            self._tell_if(is_wanted, Parted(question, words, why))

    def _tell_if(self, is_wanted: Callable[[], bool], answer: Message) -> None:
        if is_wanted():
            self._screen.post_message(answer)

    def _end(self, aim: Aim) -> tuple[Debugger, End]:
        """Give the session of an end, and what is there."""
        if isinstance(aim, int):
            return self._debugger, _named(self._debugger, aim, is_own=True)
        location, fragment = self._aimed_at(aim)
        debugger = self._opened(location, fragment)
        is_own = debugger is self._debugger
        return debugger, _named(debugger, debugger.point(fragment), is_own=is_own)

    def _aimed_at(self, aim: str) -> tuple[str, Fragment]:
        """Give the location and the ref that were typed; a ref alone is one of this session."""
        location, fragment = split_location(str(Path(aim).expanduser()) if aim[:1] == "~" else aim)
        if location and exists(location):
            return location, fragment
        if location and ("#" in aim or looks_elsewhere(aim)):
            raise CannotReadError(
                f"cannot read {location}: there is no such file or folder",
                "a ref in this session is typed alone: row=14, label=NAME, an id",
            )
        return self._debugger.location, parse_fragment(aim.removeprefix("#"))

    def _opened(self, location: str, fragment: Fragment) -> Debugger:
        own = self._debugger
        if location == own.location and fragment.session in {None, own.session.id}:
            return own
        key = location, fragment.session
        # Two workers may want it at once: to cancel one does not stop it.
        with self._opening:
            if key not in self._others:
                self._others[key] = Debugger.open(location, fragment.session)
            return self._others[key]

    def _locate(self, question: Question, end: End, place: int) -> None:
        debugger = self._debugger
        states, changes = (
            partial(ask, uncompacted=question.uncompacted)
            for ask in (debugger.state, debugger.changes)
        )
        try:
            row = row_that_put(debugger.session.tree, end.row, place, states, changes)
        except TtdbgError as error:
            self._screen.post_message(LocateFailed(error))
        else:
            self._screen.post_message(Located(row, place))


def _while(is_wanted: Callable[[], bool], side: Side) -> Side:
    """Give a side that ends the work once nobody wants it any more."""

    def changes_along(rows: Sequence[int]) -> Iterator[Sequence[Change]]:
        for changes in side.changes_along(rows):
            if not is_wanted():
                raise _NoLongerWantedError
            yield changes

    return msgspec.structs.replace(side, changes_along=changes_along)


def _named(debugger: Debugger, row: int, *, is_own: bool) -> End:
    """Give a side by its row and what is there, of another file by its name too."""
    session = debugger.session
    head = session.heads[row]
    file = "" if is_own else f"{PurePath(debugger.location).name} "
    name = f"{file}row {row + 1}"
    return End(name, f"{head.name}  {head.summary}", row, debugger.ref(row), is_own)
