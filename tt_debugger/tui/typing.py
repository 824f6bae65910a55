"""Typing: keys are taken one by one, so that what one of them opens takes the next.

Textual hands each key to whatever has the focus as it arrives. Keys that are typed or pasted at
once would all go where only the first one should: before the prompt that it opens is there.
"""

# pyright: reportUnknownMemberType=false
# Textual leaves the type parameter of `Widget.app` open.
from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from functools import partial
from time import monotonic
from typing import Any

from textual import events
from textual.app import App
from textual.dom import DOMNode

POLL = 0.005
"""Seconds after which it is looked again whether a screen takes keys."""
LONGEST = 2.0
"""Seconds after which a key is handed on in any case."""
CLOSED = 0.05
"""Seconds after which a key is taken for answered by a screen that is gone: it tells no more."""


class Typing:
    """The keys that wait for their turn."""

    def __init__(self, app: App[Any], hand_on: Callable[[events.Event], Awaitable[None]]) -> None:
        self._app = app
        self._hand_on = hand_on
        self._waiting: deque[events.Key] = deque()
        self._is_taking = False
        self._waits_until = 0.0
        self._turn = 0

    def take(self, key: events.Key) -> None:
        """Take a key behind those that were typed before."""
        self._waiting.append(key)
        self._waits_until = monotonic() + LONGEST
        if not self._is_taking:
            self._is_taking = True
            self._app.call_later(self._next)

    async def _next(self) -> None:
        if not self._waiting:
            self._is_taking = False
            return
        takes_keys = getattr(self._app.screen, "takes_keys", True)
        if not takes_keys and monotonic() < self._waits_until:
            self._app.set_timer(POLL, self._next)
            return
        self._turn += 1
        target = self._app.focused or self._app.screen
        await self._hand_on(self._waiting.popleft())
        self._app.set_timer(CLOSED, partial(self._end, self._turn))
        # Once through those that may answer it, once through those that take over then.
        self._pass(self._turn, target, rounds=2)

    def _pass(self, turn: int, node: DOMNode | None, rounds: int) -> None:
        """Go on when a key has gone through a widget and all above it, as events bubble."""
        while node is not None and node is not self._app:
            above = node.parent
            if node.call_later(self._pass, turn, above, rounds):
                return
            node = above
        if rounds > 1:
            self._pass(turn, self._app.focused or self._app.screen, rounds - 1)
        else:
            self._app.call_later(self._end, turn)

    async def _end(self, turn: int) -> None:
        if turn == self._turn:
            self._turn += 1
            await self._next()
