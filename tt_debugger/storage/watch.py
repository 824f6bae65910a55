"""Watching: tells when what is at some paths may have changed.

A look at each path a few times a second is the truth. What the system tells of changes is a hint
that makes it come sooner: there may be no room for one more watch, a network may tell nothing, and
what was dropped is not told either. Without hints all is the same, only later.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import PurePath
from threading import Event, Thread
from typing import TYPE_CHECKING

import msgspec

from tt_debugger.storage.settling import has_settled

if TYPE_CHECKING:
    from watchfiles import Change

EVERY = 0.25
"""Seconds between two looks."""
ASKED_EVERY = 2.0
"""Seconds after which a server is asked again, which tells nothing by itself."""
MOST_NAMES = 10_000
"""Names in a folder that are looked at."""
STEP = 8
"""Milliseconds in which hints are gathered; each costs a look."""
GATHERED = 60
"""Milliseconds after which hints are told although more come."""


class _Look(msgspec.Struct, frozen=True):
    """How some paths looked: what the system said of each, and when they were written to."""

    stamps: tuple[tuple[object, ...], ...]
    times: tuple[int, ...]
    """In nanoseconds since 1970."""

    @property
    def has_settled(self) -> bool:
        """Whether any change since must show in another look."""
        return has_settled(time.time_ns(), *self.times)

    @property
    def written(self) -> float:
        """When the last of them was written to, in seconds; a time to come is none."""
        now = time.time_ns()
        return max((each for each in self.times if each <= now), default=0) / 1e9


class Watch:
    """Watches some paths, files or folders with all in them, until it is stopped.

    Without a path there is nothing to look at: every now and then something may have changed.
    """

    def __init__(self, *paths: str, every: float | None = None, takes_hints: bool = True) -> None:
        self._paths = paths
        self._every = every or (EVERY if paths else ASKED_EVERY)
        self._seen: _Look | None = None
        self._is_hinted = Event()
        self._is_stopped = Event()
        if takes_hints and paths:
            Thread(target=self._take_hints, daemon=True).start()

    def wait(self) -> bool:
        """Wait until something may have changed since the last time; False once it is stopped.

        The first time is at once.
        """
        while not self._is_stopped.is_set():
            is_hinted = self._is_hinted.wait(0 if self._seen is None else self._every)
            self._is_hinted.clear()
            before, self._seen = self._seen, _look_at(self._paths)
            looks_same = bool(self._paths) and self._seen == before and self._seen.has_settled
            if is_hinted or not looks_same:
                return not self._is_stopped.is_set()
        return False

    @property
    def written(self) -> float:
        """When any of it was last written to, as far as it is seen: seconds since 1970, or 0."""
        return 0.0 if self._seen is None else self._seen.written

    def stop(self) -> None:
        """Watch no more; whoever waits is told at once."""
        self._is_stopped.set()
        self._is_hinted.set()

    def _take_hints(self) -> None:
        # A hint that fails to come, for whatever reason of the system's, is none: a look will do.
        with suppress(Exception):
            for _ in _hints(self._paths, self._is_stopped):
                self._is_hinted.set()


def written_at(paths: Sequence[str]) -> float:
    """Give when any of some paths was written to, in seconds since 1970; 0 if none is there."""
    return _look_at(tuple(paths)).written


def _hints(paths: tuple[str, ...], stopped: Event) -> Iterator[set[tuple[Change, str]]]:
    """Come back whenever the system tells of a change at or in the paths."""
    # Only who follows pays for the import, and does not wait for it.
    from watchfiles import watch

    folders = {path for path in paths if os.path.isdir(path)}  # noqa: PTH112 - text goes on as text
    # What is renamed over a file takes its watch away: the folder around it tells of both. A link
    # is written where it leads.
    files = {each for path in paths for each in (path, os.path.realpath(path))} - folders
    names = {PurePath(each).name for each in files}
    around = {str(PurePath(each).parent) for each in files}

    def concerns(_: Change, path: str) -> bool:
        return bool(folders) or PurePath(path).name in names

    yield from watch(
        *folders,
        *around,
        watch_filter=concerns,
        debounce=GATHERED,
        step=STEP,
        stop_event=stopped,
        raise_interrupt=False,
        # A folder around a file may hold a whole home.
        recursive=not files,
        ignore_permission_denied=True,
    )


def _look_at(paths: tuple[str, ...]) -> _Look:
    stamps: list[tuple[object, ...]] = []
    times: list[int] = []
    for path in paths:
        for name, status in _found_at(path):
            if status is None:
                stamps.append((name,))
                continue
            times.append(status.st_mtime_ns)
            stamps.append(
                (
                    name,
                    status.st_dev,
                    status.st_ino,
                    status.st_size,
                    status.st_mtime_ns,
                    status.st_ctime_ns,
                )
            )
    return _Look(tuple(stamps), tuple(times))


def _found_at(path: str) -> Iterator[tuple[str, os.stat_result | None]]:
    """Give a path, and all that is in it, each with what the system says of it, None for nothing.

    Of a very large folder only so much; a name that comes or goes there still changes the folder.
    """
    waiting, count = [path], 0
    while waiting:
        folder = waiting.pop()
        status = None
        with suppress(OSError, ValueError):
            status = os.stat(folder)  # noqa: PTH116 - a quarter of the work, at each look
        yield folder, status
        with suppress(OSError, ValueError), os.scandir(folder) as entries:
            for entry in entries:
                count += 1
                if count > MOST_NAMES:
                    return
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
                else:
                    yield entry.path, entry.stat(follow_symlinks=False)
