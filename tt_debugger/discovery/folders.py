"""Folders that are each one session, and what the system says of what is more than one file."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from zlib import crc32

from tt_debugger.errors import TtdbgError, outside_errors
from tt_debugger.formats import own_formats
from tt_debugger.formats.shared.delegating import Delegating
from tt_debugger.formats.shared.transcript_files import TranscriptFolder
from tt_debugger.storage.folders import FileFound, files_under
from tt_debugger.storage.probe import folder_probe

MOST_DEEP = 4
"""Folders within folders that are asked whether they are sessions."""
_INSIDE = 2
"""Folders within the folder of a session that belong to it."""
_DATABASES = (".db", ".sqlite")
"""How the names of databases end, in which some agents keep all sessions."""
_OF_REPOSITORIES = ("HEAD", "objects", "refs")
_LOG = "-wal"
"""What stands behind the name of a database for what was written to it last."""


def session_folders(location: str, is_session: Callable[[str], bool]) -> Iterator[FileFound]:
    """Go over the folders in a folder that are sessions, the nearest first.

    In such a folder no other is looked for, and links are not followed.
    """
    waiting = deque([(location, 0)])
    while waiting:
        folder, depth = waiting.popleft()
        if depth and is_session(folder):
            yield _as_one(folder)
        elif depth < MOST_DEEP:
            waiting += [(each, depth + 1) for each in _folders_in(folder)]


def as_session(folder: str) -> FileFound | None:
    """Give a folder that some agent would keep as one session, None where it is none.

    A bare repository is one too; what lies in a work tree is looked for instead.
    """
    repository = repository_as_one(folder)
    if repository is not None:
        return repository
    try:
        seen = folder_probe(folder)
    except TtdbgError:
        return None
    for store in _keeping_folders() if seen.size else ():
        with suppress(TtdbgError), outside_errors(store.format):
            if store.sniff(seen) is not None:
                return _as_one(folder)
    return None


def repository_as_one(folder: str) -> FileFound | None:
    """Give a folder that is a bare repository, None where it is none."""
    names = (os.path.join(folder, name) for name in _OF_REPOSITORIES)  # noqa: PTH118 - every folder is asked
    return _as_one(folder) if all(map(os.path.exists, names)) else None


def stamp_of(found: FileFound) -> tuple[int, ...]:
    """Give the stamp of what was found, of a database with that of its log."""
    if not found.path.lower().endswith(_DATABASES):
        return found.stamp
    try:
        # Where the database is a link, SQLite keeps the log beside what it leads to.
        status = Path(f"{os.path.realpath(found.path)}{_LOG}").stat()
    except OSError:
        return found.stamp
    changed = (status.st_mtime_ns, status.st_ctime_ns)
    return (status.st_size, *found.stamp[:-2], *map(max, found.stamp[-2:], changed))


@cache
def _keeping_folders() -> tuple[type[TranscriptFolder], ...]:
    """Give the stores that are folders, or may be; every folder is asked about them."""
    every: list[type[object] | None] = [*own_formats()]
    every += [each.as_folder for each in own_formats() if issubclass(each, Delegating)]
    return tuple(each for each in every if each and issubclass(each, TranscriptFolder))


def _as_one(folder: str) -> FileFound:
    files = [
        each
        for each in files_under(folder, most_deep=_INSIDE)
        if isinstance(each, FileFound) and each.stamp
    ]
    every = crc32(repr([(each.path, each.stamp) for each in files]).encode(errors="replace"))
    newest = (max((each.stamp[place] for each in files), default=0) for place in (-2, -1))
    size = sum(each.size for each in files)
    modified = max((each.modified for each in files), default=0.0)
    return FileFound(folder, size, modified, (every, len(files), size, *newest))


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as inside:
            return sorted(each.path for each in inside if each.is_dir(follow_symlinks=False))
    except OSError:
        return []
