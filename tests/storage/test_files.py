"""Files: only regular ones are opened, and nothing else is ever waited for."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from tt_debugger.errors import CannotReadError
from tt_debugger.storage import probe as probe_module
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.probe import probe
from tt_debugger.store import Probe

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has other kinds of files")


def folder(at: Path) -> Path:
    at.mkdir()
    return at


def fifo_without_a_writer(at: Path) -> Path:
    os.mkfifo(at)
    return at


def socket_file(at: Path) -> Path:
    server = socket.socket(socket.AF_UNIX)
    # The path of a socket may be 108 bytes long at most, so it is named from its own folder.
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(at.parent)
        server.bind(at.name)
    server.close()
    return at


def link_loop(at: Path) -> Path:
    at.symlink_to(at.name)
    return at


def link_to_a_device(at: Path) -> Path:
    at.symlink_to("/dev/zero")
    return at


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (folder, "it is a folder"),
        (fifo_without_a_writer, "it is a named pipe"),
        (socket_file, "a device or socket"),
        (link_loop, "its links lead in a circle"),
        (link_to_a_device, "it is a device"),
        (lambda at: at, "there is no such file"),
        (lambda at: at / "under" / "nothing", "there is no such file"),
        (lambda _: Path("/dev/null"), "it is a device"),
        (lambda at: at.with_name("n" * 300), "the name is too long"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path, make: object, says: str):
    assert callable(make)
    with pytest.raises(CannotReadError, match=says):
        RegularFile(str(make(tmp_path / "it")))


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="there is no /proc")
@pytest.mark.parametrize("path", ["/proc/self/status", "/proc/self/environ", "/proc/self/maps"])
def test_a_file_of_the_kernel_is_refused(path: str):
    with pytest.raises(CannotReadError, match="has no size"):
        RegularFile(path)


def test_a_path_with_a_nul_byte_is_refused():
    with pytest.raises(CannotReadError, match="null"):
        RegularFile("a\0b")


@pytest.mark.skipif(os.name != "nt" and os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path):
    (tmp_path / "secret").touch(0o000)

    with pytest.raises(CannotReadError, match="permission is denied"):
        RegularFile(str(tmp_path / "secret"))


def test_the_hint_for_a_folder_names_the_sessions_in_it(tmp_path: Path):
    for name in ("d.jsonl", "b.jsonl", "a.jsonl", "c.jsonl", "notes.txt"):
        (tmp_path / name).touch()

    with pytest.raises(CannotReadError) as error:
        RegularFile(str(tmp_path))

    assert error.value.hint == "give one of its files: a.jsonl, b.jsonl, c.jsonl and 1 more"


def test_the_hint_for_a_missing_file_with_a_ref_names_the_ref(tmp_path: Path):
    with pytest.raises(CannotReadError) as error:
        RegularFile(str(tmp_path / "a.jsonl#@"))

    assert "ref" in (error.value.hint or "")


def test_a_file_is_read_at_any_offset_and_only_to_its_end(tmp_path: Path):
    path = tmp_path / "f"
    path.write_bytes(b"0123456789")
    file = RegularFile(str(path))

    assert (file.read(2, 3), file.read(8, 100), file.read(50, 1)) == (b"234", b"89", b"")
    assert file.size() == 10
    file.close()


def test_an_empty_file_is_a_regular_file(tmp_path: Path):
    (tmp_path / "empty").touch()

    file = RegularFile(str(tmp_path / "empty"))

    assert (file.size(), file.read(0, 10)) == (0, b"")
    file.close()


def test_a_file_stays_current_until_its_path_leads_elsewhere(tmp_path: Path):
    path, other = tmp_path / "f", tmp_path / "g"
    path.write_bytes(b"old")
    other.write_bytes(b"new")
    file = RegularFile(str(path))
    path.write_bytes(b"rewritten in place")

    assert file.is_current()
    other.replace(path)
    assert not file.is_current()
    path.unlink()
    assert not file.is_current()
    file.close()


def test_a_closed_file_may_be_closed_again(tmp_path: Path):
    (tmp_path / "f").touch()
    file = RegularFile(str(tmp_path / "f"))

    file.close()
    file.close()


def open_files() -> int:
    """Give the number of open files, 0 where the system does not tell."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.exists() else 0


def test_refusing_leaves_no_file_open(tmp_path: Path):
    opened = open_files()

    for _ in range(5):
        with pytest.raises(CannotReadError):
            RegularFile(str(tmp_path))

    assert open_files() == opened


def test_a_probe_sees_the_name_the_size_and_the_first_bytes(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"x\n" * 35_000)

    assert probe(str(path)) == Probe(str(path), "s.jsonl", b"x\n" * 32_768, 70_000)


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"x" * 70_000 + b"\ny\nz", 70_001),
        (b"x" * 70_000, 70_000),
        (b"\n" * 70_000 + b"x\ny\nz", 70_002),
        (b"\n \r\n" * 70_000, 280_000),
        (b"", 0),
    ],
    ids=["a long line", "no line end", "blank lines first", "all blank", "empty"],
)
def test_a_probe_sees_the_first_line_that_is_not_blank_to_its_end(
    tmp_path: Path, content: bytes, seen: int
):
    path = tmp_path / "s.jsonl"
    path.write_bytes(content)

    assert probe(str(path)).head == content[:seen]


def test_a_probe_sees_no_more_of_a_line_than_a_line_may_be_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(probe_module, "LONGEST", 100_000)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"x" * 300_000)

    assert len(probe(str(path)).head) == 100_000


def test_where_a_hole_ends_is_told_without_reading_it(tmp_path: Path):
    path = tmp_path / "sparse"
    with path.open("wb") as sparse:
        sparse.write(b"begin")
        sparse.seek(1 << 40)
        sparse.write(b"end")
        sparse.truncate((1 << 40) + (1 << 30))
    file = RegularFile(str(path))

    after = file.data_after(1 << 20)
    assert (file.data_after(0), file.data_after(1 << 40)) == (0, 1 << 40)
    assert (1 << 40) - (1 << 20) <= after <= 1 << 40
    assert file.data_after((1 << 40) + (1 << 29)) == file.size() == file.data_after(1 << 50)
    file.close()


def test_where_a_system_tells_no_holes_there_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "file"
    path.write_bytes(b"\0" * 9)
    monkeypatch.delattr(os, "SEEK_DATA", raising=False)
    file = RegularFile(str(path))

    assert [file.data_after(offset) for offset in (0, 5, 9, 20)] == [0, 5, 9, 9]
    file.close()
