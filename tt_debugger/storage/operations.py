"""The operation log: everything that ttdbg wrote for others to use, so that it can be undone.

One file of JSON lines in the user's state folder. A line is added before anything is written and
another one when it is there, so what a crash left behind is named too. Lines are only ever added.
One that is damaged is passed over and counted; one of a kind that a newer ttdbg knows is left to
it.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec

from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.writes import Written
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.own_files import content_of, real, state_folder


class _Begun(msgspec.Struct, frozen=True, tag="begun"):
    operation: Operation


class _Finished(msgspec.Struct, frozen=True, tag="finished"):
    id: str
    written: tuple[Written, ...]


class _PartTakenBack(msgspec.Struct, frozen=True, tag="part taken back"):
    id: str
    left: tuple[Written, ...]


class _GivenUp(msgspec.Struct, frozen=True, tag="given up"):
    id: str


class _Undone(msgspec.Struct, frozen=True, tag="undone"):
    id: str
    time: float


class _OfSomeKind(msgspec.Struct, frozen=True):
    type: str


_Line = _Begun | _Finished | _GivenUp | _PartTakenBack | _Undone
_KINDS = frozenset(("begun", "finished", "given up", "part taken back", "undone"))

_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode
_decode_kind = msgspec.json.Decoder(_OfSomeKind).decode


class Operations:
    """The operation log; what is asked of it is read anew each time.

    `damaged` is the number of lines that could not be read when it was read last.
    """

    def __init__(self) -> None:
        self.damaged = 0

    def begin(self, operation: Operation) -> None:
        """Note what is about to be written. Raises CannotWriteError: nothing may be written then.

        Where it is and what it is made of is noted so that it can be told from any folder.
        """
        self._add(
            _Begun(
                msgspec.structs.replace(
                    operation,
                    origin=_from_anywhere(operation.origin),
                    location=_from_anywhere(operation.location),
                )
            )
        )

    def finish(self, id: str, written: tuple[Written, ...]) -> None:  # noqa: A002 - its name
        """Note what is there now. Raises CannotWriteError."""
        self._add(_Finished(id, written))

    def give_up(self, id: str) -> None:  # noqa: A002 - its name
        """Note that nothing was written after all.

        That it cannot be noted is no error: it remains one that was not finished.
        """
        with suppress(CannotWriteError):
            self._add(_GivenUp(id))

    def note_left(self, id: str, left: tuple[Written, ...]) -> None:  # noqa: A002 - its name
        """Note what is still there of something that is being taken back.

        That it cannot be noted is no error: it only matters where the rest cannot be taken back.
        """
        with suppress(CannotWriteError):
            self._add(_PartTakenBack(id, left))

    def note_undone(self, id: str, time: float) -> None:  # noqa: A002 - its name
        """Note that all was taken back. Raises CannotWriteError."""
        self._add(_Undone(id, time))

    def all(self) -> list[Operation]:
        """Give all operations, the oldest first, but for those that were given up.

        Raises CannotReadError where there is a log that cannot be read.
        """
        known: dict[str, Operation] = {}
        for line in self._lines():
            match line:
                case _Begun(operation=operation):
                    known[operation.id] = operation
                case _Finished(id=own, written=written) if own in known:
                    known[own] = msgspec.structs.replace(
                        known[own], written=written, is_finished=True
                    )
                case _PartTakenBack(id=own, left=left) if own in known:
                    known[own] = msgspec.structs.replace(known[own], written=left)
                case _Undone(id=own, time=time) if own in known:
                    known[own] = msgspec.structs.replace(known[own], undone=time)
                case _GivenUp(id=own):
                    known.pop(own, None)
                case _:
                    # What it is of was on a line that is damaged.
                    self.damaged += 1
        return list(known.values())

    def newest(self) -> Operation | None:
        """Give the newest operation that can be undone."""
        return next((each for each in reversed(self.all()) if each.can_be_undone), None)

    def named(self, prefix: str) -> Operation:
        """Give the operation whose id begins so. Raises UsageError for none and for several."""
        known = self.all()
        fitting = [each for each in known if each.id.startswith(prefix)] if prefix else []
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            raise UsageError(
                f"several operations begin with {prefix!r}", _listed(fitting, "one of ")
            )
        raise UsageError(
            f"there is no operation {prefix!r}",
            _listed(known, "there are ") if known else "nothing was written by ttdbg yet",
        )

    def of_origin(self, location: str) -> tuple[Operation, ...]:
        """Give the forks of what is at a location that are there, the oldest first.

        Of a log that cannot be read there are none: who undoes is told that.
        """
        path = real(location)
        known: list[Operation] = []
        with suppress(CannotReadError):
            known = self.all()
        return tuple(
            each for each in known if each.can_be_undone and real(_split(each.origin)[0]) == path
        )

    def _lines(self) -> Generator[_Line]:
        self.damaged = 0
        for line in _content().split(b"\n"):
            if not line:
                continue
            try:
                yield _decode(line)
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                self.damaged += _is_damaged(line)

    def _add(self, line: _Line) -> None:
        # Only who writes pays for these imports.
        from tt_debugger.storage.appending import append, last_line_is_open
        from tt_debugger.storage.locking import hold
        from tt_debugger.storage.publishing import opened, opened_folder, sync_folder

        path = str(_path())
        data = _encode(line) + b"\n"
        with _keeping(path):
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_APPEND | os.O_CREAT
            with opened_folder(path) as folder, opened(path, flags) as file:
                hold(file, path)
                size = os.fstat(file).st_size
                if last_line_is_open(file, size):
                    data = b"\n" + data
                append(file, size, data, path)
                if size == 0:
                    sync_folder(folder)
                    with opened_folder(str(Path(path).parent)) as above:
                        sync_folder(above)


def _content() -> bytes:
    path = _path()
    content = content_of(path)
    if content or not os.path.lexists(path):
        return content
    # What is there and cannot be read is not the same as nothing.
    RegularFile(str(path)).close()
    return content


@contextmanager
def _keeping(path: str) -> Generator[None]:
    try:
        yield
    except OSError as error:
        raise CannotWriteError(
            f"cannot note what is written: {error.strerror or error}",
            f"it is noted in {path}; XDG_STATE_HOME names another place",
        ) from error


def _path() -> Path:
    return state_folder() / "operations.jsonl"


def _is_damaged(line: bytes) -> bool:
    try:
        return _decode_kind(line).type in _KINDS
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return True


def _from_anywhere(ref: str) -> str:
    """Give a location, with or without a ref, as it is found from any folder."""
    location, rest = _split(ref)
    return os.path.abspath(location) + rest if os.path.lexists(location) else ref  # noqa: PTH100 - unlike Path it knows what `..` means


def _split(ref: str) -> tuple[str, str]:
    """Part a location from its ref, in which no `#` is."""
    if os.path.lexists(ref):
        return ref, ""
    location, sign, point = ref.rpartition("#")
    return (location, sign + point) if sign else (ref, "")


def _listed(operations: list[Operation], before: str) -> str:
    """Name the newest of some operations, each by as much of its id as tells it."""
    newest = [f"{each.id} ({each.location})" for each in reversed(operations[-5:])]
    more = len(operations) - len(newest)
    return before + ", ".join(newest) + (f" and {more} more" if more else "")
