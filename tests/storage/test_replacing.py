"""Replacing a file: whole or not at all, and what a killed writer left does not stay."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tt_debugger.storage.replacing import ABANDONED, replace

KILLED = """
import os, sys
from pathlib import Path
from tt_debugger.storage.replacing import replace

def parts():
    yield b"half"
    os._exit(9)

replace(Path(sys.argv[1]), parts())
"""


@pytest.fixture
def left(tmp_path: Path) -> Path:
    """What a writer that was killed left beside the file that it was to replace."""
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")
    ran = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False, timeout=60)  # noqa: S603 - our own program
    (found,) = (each for each in tmp_path.iterdir() if each != path)
    assert (ran.returncode, path.read_bytes()) == (9, b"old")
    return found


def grow_old(path: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(path, (then, then))


@pytest.mark.parametrize("name", ["kept.json", "other.index"])
def test_what_a_killed_writer_left_goes_with_the_next_writing_an_hour_later(left: Path, name: str):
    grow_old(left, ABANDONED + 60)
    replace(left.parent / name, (b"n", b"ew"))

    assert not left.exists()
    assert (left.parent / name).read_bytes() == b"new"


def test_what_may_still_be_written_stays(left: Path):
    grow_old(left, ABANDONED - 60)
    replace(left.parent / "kept.json", (b"new",))

    assert left.exists()


def test_nothing_else_is_removed_however_old_it_is(tmp_path: Path):
    others = [tmp_path / name for name in ("kept-1.part", ".hidden", ".a-b.json", "old.damaged")]
    for each in others:
        each.write_bytes(b"other")
        grow_old(each, 1_000 * ABANDONED)
    (tmp_path / ".folder-1.part").mkdir()
    grow_old(tmp_path / ".folder-1.part", 1_000 * ABANDONED)
    replace(tmp_path / "kept.json", (b"new",))

    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(
        ["kept.json", ".folder-1.part", *(each.name for each in others)]
    )


@pytest.mark.parametrize(("is_durable", "expected"), [(True, [b"new"]), (False, [])])
def test_a_durable_file_is_on_the_disk_before_it_takes_its_name(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    expected: list[bytes],
    *,
    is_durable: bool,
):
    path = tmp_path / "kept.json"
    synced: list[bytes] = []

    def sync(descriptor: int) -> None:
        assert not path.exists()
        synced.append(os.pread(descriptor, 100, 0))

    monkeypatch.setattr(os, "fsync", sync)
    replace(path, (b"n", b"ew"), is_durable=is_durable)

    assert (synced, path.read_bytes()) == (expected, b"new")


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_beside_it(tmp_path: Path):
    path = tmp_path / "kept.json"
    path.write_bytes(b"old")

    def parts():
        yield b"half"
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        replace(path, parts())
    assert [(each.name, each.read_bytes()) for each in tmp_path.iterdir()] == [
        ("kept.json", b"old")
    ]
