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

from textual.message import Message
from textual.screen import Screen
from textual.worker import get_current_worker

from tt_debugger.core.lanes import lay_out
from tt_debugger.core.refs import Fragment, Point
from tt_debugger.core.tree import NO_ROW
from tt_debugger.debugger import Debugger
from tt_debugger.errors import TtdbgError
from tt_debugger.tui.widgets.checkpoint_tree import VisibleRows
from tt_debugger.tui.widgets.inspector import Inspected

AHEAD = 24
"""Rows that are read ahead on both sides of the cursor."""
KEPT = 256
PROGRESS_STEPS = 50


class Opening(Message):
    """So much of the location was read, in percent."""

    def __init__(self, percent: int) -> None:
        super().__init__()
        self.percent = percent


class Opened(Message):
    """The session is there, with the rows to show and the one to begin at."""

    def __init__(self, rows: VisibleRows, row: int) -> None:
        super().__init__()
        self.rows = rows
        self.row = row


class OpenFailed(Message):
    """The location cannot be opened."""

    def __init__(self, error: TtdbgError) -> None:
        super().__init__()
        self.error = error


class RowInspected(Message):
    """A row that was asked for was read."""

    def __init__(self, inspected: Inspected) -> None:
        super().__init__()
        self.inspected = inspected


class InspectFailed(Message):
    """A row that was asked for cannot be read."""

    def __init__(self, row: int, error: TtdbgError) -> None:
        super().__init__()
        self.row = row
        self.error = error


class Loader:
    """Opens one location for a screen and reads its checkpoints."""

    def __init__(self, screen: Screen[None], location: str, fragment: Fragment) -> None:
        self._screen = screen
        self._location = location
        self._fragment = fragment
        self._debugger: Debugger | None = None
        self._known: OrderedDict[int, Inspected] = OrderedDict()
        self._percent = -1

    def open(self) -> None:
        """Begin to open the location."""
        self._screen.run_worker(self._open, thread=True, group="open", exclusive=True)

    def known(self, row: int) -> Inspected | None:
        """Give what is already read of a row."""
        return self._known.get(row)

    def inspect(self, row: int) -> None:
        """Begin to read a row, then its neighbours; drops what an earlier call had yet to read."""
        if self._debugger is None:
            return
        if all(each in self._known for each in _around(row, len(self._debugger.session))):
            return
        self._screen.run_worker(
            partial(self._inspect, row), thread=True, group="inspect", exclusive=True
        )

    def close(self) -> None:
        """Let go of the session."""
        if self._debugger is not None:
            self._debugger.close()

    def _open(self) -> None:
        try:
            debugger = Debugger.open(self._location, self._fragment.session, self._progress)
            session, points = debugger.session, self._fragment.points
            row = 0
            if points or session.active is not None:
                row = debugger.row(points[0] if points else Point(None, "@"))
            order = session.tree.parents_first()
            lanes = lay_out(
                order,
                session.parents.__getitem__,
                session.tree.children,
                lambda each: bool(session.on_active_path[each]),
            )
            # Both are worked out when first asked for: here, not on the first frame.
            _ = session.context_sizes, session.rows
        except TtdbgError as error:
            self._screen.post_message(OpenFailed(error))
            return
        self._debugger = debugger
        self._screen.post_message(Opened(VisibleRows(session, order, lanes), row))

    def _progress(self, done: int, of: int) -> None:
        percent = done * 100 // of if of else 100
        if percent != self._percent:
            self._percent = percent
            self._screen.post_message(Opening(percent))

    def _inspect(self, row: int) -> None:
        debugger = self._debugger
        if debugger is None:
            return
        worker = get_current_worker()
        for each in _around(row, len(debugger.session)):
            if worker.is_cancelled:
                return
            if each in self._known:
                continue
            try:
                inspected = self._read(debugger, each)
            except TtdbgError as error:
                if each == row:
                    self._screen.post_message(InspectFailed(row, error))
                continue
            self._known[each] = inspected
            if len(self._known) > KEPT:
                self._known.popitem(last=False)
            if each == row:
                self._screen.post_message(RowInspected(inspected))

    def _read(self, debugger: Debugger, row: int) -> Inspected:
        parent = debugger.session.parents[row]
        return Inspected(
            debugger.session,
            row,
            debugger.changes(row),
            None if parent == NO_ROW else debugger.state(parent),
            debugger.state(row),
            debugger.raw(row),
            debugger.findings_at(row),
        )


def _around(row: int, count: int) -> Iterator[int]:
    """Give a row, then its neighbours, nearest first."""
    yield row
    for distance in range(1, AHEAD + 1):
        for each in (row + distance, row - distance):
            if 0 <= each < count:
                yield each
