"""Transcripts in files: one file that is a document or text, or the files of one folder.

A file is read whole, up to `LONGEST` bytes; of a folder so many files, and so many bytes of them.
What is more than that is told. Links are not followed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from time import time_ns
from typing import Any, ClassVar

import msgspec

from tt_debugger.core.findings import Code, Finding, Severity, finding
from tt_debugger.core.model import Session, SessionId
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.document import Lost
from tt_debugger.formats.shared.reading import Place
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entries,
    Entry,
    Look,
    LostFile,
    Transcript,
    TranscriptStore,
)
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.folders import FileFound, PassedBy, Why, files_under
from tt_debugger.storage.index_cache import look_at
from tt_debugger.storage.lines import LONGEST
from tt_debugger.storage.settling import has_settled
from tt_debugger.store import Progress

MOST_FILES = 50_000
"""Names in a folder that are looked at."""
MOST_BYTES = 512 << 20
"""Bytes of the files of a folder that are read."""


class TranscriptFile(TranscriptStore):
    """A store that is one file, read whole."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self._file = RegularFile(location)

    @abstractmethod
    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give what some bytes say of a session, of the newest where none is named."""

    def look(self) -> Look:
        """See the file that stands there now."""
        if not self._file.is_current():
            old, self._file = self._file, RegularFile(self.location)
            old.close()
        seen = look_at(self._file)
        return Look((seen.stamp,), seen.has_settled)

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the whole file."""
        return self.transcript(self._whole(), wanted)

    def _whole(self) -> bytes:
        size = self._file.size()
        if size > LONGEST:
            raise CannotReadError(
                f"cannot read {self.location}: its {size} bytes are more than the"
                f" {LONGEST >> 20} MiB of the largest document",
                "nothing was changed in it",
            )
        return self._file.read(0, size)

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record; of a long gap the first ones.

        Raises CannotReadError where the file has become shorter.
        """
        heads = session.heads
        length = min(heads.length(row) or 0, LONGEST)
        data = self._file.read(heads.offset(row) or 0, length)
        if len(data) < length:
            raise _changed(self.location)
        return data

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class FileRead(msgspec.Struct, frozen=True):
    """A file of a folder as its format read it; `value` is None where `why` says why not."""

    name: str
    """Its name, with that of the folders in which it lies below the location."""
    size: int
    value: Any = None
    why: str = ""


class TranscriptFolder(TranscriptStore):
    """A store that is a folder of files, of which each is read once as long as it stays as it is.

    The location may be a file in it: then the folder is `folder_of` it.
    """

    most_deep: ClassVar[int] = 0
    """How deep folders in the folder are looked into."""

    def __init__(self, location: str) -> None:
        super().__init__(self.folder_of(location))
        self._known: dict[FileFound, FileRead] = {}
        if not any(isinstance(each, FileFound) for each in self._found()):
            raise CannotReadError(f"cannot read {location}: there is no session file in it")

    @classmethod
    def folder_of(cls, location: str) -> str:
        """Give the folder that a location means: itself, or that of a file."""
        path = Path(location)
        try:
            return location if path.is_dir() else str(path.parent)
        except (OSError, ValueError):
            return location

    def watched(self) -> Sequence[str]:
        """Give the folder, whichever file in it the location was."""
        return (self.location,)

    def is_part(self, name: str) -> bool:
        """Tell by its name whether a file belongs to the session; all do."""
        return bool(name)

    @abstractmethod
    def parse(self, name: str, data: bytes) -> Any:
        """Give what a file says. Raises ValueError, in words, where it cannot be read."""

    @abstractmethod
    def assemble(self, files: Mapping[str, FileRead]) -> Transcript:
        """Give the session that the files are; they come in the order of their names.

        Its size and what was passed by are filled in.
        """

    def look(self) -> Look:
        """See which files there are, and how they look."""
        found = self._found()
        files = (each for each in found if isinstance(each, FileFound))
        changed = (time for each in files for time in each.stamp[-2:])
        return Look(found, has_settled(time_ns(), *changed))

    def read(self, wanted: SessionId | None, progress: Progress) -> Transcript:
        """Read the files that are not known yet, and put all together."""
        found = self._found()
        files = [each for each in found if isinstance(each, FileFound)]
        whole, done, now = sum(each.size for each in files), 0, time_ns()
        read: dict[str, FileRead] = {}
        known: dict[FileFound, FileRead] = {}
        for each in files:
            name = self._name(each.path)
            file = self._known.get(each) or self._read_file(name, each, done)
            read[name] = file
            if not file.why and has_settled(now, *each.stamp[-2:]):
                known[each] = file
            done += each.size
            progress(min(done, whole), whole)
        self._known = known
        made = self.assemble(read)
        passed_by = [_passed_by(each) for each in found if isinstance(each, PassedBy)]
        findings = (*made.findings, *(each for each in passed_by if each is not None))
        size = sum(each.size for each in read.values())
        return msgspec.structs.replace(made, size=size, findings=findings)

    def _found(self) -> tuple[FileFound | PassedBy, ...]:
        found = files_under(self.location, most_deep=self.most_deep, most_names=MOST_FILES)
        return tuple(
            each
            for each in found
            if not isinstance(each, FileFound) or self.is_part(self._name(each.path))
        )

    def _name(self, path: str) -> str:
        return PurePath(path).relative_to(self.location).as_posix()

    def _read_file(self, name: str, found: FileFound, done: int) -> FileRead:
        if found.size > LONGEST or done + found.size > MOST_BYTES:
            return FileRead(name, found.size, why="it is larger than what is read of a folder")
        try:
            data = self._bytes(name)
        except CannotReadError as error:
            return FileRead(name, found.size, why=error.message)
        try:
            return FileRead(name, len(data), self.parse(name, data))
        except ValueError as error:
            return FileRead(name, len(data), why=str(error))

    def _bytes(self, name: str) -> bytes:
        file = RegularFile(str(Path(self.location) / name))
        try:
            return file.read(0, min(file.size(), LONGEST))
        finally:
            file.close()

    def raw(self, session: Session, row: int) -> bytes:
        """Give the bytes of a row's record, or of a whole file that is a gap.

        Raises CannotReadError where they are no longer there.
        """
        kept: Entries = session.own
        entry = kept.entries[row]
        if entry is None:
            return b""
        if entry.place is None:
            is_lost = isinstance(entry, LostFile)
            return self._bytes(entry.file) if is_lost else msgspec.json.encode(entry.body)
        begin, length = entry.place.offset, entry.place.length
        data = self._bytes(entry.file)[begin : begin + length]
        if len(data) < length:
            raise _changed(entry.file)
        return data


def _passed_by(each: PassedBy) -> Finding | None:
    """Say what was not looked at, of what could have been a part of the session."""
    if each.why is Why.TOO_MANY:
        said = f"only {MOST_FILES:,} names of the folder were looked at; there are more"
        return finding(Code.UNREADABLE, said, severity=Severity.WARNING)
    if each.why is Why.UNREADABLE:
        said = f"{PurePath(each.path).name} cannot be read"
        return finding(Code.UNREADABLE, said, severity=Severity.WARNING)
    if each.why is Why.LINK and PurePath(each.path).suffix.lower() == ".json":
        said = f"{PurePath(each.path).name} was passed by: links are not followed"
        return finding(Code.UNREADABLE, said, severity=Severity.NOTE)
    return None


def _changed(name: str) -> CannotReadError:
    return CannotReadError(f"{name} changed since it was read", "open it again")


def whole_file(file: FileRead) -> Place:
    """Give the place of all that stands in a file."""
    return Place(1, 1, 0, file.size)


def of_file(file: FileRead, entry: Entry) -> Entry:
    """Give an entry that is a whole file of a folder, called as the file where it has no name."""
    name = entry.name or PurePath(file.name).stem
    return msgspec.structs.replace(entry, file=file.name, place=whole_file(file), name=name)


def in_file(file: FileRead, entry: Entry) -> Entry:
    """Give an entry that stands in a file of a folder among others."""
    return msgspec.structs.replace(entry, file=file.name)


def lost_in(file: FileRead, lost: Lost) -> LostFile:
    """Give what is lost of a file."""
    return LostFile(file.name, lost.place.length, lost.why, lost.place)


def no_entry(file: FileRead) -> Beside | LostFile:
    """Give what becomes of a file that gives no entry: it is known by its name, or lost."""
    if file.why:
        return LostFile(file.name, file.size, file.why)
    return Beside(file.name, whole_file(file))
