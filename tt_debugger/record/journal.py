"""The journal: entries on their way to a log, written when a policy says that it is time.

What is not written yet is known. Where writing fails it is kept and written the next time; where
a log cannot be written to any more, it goes on in its successor.
"""

from __future__ import annotations

import atexit
import os
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol, runtime_checkable

from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import EffectNoted, Entry, Header, Snapshotted
from tt_debugger.core.recording.restoring import Restored, effect_noted, restored
from tt_debugger.errors import CannotReadError, CannotWriteError, LogOverError, TtdbgError
from tt_debugger.record.policies import Policy, deadline, is_due
from tt_debugger.storage.uninterrupted import uninterrupted
from tt_debugger.store import Records

PAUSE = 1.0
"""Seconds until writing in the background is tried again where it failed."""


@runtime_checkable
class Moves(Protocol):
    """A log that, once nothing can be written to it any more, goes on elsewhere."""

    def successor(self, header: Header, after: str | None, entries: Sequence[Entry]) -> Records:
        """Make the log that goes on from this one, behind the entry `after`.

        It is there with all these entries, or not at all. Raises CannotWriteError.
        """
        ...


class Journal:
    """The log of one session and what waits to be written to it; all branches share it."""

    def __init__(self, records: Records, policy: Policy, clock: Callable[[], float]) -> None:
        self.records = records
        self.lock = threading.RLock()
        self.effects: dict[str, Effect] = {}
        """What is known of effects, those that are not written yet included."""
        self.failure: TtdbgError | None = None
        """Why writing in the background failed last, None once it has worked."""
        self._policy = policy
        self._clock = clock
        self._waiting: list[Entry] = []
        self._last: str | None = None
        self._written = clock()
        self._timer: threading.Timer | None = None
        self._process = os.getpid()
        # Who forgets to close still loses nothing at the end of the program.
        self._at_exit = _flushed_at_exit(self)

    @property
    def waiting(self) -> tuple[Entry, ...]:
        """The entries that are not written yet, in their order."""
        with self.lock:
            return tuple(self._waiting)

    def take_up(self, leaf: str, effects: Mapping[str, Effect]) -> None:
        """Go on from what stands in the log."""
        self._last, self.effects = leaf, dict(effects)

    def keep(self, entry: Entry) -> None:
        """Add an entry; it counts from now on, and waits to be written."""
        with self.lock:
            self._waiting.append(entry)
            if isinstance(entry, EffectNoted):
                self.effects[entry.key] = effect_noted(self.effects.get(entry.key), entry)

    def write_if_due(self) -> None:
        """Write what waits if it is time. Raises CannotWriteError.

        What could not be written goes on to wait, and is written the next time.
        """
        with self.lock:
            if is_due(self._policy, self._waiting, self._clock(), self._written):
                self.flush()
            elif self._waiting:
                self._set_timer()

    def flush(self) -> None:
        """Write all that waits. Raises CannotWriteError."""
        if self._is_copied:
            raise CannotWriteError(
                f"cannot write to {self.records.location}: another process opened it, "
                "of which this one is a copy",
                "open a recorder after the fork, of a session of its own",
            )
        with self.lock:
            if self._waiting:
                try:
                    self.records.append(self._waiting)
                except LogOverError as error:
                    self._move(error)
                self._last = self._waiting[-1].id
                self._waiting.clear()
            self.failure = None
            self._written = self._clock()
            self._stop_timer()

    def close(self) -> None:
        """Write all that waits, and close the log. Raises CannotWriteError."""
        if self._is_copied:
            # The log, its locks and what waits belong to the process that was copied.
            return
        with self.lock:
            try:
                self.flush()
            finally:
                self._stop_timer()
                atexit.unregister(self._at_exit)
                self.records.close()

    def __del__(self) -> None:
        """Write what waits and close the log, where nobody did: it would stay locked."""
        with suppress(Exception):
            self.close()

    @property
    def _is_copied(self) -> bool:
        """Whether this process came from a fork of the one that opened the log."""
        return os.getpid() != self._process

    def _move(self, error: LogOverError) -> None:
        """Go on in a new log, which begins with the states that what waits goes on from."""
        over = self.records
        if not isinstance(over, Moves) or over.header is None:
            raise error
        entries = [*self._carried(over), *self._waiting]
        with uninterrupted():
            self.records = over.successor(over.header, self._last, entries)
        over.close()

    def _carried(self, over: Records) -> list[Snapshotted]:
        """Give the states in the old log that entries which wait go on from.

        Each is the checkpoint that it was, under its id, now with its whole state.
        """
        known = {each.id for each in self._waiting}
        parents = dict.fromkeys(
            each.parent
            for each in self._waiting
            if each.parent is not None and each.parent not in known
        )
        found: list[Snapshotted] = []
        for parent in parents:
            there = restored(over.newest_first(), parent)
            if not isinstance(there, Restored):
                raise CannotReadError(f"{over.location} cannot be read any more")
            last = there.path[-1]
            effects = tuple(there.effects.values())
            found.append(
                Snapshotted(
                    last.id,
                    None,
                    last.time,
                    last.name,
                    last.tool,
                    state=there.state,
                    version=there.version,
                    effects=effects,
                    why="moved",
                )
            )
        return found

    def _set_timer(self) -> None:
        latest = deadline(self._policy, self._written)
        if latest is None or self._timer is not None:
            return
        soonest = PAUSE if self.failure else 0.0
        timer = threading.Timer(max(soonest, latest - self._clock()), _flushed_in_time(self))
        timer.daemon = True
        self._timer = timer
        timer.start()

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def flush_in_time(self) -> None:
        """Write what waits, for the timer that runs now."""
        with self.lock:
            if self._timer is not threading.current_thread():
                return
            self._timer = None
            try:
                self.flush()
            except TtdbgError as error:
                self.failure = error
                self._set_timer()


def _flushed_in_time(journal: Journal) -> Callable[[], None]:
    """Have a journal flushed by its timer, which does not keep it from being given up."""
    kept = weakref.ref(journal)

    def flush() -> None:
        there = kept()
        if there is not None:
            there.flush_in_time()

    return flush


def _flushed_at_exit(journal: Journal) -> Callable[[], None]:
    """Have a journal flushed at the end of the program, if it is still there."""
    kept = weakref.ref(journal)

    def flush() -> None:
        there = kept()
        if there is not None:
            with suppress(TtdbgError):
                there.flush()

    atexit.register(flush)
    return flush
