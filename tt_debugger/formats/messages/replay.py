"""Replaying messages: all that was said on a path, and the settings of the last request of it."""

from __future__ import annotations

from typing import Any

from tt_debugger.core.changes import Append, Change, Drop, Put, State
from tt_debugger.core.model import Session
from tt_debugger.core.replay import Bodies, Body, Replay, Resumed, Step
from tt_debugger.core.tree import NO_ROW
from tt_debugger.formats.messages.reading import MessagesSession
from tt_debugger.formats.shared.context import MESSAGES


class MessagesRules:
    """Each message is added; what stands beside it takes the place of what stood there."""

    def start(self, session: Session) -> tuple[State, None]:
        """Give the state before the first message."""
        state: dict[str, Any] = {"messages": []}
        return state, None

    def step(self, session: Session, row: int, body: Body, memo: Any, bodies: Bodies) -> Step:
        """Add a message, under the settings of the conversation in which it is read first."""
        facts: MessagesSession = session.own
        parent = session.parents[row]
        before = {} if parent == NO_ROW else facts.settings[facts.beside[parent]]
        after = facts.settings[facts.beside[row]]
        changes: list[Change] = []
        if before is not after:
            changes += [Drop((key,)) for key in before if key not in after]
            changes += [
                Put((key,), value)
                for key, value in after.items()
                if key not in before or before[key] != value
            ]
        if row not in facts.others:
            changes.append(Append(MESSAGES, body))
        return Step(tuple(changes), memo)

    def resume(self, replay: Replay, row: int) -> Resumed:
        """Give the recorded state: what an unknown agent mends is unknown too."""
        return Resumed(replay.state(row))
