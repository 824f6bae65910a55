"""Saves: what a fork writes to files, each with all that the disk may hold before, between, after.

They are made by the real writer and by writers with a bug that was planted, which the tests of
crashes, kills and failing calls must all find.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest import mock

import msgspec
from planting import planted_of, sync_folder_of, sync_only

from tt_debugger.core.fork.writes import How, IndexLine, MoreLines, NewFile, Record
from tt_debugger.storage import file_writing, publishing
from tt_debugger.storage.file_writing import FileWrite, WrittenToFile

State = Mapping[str, bytes]
"""The files of a folder by their names; the lock file is left out."""

MEMORY = "/dev/shm"  # noqa: S108 - a folder of our own is made in it

LOCK = ".s.jsonl.lock"


def records(*lines: bytes) -> tuple[Record, ...]:
    return tuple(Record(line, How.ADDED) for line in lines)


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


OLD = b'{"id": "1"}\n{"id": "2", "text": "' + b"x" * 40 + b'"}\n'
FORK = (b'{"id": "1"}\n', b'{"id": "3", "text": "' + b"y" * 90 + b'"}\n', b'{"id": "4"}\n')
INDEX = b'{"session": "a"}\n{"session": "b"}\n'
MORE = (b'{"id": "5", "parent": "1"}\n', b'{"id": "6"}\n', b'{"id": "7"}\n')
ROW = b'{"session": "c"}\n'


class Save(msgspec.Struct, frozen=True):
    """Writes, and what a folder may hold: as it was, stages that are allowed, as it shall be."""

    name: str
    stages: tuple[State, ...]
    writes: Callable[[str], tuple[FileWrite, ...]]
    drops_torn_tail: bool = False
    """Whether readers leave out what stands behind the last line end."""
    is_named: bool = False
    """Whether the file system is one that has no files without a name."""

    def stage(self, state: State) -> int | None:
        """Give which of the stages a folder is at; None where it is at none."""
        seen = {name: self._read(data) for name, data in state.items() if not is_part(name)}
        return next((at for at, each in enumerate(self.stages) if each == seen), None)

    def _read(self, data: bytes) -> bytes:
        return data[: data.rfind(b"\n") + 1] if self.drops_torn_tail else data


def is_part(name: str) -> bool:
    return name.startswith(".ttdbg-") and name.endswith(".part")


def new_file(folder: str) -> NewFile:
    return NewFile(f"{folder}/new.jsonl", records(*FORK))


def more_lines(folder: str, *lines: bytes, old: bytes = OLD) -> MoreLines:
    return MoreLines(
        f"{folder}/s.jsonl", records(*lines), len(old), sha256(old), f"{folder}/{LOCK}"
    )


def index_line(folder: str) -> IndexLine:
    return IndexLine(f"{folder}/index.jsonl", *records(ROW))


def _file_and_index(folder: str) -> tuple[FileWrite, ...]:
    return new_file(folder), index_line(folder)


WHOLE = b"".join(FORK)
_FORK_STAGES = (
    {"index.jsonl": INDEX},
    {"index.jsonl": INDEX, "new.jsonl": WHOLE},
    {"index.jsonl": INDEX + ROW, "new.jsonl": WHOLE},
)
SAVES = {
    each.name: each
    for each in (
        Save("new file", ({}, {"new.jsonl": WHOLE}), lambda at: (new_file(at),)),
        Save(
            "new file, named while it is filled",
            ({}, {"new.jsonl": WHOLE}),
            lambda at: (new_file(at),),
            is_named=True,
        ),
        Save(
            "one more line",
            ({"s.jsonl": OLD}, {"s.jsonl": OLD + MORE[0]}),
            lambda at: (more_lines(at, MORE[0]),),
            drops_torn_tail=True,
        ),
        Save(
            # A file that others append to can only grow: some of the lines may be all there is.
            "three more lines",
            tuple({"s.jsonl": OLD + b"".join(MORE[:count])} for count in range(4)),
            lambda at: (more_lines(at, *MORE),),
            drops_torn_tail=True,
        ),
        Save(
            "more lines behind one without an end",
            ({"s.jsonl": OLD}, {"s.jsonl": OLD + b"[1]\n"}, {"s.jsonl": OLD + b"[1]\n" + MORE[0]}),
            lambda at: (more_lines(at, MORE[0], old=OLD + b"[1]"),),
            drops_torn_tail=True,
        ),
        Save(
            "line of an index",
            ({"index.jsonl": INDEX}, {"index.jsonl": INDEX + ROW}),
            lambda at: (index_line(at),),
        ),
        Save("first line of an index", ({}, {"index.jsonl": ROW}), lambda at: (index_line(at),)),
        Save("file and index", _FORK_STAGES, _file_and_index),
        Save("file and index, named", _FORK_STAGES, _file_and_index, is_named=True),
    )
}


@contextmanager
def quick_folder() -> Generator[Path]:
    """Make a folder in memory where there is one: what is synced there is not waited for."""
    place = MEMORY if os.access(MEMORY, os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=place) as folder:
        yield Path(folder)


def prepare(save: Save, folder: Path) -> None:
    """Make a folder as it is before a save."""
    folder.mkdir(exist_ok=True)
    for name, data in save.stages[0].items():
        open_end = b"[1]" if "without an end" in save.name else b""
        (folder / name).write_bytes(data + open_end)


def state_of(folder: Path) -> dict[str, bytes]:
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name != LOCK}


def make(save: Save, folder: str, bug: str | None = None) -> list[WrittenToFile]:
    """Make a save, with a writer that has a bug."""
    writes = save.writes(folder)
    with on_file_system(is_named=save.is_named), planted(bug):
        return [
            file_writing.write_file(each)
            for each in (reversed(writes) if bug == "wrong order" else writes)
        ]


class Work(msgspec.Struct, frozen=True):
    """A save that is to be made in a folder, or what is to be taken back of it."""

    folder: str
    name: str
    bug: str | None = None
    taken_back: list[WrittenToFile] | None = None


@contextmanager
def on_file_system(*, is_named: bool) -> Generator[None]:
    """Let there be no files without a name, and all be written in small pieces."""
    unnamed = 0 if is_named else publishing._UNNAMED
    with (
        mock.patch.object(publishing, "_UNNAMED", unnamed),
        mock.patch.object(publishing, "PIECE", 64),
    ):
        yield


def _publish_over(path: str, parts: tuple[bytes, ...]) -> None:
    part = f"{path}.new"
    _written(part, b"".join(parts))
    Path(part).replace(path)
    sync_folder_of(path)


def _publish_a_copy(path: str, parts: tuple[bytes, ...]) -> None:
    elsewhere = f"{Path(path).parent}-elsewhere"
    _written(elsewhere, b"".join(parts))
    _written(path, Path(elsewhere).read_bytes())
    Path(elsewhere).unlink()
    sync_folder_of(path)


def _write_in_place(path: str, _before: bytes, after: bytes, _mode: int) -> bool:
    _written(path, after)
    return True


def _written(path: str, data: bytes) -> None:
    with Path(path).open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


BUGS: dict[str, Callable[[], Any]] = {
    "no fsync": lambda: sync_only(stat.S_ISDIR),
    "no folder fsync": lambda: sync_only(stat.S_ISREG),
    "rename over": lambda: mock.patch.object(file_writing, "publish", _publish_over),
    "in place": lambda: mock.patch.object(file_writing, "replace_unchanged", _write_in_place),
    "wrong order": nullcontext,  # it is the order in which `make` makes the writes
    "another file system": lambda: mock.patch.object(file_writing, "publish", _publish_a_copy),
}


@contextmanager
def planted(bug: str | None) -> Generator[None]:
    """Let the writer have a bug meanwhile."""
    with planted_of(BUGS, bug):
        yield


if __name__ == "__main__":
    # Does all that is asked for, each in a folder of its own: this is what is traced.
    for work in msgspec.json.decode(sys.argv[1], type=list[Work]):
        if work.taken_back is None:
            make(SAVES[work.name], work.folder, work.bug)
        else:
            with planted(work.bug):
                for each in reversed(work.taken_back):
                    file_writing.take_back_file(each)
