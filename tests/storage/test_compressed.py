"""Compressed files: what they hold by offset, within bounds, and what is said where they end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.errors import CannotReadError
from tt_debugger.storage import compressed
from tt_debugger.storage.compressed import CompressedFile, at_most, opened
from tt_debugger.storage.files import HEAD, RegularFile
from tt_debugger.storage.probe import probe

LINES = b"".join(b'{"line":%d}\n' % number for number in range(20_000))


def zipped(folder: Path, data: bytes, name: str = "s.jsonl.zst") -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def test_what_is_not_compressed_is_opened_as_it_is(tmp_path: Path):
    file = opened(zipped(tmp_path, LINES))

    assert type(file) is RegularFile
    file.close()


@given(st.lists(st.binary(max_size=2000), max_size=4), st.integers(0, 9000), st.integers(0, 9000))
def test_any_part_of_any_frames_is_read_by_offset(
    tmp_path_factory: pytest.TempPathFactory, frames: list[bytes], offset: int, length: int
):
    whole = b"first" + b"".join(frames)
    data = b"".join(map(zstandard.compress, (b"first", *frames)))
    file = opened(zipped(tmp_path_factory.mktemp("frames"), data))

    assert file.read(offset, length) == whole[offset : offset + length]
    assert file.size() == len(whole)
    assert isinstance(file, CompressedFile)
    assert file.flaw is None
    file.close()


def test_a_frame_that_is_cut_gives_what_came_before_and_says_so(tmp_path: Path):
    data = zstandard.compress(LINES, 1)
    for end in range(5, len(data) - 1, len(data) // 20):
        file = CompressedFile(zipped(tmp_path, data[:end]))  # even if nothing comes out of it
        held, flaw = file.read(0, file.size()), file.flaw
        file.close()
        assert LINES.startswith(held)
        assert flaw == "the compressed file ends in the middle"


def test_a_frame_of_which_nothing_can_be_read_is_not_taken_for_an_empty_file(tmp_path: Path):
    data = zstandard.compress(b'{"a":1}\n' * 9)

    with pytest.raises(CannotReadError, match="ends in the middle; nothing comes before that"):
        opened(zipped(tmp_path, data[:-4]))
    empty = opened(zipped(tmp_path, zstandard.compress(b"")))
    assert empty.size() == 0
    empty.close()


def test_damage_in_the_middle_is_told(tmp_path: Path):
    data = bytearray(zstandard.ZstdCompressor(write_checksum=True).compress(LINES))
    data[len(data) // 2] ^= 255
    file = CompressedFile(zipped(tmp_path, bytes(data)))

    file.size()
    assert (file.flaw or "").startswith("the compressed data is damaged")
    file.close()


def test_what_unfolds_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(compressed, "MOST", 32 << 20)
    file = opened(zipped(tmp_path, zstandard.compress(bytes(64 << 20))))

    assert len(file.read(0, 1000)) == 1000
    with pytest.raises(CannotReadError, match="it holds more than") as error:
        file.size()
    assert "zstd -d" in (error.value.hint or "")
    file.close()


def test_who_opens_many_files_can_let_less_come_out_of_them(tmp_path: Path):
    path = zipped(tmp_path, zstandard.compress(bytes(40 << 20)))
    with at_most(32 << 20):
        bounded = opened(path)
    file = opened(path)

    with pytest.raises(CannotReadError, match="more than 32 MiB") as error:
        bounded.size()
    assert error.value.hint == "open it by itself"
    assert file.size() == 40 << 20
    for each in (bounded, file):
        each.close()


@pytest.mark.parametrize("data", [b"{}", zstandard.compress(LINES)], ids=["plain", "compressed"])
def test_a_file_of_which_the_first_read_fails_does_not_stay_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, data: bytes
):
    path = zipped(tmp_path, data)
    whole = RegularFile.read

    def failing(file: RegularFile, offset: int, length: int) -> bytes:
        if length != len(compressed.MAGIC) or data == b"{}":
            raise CannotReadError("no")
        return whole(file, offset, length)

    monkeypatch.setattr(RegularFile, "read", failing)
    before = set(Path("/dev/fd").iterdir())

    with pytest.raises(CannotReadError, match="no"):
        opened(path)
    assert set(Path("/dev/fd").iterdir()) == before


def test_a_probe_sees_the_beginning_and_unfolds_no_more(tmp_path: Path):
    path = zipped(tmp_path, zstandard.compress(LINES * 500))
    seen = probe(path)

    assert seen.head == LINES[:HEAD]
    assert len(seen.head) < seen.size < len(LINES) * 500


def test_of_a_small_file_the_probe_sees_all(tmp_path: Path):
    seen = probe(zipped(tmp_path, zstandard.compress(b'{"a":1}\n')))

    assert (seen.head, seen.size) == (b'{"a":1}\n', 8)


def test_without_the_package_it_is_said_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, "zstandard", None)

    with pytest.raises(CannotReadError, match="zstandard is missing") as error:
        opened(zipped(tmp_path, zstandard.compress(LINES)))
    assert "pip install" in (error.value.hint or "")


def test_a_file_that_was_written_anew_is_not_current(tmp_path: Path):
    path = zipped(tmp_path, zstandard.compress(LINES))
    file = opened(path)

    assert file.is_current()
    Path(path).write_bytes(zstandard.compress(LINES + LINES))
    assert not file.is_current()
    file.close()
