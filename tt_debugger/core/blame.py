"""Blame: the checkpoint that last wrote each part of a state.

It agrees with the history of each place. So what a compaction moved it wrote, even where others
said it before; then the one that said it first is named too.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, cast

import msgspec

from tt_debugger.core.changes import Change, LiveState, State
from tt_debugger.core.json import as_list
from tt_debugger.core.model import Session
from tt_debugger.core.paths import ROOT, Key, Path, value_at
from tt_debugger.core.sayings import LISTS, SUMMARIES, Sayings, is_summary, messages_at
from tt_debugger.core.touches import Touches
from tt_debugger.core.tree import NO_ROW
from tt_debugger.core.writers import Writers


class Why(enum.StrEnum):
    """How a message came to its place, where it was not simply said there."""

    SUMMED_UP = "summed_up"
    """It stands for messages that are gone."""
    BROUGHT_BACK = "brought_back"
    """It was said before, and a compaction kept it."""
    MOVED = "moved"
    """It was said before, and others before it came or went."""


class Blamed(msgspec.Struct, frozen=True):
    """A place in a state, and the row that last wrote it."""

    path: Path
    row: int
    why: Why | None = None
    said: int | None = None
    """The row that said the message first, where it is another one."""
    count: int = 0
    """How many messages a summary stands for."""


def leaves(state: State, path: Path = ROOT) -> Iterator[tuple[Path, Any]]:
    """Give what has nothing inside, scalars and empty containers, with its path, in order."""
    waiting: list[tuple[Path, Any]] = [(path, state)]
    while waiting:
        here, value = waiting.pop()
        if value and isinstance(value, dict):
            inside = cast("dict[str, Any]", value).items()
            waiting += [((*here, key), each) for key, each in reversed(inside)]
        elif value and isinstance(value, list):
            items = cast("list[Any]", value)
            waiting += [((*here, at), items[at]) for at in range(len(items) - 1, -1, -1)]
        else:
            yield here, value


def place_in(state: State, path: Path) -> Path:
    """Give a path with the keys as a state has them: numbers are keys of objects as texts.

    Indexes below 0 count from the end. Raises KeyError where the state has no such place.
    """
    found: list[Key] = []
    value = state
    for key in path:
        if isinstance(value, dict):
            found.append(str(key))
        elif isinstance(key, int) and key < 0:
            found.append(key + len(as_list(value)))
        else:
            found.append(key)
        value = value_at(cast("State", value), (key,))
    return tuple(found)


class StateBlame:
    """Who wrote each part of the state at the end of a way, found by one walk."""

    def __init__(
        self,
        session: Session,
        rows: Sequence[int],
        changes: Iterable[Sequence[Change]],
        before: State = msgspec.UNSET,
    ) -> None:
        """Walk along rows of which each is the parent of the next, from the state before them.

        Without such a state they begin at a root. A message that was there before has a number
        below 0 for the row that said it: -1 for the first, -2 for the second.
        """
        self._session = session
        self._sums_up = partial(is_summary, session)
        is_root = before is msgspec.UNSET
        live = LiveState({} if is_root else before)
        self._writers = Writers(rows[0] if is_root else NO_ROW)
        self._sayings = [_sayings(each, live.value) for each in LISTS]
        own: Sequence[Change] = ()
        place = 0

        def before_change() -> State:
            partly = LiveState(live.value)
            partly.apply(own[:place])
            return partly.value

        for row, own in zip(rows, changes, strict=True):
            for place, change in enumerate(own):  # noqa: B007 - `before_change` reads it
                self._writers.take(row, change, before_change)
            live.apply(own)
            self._take_messages(row, own, live.value)
        self.state: State = live.value
        """The state there; nothing is made to it any more."""

    def _take_messages(self, row: int, changes: Sequence[Change], after: State) -> None:
        """Take what a row did to messages; most places are none."""
        for sayings in self._sayings:
            first = sayings.path[0]
            for change in changes:
                path = change.path
                if not path or path[0] == first:
                    sayings.take(row, changes, after, self._sums_up)
                    break

    def of(self, path: Path) -> Blamed:
        """Give who wrote what is at a path of the state."""
        row, item = self._writers.of(path), item_at(path)
        if item is None or self._writers.of_whole(item) != row:
            return Blamed(path, row)
        sums_up, said = is_summary(self._session, row), self.said(item)
        if said != row:
            return Blamed(path, row, Why.BROUGHT_BACK if sums_up else Why.MOVED, said)
        if not sums_up:
            return Blamed(path, row)
        gone = sum(sayings.summed_up.get(row, 0) for sayings in self._sayings)
        return Blamed(path, row, Why.SUMMED_UP, count=gone)

    def said(self, item: Path) -> int:
        """Give the row that said a message of the state first."""
        *above, place = item
        (sayings,) = (each for each in self._sayings if each.path == tuple(above))
        return sayings.rows[cast("int", place)]

    def leaves(self, path: Path = ROOT) -> Iterator[Blamed]:
        """Give who wrote each leaf in what is at a path, in order."""
        return (self.of(each) for each, _ in leaves(value_at(self.state, path), path))


def item_at(path: Path) -> Path | None:
    """Give the path of the message that a path leads into, None where it leads into none."""
    for each in LISTS:
        size = len(each)
        if path[:size] == each and len(path) > size and isinstance(path[size], int):
            return path[: size + 1]
    return None


def _sayings(path: Path, before: State) -> Sayings:
    messages = messages_at(before, path)
    return Sayings(path, messages, range(-1, -1 - len(messages), -1))


class Glance:
    """Who wrote a few parts of a state, looked up in the touches of its session.

    Only of the rows that moved messages the states before them are asked for.
    """

    def __init__(
        self,
        touches: Touches,
        changes: Callable[[int], Sequence[Change]],
        state: Callable[[int], State],
    ) -> None:
        self._touches = touches
        self._session = touches.session
        self._changes = changes
        self._state = state
        self._known: dict[int, tuple[int, StateBlame]] = {}

    def of(self, row: int, path: Path) -> Blamed | None:
        """Give who wrote what is at a path of the state at a row, None where nothing is."""
        writer = self._touches.last_write(row, path)
        if writer is None:
            return None
        item = item_at(path)
        if item is None or self._is_plain(writer, item):
            return Blamed(path, writer)
        above, walked = self._walked(writer)
        blamed = walked.of(path)
        if blamed.said is None or blamed.said >= 0:
            return blamed
        said = self._said(above, (*item[:-1], -1 - blamed.said))
        return msgspec.structs.replace(blamed, said=said)

    def _said(self, row: int, item: Path) -> int | None:
        """Give the row that said a message of the state at a row first."""
        while (writer := self._touches.last_write(row, item)) is not None:
            if self._is_plain(writer, item):
                break
            row, walked = self._walked(writer)
            said = walked.said(item)
            if said >= 0:
                return said
            item = (*item[:-1], -1 - said)
        return writer

    def _is_plain(self, row: int, item: Path) -> bool:
        """Tell whether a message was simply said."""
        return self._touches.has_added(row, item) and not is_summary(self._session, row)

    def _walked(self, row: int) -> tuple[int, StateBlame]:
        """Give the row above the one that wrote messages, and who wrote them in between."""
        if row not in self._known:
            rows, above = [row], self._session.parents[row]
            if self._session.heads.kind(row) not in SUMMARIES and is_summary(self._session, row):
                # The compaction above it has emptied the list.
                rows, above = [above, row], self._session.parents[above]
            before: State = {} if above == NO_ROW else self._state(above)
            steps = map(self._changes, rows)
            self._known[row] = above, StateBlame(self._session, rows, steps, before)
        return self._known[row]
