"""The line of a session: events in their order, of which a rewind drops the last ones.

Nothing is deleted then: an event says before which invocation the agent goes on, and sets the
state to what it was there. What was dropped is a dead branch. Only what belongs to the app or to
the user, not to the session, stays as it was set.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from operator import itemgetter
from typing import Any

import msgspec

from tt_debugger.core.changes import Change, Put
from tt_debugger.core.findings import Code, Finding, finding
from tt_debugger.core.json import as_map, text_or_none
from tt_debugger.formats.google_adk.events import (
    actions_of,
    deltas_of,
    event_head,
    message_of,
    summary_of,
)
from tt_debugger.formats.shared.message_heads import time_in
from tt_debugger.formats.shared.transcript import Entry, LostFile, Piece, Told

SCOPES = ("app:", "user:")
"""How keys begin that are not of the session alone."""
_STATE = "state"
_ARTIFACTS = "artifacts"
_ABSENT = object()
_Span = tuple[float, float]
_END = itemgetter(1)


class _Placed(msgspec.Struct, frozen=True):
    """An event on the line: its place and what it set.

    `before` is what these keys were before it, and `said` where its message stands among all, and
    the spans of those whose place it took.
    """

    place: int
    invocation: str | None
    set: Mapping[str, Any]
    before: Mapping[str, Any]
    said: tuple[int, tuple[_Span, ...]] | None


class Line:
    """The events of a session as they are taken; `start` is the state before all of them.

    What an event changed is undone where it is dropped: to keep the state at each would take as
    much as all of them together.
    """

    def __init__(self, start: Mapping[str, Any]) -> None:
        self.pieces: list[Piece] = []
        self.state: dict[str, Any] = dict(start)
        """The state after the event that was taken last."""
        self._line: list[_Placed] = []
        self._firsts: dict[str, int] = {}
        """Where on the line each invocation begins."""
        self._spans: list[_Span] = []
        """The time of each message, of a summary the times of which it tells; ends rise."""
        self._count = 0

    def lose(self, lost: LostFile) -> None:
        """Take an event that cannot be read."""
        self.pieces.append(lost)

    def take(self, event: dict[str, Any], body: dict[str, Any], told: tuple[Finding, ...]) -> None:
        """Take an event; `body` is what is shown of its row, `told` what was forgiven in it."""
        carried, told = self._rewound(event, told)
        above = self._line[-1].place if self._line else None
        puts = {**carried, **dict(deltas_of(event, "state_delta"))}
        changed = {key: each for key, each in puts.items() if not _has(self.state, key, each)}
        before = {key: self.state.get(key, _ABSENT) for key in changed}
        self.state |= changed
        changes: list[Change] = [Put((_STATE, key), each) for key, each in changed.items()]
        changes += (Put((_ARTIFACTS, key), v) for key, v in deltas_of(event, "artifact_delta"))
        message = message_of(event)
        time = time_in(event) or time_in(body)
        said, place = self._said(event, message, time)
        self.pieces.append(
            Entry(
                head=event_head(event, message),
                body=body,
                told=msgspec.structs.replace(said, changes=tuple(changes)),
                own_id=event.get("id"),
                above=above,
                parent=None,
                time=time,
                findings=told,
            )
        )
        invocation = text_or_none(event.get("invocation_id"))
        if invocation is not None:
            self._firsts.setdefault(invocation, len(self._line))
        self._line.append(_Placed(self._count, invocation, puts, before, place))
        self._count += 1

    def _rewound(
        self, event: Mapping[str, Any], told: tuple[Finding, ...]
    ) -> tuple[Mapping[str, Any], tuple[Finding, ...]]:
        """Drop what an event rewinds; give what stays set of that, and what is to be said."""
        wanted = text_or_none(actions_of(event).get("rewind_before_invocation_id"))
        if wanted is None:
            return {}, told
        first = self._firsts.get(wanted)
        if first is None:
            what = f"it rewinds to before {wanted:.60}, which is not before it"
            return {}, (*told, finding(Code.KEPT_ENTRY_MISSING, what, hint="nothing is dropped"))
        carried: dict[str, Any] = {}
        while len(self._line) > first:
            dropped = self._line.pop()
            shared = {key: each for key, each in dropped.set.items() if key.startswith(SCOPES)}
            carried = {**shared, **carried}
            self._undo(dropped)
        return carried, told

    def _undo(self, dropped: _Placed) -> None:
        for key, value in dropped.before.items():
            if value is _ABSENT:
                del self.state[key]
            else:
                self.state[key] = value
        if dropped.said is not None:
            at, replaced = dropped.said
            self._spans[at : at + 1] = replaced
        if self._firsts.get(dropped.invocation or "") == len(self._line):
            del self._firsts[dropped.invocation or ""]

    def _said(
        self, event: Mapping[str, Any], message: dict[str, Any] | None, time: float | None
    ) -> tuple[Told, tuple[int, tuple[_Span, ...]] | None]:
        """Say which message an event adds, or gives for others, and where that stands."""
        summary = summary_of(event)
        compaction = as_map(actions_of(event).get("compaction"))
        begin = time_in({"time": compaction.get("start_timestamp")})
        end = time_in({"time": compaction.get("end_timestamp")})
        if summary is not None and begin is not None and end is not None:
            at = bisect_left(self._spans, begin, key=_END)
            stop = bisect_right(self._spans, end, at, key=_END)
            # A summary that tells of more than this one does stays before it.
            while at < stop and self._spans[at][0] < begin:
                at += 1
            if stop < len(self._spans) and self._spans[stop][0] <= begin:
                # One that is there already tells of more.
                return Told(), None
            replaced = tuple(self._spans[at:stop])
            self._spans[at:stop] = [(begin, end)]
            return Told((summary,), at=at, over=len(replaced)), (at, replaced)
        if message is None:
            return Told(), None
        last = self._spans[-1][1] if self._spans else 0.0
        when = max(last, time or last)
        self._spans.append((when, when))
        return Told((message,)), (len(self._spans) - 1, ())


def _has(state: Mapping[str, Any], key: str, value: Any) -> bool:
    return key in state and state[key] == value
