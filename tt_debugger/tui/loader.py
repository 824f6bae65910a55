"""The loader: the only place of the UI that waits. It works in threads and posts what it found.

An answer carries its question, so that the screen can drop one it no longer wants. Around the
row that was asked for, the neighbours are read ahead, so that stepping is answered at once.
"""

# pyright: reportUnknownVariableType=false
# Textual leaves the type parameter of `Worker` open.
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from functools import partial
from threading import Event

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.inspection import Inspection
from tt_debugger.core.model import Session
from tt_debugger.core.outline import Outline, outline
from tt_debugger.core.refs import Fragment, Point
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError

AHEAD = 16
"""Rows that are read ahead on both sides of the cursor."""
KEPT_BYTES = 32 << 20
"""Bytes of records whose inspections are kept."""


class Opening(Message):
    """So much of the location was read, in percent."""

    def __init__(self, percent: int) -> None:
        super().__init__()
        self.percent = percent


class Opened(Message):
    """The session is there, with what to show of it and the row to begin at."""

    def __init__(self, session: Session, outline: Outline, row: int) -> None:
        super().__init__()
        self.session = session
        self.outline = outline
        self.row = row


class OpenFailed(Message):
    """The location cannot be opened."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class RowInspected(Message):
    """A row that was asked for was read."""

    def __init__(self, inspection: Inspection) -> None:
        super().__init__()
        self.inspection = inspection


class InspectFailed(Message):
    """A row that was asked for cannot be read."""

    def __init__(self, row: int, error: TtdbgError) -> None:
        super().__init__()
        self.row = row
        self.error = error


class _NoLongerWantedError(TtdbgError):
    """The work was cancelled while it was done."""


class Loader:
    """Opens one location for a screen and reads its checkpoints."""

    def __init__(self, screen: Screen[None], location: str, fragment: Fragment) -> None:
        self._screen = screen
        self._location = location
        self._fragment = fragment
        self._debugger: Debugger | None = None
        self._known: OrderedDict[int, Inspection] = OrderedDict()
        self._known_bytes = 0
        self._is_left = Event()

    def open(self) -> None:
        """Begin to open the location."""
        self._screen.run_worker(self._open, thread=True, group="open", exclusive=True)

    def known(self, row: int) -> Inspection | None:
        """Give what is already read of a row."""
        return self._known.get(row)

    def inspect(self, row: int) -> None:
        """Begin to read a row, then its neighbours; drops what an earlier call had yet to read.

        A row that is read already is answered too: what the screen saw of it may be older.
        """
        self._screen.run_worker(
            partial(self._inspect, row), thread=True, group="inspect", exclusive=True
        )

    def read_ahead(self, row: int) -> None:
        """Begin to read the neighbours of a row that is known, where any is not."""
        debugger = self._debugger
        if debugger is not None and not all(
            each in self._known for each in _around(row, len(debugger.session))
        ):
            self.inspect(row)

    def stop(self) -> None:
        """Begin nothing more, and end soon what was begun: the screen is being left."""
        self._is_left.set()

    def close(self) -> None:
        """Let go of the session; one that is still reading is waited for."""
        self.stop()
        debugger, self._debugger = self._debugger, None
        if debugger is not None:
            debugger.close()

    def _open(self) -> None:
        worker = get_current_worker()
        last = -1

        def progress(done: int, of: int) -> None:
            nonlocal last
            if self._is_left.is_set() or worker.is_cancelled:
                raise _NoLongerWantedError("the screen was left")
            percent = done * 100 // of if of else 100
            if percent != last:
                last = percent
                self._screen.post_message(Opening(percent))

        try:
            debugger = Debugger.open(self._location, self._fragment.session, progress)
            opened = _first_view(debugger, self._fragment)
        except _NoLongerWantedError:
            return
        except TtdbgError as error:
            self._screen.post_message(OpenFailed(error))
            return
        if self._is_left.is_set() or worker.is_cancelled:
            debugger.close()
            return
        self._debugger = debugger
        self._screen.post_message(opened)

    def _inspect(self, row: int) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        worker = get_current_worker()
        for each in _around(row, len(debugger.session)):
            if self._is_left.is_set() or worker.is_cancelled:
                return
            try:
                inspection = self._known.get(each) or debugger.inspect(each)
            except TtdbgError as error:
                if each == row:
                    self._screen.post_message(InspectFailed(row, error))
                continue
            self._keep(inspection)
            if each == row:
                self._screen.post_message(RowInspected(inspection))

    def _keep(self, inspection: Inspection) -> None:
        """Remember an inspection; of too many bytes, let go of those remembered first."""
        if inspection.row in self._known:
            return
        self._known[inspection.row] = inspection
        self._known_bytes += len(inspection.raw)
        while self._known_bytes > KEPT_BYTES and len(self._known) > 1:
            _, oldest = self._known.popitem(last=False)
            self._known_bytes -= len(oldest.raw)


def _first_view(debugger: Debugger, fragment: Fragment) -> Opened:
    """Give what the screen shows first. What it needs later is worked out here, in the thread."""
    session = debugger.session
    row = 0
    if fragment.points or session.active is not None:
        row = debugger.row(fragment.points[0] if fragment.points else Point(None, "@"))
    _ = session.context_sizes, session.rows, session.on_active_path
    return Opened(session, outline(session), row)


def _around(row: int, count: int) -> Iterator[int]:
    """Give a row, then its neighbours, nearest first."""
    yield row
    for distance in range(1, AHEAD + 1):
        for each in (row + distance, row - distance):
            if 0 <= each < count:
                yield each
