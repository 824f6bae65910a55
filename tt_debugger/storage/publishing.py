"""Publishing files: whole or not at all, never over a name that is taken, and there to stay.

A file is filled and synced before it has its name, and its folder is synced once it has it. Where
syncing fails the file is given up: what the disk holds of it then nobody can know, and syncing
once more would say that all is well.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.replacing import ABANDONED

PRIVATE = 0o600
"""The mode of a new file: it is for its owner alone."""
PIECE = 1 << 20
"""Bytes that are written at once, about."""

_UNNAMED = getattr(os, "O_TMPFILE", 0)
_NO_UNNAMED = frozenset(
    (errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL, errno.ENOENT, errno.EPERM, errno.EXDEV)
)
"""What a system says that has no files without a name, or does not let them have one."""
NO_LINKS = frozenset((errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS))
"""What a system says that lets a file have but one name."""
_PART, _PARTS = ".ttdbg-{}.part", ".ttdbg-*.part"
_ALWAYS = (
    getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)
_HINTS = {
    errno.ENOENT: "the folder must be there: make it first",
    errno.EACCES: "see who may write there, or choose another place",
    errno.EPERM: "see who may write there, or choose another place",
    errno.EROFS: "choose a place that can be written to",
    errno.ENOSPC: "make some room, or choose another place",
    errno.EDQUOT: "make some room, or choose another place",
    errno.EIO: "the disk or its file system fails: look after it before you go on",
}


@contextmanager
def writing(path: str) -> Generator[None]:
    """Turn what the system refuses meanwhile into a CannotWriteError that names the path."""
    try:
        yield
    except OSError as error:
        raise CannotWriteError(
            f"cannot write {path}: {error.strerror or error}", _HINTS.get(error.errno or 0)
        ) from error


def name_taken(path: str) -> UsageError:
    """Say that something is at a path already."""
    return UsageError(
        f"{path} is there already",
        "nothing is ever written over what is there: choose another name",
    )


@contextmanager
def opened(path: str, flags: int = os.O_RDONLY) -> Generator[int]:
    """Open a regular file; one that is made is for its owner alone. Raises OSError."""
    descriptor = os.open(path, flags | _ALWAYS, PRIVATE)
    with _closing(descriptor):
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(errno.EINVAL, "it is no regular file")
        yield descriptor


def publish(path: str, parts: Sequence[bytes]) -> None:
    """Make a file of parts at an absolute path.

    Raises FileExistsError where the name is taken, and OSError. Nothing stays then.
    """
    with opened_folder(path) as folder:
        if not _published_unnamed(path, parts, folder):
            _publish_part(path, parts, folder)


@contextmanager
def with_folders(path: str) -> Generator[None]:
    """Make the folders that a file is to stand in; those that were made go if it fails.

    They are for their owner alone. Raises OSError.
    """
    missing = [each for each in Path(path).parents if not each.exists()]
    made: list[Path] = []
    try:
        for each in reversed(missing):
            each.mkdir(mode=0o700)
            made.append(each)
            with opened_folder(str(each)) as above:
                sync_folder(above)
        yield
    except BaseException:
        for each in reversed(made):
            with suppress(OSError):
                each.rmdir()
        raise


@contextmanager
def part_beside(path: str) -> Generator[str]:
    """Make an empty file with a name of its own in the folder of a path; it does not stay.

    Raises OSError.
    """
    folder = Path(path).parent
    _remove_abandoned(folder)
    part = part_name(path)
    try:
        with opened(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL):
            pass
        yield part
    finally:
        with suppress(OSError):
            Path(part).unlink()


def part_name(path: str) -> str:
    """Give a name of its own, in the folder of a path, for what is not finished."""
    return str(Path(path).parent / _PART.format(secrets.token_hex(8)))


def fill(file: int, parts: Sequence[bytes]) -> None:
    """Write all parts to a file, which are on the disk then. Raises OSError."""
    for piece in _pieces(parts):
        write_all(file, piece)
    sync(file)


def content(path: str) -> bytes | None:
    """Give all bytes of a file, None where it is not there. Raises OSError."""
    try:
        with opened(path) as file:
            return read(file, 0, os.fstat(file).st_size)
    except FileNotFoundError:
        return None


def read(file: int, offset: int, length: int) -> bytes:
    """Read up to `length` bytes at an offset; fewer only at the end. Raises OSError."""
    parts: list[bytes] = []
    os.lseek(file, offset, os.SEEK_SET)
    while length > 0 and (part := os.read(file, min(length, PIECE))):
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def write_all(file: int, data: bytes) -> None:
    """Write all bytes, however few of them the system takes at once. Raises OSError."""
    rest = memoryview(data)
    while rest:
        taken = os.write(file, rest)
        if not taken:
            raise OSError(errno.EIO, "nothing more is taken")
        rest = rest[taken:]


def sync(file: int) -> None:
    """Return when what was written is on the disk. Raises OSError."""
    os.fsync(file)
    if hasattr(os, "O_EVTONLY"):  # macOS, where fsync leaves it in the disk's own cache
        import fcntl

        # Disks that are reached over a network know no such order.
        with suppress(OSError):
            fcntl.fcntl(file, getattr(fcntl, "F_FULLFSYNC", 51))


@contextmanager
def opened_folder(path: str) -> Generator[int | None]:
    """Open the folder that a path is in, for syncing; None where a system has no such thing."""
    if not hasattr(os, "O_DIRECTORY"):
        yield None
        return
    descriptor = os.open(str(Path(path).parent), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    with _closing(descriptor):
        yield descriptor


def sync_folder(folder: int | None) -> None:
    """Return when the names in a folder are on the disk. Raises OSError."""
    if folder is None:
        return
    try:
        sync(folder)
    except OSError as error:
        # So says a file system that keeps names by other means.
        if error.errno != errno.EINVAL:
            raise


@contextmanager
def _closing(descriptor: int) -> Generator[None]:
    try:
        yield
    finally:
        # All that matters was synced before: what closing says changes nothing any more.
        with suppress(OSError):
            os.close(descriptor)


def _published_unnamed(path: str, parts: Sequence[bytes], folder: int | None) -> bool:
    """Publish a file that had no name before, so that nothing stays of it if we are killed.

    False where a system has no such files.
    """
    if not _UNNAMED:
        return False
    try:
        file = os.open(str(Path(path).parent), _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, PRIVATE)
    except OSError as error:
        if error.errno in _NO_UNNAMED:
            return False
        raise
    with _closing(file):
        fill(file, parts)
        with _taking_away(path, os.fstat(file)):
            try:
                # Only linkat gives such a file a name. Python calls it if it is given a folder,
                # which means nothing here as both paths are absolute.
                os.link(f"/proc/self/fd/{file}", path, src_dir_fd=folder)
            except OSError as error:
                if error.errno in _NO_UNNAMED:
                    return False
                raise
            sync_folder(folder)
    return True


def _publish_part(path: str, parts: Sequence[bytes], folder: int | None) -> None:
    with part_beside(path) as part:
        with opened(part, os.O_WRONLY) as file:
            fill(file, parts)
            status = os.fstat(file)
        with _taking_away(path, status):
            try:
                os.link(part, path)
            except OSError as error:
                if error.errno in NO_LINKS:
                    # Any other way to name it could replace what another program named so.
                    reason = "its file system has no hard links"
                    raise OSError(errno.EPERM, reason) from error
                raise
            Path(part).unlink()
            sync_folder(folder)


@contextmanager
def _taking_away(path: str, status: os.stat_result) -> Generator[None]:
    """Take the name of a file away again where what is done meanwhile fails."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            if os.path.samestat(status, Path(path).lstat()):
                Path(path).unlink()
        raise


def _pieces(parts: Sequence[bytes]) -> Iterator[bytes]:
    """Join small parts, so that each need not be written by itself."""
    held: list[bytes] = []
    size = 0
    for part in parts:
        held.append(part)
        size += len(part)
        if size >= PIECE:
            yield b"".join(held)
            held, size = [], 0
    yield b"".join(held)


def _remove_abandoned(folder: Path) -> None:
    """Remove what a ttdbg that was killed left in a folder, and nothing else."""
    latest = time.time() - ABANDONED
    with suppress(OSError):
        for each in list(folder.glob(_PARTS)):
            if each.lstat().st_mtime < latest:
                each.unlink()
