"""Questions about what was recorded: the debugger itself, opened on the log."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

from tt_debugger.core.changes import Change, State
from tt_debugger.core.diff.side_by_side import SideBySide, compare_sides
from tt_debugger.core.model import Checkpoint
from tt_debugger.core.refs import Point, parse_fragment
from tt_debugger.debugger import Debugger
from tt_debugger.errors import UsageError
from tt_debugger.opening import split_location


class Questions:
    """The session of a log as `ttdbg` shows it; what was written since is read on each question.

    A point is a ref as on the command line (`@~2`, `row=4`, `label=good`, an id), or a time, which
    stands for the last checkpoint then.
    """

    def __init__(self, location: str) -> None:
        self.location = location
        path, fragment = split_location(location)
        self._debugger = Debugger.open(path, fragment.session)

    def close(self) -> None:
        """Let go of the log."""
        self._debugger.close()

    def history(self) -> list[Checkpoint]:
        """Give the checkpoints in the order of their writing."""
        self._follow()
        session = self._debugger.session
        return [session.checkpoint(row) for row in range(len(session))]

    def id_of(self, point: str | datetime) -> str:
        """Give the id of the checkpoint at a point. Raises UnknownRefError."""
        return self._debugger.session.ids[self._row(point)]

    def inspect(self, point: str | datetime) -> State:
        """Give the state at a point."""
        return self._debugger.state(self._row(point))

    def diff(self, old: str | datetime, new: str | datetime) -> SideBySide:
        """Compare two points."""
        rows = self._row(old), self._row(new)
        return compare_sides(*(self._debugger.side(row) for row in rows))

    def replay(
        self, first: str | datetime, last: str | datetime
    ) -> Iterator[tuple[Checkpoint, tuple[Change, ...]]]:
        """Give the checkpoints of a range on a path, each with its changes."""
        begin, end = self._row(first), self._row(last)
        session = self._debugger.session
        path = session.tree.path_to(end)
        if begin not in path:
            raise UsageError(
                f"{session.ids[begin]} is not on the path to {session.ids[end]}",
                "a range runs along one path",
            )
        for row in path[path.index(begin) :]:
            yield session.checkpoint(row), self._debugger.changes(row)

    def _row(self, point: str | datetime) -> int:
        self._follow()
        if isinstance(point, datetime):
            moment = point.astimezone(UTC).isoformat()
            return self._debugger.row(Point("time", moment))
        return self._debugger.point(parse_fragment(point))

    def _follow(self) -> None:
        while self._debugger.follow() is not None:
            pass
