"""stdin as a location: read once, kept without a name, and read by offset as any file is."""

from __future__ import annotations

import io
import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier, BrokenBarrierError

import pytest

from tt_debugger.errors import CannotReadError, UsageError
from tt_debugger.storage import stdin
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.marks import Marks
from tt_debugger.storage.stdin import AWAKE, CHUNK, STDIN

Pipe = Callable[[bytes], None]


@pytest.fixture
def piped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    """Makes some bytes come through stdin."""
    files = []

    def pipe(data: bytes) -> None:
        path = tmp_path / "piped"
        path.write_bytes(data)
        files.append(path.open())
        monkeypatch.setattr("sys.stdin", files[-1])

    yield pipe
    for each in files:
        each.close()


@pytest.fixture(autouse=True)
def kept_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    stdin._kept.cache_clear()


def content(length: int = 1 << 30) -> bytes:
    file = RegularFile(STDIN)
    try:
        return file.read(0, length)
    finally:
        file.close()


@pytest.mark.parametrize("size", [0, 1, CHUNK, 3 * CHUNK + 1])
def test_all_that_comes_is_there_however_often_it_is_opened(piped: Pipe, size: int):
    data = bytes(range(256)) * (size // 256) + b"x" * (size % 256)
    piped(data)

    assert content() == data
    assert content(1) == data[:1]
    assert content() == data


def test_readers_that_come_at_once_each_get_all_of_it(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    data = [b"first ", b"second ", b"third"]
    took_turns = Barrier(2)

    def chunk(_: int) -> bytes:
        # A second reader of the pipe would be here too by now.
        with suppress(BrokenBarrierError):
            took_turns.wait(0.2)
        return data.pop(0) if data else b""

    with os.fdopen(reading) as stream, ThreadPoolExecutor(2) as pool:
        os.close(writing)
        monkeypatch.setattr("sys.stdin", stream)
        monkeypatch.setattr(stdin, "_chunk", chunk)
        descriptors = list(pool.map(lambda _: stdin.opened_stdin(), range(2)))

    assert [os.pread(each, 100, 0) for each in descriptors] == [b"first second third"] * 2
    for each in descriptors:
        os.close(each)


def test_it_is_a_file_like_any_other_and_stays_what_it_is(piped: Pipe):
    piped(b"0123456789")
    file = RegularFile(STDIN)

    assert (file.path, file.size(), file.read(3, 4), file.is_current()) == (
        "-",
        10,
        b"3456",
        True,
    )
    file.close()


def test_it_lies_in_no_folder_and_is_its_owners_alone(piped: Pipe, kept_in: Path):
    piped(b"secret")
    descriptor = stdin.opened_stdin()

    assert list(kept_in.iterdir()) == []
    assert stat.S_IMODE(os.fstat(descriptor).st_mode) == 0o600
    os.close(descriptor)


def test_a_pipe_that_does_not_wait_is_waited_for(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    os.set_blocking(reading, False)
    os.write(writing, b"first ")
    waits = [
        lambda: None,
        lambda: None,  # told too early: nothing is there yet
        lambda: os.write(writing, b"second"),
        lambda: os.close(writing),
    ]

    def write_on(*_: object) -> tuple[list[int], list[int], list[int]]:
        waits.pop(0)()
        return [reading], [], []

    monkeypatch.setattr("select.select", write_on)
    with os.fdopen(reading) as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert content() == b"first second"
    assert not waits


def test_an_interrupt_is_heard_while_nothing_comes(monkeypatch: pytest.MonkeyPatch):
    reading, writing = os.pipe()
    looks = []

    def wait(*asked: object) -> tuple[list[int], list[int], list[int]]:
        looks.append(asked)
        if len(looks) == 3:
            raise KeyboardInterrupt
        return [], [], []

    monkeypatch.setattr("select.select", wait)
    with os.fdopen(reading) as stream, os.fdopen(writing, "w"):
        monkeypatch.setattr("sys.stdin", stream)
        with pytest.raises(KeyboardInterrupt):
            content()
    assert looks == [([reading], [], [], AWAKE)] * 3


@pytest.mark.parametrize("stream", [None, io.StringIO("text")])
def test_where_stdin_is_closed_nothing_is_piped_in(stream, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("sys.stdin", stream)

    with pytest.raises(UsageError, match="nothing is piped in"):
        content()


def test_at_a_terminal_nothing_is_piped_in(monkeypatch: pytest.MonkeyPatch):
    ours, theirs = os.openpty()
    with os.fdopen(theirs) as terminal:
        monkeypatch.setattr("sys.stdin", terminal)
        with pytest.raises(UsageError, match="nothing is piped in") as error:
            content()
    os.close(ours)

    assert (
        error.value.hint
        == "pipe a session into it: cat FILE | ttdbg log - (a file named - is ./-)"
    )


def test_what_cannot_be_read_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    class Folder:
        def __init__(self) -> None:
            self.descriptor = os.open(tmp_path, os.O_RDONLY)

        def fileno(self) -> int:
            return self.descriptor

    folder = Folder()
    monkeypatch.setattr("sys.stdin", folder)
    with pytest.raises(CannotReadError, match="cannot read -: Is a directory"):
        content()
    os.close(folder.descriptor)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full is Linux's")
def test_a_full_disk_is_an_error_that_names_the_way_out(
    piped: Pipe, monkeypatch: pytest.MonkeyPatch
):
    piped(b"x" * (3 * CHUNK))
    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: open("/dev/full", "wb"))  # noqa: PTH123, SIM115

    with pytest.raises(CannotReadError, match="No space left on device") as error:
        content()
    assert "TMPDIR" in (error.value.hint or "")


def test_marks_of_stdin_last_as_long_as_it_is_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    marks = Marks(STDIN, "s")
    marks.put("a", "id1")
    marks.put("b", "id2")
    marks.drop("a")

    assert dict(marks) == {"b": "id2"}
    assert dict(Marks(STDIN, "s")) == {}
    assert not (tmp_path / "state").exists()
