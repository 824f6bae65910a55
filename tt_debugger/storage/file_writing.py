"""Writing what a fork adds to files: a new one, lines at the end of one, a line of an index.

Each is made whole or not at all. What was written can be taken back as long as it is as it was.
"""

from __future__ import annotations

import hashlib
import io
import os
from contextlib import nullcontext, suppress
from pathlib import Path

from tt_debugger.core.fork.writes import (
    FileWritten,
    IndexLine,
    IndexWritten,
    LinesWritten,
    MoreLines,
    NewFile,
)
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.appending import append, last_line_is_open, locked
from tt_debugger.storage.publishing import (
    PIECE,
    content,
    name_taken,
    opened,
    opened_folder,
    publish,
    sync,
    sync_folder,
    with_folders,
    writing,
)
from tt_debugger.storage.swapping import replace_unchanged

TRIES = 8
"""How often an index is written anew that another program keeps changing."""

FileWrite = NewFile | MoreLines | IndexLine
WrittenToFile = FileWritten | LinesWritten | IndexWritten


def write_file(each: FileWrite) -> WrittenToFile:
    """Write to a file, whole or not at all.

    Raises CannotWriteError, and UsageError where a name is taken or a file has changed.
    """
    match each:
        case NewFile():
            return _make(each)
        case MoreLines():
            return _add_lines(each)
        case IndexLine():
            return _add_to_index(each)


def take_back_file(written: WrittenToFile) -> None:
    """Take back what was written to a file.

    Raises UsageError where it has changed since or is gone, and CannotWriteError.
    """
    with writing(written.path):
        match written:
            case FileWritten():
                _take_back(written)
            case LinesWritten():
                _take_back_lines(written)
            case IndexWritten():
                _take_back_index(written)


def must_be_unchanged(written: WrittenToFile) -> None:
    """Raise the UsageError that taking something back would raise now."""
    with writing(written.path):
        match written:
            case FileWritten(path=path):
                with opened(_there(path)) as file:
                    _compare(written, file)
            case LinesWritten(path=path):
                with opened(_there(path)) as file:
                    _compare_lines(written, file)
            case IndexWritten():
                _without_line(written)


def _make(each: NewFile) -> FileWritten:
    path = os.path.abspath(each.path)  # noqa: PTH100 - unlike Path it knows what `..` means
    parts = [record.data for record in each.records]
    if os.path.lexists(path):
        raise name_taken(path)
    with writing(path), with_folders(path) if each.makes_folders else nullcontext():
        try:
            publish(path, parts)
        except FileExistsError as error:
            raise name_taken(path) from error
    return FileWritten(path, sum(map(len, parts)), _digest_of(parts))


def _add_lines(each: MoreLines) -> LinesWritten:
    path = os.path.realpath(each.path)
    lock = each.lock and os.path.realpath(each.lock)
    data = b"".join(record.data for record in each.records)
    with writing(path), locked(lock), opened(path, os.O_RDWR | os.O_APPEND) as file:
        if _seen(file) != (each.size, each.digest):
            raise UsageError(
                f"{path} has changed since it was read, so nothing is added to it",
                "open it again and see what is new before you fork",
            )
        if last_line_is_open(file, each.size):
            data = b"\n" + data
        append(file, each.size, data, path)
    return LinesWritten(path, each.size, len(data), _digest_of([data]), lock)


def _add_to_index(each: IndexLine) -> IndexWritten:
    path = os.path.realpath(each.path)
    line = each.record.data.removesuffix(b"\n")
    with writing(path):
        for _ in range(TRIES):
            before = content(path)
            if before is None:
                with suppress(FileExistsError):
                    publish(path, (line + b"\n",))
                    return IndexWritten(path, line.decode(), is_new=True)
            elif _replaced(path, before, _ended(before) + line + b"\n"):
                return IndexWritten(path, line.decode(), is_new=False)
    raise CannotWriteError(
        f"cannot write {path}: another program keeps changing it", "try again when it rests"
    )


def _replaced(path: str, before: bytes, after: bytes) -> bool:
    return replace_unchanged(path, before, after, Path(path).stat().st_mode & 0o7777)


def _ended(lines: bytes) -> bytes:
    """Give lines of which the last has an end, too."""
    return lines + b"\n" if lines and not lines.endswith(b"\n") else lines


def _take_back(written: FileWritten) -> None:
    path = _there(written.path)
    with opened_folder(path) as folder, opened(path) as file:
        _compare(written, file)
        Path(path).unlink()
        # What a loss of power could bring back is the file as it was.
        with suppress(OSError):
            sync_folder(folder)


def _take_back_lines(written: LinesWritten) -> None:
    path = _there(written.path)
    with locked(written.lock), opened(path, os.O_RDWR) as file:
        _compare_lines(written, file)
        os.ftruncate(file, written.offset)
        # What a loss of power could bring back is the lines as they were.
        with suppress(OSError):
            sync(file)


def _take_back_index(written: IndexWritten) -> None:
    path = written.path
    for _ in range(TRIES):
        before, after = _without_line(written)
        if not after and written.is_new:
            with opened_folder(path) as folder:
                Path(path).unlink()
                with suppress(OSError):
                    sync_folder(folder)
            return
        if _replaced(path, before, after):
            return
    raise CannotWriteError(
        f"cannot write {path}: another program keeps changing it", "try again when it rests"
    )


def _compare(written: FileWritten, file: int) -> None:
    if Path(written.path).is_symlink():
        raise _changed(written.path, "a link stands in its place")
    size, digest = _seen(file)
    if (size, digest) == (written.size, written.digest):
        return
    if size > written.size and _seen(file, 0, written.size)[1] == written.digest:
        raise _changed(written.path, f"{size - written.size:,} bytes were added to it")
    if size != written.size:
        raise _changed(written.path, f"it had {written.size:,} bytes and has {size:,}")
    raise _changed(written.path, "it has other content of the same size")


def _compare_lines(written: LinesWritten, file: int) -> None:
    end = written.offset + written.size
    size = os.fstat(file).st_size
    if size < end:
        raise _changed(written.path, f"it had {end:,} bytes and has {size:,}")
    if _seen(file, written.offset, end)[1] != written.digest:
        raise _changed(written.path, "the lines that ttdbg added are not what they were")
    if size > end:
        raise _changed(written.path, f"{size - end:,} bytes were added behind the lines of ttdbg")


def _without_line(written: IndexWritten) -> tuple[bytes, bytes]:
    """Give an index as it is, and as it is without the line that was written."""
    before = content(_there(written.path)) or b""
    lines = io.BytesIO(before).readlines()
    own = written.line.encode()
    for place in reversed(range(len(lines))):
        if lines[place].removesuffix(b"\n") == own:
            return before, b"".join(lines[:place] + lines[place + 1 :])
    raise _changed(written.path, "it has not the line any more that ttdbg added")


def _there(path: str) -> str:
    if not os.path.lexists(path):
        raise UsageError(f"{path} is not there any more, so there is nothing to take back")
    return path


def _changed(path: str, what: str) -> UsageError:
    return UsageError(
        f"{path} has changed since ttdbg wrote to it, so nothing is taken back",
        f"{what}; the agent may have gone on from there",
    )


def _digest_of(parts: list[bytes]) -> str:
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _seen(file: int, begin: int = 0, end: int | None = None) -> tuple[int, str]:
    """Give the size and the digest of a file, or of the bytes between two places of it."""
    digest = hashlib.sha256()
    size = 0
    os.lseek(file, begin, os.SEEK_SET)
    while part := os.read(file, PIECE if end is None else min(PIECE, end - begin - size)):
        digest.update(part)
        size += len(part)
    return size, digest.hexdigest()
