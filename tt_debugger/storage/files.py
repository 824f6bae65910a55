"""Files: opened only if they are regular, never waited for, read by offset."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.stdin import STDIN, opened_stdin

HEAD = 64 * 1024
"""How much of a file a probe sees at least, in bytes."""

# Without O_NONBLOCK the open of a FIFO waits for a writer; without O_NOCTTY a terminal could
# become ours. Both are absent on Windows.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "permission is denied",
    errno.ELOOP: "its links lead in a circle",
    errno.ENXIO: "it is a device or socket without another end",
    errno.ENOTDIR: "part of its path is not a folder",
    errno.ENAMETOOLONG: "the name is too long",
}


class RegularFile:
    """An open regular file, read by offset; of stdin what came through it.

    Raises CannotReadError at once for anything else: folders, pipes, devices, kernel files.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        try:
            self._descriptor = opened_stdin() if path == STDIN else os.open(path, _FLAGS)
        except (OSError, ValueError) as error:
            raise CannotReadError(
                f"cannot read {path}: {_reason(error)}", _hint_for_missing(path, error)
            ) from error
        try:
            self._refuse_what_is_no_file()
        except BaseException:
            self.close()
            raise

    def _refuse_what_is_no_file(self) -> None:
        status = os.fstat(self._descriptor)
        for is_kind, name in _KINDS:
            if is_kind(status.st_mode):
                raise _refused(self.path, name)
        if status.st_size == 0 and _reads_in_spite_of_size(self._descriptor):
            raise CannotReadError(
                f"cannot read {self.path}: it has no size, as files of the kernel have",
                "copy what it gives to a file first",
            )

    def size(self) -> int:
        """Give the size in bytes as it is now."""
        return os.fstat(self._descriptor).st_size

    def status(self) -> os.stat_result:
        """Give what the system says of the file now."""
        return os.fstat(self._descriptor)

    def read(self, offset: int, length: int) -> bytes:
        """Read up to `length` bytes at `offset`; fewer only at the end of the file."""
        parts: list[bytes] = []
        while length > 0:
            part = self._read_once(offset, length)
            if not part:
                break
            parts.append(part)
            offset += len(part)
            length -= len(part)
        return b"".join(parts)

    def data_after(self, offset: int) -> int:
        """Give where the next bytes are stored at or after an offset, the size if none are.

        What lies between is a hole: it reads as NUL bytes, and was never written. Where a system
        does not tell holes, that is the offset itself.
        """
        size = self.size()
        if offset >= size or not hasattr(os, "SEEK_DATA"):
            return min(offset, size)
        try:
            return min(os.lseek(self._descriptor, offset, os.SEEK_DATA), size)
        except OSError as error:
            return size if error.errno == errno.ENXIO else offset

    def _read_once(self, offset: int, length: int) -> bytes:
        try:
            if hasattr(os, "pread"):
                return os.pread(self._descriptor, length, offset)
            os.lseek(self._descriptor, offset, os.SEEK_SET)
            return os.read(self._descriptor, length)
        except OSError as error:
            raise CannotReadError(f"cannot read {self.path}: {_reason(error)}") from error

    def is_current(self) -> bool:
        """Tell whether the path still leads to this very file."""
        if self.path == STDIN:
            return True
        try:
            return os.path.samestat(os.fstat(self._descriptor), Path(self.path).stat())
        except OSError:
            return False

    def close(self) -> None:
        """Close the file; further reads fail."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _reads_in_spite_of_size(descriptor: int) -> bool:
    try:
        return bool(os.read(descriptor, 1)) and os.fstat(descriptor).st_size == 0
    except OSError:
        return True


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return _REASONS.get(error.errno, os.strerror(error.errno))
    return str(error)


def folder_refused(path: str) -> CannotReadError:
    """Give the error for a folder that is not itself a session; the hint names files in it."""
    return _refused(path, "a folder")


def _refused(path: str, kind: str) -> CannotReadError:
    return CannotReadError(f"cannot read {path}: it is {kind}, not a file", _hint_for(kind, path))


def _hint_for(kind: str, path: str) -> str | None:
    if kind != "a folder":
        return "give the path of a session file"
    try:
        names = sorted(each.name for each in Path(path).iterdir() if each.suffix == ".jsonl")
    except OSError:
        names = []
    if not names:
        return "give the path of a session file; this folder holds none (*.jsonl)"
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""  # noqa: PLR2004 - a short list
    return f"give one of its files: {', '.join(names[:3])}{more}"


def _hint_for_missing(path: str, error: Exception) -> str | None:
    if isinstance(error, OSError) and error.errno == errno.ENOENT and "#" in path:
        return "what follows a # is a ref; the file before it was not found either"
    return None
