"""Replaying a transcript: each entry does what it was read to do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from tt_debugger.core.changes import Append, Change, Put, Splice, State
from tt_debugger.core.model import Session, Usage
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.formats.shared.context import MESSAGES, used
from tt_debugger.formats.shared.start import start_state
from tt_debugger.formats.shared.transcript_entries import Entries, Entry, Told

Tells = Callable[[Session, int, Body], Told]
"""Tells what the record of a row does to the state."""


class _Memo(msgspec.Struct, frozen=True):
    """What a path has used, its settings, and how many messages are in the context."""

    usage: Usage | None
    settings: Mapping[str, Any]
    count: int


class TranscriptRules:
    """Messages are added, settings put where they are others, and what was used is summed."""

    def __init__(
        self, start: Mapping[str, Any], told: Tells, *, uncompacted: bool = False
    ) -> None:
        self._start = {**start_state(), **start}
        self._told = told
        self._uncompacted = uncompacted

    def start(self, session: Session) -> tuple[State, Any]:
        """Give the state before the first entry."""
        return dict(self._start), _Memo(None, self._start, len(self._start["messages"]))

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Do what the entry of a row does."""
        before: _Memo = memo
        told = self._told(session, row, body)
        changes, count = self._messages_changed(told, before.count)
        changed = {
            key: value
            for key, value in told.puts.items()
            if key not in before.settings or before.settings[key] != value
        }
        changes += [Put((key,), value) for key, value in changed.items()]
        changes += told.changes
        usage, counted = used(before.usage, session.heads.usage(row))
        settings = {**before.settings, **changed} if changed else before.settings
        return Step((*changes, *counted), _Memo(usage, settings, count))

    def _messages_changed(self, told: Told, count: int) -> tuple[list[Change], int]:
        messages = told.messages
        if self._uncompacted and told.clears and told.added is not None:
            messages = told.added
        is_added = not told.clears and (told.at is None or told.at >= count)
        if self._uncompacted or is_added:
            return [Append(MESSAGES, each) for each in messages], count + len(messages)
        if told.at is None:
            return [Splice(MESSAGES, 0, count, messages)], len(messages)
        over = min(told.over, count - told.at)
        return [Splice(MESSAGES, told.at, over, messages)], count - over + len(messages)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: what the agent mends is not known."""
        return Resumed(replay.state(row))


def told_by_entry(session: Session, row: int, _body: Body) -> Told:
    """Tell what the entry of a row does."""
    own: Entries = session.own
    entry = own.entries[row]
    return entry.told if isinstance(entry, Entry) else Told()
