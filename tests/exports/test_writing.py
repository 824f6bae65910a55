"""An export is written whole, to a name that is free, for its owner alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.exports.writing import write


def test_a_file_is_written_for_its_owner_alone(tmp_path: Path):
    path = tmp_path / "a.md"

    write(path, "héllo\n")

    assert path.read_bytes() == "héllo\n".encode()
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("mine")

    with pytest.raises(UsageError, match="is there already"):
        write(path, "other")

    assert path.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [path]


def test_with_force_it_is_written_over(tmp_path: Path):
    path = tmp_path / "a.md"
    path.write_text("mine")

    write(path, "other", force=True)

    assert path.read_text() == "other"


def test_what_a_link_leads_to_is_never_written_to(tmp_path: Path):
    target, path = tmp_path / "target", tmp_path / "a.md"
    target.write_text("mine")
    path.symlink_to(target)

    with pytest.raises(UsageError):
        write(path, "other")
    write(path, "other", force=True)

    assert (target.read_text(), path.read_text()) == ("mine", "other")


def test_without_links_a_name_is_taken_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    path = tmp_path / "a.md"

    write(path, "text")
    with pytest.raises(UsageError):
        write(path, "other")

    assert path.read_text() == "text"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_left_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(CannotWriteError, match="No space left"):
        write(tmp_path / "a.md", "text")

    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path):
    with pytest.raises(CannotWriteError, match="cannot write"):
        write(tmp_path / "none" / "a.md", "text")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_is_no_file_is_never_replaced(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(UsageError, match="no file"):
        write(pipe, "page", force=True)

    assert pipe.is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]
