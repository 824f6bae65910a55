"""The mutation fuzzer, a little of it on every run; `python tests/fuzz.py` does the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fuzz
import pytest

COUNT = 500


def test_broken_bytes_go_through_all_that_reads_and_draws(tmp_path: Path):
    command = [sys.executable, fuzz.__file__, "--count", str(COUNT), "--jobs", "2"]

    ran = subprocess.run(  # noqa: S603 - our own program
        [*command, "--keep", str(tmp_path)], capture_output=True, timeout=300, check=False
    )

    assert ran.stderr.decode() == ""
    assert ran.returncode == 0, ran.stdout.decode()
    assert "500 files" in ran.stdout.decode()
    assert "0 failures" in ran.stdout.decode()


def test_a_seed_always_breaks_the_same_file_in_the_same_way():
    assert [fuzz.broken(seed) for seed in range(40)] == [fuzz.broken(seed) for seed in range(40)]


def test_most_files_are_broken():
    originals = {data for _, data in fuzz.corpus()}

    assert sum(fuzz.broken(seed)[1] not in originals for seed in range(100)) > 70


def test_what_goes_wrong_is_found_made_small_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fails(_name: str, data: bytes, _folder: Path, **_: bool) -> None:
        if b"\n" in data:
            raise fuzz.WrongError("a newline: in it")

    monkeypatch.setattr(fuzz, "use", fails)
    monkeypatch.setattr(fuzz, "broken", lambda _seed: ("x.jsonl", b"some\nbytes\nand more" * 9))
    monkeypatch.setattr(fuzz, "_SEEN", set())

    failure = fuzz.failure_of(3, tmp_path, tmp_path / "kept")

    assert failure == fuzz.Failure(3, "a newline: in it", str(tmp_path / "kept" / "seed-3.jsonl"))
    assert (tmp_path / "kept" / "seed-3.jsonl").read_bytes() == b"\n"


def test_a_control_byte_in_a_drawn_line_is_found():
    with pytest.raises(fuzz.WrongError, match="ESCAPE 'b'"):
        fuzz._check("a\x1bb", where="a line")
    with pytest.raises(fuzz.WrongError, match="raw"):
        fuzz._check("a\u202eb", where="a line")
