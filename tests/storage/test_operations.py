"""The operation log: only ever added to, read generously, one writer at a time."""

from __future__ import annotations

import errno
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import msgspec
import pytest
from failing import ERRORS, failing

from tt_debugger.core.fork.operation import Operation
from tt_debugger.core.fork.writes import (
    BranchWritten,
    FileWritten,
    IndexWritten,
    KeysWritten,
    LinesWritten,
    RowsWritten,
    RowWritten,
    Written,
)
from tt_debugger.errors import CannotReadError, CannotWriteError, UsageError
from tt_debugger.storage.operations import Operations

WRITTEN: tuple[Written, ...] = (
    FileWritten("/a/new.jsonl", 12, "ab"),
    LinesWritten("/a/s.jsonl", 3, 9, "cd", "/a/.s.jsonl.lock"),
    IndexWritten("/a/index.jsonl", '{"id": "ü"}', is_new=True),
    RowsWritten("/a/db.sqlite", (RowWritten("t", {"id": 1, "name": "x"}, "ef"),)),
    KeysWritten("redis://h/0", {"k": "01"}),
    BranchWritten("/a", "b", "c0ffee"),
)


@pytest.fixture(autouse=True)
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the log, which is not there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "ttdbg" / "operations.jsonl"


def operation(own: str, origin: str = "postgres://h/a#s:x", time: float = 1.5) -> Operation:
    return Operation(own, time, origin, "postgres://h/a", "new", "y", "agent --resume new", "why")


def finished(each: Operation, written: tuple[Written, ...] = WRITTEN) -> Operation:
    return msgspec.structs.replace(each, written=written, is_finished=True)


def note(own: str, origin: str = "postgres://h/a#s:x") -> Operation:
    """Note an operation that was finished."""
    Operations().begin(operation(own, origin))
    Operations().finish(own, WRITTEN)
    return finished(operation(own, origin))


def test_where_nothing_was_written_there_is_nothing_and_nothing_is_made(log: Path):
    operations = Operations()

    assert (operations.all(), operations.newest(), operations.damaged) == ([], None, 0)
    assert operations.of_origin("a") == ()
    assert not log.parent.parent.exists()
    with pytest.raises(UsageError, match="there is no operation 'ab'") as error:
        operations.named("ab")
    assert error.value.hint == "nothing was written by ttdbg yet"


def test_an_operation_is_known_from_its_beginning_to_its_undoing():
    operations = Operations()
    operations.begin(operation("ab01"))
    assert operations.all() == [operation("ab01")]
    assert not operations.all()[0].can_be_undone

    operations.finish("ab01", WRITTEN)
    assert operations.all() == [finished(operation("ab01"))]
    assert operations.all()[0].can_be_undone

    operations.note_undone("ab01", 9.5)
    assert Operations().all() == [msgspec.structs.replace(finished(operation("ab01")), undone=9.5)]
    assert not operations.all()[0].can_be_undone


def test_one_that_was_given_up_is_not_told_of():
    Operations().begin(operation("ab01"))
    Operations().begin(operation("ab02"))
    Operations().give_up("ab01")
    Operations().note_left("ab01", ())

    assert Operations().all() == [operation("ab02")]


def test_of_one_that_was_taken_back_in_part_the_rest_can_be():
    note("ab12")
    Operations().note_left("ab12", WRITTEN[:2])

    rest = Operations().named("ab")
    assert rest == msgspec.structs.replace(finished(operation("ab12")), written=WRITTEN[:2])
    assert rest.can_be_undone
    assert Operations().newest() == rest


def test_nobody_else_may_read_them(log: Path):
    note("ab01")

    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert stat.S_IMODE(log.parent.stat().st_mode) == 0o700
    assert [each.name for each in log.parent.iterdir()] == [log.name]


def test_each_line_is_on_the_disk_before_anything_else_is_done(log: Path):
    real = os.fsync
    synced: list[int] = []

    def sync(file: int) -> None:
        real(file)
        synced.append(os.fstat(file).st_ino)

    with mock.patch.object(os, "fsync", sync):
        Operations().begin(operation("ab01"))
        Operations().finish("ab01", ())
    own, *above = (each.stat().st_ino for each in (log, *log.parents[:2]))
    assert synced == [own, *above, own]


def test_what_was_noted_is_never_changed(log: Path):
    note("ab01")
    before = log.read_bytes()
    inode = log.stat().st_ino
    note("ab02")
    Operations().note_undone("ab01", 2.5)

    assert log.read_bytes().startswith(before)
    assert log.stat().st_ino == inode


def test_the_newest_is_that_which_can_be_undone():
    note("ab01")
    wanted = note("ab02")
    note("ab03")
    Operations().note_undone("ab03", 2.5)
    Operations().begin(operation("ab04"))

    assert Operations().newest() == wanted


def test_an_operation_is_named_by_how_its_id_begins():
    first, second = note("ab01"), note("abff")
    operations = Operations()

    assert (operations.named("ab0"), operations.named("abff")) == (first, second)
    with pytest.raises(UsageError, match="several operations begin with 'ab'") as error:
        operations.named("ab")
    assert error.value.hint == "one of abff (postgres://h/a), ab01 (postgres://h/a)"
    for name in ("c", ""):
        with pytest.raises(UsageError, match=f"there is no operation '{name}'") as error:
            operations.named(name)
        assert error.value.hint == "there are abff (postgres://h/a), ab01 (postgres://h/a)"


def test_of_many_candidates_the_newest_are_listed():
    for number in range(8):
        Operations().begin(operation(f"ab0{number}"))
    with pytest.raises(UsageError) as error:
        Operations().named("ab")

    hint = error.value.hint or ""
    assert hint.startswith("one of ab07 (")
    assert hint.endswith("ab03 (postgres://h/a) and 3 more")


def test_forks_are_found_by_the_real_path_of_what_they_are_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "a#1.jsonl").touch()
    (tmp_path / "b.jsonl").touch()
    (tmp_path / "link").symlink_to("a#1.jsonl")
    monkeypatch.chdir(tmp_path)
    note("ab01", "a#1.jsonl#s:x")
    note("ab02", "b.jsonl#s:x")
    note("ab03", "./link#x")
    note("ab04", "link")
    note("ab05", "link#x")
    Operations().note_undone("ab05", 2.5)
    Operations().begin(operation("ab06", "link#x"))
    monkeypatch.chdir("/")

    operations = Operations()
    for location in (f"{tmp_path}/a#1.jsonl", f"{tmp_path}/../{tmp_path.name}/link"):
        assert [each.id for each in operations.of_origin(location)] == ["ab01", "ab03", "ab04"]
    assert [each.id for each in operations.of_origin(f"{tmp_path}/b.jsonl")] == ["ab02"]
    assert operations.of_origin("link") == ()


def test_forks_of_a_server_are_found_by_its_address():
    wanted = note("ab01", "postgres://h/a#s:x")
    note("ab02", "postgres://h/ab#s:x")

    assert Operations().of_origin("postgres://h/a") == (wanted,)


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"\xff\xfe",
        b"[]",
        b'{"type": "finished"}',
        b'{"type": 1}',
        b"[" * 99_999,
        b'{"type": "undone", "id": "missing", "time": 1}',
        b'{"type": "begun", "operation": {"id": "ab09"}}',
    ],
)
def test_a_damaged_line_is_passed_over_and_counted(log: Path, line: bytes):
    first = note("ab01")
    with log.open("ab") as file:
        file.write(line + b"\n")
    second = note("ab02")
    operations = Operations()

    assert operations.all() == [first, second]
    assert operations.damaged == 1
    operations.all()
    assert operations.damaged == 1


def test_a_torn_line_is_not_added_to(log: Path):
    first = note("ab01")
    torn = b'{"type": "begun", "opera'
    with log.open("ab") as file:
        file.write(torn)
    second = note("ab02")
    operations = Operations()

    assert (operations.all(), operations.damaged) == ([first, second], 1)
    assert torn + b"\n" in log.read_bytes()


def test_what_a_newer_ttdbg_noted_is_left_to_it(log: Path):
    note("ab01")
    with log.open("ab") as file:
        file.write(b'{"type": "signed", "id": "ab01", "by": [1]}\n\n')
    operations = Operations()

    assert [each.id for each in operations.all()] == ["ab01"]
    assert operations.damaged == 0


def test_what_is_no_file_is_not_waited_for_and_not_written_to(log: Path):
    log.parent.mkdir(parents=True)
    os.mkfifo(log)

    with pytest.raises(CannotReadError):
        Operations().all()
    with pytest.raises(CannotWriteError, match="it is no regular file"):
        Operations().begin(operation("ab01"))


def test_where_nothing_can_be_noted_it_is_told_and_giving_up_is_no_second_error(
    log: Path, tmp_path: Path
):
    (tmp_path / "state").write_text("a file where the folder should be")
    for work in (
        lambda: Operations().begin(operation("ab01")),
        lambda: Operations().finish("ab01", ()),
        lambda: Operations().note_undone("ab01", 1.5),
    ):
        with pytest.raises(CannotWriteError, match="cannot note what is written: ") as error:
            work()
        assert error.value.hint == f"it is noted in {log}; XDG_STATE_HOME names another place"
    Operations().give_up("ab01")
    Operations().note_left("ab01", ())


@pytest.mark.parametrize("how", ERRORS)
def test_whichever_call_fails_a_line_is_noted_or_is_not(log: Path, how: str):
    first = note("ab01")
    before = log.read_bytes()
    with failing(None) as count:
        Operations().begin(operation("ab02"))
    after = log.read_bytes()
    for at in range(count.calls):
        log.write_bytes(before)
        with failing(at, how):
            try:
                Operations().begin(operation("ab02"))
            except (CannotWriteError, KeyboardInterrupt) as error:
                failed = error
            else:
                failed = None
        assert log.read_bytes() in ([after] if failed is None else [before, after])
        assert log.read_bytes() == before or not isinstance(failed, CannotWriteError)
    log.write_bytes(before)
    assert Operations().all() == [first]


def test_what_cannot_be_read_holds_nothing(log: Path):
    note("ab01")
    refused = OSError(errno.EIO, os.strerror(errno.EIO))
    with mock.patch.object(os, "pread", side_effect=refused):
        assert Operations().all() == []
    assert log.exists()


def test_many_writers_at_once_lose_no_line():
    with ThreadPoolExecutor(8) as threads:
        made = list(threads.map(note, [f"{number:04x}" for number in range(40)]))
    operations = Operations()

    assert sorted(operations.all(), key=lambda each: each.id) == made
    assert operations.damaged == 0


def test_a_log_that_is_there_and_cannot_be_read_is_not_an_empty_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    log = tmp_path / "ttdbg" / "operations.jsonl"
    log.mkdir(parents=True)

    with pytest.raises(CannotReadError):
        Operations().all()
    assert Operations().of_origin("s.jsonl") == ()
