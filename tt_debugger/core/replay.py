"""Replay: fold the changes along root..checkpoint into the state at a checkpoint.

A format gives `Rules`: how one body changes the state, given a small *memo* of what came before
on the path. `Replay` walks paths with them and keeps keyframes by depth: a memo every few rows
(small: it holds row numbers, not messages), a state every thousand or so. From a keyframe, any
row is a short walk away. The end of a walk is where people look around, so its last steps stay,
and the state above them: the next rows up are then folded without a step.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from tt_debugger.core.changes import Change, Snapshot, State, fold
from tt_debugger.core.growth import rows_kept
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Session
from tt_debugger.core.tree import NO_ROW

Body = Any
"""A record as its format decoded it."""

_T = TypeVar("_T")

Bodies = Callable[[Sequence[int]], Sequence[Body]]
"""A lookup of bodies by row, in the order asked for."""

BATCH = 64
"""Bodies that are asked for at once."""
MEMO_EVERY = 64
MEMOS_KEPT = 16_384
STATE_EVERY = 1024
STATES_KEPT = 64
LAST_STATES = 32
END_KEPT = 128
"""Steps at the end of a walk that are kept, with the state above them."""
ENDS_KEPT = 4
STEPS_KEPT = 512
STEPS_KEPT_BYTES = 32 << 20
"""Bytes of the records whose steps are kept; a step holds what its record says."""


class Step(msgspec.Struct, frozen=True):
    """What one checkpoint did: its changes, and the memo for its children."""

    changes: tuple[Change, ...]
    memo: Any


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


@runtime_checkable
class TellsRecent(Protocol):
    """Rules that find the end of a state's messages without what came long before."""

    def recent(self, session: Session, row: int, count: int, bodies: Bodies) -> list[Any] | None:
        """Give the last messages of a row's state, None where the whole path must be asked."""
        ...


@runtime_checkable
class HoldsStates(Protocol):
    """Rules of records that each hold a whole state: none needs what came before."""

    def state_of(self, body: Body) -> State:
        """Give the state that a record holds."""
        ...


class Replay:
    """The states and changes of one session.

    What it keeps is bounded, whatever is asked: `MEMOS_KEPT` memos and `STATES_KEPT` states at
    depths a fixed spacing apart, the states above the ends of `ENDS_KEPT` walks, the
    `LAST_STATES` states used last, and `STEPS_KEPT` steps. A step holds the values that it wrote.
    States share what did not change between them, so each costs only the containers that did: a
    list of messages is eight bytes a message. The spacing is doubled until half of the keyframes
    are enough for the longest path, so a walk never lets go of one that it has just made.
    """

    def __init__(self, session: Session, rules: Rules, bodies: Bodies) -> None:
        self.session = session
        self._rules = rules
        # To ask what a protocol has takes long, and each row would.
        self._holding = rules if isinstance(rules, HoldsStates) else None
        self._bodies = bodies
        self._start, memo = rules.start(session)
        self._above_roots = _Frame(memo, {})
        deepest = session.tree.deepest
        self._memo_every = _spacing(MEMO_EVERY, MEMOS_KEPT, deepest)
        self._state_every = _spacing(STATE_EVERY, STATES_KEPT, deepest)
        self._memos: _Kept[_Frame] = _Kept(MEMOS_KEPT)
        self._states: _Kept[_Frame] = _Kept(STATES_KEPT)
        # Apart from the states used last, or a look at a few dozen rows would let go of them.
        self._ends: _Kept[_Frame] = _Kept(ENDS_KEPT)
        self._last_states: _Kept[_Frame] = _Kept(LAST_STATES)
        self._steps: _Kept[Step] = _Kept(STEPS_KEPT, self._bytes_of, STEPS_KEPT_BYTES)

    def _bytes_of(self, row: int) -> int:
        return self.session.heads.length(row) or 0

    def extended(self, session: Session, kept: int | None = None) -> Replay:
        """Give the replay of what this session has become, with what is known of rows it kept.

        Those are its first ones, as many as `rows_kept` gives. The rules and bodies must answer
        for the new session too.
        """
        replay = Replay(session, self._rules, self._bodies)
        size = rows_kept(self.session, session) if kept is None else kept
        # A parent that stands further down may be one that was not kept.
        stand = size == len(self.session) or session.tree.has_parents_first
        if (
            stand
            and size
            # A last record without its line end may have been written anew.
            and session.heads[size - 1] == self.session.heads[size - 1]
            and (replay._start, replay._above_roots) == (self._start, self._above_roots)
        ):
            replay._memos.take_over(self._memos, size)
            replay._states.take_over(self._states, size)
            replay._ends.take_over(self._ends, size)
            replay._last_states.take_over(self._last_states, size)
            replay._steps.take_over(self._steps, size)
        return replay

    def step(self, row: int) -> Step:
        """Give what a row did. A gap did nothing: its state is empty."""
        step = self._steps.find(row)
        if step is None and self._holding is not None:
            step = self._step(row, self._bodies((row,))[0], self._above_roots.memo)
            self._steps.keep(row, step)
        elif step is None:
            path, above = self._path_below(self._frame, self.session.parents[row])
            step, _ = self._walk([*path, row], above)
        return step

    def changes(self, row: int) -> tuple[Change, ...]:
        """Give the changes of a row."""
        return self.step(row).changes

    def changes_along(self, path: Sequence[int]) -> Iterator[tuple[Change, ...]]:
        """Give the changes of rows of which each is the parent of the next, in one walk."""
        if not path or self._holding is not None:
            yield from map(self.changes, path)
            return
        parent = self.session.parents[path[0]]
        memo = self._above_roots.memo if parent == NO_ROW else self.memo(parent)
        yield from (step.changes for step in self._steps_along(path, memo))

    def state(self, row: int) -> State:
        """Give the state at a row: a JSON-like document, shared, never to be mutated."""
        if self.session.heads.is_gap(row):
            return {}
        if self._holding is not None:
            known = self._last_states.find(row)
            if known is None:
                state = self._holding.state_of(self._bodies((row,))[0])
                known = _Frame(self._above_roots.memo, state)
                self._last_states.keep(row, known)
            return known.state
        path, frame = self._path_below(self._frame_with_state, row)
        return self._walk(path, frame, to_state=True)[1] if path else frame.state

    def recent(self, row: int, count: int) -> list[Any]:
        """Give the last so many messages of the state at a row, sooner than the whole state."""
        if not self.knows(row) and isinstance(self._rules, TellsRecent):
            found = self._rules.recent(self.session, row, count, self._bodies)
            if found is not None:
                return found
        messages = as_list(self.state(row).get("messages"))
        return messages[max(len(messages) - count, 0) :]

    def knows(self, row: int) -> bool:
        """Tell whether the state at a row is at hand."""
        return self._frame_with_state(row) is not None

    def memo(self, row: int) -> Any:
        """Give what the rules keep in mind after a row."""
        frame = self._frame(row)
        return self.step(row).memo if frame is None else frame.memo

    def resumed(self, row: int) -> Resumed:
        """Give the resume reading at a row; from a gap an agent can take nothing on."""
        if self.session.heads.is_gap(row):
            return Resumed(self.state(row))
        return self._rules.resume(self, row)

    def _frame_with_state(self, row: int) -> _Frame | None:
        return self._last_states.find(row) or self._ends.find(row) or self._states.find(row)

    def _frame(self, row: int) -> _Frame | None:
        """Give what is known after a row, with the state if that is known too."""
        frame = self._frame_with_state(row) or self._memos.find(row)
        if frame is None:
            step = self._steps.find(row)
            frame = None if step is None else _Frame(step.memo)
        return frame

    def _path_below(
        self, known: Callable[[int], _Frame | None], row: int
    ) -> tuple[list[int], _Frame]:
        """Give the path down to a row from its nearest known ancestor, and what is known there."""
        path: list[int] = []
        frame: _Frame | None = None
        for ancestor in self.session.tree.ancestors(row):
            frame = known(ancestor)
            if frame is not None:
                break
            path.append(ancestor)
        path.reverse()
        return path, frame or self._above_roots

    def _walk(
        self, path: Sequence[int], above: _Frame, *, to_state: bool = False
    ) -> tuple[Step, State]:
        """Go down a path from what is known above it; give its last step and state.

        Where the state above is known, states are kept on the way; that of the last row is made
        only where it is asked for.
        """
        last = len(path) - 1
        depth = self.session.tree.depth(path[0])
        step, state = Step((), above.memo), above.state
        pending: list[Change] = []
        for place, step in enumerate(self._steps_along(path, above.memo)):
            if state is msgspec.UNSET:
                continue
            pending += step.changes
            if (depth + place + 1) % self._state_every == 0:
                kept = self._states
            elif place == last - END_KEPT:
                kept = self._ends
            elif place == last and to_state:
                kept = self._last_states
            else:
                continue
            state = fold(state, pending)
            pending.clear()
            kept.keep(path[place], _Frame(step.memo, state))
        return step, state

    def _steps_along(self, path: Sequence[int], memo: Any) -> Iterator[Step]:
        """Go down a path, given the memo above it."""
        depth = self.session.tree.depth(path[0])
        for begin in range(0, len(path), BATCH):
            rows = path[begin : begin + BATCH]
            known = [self._steps.find(row) for row in rows]
            missing = [row for row, step in zip(rows, known, strict=True) if step is None]
            bodies = dict(zip(missing, self._bodies(missing), strict=True)) if missing else {}
            for place, (row, found) in enumerate(zip(rows, known, strict=True), begin):
                step = self._step(row, bodies[row], memo) if found is None else found
                memo = step.memo
                if place >= len(path) - END_KEPT:
                    self._steps.keep(row, step)
                if (depth + place + 1) % self._memo_every == 0:
                    self._memos.keep(row, _Frame(memo))
                yield step

    def _step(self, row: int, body: Body, memo: Any) -> Step:
        if self.session.heads.is_gap(row):
            return Step((), memo)
        step = self._rules.step(self.session, row, body, memo, self._bodies)
        if self.session.parents[row] != NO_ROW or not self._start:
            return step
        # So that a root's changes say all: folded onto nothing, they give its state.
        start = Snapshot(self._start)
        return msgspec.structs.replace(step, changes=(start, *step.changes))


class _Frame(msgspec.Struct, frozen=True):
    """What is known after a row: the memo, and the state or UNSET."""

    memo: Any
    state: State = msgspec.UNSET


class _Kept(Generic[_T]):
    """Values by row; of more than `most`, or more than weighs `heaviest`, the oldest are let go.

    Those are the ones used longest ago. One value is kept, however heavy it is.
    """

    def __init__(
        self, most: int, weigh: Callable[[int], int] = lambda _row: 0, heaviest: int = 0
    ) -> None:
        self._most = most
        self._weigh = weigh
        self._heaviest = heaviest
        self._weight = 0
        self._values: OrderedDict[int, _T] = OrderedDict()

    def find(self, row: int) -> _T | None:
        """Give the value of a row, and keep it longer than the others."""
        value = self._values.get(row)
        if value is not None:
            self._values.move_to_end(row)
        return value

    def keep(self, row: int, value: _T) -> None:
        """Add or replace the value of a row."""
        if row not in self._values:
            self._weight += self._weigh(row)
        self._values[row] = value
        self._values.move_to_end(row)
        while len(self._values) > self._most or (
            len(self._values) > 1 and self._weight > self._heaviest
        ):
            oldest, _ = self._values.popitem(last=False)
            self._weight -= self._weigh(oldest)

    def take_over(self, others: _Kept[_T], below: int) -> None:
        """Add all that another one keeps of the rows below one."""
        for row, value in others._values.items():
            if row < below:
                self.keep(row, value)


def _spacing(every: int, most: int, deepest: int) -> int:
    """Double a spacing of keyframes until half of them are enough for the longest path."""
    while deepest > every * most // 2:
        every *= 2
    return every
