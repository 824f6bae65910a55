"""Replay: fold the changes along root..checkpoint into the state at a checkpoint.

A format gives `Rules`: how one body changes the state, given a small *memo* of what came before
on the path. `Replay` walks paths with them and keeps two kinds of keyframes: a memo every few
rows (small: it holds row numbers, not messages), a state every thousand or so and at the rows
asked for last. From a keyframe, any row is a short walk away.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from tt_debugger.core.changes import Change, Snapshot, State, fold
from tt_debugger.core.findings import Finding
from tt_debugger.core.model import Kind, Session
from tt_debugger.core.paths import ROOT
from tt_debugger.core.tree import NO_ROW

Body = Any
"""A record as its format decoded it."""

Bodies = Callable[[Sequence[int]], Sequence[Body]]
"""A lookup of bodies by row, in the order asked for."""

MEMO_EVERY = 64
STATE_EVERY = 1024
MEMOS_KEPT = 20_000
STATES_KEPT = 24


# Not gc=False: only tracked structs are freed without recursing, and a spine can be 50,000 long.
class Spine(msgspec.Struct, frozen=True):
    """A list of rows that shares its beginning: adding one leaves the old list as it was."""

    before: Spine | None
    item: Any
    length: int

    @staticmethod
    def added(spine: Spine | None, item: Any) -> Spine:
        """Give the spine with one more item at its end."""
        return Spine(spine, item, 1 if spine is None else spine.length + 1)

    @staticmethod
    def of(items: Sequence[Any]) -> Spine | None:
        """Give the spine of these items."""
        spine: Spine | None = None
        for item in items:
            spine = Spine.added(spine, item)
        return spine

    @staticmethod
    def backwards(spine: Spine | None) -> Iterator[Any]:
        """Go over the items, last one first."""
        while spine is not None:
            yield spine.item
            spine = spine.before

    @staticmethod
    def items(spine: Spine | None) -> list[Any]:
        """Give all items in order."""
        items = list(Spine.backwards(spine))
        items.reverse()
        return items


class Step(msgspec.Struct, frozen=True):
    """What one checkpoint did: its changes, the memo for its children, and what was odd."""

    changes: tuple[Change, ...]
    memo: Any
    findings: tuple[Finding, ...] = ()


class Repair(msgspec.Struct, frozen=True):
    """One thing that the agent itself mends when it goes on from a checkpoint.

    `index` is the place in the resulting messages where it shows, for a drop that of the next
    message; `kind` is one of dropped_call, dropped_result, moved_result, added_result,
    merged_user, no_response, summary.
    """

    index: int
    kind: str
    why: str


class Resumed(msgspec.Struct, frozen=True):
    """The resume reading: what the agent would load and send, and what it mended for that."""

    state: State
    repairs: tuple[Repair, ...] = ()


class Rules(Protocol):
    """How a format replays. All methods are pure, but for the bodies they are handed."""

    def start(self, session: Session) -> tuple[State, Any]:
        """Give the state and memo before the root."""
        ...

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Give what this row did, given the memo of its parent."""
        ...

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the resume reading at a row."""
        ...


class Replay:
    """The states and changes of one session."""

    def __init__(self, session: Session, rules: Rules, bodies: Bodies) -> None:
        self.session = session
        self._rules = rules
        self._bodies = bodies
        self._start = rules.start(session)
        self._memos: OrderedDict[int, Any] = OrderedDict()
        self._states: OrderedDict[int, State] = OrderedDict()

    def step(self, row: int) -> Step:
        """Give what a row did. A gap did nothing: its state is empty."""
        parent = self.session.parents[row]
        memo = self._start[1] if parent == NO_ROW else self.memo(parent)
        return self._step(row, self._bodies((row,))[0], memo)

    def changes(self, row: int) -> tuple[Change, ...]:
        """Give the changes of a row."""
        return self.step(row).changes

    def state(self, row: int) -> State:
        """Give the state at a row: a JSON-like document, shared, never to be mutated."""
        if self.session.heads.kind(row) is Kind.GAP:
            return {}
        known = self._states.get(row)
        if known is not None:
            self._states.move_to_end(row)
            return known
        missing, base = self._walk_up(row, self._states)
        state: State = {} if base == NO_ROW else self._states[base]
        self._keep_states_along(missing, state)
        return self._states[row]

    def memo(self, row: int) -> Any:
        """Give what the rules keep in mind after a row."""
        if row in self._memos:
            self._memos.move_to_end(row)
            return self._memos[row]
        missing, _ = self._walk_up(row, self._memos)
        memo = None
        for _, step in self._steps(missing):
            memo = step.memo
        return memo

    def resumed(self, row: int) -> Resumed:
        """Give the resume reading at a row; from a gap an agent can take nothing on."""
        if self.session.heads.kind(row) is Kind.GAP:
            return Resumed(self.state(row))
        return self._rules.resume(self, row)

    def _keep_states_along(self, path: Sequence[int], state: State) -> None:
        """Fold a path onto a state, keeping a keyframe here and there and at its end."""
        depth = self.session.tree.depth
        pending: list[Change] = []
        for row, step in self._steps(path):
            pending.extend(step.changes)
            if row == path[-1] or depth(row) % STATE_EVERY == 0:
                state = fold(state, pending)
                pending.clear()
                _keep(self._states, row, state, STATES_KEPT)

    def _steps(self, path: Sequence[int]) -> Iterator[tuple[int, Step]]:
        """Go down a path, which begins at a root or below a known row."""
        parent = self.session.parents[path[0]]
        memo = self._start[1] if parent == NO_ROW else self.memo(parent)
        for begin in range(0, len(path), MEMO_EVERY):
            rows = path[begin : begin + MEMO_EVERY]
            for row, body in zip(rows, self._bodies(rows), strict=True):
                step = self._step(row, body, memo)
                memo = step.memo
                yield row, step
            _keep(self._memos, rows[-1], memo, MEMOS_KEPT)

    def _walk_up(self, row: int, known: OrderedDict[int, Any]) -> tuple[list[int], int]:
        """Give the path down to a row from the nearest known ancestor, and that ancestor."""
        missing: list[int] = []
        for ancestor in self.session.tree.ancestors(row):
            if ancestor in known:
                return missing[::-1], ancestor
            missing.append(ancestor)
        return missing[::-1], NO_ROW

    def _step(self, row: int, body: Body, memo: Any) -> Step:
        if self.session.heads.kind(row) is Kind.GAP:
            return Step((), memo)
        step = self._rules.step(self.session, row, body, memo, self._bodies)
        start = self._start[0]
        if self.session.parents[row] != NO_ROW or not start:
            return step
        # So that a root's changes say all: folded onto nothing, they give its state.
        return msgspec.structs.replace(step, changes=(Snapshot(ROOT, start), *step.changes))


def _keep(known: OrderedDict[int, Any], row: int, value: Any, limit: int) -> None:
    known[row] = value
    known.move_to_end(row)
    if len(known) > limit:
        known.popitem(last=False)
