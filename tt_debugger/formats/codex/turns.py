"""Turns: those on the path of a thread, what each of them set anew, and what rollbacks take back.

A rollback takes turns back. It is a checkpoint, so that what the agent goes on from is a leaf even
where nothing follows, and it hangs on what stood before the turns it takes back: these are a dead
branch, and the state at any checkpoint is that of its own path.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

from tt_debugger.core.model import Head, Heads, Kind
from tt_debugger.core.text import counted
from tt_debugger.core.tree import NO_ROW

_MOST_TURNS = 1 << 31
_SHORT = 64
"""Characters of a value that is kept as it is, to be compared."""


class Turn(msgspec.Struct, frozen=True):
    """A turn on the path: its first row, and the settings before it."""

    row: int
    settings: dict[str, str]


class SettingsRun(msgspec.Struct, frozen=True):
    """Settings that just came, for the turn that begins next."""

    row: int
    before: dict[str, str]


class Turns(msgspec.Struct):
    """The turns of a thread, as far as they were read."""

    begun: list[Turn] = []
    """Those on the path."""
    hung: dict[int, int] = {}
    """The parents of rows that do not hang on the row before."""
    taken_back: dict[int, int] = {}
    """Rows that take turns back from the history before the file: how many are gone by then."""
    settings: dict[str, str] = {}
    run: SettingsRun | None = None

    def copied(self) -> Turns:
        """Give turns that can be read on apart from these."""
        return Turns(
            self.begun.copy(), self.hung.copy(), self.taken_back.copy(), self.settings, self.run
        )

    def begin(self, row: int) -> int:
        """Begin a turn with a row, or with the settings that just came for it; give its number."""
        run = self.run or SettingsRun(row, self.settings)
        self.begun.append(Turn(run.row, run.before))
        return len(self.begun)

    def changed_by(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Give those of some settings that are not as they were."""
        return {
            key: value
            for key, value in settings.items()
            if digest(value) != self.settings.get(key)
        }

    def set_anew(self, row: int, changed: Mapping[str, Any]) -> SettingsRun:
        """Let a row set something anew; give the run of settings that it is one of."""
        run = self.run or SettingsRun(row, self.settings)
        self.settings = {**self.settings, **{key: digest(changed[key]) for key in changed}}
        return run

    def take_back(self, told: object, heads: Heads, *, has_base: bool) -> Head:
        """Take back so many turns with the next row, and give its head.

        Of more than there are, the others are turns of the history before the file, if any.
        """
        count = told if isinstance(told, int) and 0 <= told < _MOST_TURNS else 0
        here, row = min(count, len(self.begun)), len(heads)
        dead = ""
        if here:
            turn = self.begun[-here]
            dead = f", {counted(self._length_from(turn.row, heads), 'checkpoint')}"
            self.hung[row] = self._parent_of(turn.row, heads)
            self.settings = turn.settings
            del self.begun[-here:]
        if count > here and has_base:
            self.hung[row] = NO_ROW
            # What an earlier one took back there is not there any more.
            self.taken_back[row] = max(self.taken_back.values(), default=0) + count - here
        return Head(Kind.CUSTOM, None, "rollback", f"{counted(count, 'turn')} taken back{dead}")

    def _length_from(self, first: int, heads: Heads) -> int:
        """Give the number of rows on the path from one on to the last."""
        count, row = 0, heads.not_gap_before(len(heads))
        while row >= first:
            count, row = count + 1, self._parent_of(row, heads)
        return count

    def _parent_of(self, row: int, heads: Heads) -> int:
        return self.hung.get(row, heads.not_gap_before(row))


def digest(value: Any) -> str:
    """Give a text that is another for another value, and short."""
    text = msgspec.json.encode(value, order="deterministic").decode()
    if len(text) <= _SHORT:
        return text
    return sha256(text.encode()).hexdigest()
