"""The files of a database: how SQLite keeps it on disk, how it looks, and a copy of it at rest.

Beside a database may stand what is not in it yet: a write-ahead log with its shared index, or the
journal of a transaction that did not end. They are copied together, or the copy is none.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.settling import has_settled
from tt_debugger.storage.stdin import STDIN

MAGIC = b"SQLite format 3\0"
"""The first bytes of a database."""
LARGEST = 2 << 30
"""Bytes of a database, with its log, that are copied."""
SUPER_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
"""The last bytes of a journal that names another one, which SQLite would remove."""

_SIDES = ("-wal", "-journal")
_SHARED = "-shm"
_TRIES = 3
_PAUSE = 0.05
_CHUNK = 1 << 20


class Seen(msgspec.Struct, frozen=True):
    """How a database and the files beside it look; whatever writes to it changes that."""

    files: tuple[tuple[int, ...] | None, ...]

    @property
    def size(self) -> int:
        """The bytes of all of them."""
        return sum(max(each[0], 0) for each in self.files if each is not None)

    @property
    def times(self) -> tuple[int, ...]:
        """When each of them was written to, in nanoseconds since 1970."""
        return tuple(each[1] for each in self.files if each is not None)

    @property
    def is_whole(self) -> bool:
        """Whether nothing beside the database belongs to it."""
        return not any(each is not None and each[0] for each in self.files[1:])


def look_at(location: str) -> Seen:
    """Tell how a database looks, so that it can be seen later whether it has changed."""
    return Seen(tuple(_status(path) for path in files_of(location)))


def sides_of(location: str) -> Sequence[Path]:
    """Give the files beside a database to which is written first; they need not be there."""
    return files_of(location)[1:]


def files_of(location: str) -> tuple[Path, ...]:
    """Give the paths of a database and of the files beside it that belong to it."""
    if location == STDIN:
        return ()
    try:
        # Where it is a link, SQLite keeps them beside what it leads to.
        own = Path(location).resolve()
    except (OSError, ValueError, RuntimeError):
        own = Path(location)
    return (own, *(own.with_name(own.name + side) for side in _SIDES))


class Stands:
    """That what was seen of a database still holds, to be asked again after each read.

    At rest nothing at all may have changed. A live one may grow, but not get another log.
    """

    def __init__(self, location: str, seen: Seen) -> None:
        self._is_whole = seen.is_whole
        paths = files_of(location) if self._is_whole else _log_of(location)
        self._paths = tuple(map(str, paths))
        self._before = seen.files if self._is_whole else self._now()

    def __call__(self) -> bool:
        """Tell whether it does."""
        return self._now() == self._before

    def _now(self) -> tuple[tuple[int, ...] | None, ...]:
        found = tuple(_status(path) for path in self._paths)
        if self._is_whole:
            return found
        return tuple(None if each is None else each[2:] for each in found)


def is_at_rest(seen: Seen) -> bool:
    """Tell whether a database is whole, and whoever writes to it now would change how it looks."""
    return seen.is_whole and has_settled(time.time_ns(), *seen.times)


def is_live(location: str) -> bool:
    """Tell whether a database has a log, and the index that its writers share with readers."""
    _, _, journal = look_at(location).files
    is_logged = all(
        not path.is_symlink() and (_status(path) or (0,))[0] > 0 for path in _log_of(location)
    )
    return is_logged and (journal is None or not journal[0])


def _log_of(location: str) -> tuple[Path, Path]:
    own, log, _ = files_of(location)
    return log, own.with_name(own.name + _SHARED)


def copied(location: str, target: Path) -> tuple[Seen, tuple[str, ...]]:
    """Copy a database with its log as they were at one moment; give what was left out, in words.

    Raises CannotReadError where it is no database, too large, or never at rest.
    """
    for attempt in range(_TRIES):
        seen = look_at(location)
        if seen.size > LARGEST:
            raise refused(
                location,
                f"it is larger than {LARGEST >> 30} GiB",
                "copy the tables that matter to a smaller database",
            )
        told = _copy_once(location, target)
        if location == STDIN or look_at(location) == seen:
            return seen, told
        time.sleep(_PAUSE * (attempt + 1))
    raise refused(location, "it is being written to all the time", "try again in a moment")


def _copy_once(location: str, target: Path) -> tuple[str, ...]:
    own, *sides = map(str, files_of(location)) if location != STDIN else (STDIN,)
    file = RegularFile(own)
    try:
        begin = file.read(0, len(MAGIC))
        if begin != MAGIC:
            raise refused(location, "it is no SQLite database")
        _copy(file, target)
    finally:
        file.close()
    told: list[str] = []
    for side, name in zip(sides, _SIDES, strict=False):
        beside = target.with_name(target.name + name)
        beside.unlink(missing_ok=True)
        if (status := _status(Path(side))) is None or not status[0]:
            continue
        try:
            file = RegularFile(side)
        except CannotReadError as error:
            told.append(f"what its {name} holds is not shown: {error.message}")
            continue
        try:
            _copy(file, beside)
        finally:
            file.close()
        # SQLite would remove the file that such a journal names, wherever it is.
        if _ends_with(beside, SUPER_JOURNAL):
            beside.unlink()
            told.append(f"its {name} spans several databases and is not applied")
    return tuple(told)


def _copy(file: RegularFile, target: Path) -> None:
    try:
        with target.open("wb") as copy:
            offset = 0
            while chunk := file.read(offset, _CHUNK):
                copy.write(chunk)
                offset += len(chunk)
    except OSError as error:
        raise CannotReadError(
            f"cannot copy {file.path}: {error.strerror or error}",
            "a database is copied to be read; TMPDIR names another folder for that",
        ) from error


def _ends_with(path: Path, end: bytes) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - len(end)))
        return file.read() == end


def _status(path: Path | str) -> tuple[int, ...] | None:
    try:
        # Asked after each read, where a Path would take longer than the system does.
        found = os.stat(path)  # noqa: PTH116
    except (OSError, ValueError):
        return None
    size = found.st_size if stat.S_ISREG(found.st_mode) else -1
    return size, found.st_mtime_ns, found.st_ino, found.st_dev


def refused(location: str, why: str, hint: str | None = None) -> CannotReadError:
    """Give the error for a database that cannot be read."""
    hint = hint or "`sqlite3 FILE .recover` may save what is in it"
    return CannotReadError(f"cannot read {location}: {why}", hint)
