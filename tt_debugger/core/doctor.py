"""Doctor: what is wrong in a session that only its bodies show; the index tells the rest at once.

An `Examination` is shown one row after the other, each after its parent, and keeps of them no
more than where each tool was called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tt_debugger.core.changes import Change
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.messages import calls_in, messages_in, results_in
from tt_debugger.core.model import Session
from tt_debugger.core.text import summary_line
from tt_debugger.errors import CannotReadError, StoreError

RawOf = Callable[[int], bytes]
"""Gives the bytes of a row's record. Raises CannotReadError where they are gone."""
ChangesOf = Callable[[int], Sequence[Change]]
"""Gives what a row did. Raises StoreError where that cannot be worked out."""
FlawsOf = Callable[[bytes], Iterable[tuple[Code, str]]]
"""Gives what had to be forgiven to read a record."""

_LONGEST_NAME = 40
_MOST_OF_ONE_ID = 256
"""Calls with one id from which a result of that id is taken to have its call."""


class Examination:
    """The bodies of one session, looked at row by row."""

    def __init__(
        self, session: Session, raw_of: RawOf, flaws_of: FlawsOf, changes_of: ChangesOf
    ) -> None:
        self.session = session
        self._raw_of = raw_of
        self._flaws_of = flaws_of
        self._changes_of = changes_of
        self._found: list[Finding] = []
        self._known = {(each.code, each.offset, each.checkpoint) for each in session.findings}
        self._without_replay: set[int] = set()
        # By hash: the ids of a million calls are longer than all else that is kept of them. Two
        # ids of one hash could hide a finding, never make one.
        self._calls: dict[int, list[int]] = {}

    def look_at(self, row: int) -> None:
        """Look at the record of a row and at what it did; its parent was looked at before."""
        if self.session.heads.is_gap(row):
            return
        try:
            for code, what in self._flaws_of(self._raw_of(row)):
                self._note(code, row, what)
            self._look_at_changes(row)
        except StoreError as error:
            self._without_replay.add(row)
            self._note(Code.REPLAY_FAILS, row, f"replay stops here: {error.message}", error.hint)
        except CannotReadError as error:
            self._without_replay.add(row)
            self._note(Code.LOST_RECORD, row, f"no longer readable: {error.message}", error.hint)

    def add(self, findings: Iterable[Finding]) -> None:
        """Take in what a store found by itself."""
        self._found += findings

    def findings(self) -> tuple[Finding, ...]:
        """Give what the index found and what was found since, in the order of the file."""
        found = [*self.session.findings, *self._found]
        return tuple(sorted(found, key=lambda each: (each.line or 0, each.offset or 0)))

    def _look_at_changes(self, row: int) -> None:
        # A walk to this row goes through its parent: it would fail there again.
        if self.session.parents[row] in self._without_replay:
            self._without_replay.add(row)
            return
        messages = messages_in(self._changes_of(row))
        for call in (call for message in messages for call in calls_in(message)):
            if call.id is not None:
                self._calls.setdefault(hash(call.id), []).append(row)
        for result in (result for message in messages for result in results_in(message)):
            called = () if result.call is None else self._calls.get(hash(result.call), ())
            if result.call is None or is_called_before(self.session, called, row):
                continue
            name = summary_line(result.call, _LONGEST_NAME)
            self._note(
                Code.UNMATCHED_RESULT,
                row,
                f"a tool result without a matching call: none has the id {name!r} on its path",
                "a provider may refuse the conversation from here on",
            )

    def _note(self, code: Code, row: int, message: str, hint: str | None = None) -> None:
        heads, name = self.session.heads, self.session.ids[row]
        # Not the whole head: to make it the record is read again, which may be gone.
        line, offset = heads.line(row), heads.offset(row)
        if (code, offset, name) in self._known:
            return
        self._known.add((code, offset, name))
        self._found.append(
            finding(code, message, hint=hint, line=line, offset=offset, checkpoint=name)
        )


def is_called_before(session: Session, called: Sequence[int], row: int) -> bool:
    """Tell whether any of the rows of calls is on the path of a result, or its own row."""
    tree = session.tree
    return len(called) > _MOST_OF_ONE_ID or any(
        each == row or tree.is_ancestor(each, row) for each in reversed(called)
    )
