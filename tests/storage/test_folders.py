"""Folders: what may hold sessions is found, and what is passed by is told."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tt_debugger.errors import CannotReadError
from tt_debugger.storage.folders import FileFound, PassedBy, Why, files_under


def fill(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("{}\n")


def found(folder: Path, **limits: int) -> tuple[list[str], dict[Why, int]]:
    files, passed = [], Counter()
    for each in files_under(str(folder), **limits):
        if isinstance(each, FileFound):
            files.append(str(Path(each.path).relative_to(folder)))
        else:
            passed[each.why] += 1
    return files, dict(passed)


def test_files_are_found_by_their_suffix_the_nearest_first(tmp_path):
    fill(tmp_path, "z.jsonl", "a/b/deep.ndjson", "a/x.JSON", "notes.rst", "a/y.py")

    assert found(tmp_path) == (["z.jsonl", "a/x.JSON", "a/b/deep.ndjson"], {Why.OTHER: 2})


def test_hidden_folders_are_left_out_but_homes_of_agents_are_not(tmp_path):
    fill(tmp_path, ".pi/agent/s.jsonl", ".git/x.json", "node_modules/p.json", ".cache/c.json")

    assert found(tmp_path) == ([".pi/agent/s.jsonl"], {Why.LEFT_OUT: 3})
    assert found(tmp_path / ".cache") == (["c.json"], {})


def test_links_are_not_followed_and_pipes_are_no_files(tmp_path):
    fill(tmp_path, "real/s.jsonl")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "twin.jsonl").symlink_to(tmp_path / "real/s.jsonl")
    os.mkfifo(tmp_path / "pipe.jsonl")

    assert found(tmp_path) == (["real/s.jsonl"], {Why.LINK: 2, Why.OTHER: 1})


def test_depth_and_number_are_bounded_and_the_cut_is_told(tmp_path):
    fill(tmp_path, "a/b/c/s.jsonl", "a/t.jsonl", "r.jsonl")

    assert found(tmp_path, most_deep=1) == (["r.jsonl", "a/t.jsonl"], {Why.TOO_DEEP: 1})
    assert found(tmp_path, most_names=2) == (["r.jsonl"], {Why.TOO_MANY: 1})
    assert found(tmp_path, most_names=6) == (["r.jsonl", "a/t.jsonl", "a/b/c/s.jsonl"], {})


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads all")
def test_a_folder_that_cannot_be_read_is_told(tmp_path):
    fill(tmp_path, "shut/s.jsonl")
    (tmp_path / "shut").chmod(0)
    try:
        assert found(tmp_path) == ([], {Why.UNREADABLE: 1})
    finally:
        (tmp_path / "shut").chmod(0o700)


def test_a_file_is_itself_all_there_is_whatever_its_name(tmp_path):
    fill(tmp_path, "odd.txt")
    (each,) = files_under(str(tmp_path / "odd.txt"))
    assert isinstance(each, FileFound)
    assert (each.path, each.size) == (str(tmp_path / "odd.txt"), 3)


@pytest.mark.parametrize("location", ["nothing", "a\0b"])
def test_a_location_that_is_not_there_is_an_error_with_a_hint(location):
    with pytest.raises(CannotReadError) as caught:
        list(files_under(location))
    assert caught.value.hint == "give a folder, or a file that holds sessions"


def test_what_is_passed_by_has_its_path(tmp_path):
    fill(tmp_path, "a.rst")
    assert list(files_under(str(tmp_path))) == [PassedBy(str(tmp_path / "a.rst"), Why.OTHER)]
