"""Folders: the files under a location that may hold sessions, within bounds that are told.

Links are not followed, nothing is opened, and what is passed by is named, so that it can be
counted: nothing is left out in silence.
"""

from __future__ import annotations

import enum
import os
import stat
from collections import deque
from collections.abc import Callable, Collection, Iterator
from itertools import islice
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotReadError

MOST_DEEP = 12
"""Folders within folders that are looked into."""
MOST_NAMES = 200_000
"""Names that are looked at."""
SUFFIXES = frozenset((".jsonl", ".ndjson", ".json", ".traj", ".md", ".db", ".sqlite"))
COMPRESSED = ".jsonl.zst"
"""How the name of a compressed session ends."""
AGENT_HOMES = frozenset((".pi", ".tau", ".claude", ".codex", ".gemini", ".qwen", ".copilot"))
"""Hidden folders that are looked into: there agents keep their sessions."""
_NEVER_ENTERED = frozenset(
    ("node_modules", "__pycache__", "venv", "site-packages", "$RECYCLE.BIN", "lost+found")
)


class FileFound(msgspec.Struct, frozen=True):
    """A file that may hold sessions.

    `stamp` is what the system says of it: if nothing of that differs, nobody has changed the file.
    """

    path: str
    size: int
    modified: float
    stamp: tuple[int, ...] = ()
    """Device, inode, size, and when content and file were changed, in nanoseconds."""


class Why(enum.Enum):
    """Why something was passed by."""

    OTHER = enum.auto()
    """A file whose name says that it holds something else, or no file at all."""
    LINK = enum.auto()
    LEFT_OUT = enum.auto()
    """A folder that is hidden, or that tools fill."""
    TOO_DEEP = enum.auto()
    UNREADABLE = enum.auto()
    TOO_MANY = enum.auto()
    """All that is left, after so many names."""


class PassedBy(msgspec.Struct, frozen=True):
    """Something that was not looked at."""

    path: str
    why: Why


def files_under(
    location: str,
    *,
    most_deep: int = MOST_DEEP,
    most_names: int = MOST_NAMES,
    without: Collection[str] = (),
    as_one: Callable[[str], FileFound | None] | None = None,
) -> Iterator[FileFound | PassedBy]:
    """Go over what lies in a folder, the nearest first; a file is itself all there is.

    The folders of the real paths `without` are gone over by somebody else: they are not named.
    A folder of which `as_one` gives something is that, and is not looked into.

    Raises CannotReadError where the location is not there or cannot be read.
    """
    status = _status(location)
    if not stat.S_ISDIR(status.st_mode):
        yield _found(location, status)
        return
    base = os.path.realpath(location) if without else ""
    waiting = deque([(location, 0)])
    left = most_names
    while waiting:
        folder, depth = waiting.popleft()
        try:
            inside = _inside(folder, left + 1)
        except OSError:
            yield PassedBy(folder, Why.UNREADABLE)
            continue
        for each in inside:
            if not left:
                yield PassedBy(each.path, Why.TOO_MANY)
                return
            left -= 1
            if not _is_folder(each):
                yield _file(each)
            elif base and os.path.join(base, os.path.relpath(each.path, location)) in without:  # noqa: PTH118 - a text is asked for
                continue
            elif not _is_entered(each.name) or depth == most_deep:
                why = Why.TOO_DEEP if _is_entered(each.name) else Why.LEFT_OUT
                yield PassedBy(each.path, why)
            elif as_one is not None and (one := as_one(each.path)) is not None:
                yield one
            else:
                waiting.append((each.path, depth + 1))


def _status(location: str) -> os.stat_result:
    """Give the status of a location, for a folder only if it can be listed."""
    try:
        status = Path(location).stat()
        if stat.S_ISDIR(status.st_mode):
            _inside(location, 1)
    except (OSError, ValueError) as error:
        raise CannotReadError(
            f"cannot read {location}: {_said(error)}",
            "give a folder, or a file that holds sessions",
        ) from error
    return status


def _inside(folder: str, most: int) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as inside:
        return sorted(islice(inside, most), key=lambda each: each.name)


def _said(error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file or folder"
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_entered(name: str) -> bool:
    return name in AGENT_HOMES or not (name.startswith(".") or name in _NEVER_ENTERED)


def _file(entry: os.DirEntry[str]) -> FileFound | PassedBy:
    try:
        if entry.is_symlink():
            return PassedBy(entry.path, Why.LINK)
        if not _may_hold_sessions(entry.name) or not entry.is_file():
            return PassedBy(entry.path, Why.OTHER)
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return PassedBy(entry.path, Why.UNREADABLE)
    return _found(entry.path, status)


def _may_hold_sessions(name: str) -> bool:
    # Each name is asked this, and to make a path of it takes ten times as long.
    lowered = name.lower()
    stem, _, ending = lowered.rpartition(".")
    return lowered.endswith(COMPRESSED) or (bool(stem) and f".{ending}" in SUFFIXES)


def _found(path: str, status: os.stat_result) -> FileFound:
    stamp = (
        status.st_dev,
        status.st_ino,
        status.st_size,
        status.st_mtime_ns,
        status.st_ctime_ns,
    )
    return FileFound(path, status.st_size, status.st_mtime, stamp)
