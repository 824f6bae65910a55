"""The log as whole states: a JSON file that is replaced with every entry, its history beside it.

`state.json` is what an outsider reads: the newest document, old or new at every moment. Beside it
`state.json.history/` has a file an entry, which is never touched again. The history is written
first and is the truth; after a crash `state.json` may be one behind until the log is opened again.
An entry costs twice what the whole state is long.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from itertools import takewhile
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

import msgspec

from tt_debugger.core.changes import State
from tt_debugger.core.recording.effects import Effect
from tt_debugger.core.recording.entries import (
    SCHEMA_VERSION,
    Entry,
    Header,
    Snapshotted,
    decoded_header,
    encoded,
    encoded_header,
)
from tt_debugger.errors import CannotReadError, CannotWriteError
from tt_debugger.record.backends.lock import hold_alone
from tt_debugger.record.backends.options import Options
from tt_debugger.record.backends.whole import Effects, ledger_after, state_after, without_state
from tt_debugger.storage.publishing import (
    PRIVATE,
    content,
    opened_folder,
    publish,
    sync_folder,
    with_folders,
    writing,
)
from tt_debugger.storage.replacing import replace
from tt_debugger.storage.uninterrupted import uninterrupted

SCHEME = "snapshot:"
HISTORY = ".history"
"""What stands behind the name of the file in that of the folder of its history."""
HEADER = "000000.json"
"""The file of the history that holds the header."""
_LOCK_FILE = ".lock"
_NAMED = re.compile(r"([0-9]{6,15})-(.+)\.json")
_LONGEST = 120
"""Letters of an id that may stand in the name of a file."""
_INDENT = 2


class _Document(msgspec.Struct, frozen=True):
    """What is read of a file of the history.

    `more` are the entries that were appended together with this one and stand behind it: where
    one of them is missing none of them counts.
    """

    entry: Entry
    effects: list[Effect]
    state: msgspec.Raw
    more: int = 0


class _Point(msgspec.Struct, frozen=True):
    """An entry that is the last one: its id, the state at it, and what is known of effects."""

    entry: str | None
    state: State
    effects: Effects


_decode = msgspec.json.Decoder(_Document).decode


class SnapshotLog:
    """A log in a folder beside a file; whoever has it open for writing holds a lock on it."""

    durability = (
        "a file of its own for the entry, and its name, are synced to the disk (fsync) before its"
        " step counts as written"
    )

    def __init__(self, path: Path) -> None:
        self.location = f"{path}{HISTORY}"
        self.header: Header | None = None
        self._path = path
        self._folder = Path(self.location)
        self._lock: int | None = None
        self._names: list[str] = []
        """The files of the entries, the oldest first."""
        self._known: dict[str, str] = {}
        """The same, by what stands for the ids of their entries."""
        self._end: _Point | None = None
        """The last entry, where it is known already."""
        self._newest: bytes | None = None
        """The document that the file has yet to be replaced by."""
        self._is_clean = True
        """Whether nothing stands behind the last entry that an append left which failed."""

    @classmethod
    def open(cls, location: str, options: Options) -> Self:
        """Open the log of a file, or that of the folder of its history; none need be there yet.

        What a crash left unfinished is removed, and the file is made what the history says.
        Raises CannotReadError for a history that is none of ours, CannotWriteError where another
        recorder writes to it.
        """
        path = location.removeprefix(SCHEME).removesuffix(os.sep).removesuffix(HISTORY)
        log = cls(Path(path).absolute())
        try:
            with writing(log.location):
                if log._folder.is_dir():
                    log._take_up()
        except BaseException:
            log.close()
            raise
        return log

    def begin(self, header: Header) -> None:
        """Make the history, where neither it nor the file are there. Raises CannotWriteError."""
        if self.header is not None:
            raise CannotWriteError(f"{self.location} has begun already", "append to it")
        target = self._folder / HEADER
        with writing(self.location), uninterrupted(), with_folders(str(target)):
            if os.path.lexists(self._path):
                raise CannotWriteError(
                    f"{self._path} is there already, and without a history it is none of ours",
                    "choose another name, or move it away",
                )
            self._hold()
            publish(str(target), (encoded_header(header), b"\n"))
            self.header = header

    def newest_first(self) -> Iterator[Entry]:
        """Give the entries from the last one on; what is none is passed over.

        Whether one is missed is told by the parents of those that are given. Raises
        CannotReadError.
        """
        for name in reversed(self._names):
            document = self._read(name)
            if document is not None:
                yield _with_state(document)

    def append(self, entries: Sequence[Entry]) -> None:
        """Write a file for each entry that is not there yet, then the newest state.

        After a crash meanwhile all of them are there or none. Raises CannotWriteError.
        """
        if self.header is None or self._lock is None:
            raise CannotWriteError(
                f"{self.location} is not open for writing", "open it, and begin it with a header"
            )
        with writing(self.location), uninterrupted():
            new = [each for each in entries if _safe(each.id) not in self._known]
            try:
                if new:
                    self._write(new, self.header)
            except CannotReadError as error:
                raise CannotWriteError(error.message, error.hint) from error
            self._mend()

    def close(self) -> None:
        """Let go of the lock."""
        if self._lock is not None:
            with suppress(OSError):
                os.close(self._lock)
            self._lock = None

    def _take_up(self) -> None:
        self._hold()
        names = self._listed()
        head = content(str(self._folder / HEADER))
        if head is None and not names:
            return
        try:
            self.header = decoded_header(head or b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise CannotReadError(
                f"{self.location} is no history of a recorder: {HEADER} is no header",
                "record to a file that is not there yet",
            ) from error
        left = list(takewhile(self._is_unfinished, reversed(names)))
        if left:
            self._remove(left)
        names = names[: len(names) - len(left)]
        self._names = names
        self._known = {_id_in(each): each for each in names}
        sound = next((each for each in reversed(names) if self._read(each) is not None), None)
        if sound is not None:
            newest = content(str(self._folder / sound))
            self._newest = None if newest == content(str(self._path)) else newest
            self._mend()

    def _is_unfinished(self, name: str) -> bool:
        """Tell whether more was to be appended with an entry; the last one shows it."""
        document = self._read(name)
        return document is not None and document.more > 0

    def _hold(self) -> None:
        """Lock the history until it is closed."""
        if self._lock is not None:
            return
        path = str(self._folder / _LOCK_FILE)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), PRIVATE)
        try:
            hold_alone(lock, self.location)
        except BaseException:
            os.close(lock)
            raise
        self._lock = lock

    def _write(self, entries: Sequence[Entry], header: Header) -> None:
        """Publish the files of some entries, all or none. Raises OSError."""
        if not self._is_clean:
            self._clear()
        last = self._last()
        number = _number(self._names[-1]) if self._names else 0
        points: dict[str | None, _Point] = {last.entry: last}
        made: dict[str, bytes] = {}
        for place, entry in enumerate(entries, 1):
            state = state_after(self._before(entry, points), entry)
            last = _Point(entry.id, state, ledger_after(last.effects, entry))
            points[entry.id] = last
            name = f"{number + place:06}-{_safe(entry.id)}.json"
            made[name] = _document(entry, last, header, len(entries) - place)
        self._is_clean = False
        try:
            for name, data in made.items():
                publish(str(self._folder / name), (data,))
        except BaseException:
            # What cannot be removed now is removed before anything else is written.
            with suppress(OSError):
                self._clear()
            raise
        self._is_clean = True
        self._names += made
        self._known |= {_id_in(each): each for each in made}
        self._end, self._newest = last, list(made.values())[-1]

    def _before(self, entry: Entry, points: Mapping[str | None, _Point]) -> State:
        """Give the state that an entry was made to, an empty one where its parent is not there."""
        if entry.parent in points:
            return points[entry.parent].state
        name = None if entry.parent is None else self._known.get(_safe(entry.parent))
        document = None if name is None else self._read(name)
        return {} if document is None else msgspec.json.decode(document.state)

    def _last(self) -> _Point:
        """Give the last entry that can be read; it is read once, and known from then on."""
        if self._end is None:
            found = (self._read(each) for each in reversed(self._names))
            document = next((each for each in found if each is not None), None)
            if document is None:
                self._end = _Point(None, {}, {})
            else:
                effects = {each.key: each for each in document.effects}
                state = msgspec.json.decode(document.state)
                self._end = _Point(document.entry.id, state, effects)
        return self._end

    def _read(self, name: str) -> _Document | None:
        """Read a file of the history; None for one that is none. Raises CannotReadError."""
        try:
            return _decode(content(str(self._folder / name)) or b"")
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        except OSError as error:
            raise CannotReadError(
                f"cannot read {self._folder / name}: {error.strerror or error}",
                "the disk or its file system fails: look after it before you go on",
            ) from error

    def _mend(self) -> None:
        """Let the file be the newest document, if it is not. Raises OSError."""
        if self._newest is not None:
            replace(self._path, (self._newest,), is_durable=True)
            with opened_folder(str(self._path)) as folder:
                sync_folder(folder)
            self._newest = None

    def _clear(self) -> None:
        """Remove what stands behind the last entry, the last of it first. Raises OSError."""
        last = _number(self._names[-1]) if self._names else 0
        self._remove(each for each in reversed(self._listed()) if _number(each) > last)
        self._is_clean = True

    def _listed(self) -> list[str]:
        """Give the names of the files of entries, by their numbers. Raises OSError."""
        names = (each.name for each in self._folder.iterdir())
        return sorted(filter(_NAMED.fullmatch, names), key=_number)

    def _remove(self, names: Iterable[str]) -> None:
        for each in names:
            (self._folder / each).unlink()
        with opened_folder(str(self._folder / HEADER)) as folder:
            sync_folder(folder)


def _document(entry: Entry, point: _Point, header: Header, more: int) -> bytes:
    """Give the bytes of a document; its first keys say what any state says of itself."""
    said: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "session_id": header.session_id,
        "checkpoint_id": entry.id,
        "parent_id": entry.parent,
        "written_at": entry.time,
        **({} if header.title is None else {"title": header.title}),
        **({"more": more} if more else {}),
        "entry": msgspec.Raw(encoded(without_state(entry))),
        "effects": list(point.effects.values()),
        "state": point.state,
    }
    return msgspec.json.format(msgspec.json.encode(said), indent=_INDENT) + b"\n"


def _with_state(document: _Document) -> Entry:
    entry = document.entry
    if isinstance(entry, Snapshotted):
        return msgspec.structs.replace(entry, state=msgspec.json.decode(document.state))
    return entry


def _safe(entry: str) -> str:
    """Give what stands for the id of an entry in the name of a file, whatever it is."""
    name = quote(entry, safe="-_")
    return name if len(name) <= _LONGEST else f"~{sha256(entry.encode()).hexdigest()}"


def _number(name: str) -> int:
    return int(name.partition("-")[0])


def _id_in(name: str) -> str:
    return name.partition("-")[2].removesuffix(".json")
