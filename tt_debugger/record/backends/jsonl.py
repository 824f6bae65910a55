"""The log as a file of lines: JSON of an entry on each, in the order of their writing.

An entry is written at the end and synced before it counts. Where syncing fails nobody can know
what the disk holds: nothing more is written to the file, and the log goes on in a new one that
begins with the whole state (`successor`). Syncing again would say that all is well and be wrong.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Self

import msgspec

from tt_debugger.core.recording.entries import (
    SCHEMA_VERSION,
    Continues,
    Entry,
    Header,
    decoded,
    encoded_header,
)
from tt_debugger.errors import CannotReadError, CannotWriteError, LogOverError
from tt_debugger.record.backends.jsonl_end import groups_of, line_of, lines_from_end, whole_size
from tt_debugger.record.backends.jsonl_succession import free_name_after, header_in, newest
from tt_debugger.record.backends.lock import hold_alone
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.thinning import REFUSED
from tt_debugger.storage.publishing import (
    publish,
    read,
    sync,
    with_folders,
    write_all,
    writing,
)
from tt_debugger.storage.uninterrupted import uninterrupted

_FLAGS = (
    os.O_RDWR
    | os.O_APPEND
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_NOCTTY", 0)
    | getattr(os, "O_BINARY", 0)
)


class JsonlLog:
    """A log in a file; whoever has it open for writing holds a lock on it."""

    durability = "an entry is synced to the disk (fsync) before its step counts as written"

    def __init__(self, path: Path) -> None:
        self.location = str(path)
        self.header: Header | None = None
        self.dropped = b""
        """What a crash had left unfinished at the end; it was no entry, and is cut off."""
        self._path = path
        self._file: int | None = None
        self._size = 0
        """Bytes of the file that are known to be on the disk."""
        self._there: set[str] = set()
        """The ids of those entries that were given last and are written."""
        self.made = 0
        """Bytes that the file was made with, where this log has made it."""
        self._is_over = False
        self._successor: Self | None = None
        """The log that goes on from this one, where it is made but could not be opened."""

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open the file, or the one in which its log goes on; it need not be there yet.

        Raises CannotReadError for a file that is none of ours, CannotWriteError where another
        recorder writes to it.
        """
        with writing(location):
            first = Path(location).absolute()
            while True:
                log = cls(newest(first))
                with log._closed_if_it_fails():
                    # Whoever had it open may have gone on elsewhere before we had the lock.
                    if not log._taken_up() or newest(first) == log._path:
                        return log
                log.close()

    def begin(self, header: Header) -> None:
        """Make the file, which must not be there. Raises CannotWriteError."""
        self.begin_with(header, ())

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries from the end on; what is no entry is passed over.

        Whether one is missed is told by the parents of those that are given; so the last one must
        be an entry. Raises CannotReadError where it is none.
        """
        if self._file is None:
            return
        is_last = True
        try:
            for line, _ in lines_from_end(self._file, self._size):
                try:
                    entry = decoded(line)
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                    if is_last:
                        raise self._unknown(error) from error
                    continue
                is_last = False
                yield entry
        except OSError as error:
            raise CannotReadError(
                f"cannot read {self.location}: {error.strerror or error}",
                "the disk or its file system fails: look after it before you go on",
            ) from error

    def append(self, entries: Sequence[Entry]) -> None:
        """Write the entries in their order, and sync them; those that were written stay so.

        After a crash meanwhile the first ones of them may be there. Raises CannotWriteError, or
        LogOverError where the file cannot be written to any more.
        """
        self._there &= {each.id for each in entries}
        with uninterrupted():
            for ids, data in groups_of(entries, self._there):
                self._write(data)
                self._there |= ids

    def successor(self, header: Header, after: str | None, entries: Sequence[Entry]) -> Self:
        """Make the log that goes on from this one, which is over; it has these entries.

        `after` is the last entry that counts here. It is there whole or not at all, so that no
        state is ever looked for in a file that has none yet. Raises CannotWriteError.
        """
        with writing(self.location), uninterrupted():
            made = self._successor or type(self)(free_name_after(self._path))
            continues = Continues(self._path.name, after)
            try:
                made.begin_with(msgspec.structs.replace(header, continues=continues), entries)
            finally:
                self._successor = made if made.made else None
            return made

    def _unknown(self, error: Exception) -> CannotReadError:
        return CannotReadError(
            f"the last line of {self.location} is no entry that this version knows: {error}",
            f"see `ttdbg doctor {self.location}`; nothing was changed",
        )

    def close(self) -> None:
        """Close the file, and so let go of its lock."""
        file, self._file = self._file, None
        if file is not None:
            with suppress(OSError):
                os.close(file)

    def begin_with(self, header: Header, entries: Sequence[Entry]) -> None:
        """Make the file with its first entries; what was made before something failed stays."""
        with writing(self.location), uninterrupted():
            if not self.made:
                data = b"".join((encoded_header(header), b"\n", *map(line_of, entries)))
                with with_folders(self.location):
                    publish(self.location, (data,))
                self.made = len(data)
                self._there = {each.id for each in entries}
            if not self._taken_up():
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
            if self._size != self.made:
                self.close()
                raise self._not_ours_alone()
        self.append(entries)

    def _taken_up(self) -> bool:
        """Open the file, lock it, and cut off what was left unfinished; False if it is not there.

        Raises OSError.
        """
        try:
            self._file = os.open(self.location, _FLAGS)
        except FileNotFoundError:
            return False
        with self._closed_if_it_fails():
            self._take_up(self._file)
        return True

    @contextmanager
    def _closed_if_it_fails(self) -> Generator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _take_up(self, file: int) -> None:
        status = os.fstat(file)
        header = header_in(file) if stat.S_ISREG(status.st_mode) else None
        if header is None:
            raise CannotReadError(
                f"{self.location} is no recording: its first line is no header",
                "record to a file that is not there yet",
            )
        hold_alone(file, self.location)
        self.header, self._size = header, os.fstat(file).st_size
        # What a newer version makes of the end we cannot know.
        is_ours = header.schema_version <= SCHEMA_VERSION
        whole = whole_size(file, self._size) if is_ours else self._size
        if whole < self._size:
            self.dropped = read(file, whole, self._size - whole)
            self._cut(file, whole)

    def _write(self, data: bytes) -> None:
        """Write lines at the end, and sync them; none of them is there where it fails."""
        if self._is_over:
            raise self._over("it was given up")
        if self._file is None:
            raise CannotWriteError(
                f"cannot write to {self.location}: it is not open", "open it again"
            )
        file = self._file
        with writing(self.location):
            self._must_be_ours_alone(os.fstat(file))
        try:
            write_all(file, data)
        except OSError as error:
            self._cut_back(file, error)
            raise CannotWriteError(
                f"cannot write to {self.location}: {error.strerror or error}",
                "what is not written yet is kept (`unsaved`): make room, then flush",
            ) from error
        except BaseException as error:
            self._cut_back(file, error)
            raise
        try:
            sync(file)
        except OSError as error:
            # Whoever reads the file meanwhile shall not take for written what no disk may have.
            with suppress(OSError):
                os.ftruncate(file, self._size)
            raise self._over(_told(error)) from error
        except BaseException as error:
            self._cut_back(file, error)
            raise
        self._size += len(data)

    def _must_be_ours_alone(self, status: os.stat_result) -> None:
        if not status.st_nlink:
            raise self._over("it was taken away or replaced")
        if status.st_size != self._size:
            raise self._not_ours_alone()

    def _not_ours_alone(self) -> CannotWriteError:
        return CannotWriteError(
            f"cannot write to {self.location}: another program wrote to it", REFUSED
        )

    def _cut_back(self, file: int, error: BaseException) -> None:
        """Take away what was written of an append that failed; else the file is over."""
        try:
            self._cut(file, self._size)
        except OSError:
            raise self._over(_told(error)) from error

    def _cut(self, file: int, size: int) -> None:
        os.ftruncate(file, size)
        sync(file)
        self._size = size

    def _over(self, why: str) -> LogOverError:
        self._is_over = True
        return LogOverError(
            f"nothing more is written to {self.location}: {why}",
            "what was acknowledged before is there; the log goes on in a new file",
        )


def _told(error: BaseException) -> str:
    return f"it could not be synced: {getattr(error, 'strerror', None) or error}"
