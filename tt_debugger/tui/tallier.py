"""The tallier: works out statistics in a thread for the Statistics screen, and draws their lines.

What the index alone tells comes first; to read every body may take a while.
"""

# pyright: reportUnknownVariableType=false, reportUnknownMemberType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.stats import Stats, stats_of
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError, TtdbgError
from tt_debugger.store import Progress
from tt_debugger.tui.sparing import sparingly
from tt_debugger.views.palette import Glyphs, Palette
from tt_debugger.views.stats import StatLine, StatsView

MOST = 200
"""Branches, tools, models and loops that have a line of their own."""


class Tallied(Message):
    """The lines of the statistics for a width; `is_whole` once all bodies are read."""

    def __init__(self, lines: Sequence[StatLine], width: int, *, is_whole: bool) -> None:
        super().__init__()
        self.lines = lines
        self.width = width
        self.is_whole = is_whole


class Reading(Message):
    """So much of the bodies is read; of several that wait only the newest counts."""

    def __init__(self, percent: int) -> None:
        super().__init__()
        self.percent = percent

    def can_replace(self, message: Message) -> bool:
        """Take the place of what was told before."""
        return isinstance(message, Reading)


class TallyFailed(Message):
    """There are no statistics, for the session cannot be read."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class _NoLongerWantedError(Exception):
    """The screen was left, or wants another width."""


class Tallier:
    """Tells a screen the statistics of an open session."""

    def __init__(
        self, debugger: Debugger, screen: Screen[Any], palette: Palette, glyphs: Glyphs
    ) -> None:
        self._screen = screen
        self._debugger = debugger
        self._palette = palette
        self._glyphs = glyphs
        self._stats: Stats | None = None

    def tell(self, width: int) -> None:
        """Begin to work out the lines for a width; those for another are no longer wanted."""
        work = sparingly(partial(self._tell, width))
        self._screen.run_worker(work, thread=True, group="stats", exclusive=True)

    def stop(self) -> None:
        """Begin nothing more, and end soon what was begun."""
        self._screen.workers.cancel_group(self._screen, "stats")

    def _tell(self, width: int) -> None:
        worker = get_current_worker()

        def read(done: int, of: int) -> None:
            if worker.is_cancelled:
                raise _NoLongerWantedError
            self._screen.post_message(Reading(100 * done // max(of, 1)))

        try:
            for stats in self._counted(read):
                message = self._drawn(stats, width)
                if worker.is_cancelled:
                    return
                self._screen.post_message(message)
        except _NoLongerWantedError:
            return
        except TtdbgError as error:
            self._screen.post_message(TallyFailed(error))

    def _counted(self, progress: Progress) -> Iterator[Stats]:
        """Give the statistics of the index, if more are not known yet, then of all."""
        debugger = self._debugger
        while self._stats is None:
            session = debugger.session
            yield stats_of(session)
            try:
                self._stats = stats_of(session, debugger.answers(progress))
            except CannotReadError:
                # What took the place of the file while it was read is counted instead.
                if session is debugger.session:
                    raise
        yield self._stats

    def _drawn(self, stats: Stats, width: int) -> Tallied:
        short = self._debugger.resolver.short_id
        view = StatsView(self._palette, self._glyphs, short, width, MOST)
        return Tallied(list(view.lines(stats)), width, is_whole=stats.has_bodies)
