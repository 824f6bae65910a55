"""Crash states: what a disk may hold if the power is lost at any moment of a traced save.

The system calls of the save are a list of operations on files and on names. Those that no sync
has covered yet may each be on the disk or not, in any order; a write may also be there in part, or
as zeros where its size was kept and its bytes were not, from some byte on. With holes it may be
zeros up to some byte instead: what a file system gives that does not keep the order of pages.
"""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
import pytest

MOST = 100_000
"""States of one crash point: more are an error, since none may be left out in silence."""

_UNDERSTOOD = (
    "open,openat,creat,close,lseek,write,pwrite64,ftruncate,fsync,fdatasync,"
    "rename,renameat,renameat2,link,linkat,unlink,unlinkat"
)
_NOT_UNDERSTOOD = (
    "writev,pwritev,pwritev2,truncate,fallocate,sendfile,copy_file_range,"
    "sync_file_range,symlink,symlinkat"
)
_STRACE = ("strace", "-qq", "-xx", "-s", "10000000", "-o")
_CALL = re.compile(r"^(\w+)\((.*)\) += (-?\d+)", re.DOTALL)
_TEXT = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


class Write(msgspec.Struct, frozen=True):
    """Bytes of a file from an offset on; None cuts it there."""

    file: int
    offset: int
    data: bytes | None


class Named(msgspec.Struct, frozen=True):
    """Names that a file gets and loses, at once."""

    file: int
    gains: str | None
    loses: str | None


class Synced(msgspec.Struct, frozen=True):
    """A file by its number, or a folder by its path, of which all is on the disk now."""

    what: int | str


Step = Write | Named | Synced


class Traced(msgspec.Struct, frozen=True):
    """What was done in one folder, and what was in it before."""

    folder: str
    before: Mapping[str, bytes]
    steps: Sequence[Step]


def require_strace() -> None:
    """Skip where system calls cannot be traced; in CI that is a failure."""
    try:
        subprocess.run((*_STRACE, os.devnull, "true"), check=True, capture_output=True)  # noqa: S603 - nothing else
    except (OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("CI"):
            pytest.fail(f"strace must work where CI is set: {error}")
        pytest.skip(f"crash states need strace (apt install strace) and ptrace: {error}")


def traced(command: Sequence[str], folders: Mapping[str, Mapping[str, bytes]]) -> list[Traced]:
    """Trace a program of Python; give what it did in each of some folders with known files."""
    record = Path(next(iter(folders))).parent / "strace"
    calls = f"trace={_UNDERSTOOD},{_NOT_UNDERSTOOD}"
    subprocess.run(  # noqa: S603 - our own program
        (*_STRACE, record, "-e", calls, sys.executable, *command),
        # It is started by its path, and imports what stands beside us.
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        check=True,
        timeout=120,
    )
    lines = record.read_text().splitlines()
    return [_traced_in(folder, before, lines) for folder, before in folders.items()]


def _traced_in(folder: str, before: Mapping[str, bytes], lines: Sequence[str]) -> Traced:
    reading = _Reading(folder, before)
    for line in lines:
        if found := _CALL.match(line):
            reading.take(found[1], found[2], int(found[3]))
    return Traced(folder, before, reading.steps)


class _Reading:
    """Follows which descriptor is which file, and says what each call did to one folder."""

    def __init__(self, folder: str, before: Mapping[str, bytes]) -> None:
        self.steps: list[Step] = []
        self._folder = folder
        self._names = {name: number for number, name in enumerate(before)}
        self._sizes = dict(enumerate(map(len, before.values())))
        self._open: dict[int, int | str] = {}
        self._places: dict[int, int] = {}
        self._appending: set[int] = set()

    def take(self, call: str, arguments: str, answer: int) -> None:
        if answer < 0:
            return
        texts = _texts(arguments) if not call.startswith(("write", "pwrite")) else []
        match call:
            case "open" | "openat" | "creat":
                self._opened(texts[0], arguments, answer)
            case "link" | "linkat":
                self._linked(*texts)
            case "rename" | "renameat" | "renameat2":
                self._moved(*texts)
            case "unlink" | "unlinkat":
                self._unlinked(texts[0])
            case _:
                self._used(call, arguments, answer)

    def _own(self, path: str) -> str | None:
        folder, _, name = path.rpartition("/")
        return name if folder == self._folder else None

    def _opened(self, path: str, arguments: str, answer: int) -> None:
        self._open.pop(answer, None)
        self._appending.discard(answer)
        name = self._own(path)
        if path == self._folder:
            if "O_TMPFILE" in arguments:
                self._open[answer] = self._new()
            else:
                self._open[answer] = path
        elif name is not None:
            if name not in self._names:
                self._names[name] = self._new()
                self.steps.append(Named(self._names[name], name, None))
            file = self._names[name]
            self._open[answer] = file
            if "O_TRUNC" in arguments and self._sizes[file]:
                self.steps.append(Write(file, 0, None))
                self._sizes[file] = 0
            if "O_APPEND" in arguments:
                self._appending.add(answer)
        self._places[answer] = 0

    def _new(self) -> int:
        number = len(self._sizes)
        self._sizes[number] = 0
        return number

    def _linked(self, source: str, path: str) -> None:
        name = self._own(path)
        if name is None:
            return
        if source.startswith("/proc/self/fd/"):
            file = self._open[int(source.rpartition("/")[2])]
            assert isinstance(file, int)
        else:
            file = self._names[self._own(source) or ""]
        self._names[name] = file
        self.steps.append(Named(file, name, None))

    def _moved(self, source: str, path: str) -> None:
        old, new = self._own(source), self._own(path)
        if old is None and new is None:
            return
        assert old is not None
        assert new is not None
        file = self._names.pop(old)
        self._names[new] = file
        self.steps.append(Named(file, new, old))

    def _unlinked(self, path: str) -> None:
        name = self._own(path)
        if name is not None:
            self.steps.append(Named(self._names.pop(name), None, name))

    def _used(self, call: str, arguments: str, answer: int) -> None:
        descriptor = int(arguments.partition(",")[0]) if arguments[:1].isdigit() else -1
        file = self._open.get(descriptor)
        if file is None:
            return
        if call == "close":
            del self._open[descriptor]
        elif call in ("fsync", "fdatasync"):
            self.steps.append(Synced(file))
        elif call == "lseek":
            self._places[descriptor] = answer
        elif isinstance(file, str):
            raise ValueError(f"{call} of a folder")
        elif call == "write":
            at = self._sizes[file] if descriptor in self._appending else self._places[descriptor]
            self._wrote(file, at, arguments, answer)
            self._places[descriptor] = at + answer
        elif call == "pwrite64":
            self._wrote(file, int(arguments.rpartition(",")[2]), arguments, answer)
        elif call == "ftruncate":
            self._sizes[file] = int(arguments.rpartition(",")[2])
            self.steps.append(Write(file, self._sizes[file], None))
        else:
            raise ValueError(f"{call} is not understood")

    def _wrote(self, file: int, at: int, arguments: str, answer: int) -> None:
        (text,) = _TEXT.findall(arguments)
        data = bytes.fromhex(text.replace("\\x", ""))[:answer]
        self.steps.append(Write(file, at, data))
        self._sizes[file] = max(self._sizes[file], at + len(data))


def _texts(arguments: str) -> list[str]:
    found = _TEXT.findall(arguments)
    return [bytes.fromhex(each.replace("\\x", "")).decode("utf-8", "replace") for each in found]


def crash_states(
    save: Traced, *, holes: bool = False
) -> Iterator[tuple[int, Mapping[str, bytes]]]:
    """Give all that the folder may hold after each number of steps; each state once a number."""
    for count in range(len(save.steps) + 1):
        seen: set[frozenset[tuple[str, bytes]]] = set()
        for state in _states_after(save, save.steps[:count], holes=holes):
            key = frozenset(state.items())
            if key not in seen:
                seen.add(key)
                yield count, state
                if len(seen) > MOST:
                    raise ValueError("there are too many states to look at each")


def _states_after(
    save: Traced, steps: Sequence[Step], *, holes: bool
) -> Iterator[Mapping[str, bytes]]:
    named = [
        (step, Synced(save.folder) in steps[at:])
        for at, step in enumerate(steps)
        if isinstance(step, Named)
    ]
    writes = [
        (step, Synced(step.file) in steps[at:])
        for at, step in enumerate(steps)
        if isinstance(step, Write)
    ]
    for kept in itertools.product(*([True] if is_sure else [False, True] for _, is_sure in named)):
        names = {name: number for number, name in enumerate(save.before)}
        for (step, _), is_kept in zip(named, kept, strict=True):
            if is_kept and step.loses is not None:
                names.pop(step.loses, None)
            if is_kept and step.gains is not None:
                names[step.gains] = step.file
        bases = list(save.before.values())
        files = sorted(set(names.values()))
        contents = [
            _contents(
                bases[file] if file < len(bases) else b"",
                [each for each in writes if each[0].file == file],
                holes=holes,
            )
            for file in files
        ]
        for chosen in itertools.product(*contents):
            data = dict(zip(files, chosen, strict=True))
            yield {name: data[file] for name, file in names.items()}


def _contents(base: bytes, writes: Sequence[tuple[Write, bool]], *, holes: bool) -> set[bytes]:
    """Give all that a file may hold."""
    found = {base}
    for write, is_sure in writes:
        ways = [write] if is_sure else _ways(write, holes=holes)
        found = {_applied(data, way) for data in found for way in ways}
    return found


def _ways(write: Write, *, holes: bool) -> list[Write | None]:
    """Give how a write that was not synced may be on the disk."""
    data = write.data
    if data is None:
        return [None, write]
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    cuts = sorted({1, len(data) // 2, len(data) - 1, *ends} - {0, len(data)})
    parts = [data[:cut] for cut in cuts]
    zeros = [part + bytes(len(data) - len(part)) for part in (b"", *parts)]
    if holes:
        zeros += [bytes(cut) + data[cut:] for cut in cuts]
    return [
        None,
        *(Write(write.file, write.offset, each) for each in (data, *parts, *zeros)),
    ]


def _applied(content: bytes, write: Write | None) -> bytes:
    if write is None:
        return content
    padded = content + bytes(max(0, write.offset - len(content)))
    if write.data is None:
        return padded[: write.offset]
    return padded[: write.offset] + write.data + padded[write.offset + len(write.data) :]
