"""What has become of forks: told without reading them, and the same in every list."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from repositories import Made as Repository

from tt_debugger.core.fork.made import Made, MadeState
from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.writes import (
    BranchWritten,
    FileWritten,
    IndexWritten,
    KeysWritten,
    LinesWritten,
    RowsWritten,
    Written,
)
from tt_debugger.forking.made import made_of, state_of


def made(*written: Written) -> Operation:
    return Operation("ab", 0, "a#x", "b", "s", "p", "go", written=written, is_finished=True)


def test_one_that_was_undone_or_never_finished_is_that_whatever_there_is(tmp_path: Path):
    gone = made(FileWritten(str(tmp_path / "gone"), 1, ""))
    undone = msgspec.structs.replace(gone, undone=1.0)
    unfinished = msgspec.structs.replace(gone, is_finished=False)
    assert [*map(state_of, (gone, undone, unfinished))] == [
        MadeState.GONE,
        MadeState.UNDONE,
        MadeState.UNFINISHED,
    ]
    assert made_of(undone) == Made(undone, MadeState.UNDONE)
    assert [each for each in MadeState if each.is_there] == [MadeState.DONE, MadeState.CHANGED]


@pytest.mark.parametrize("begin", [0, 4])
def test_of_a_file_the_size_tells_what_has_become_of_it(tmp_path: Path, begin: int):
    path = tmp_path / "fork.jsonl"
    path.write_bytes(b"x" * 10)
    whole = FileWritten(str(path), 10, "")
    written = LinesWritten(str(path), begin, 10 - begin, "") if begin else whole
    assert state_of(made(written)) is MadeState.DONE
    path.write_bytes(b"x" * 11)
    assert state_of(made(written)) is MadeState.CHANGED
    path.unlink()
    assert state_of(made(written)) is MadeState.GONE


def test_the_first_part_that_is_not_as_it_was_tells_of_the_whole(tmp_path: Path):
    path = tmp_path / "fork.jsonl"
    path.write_bytes(b"x")
    index = IndexWritten(str(tmp_path / "index"), "line", is_new=True)
    kept, gone = FileWritten(str(path), 1, ""), FileWritten(str(tmp_path / "gone"), 1, "")
    assert state_of(made(index, kept)) is MadeState.DONE
    assert state_of(made(index, kept, gone)) is MadeState.GONE


def test_rows_are_there_as_long_as_their_file_is_and_no_server_is_asked(tmp_path: Path):
    path = tmp_path / "a.db"
    sqlite3.connect(path).close()
    rows = RowsWritten(str(path), ())
    assert state_of(made(rows)) is MadeState.DONE
    path.unlink()
    assert state_of(made(rows)) is MadeState.GONE
    far = (RowsWritten("postgresql://nowhere.invalid/x", ()), KeysWritten("redis://n.invalid", {}))
    assert state_of(made(*far)) is MadeState.DONE


def test_a_branch_is_known_by_the_commit_it_is_at(tmp_path: Path):
    repository = Repository(tmp_path / "shop")
    first = repository.commit("One\n", {"a": "1\n"})
    second = repository.commit("Two\n", {"a": "2\n"})
    repository.git("branch", "ttdbg/x", first)
    branch = made(BranchWritten(str(tmp_path / "shop"), "ttdbg/x", first))
    assert state_of(branch) is MadeState.DONE
    repository.git("branch", "-f", "ttdbg/x", second)
    assert state_of(branch) is MadeState.CHANGED
    repository.git("branch", "-D", "ttdbg/x")
    assert state_of(branch) is MadeState.GONE
    assert state_of(made(BranchWritten(str(tmp_path / "shop"), "-x", first))) is MadeState.GONE
    shutil.rmtree(tmp_path / "shop")
    assert state_of(branch) is MadeState.GONE
