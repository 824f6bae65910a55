"""Writing files: what is new is whole, what is there stays, and what was written can go again."""

from __future__ import annotations

import errno
import os
import stat
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest import mock

import pytest
import saves
from hypothesis import given
from hypothesis import strategies as st
from saves import FORK, INDEX, LOCK, MORE, OLD, ROW, WHOLE, planted, records, sha256

from tt_debugger.core.fork.writes import (
    FileWritten,
    How,
    IndexLine,
    IndexWritten,
    LinesWritten,
    MoreLines,
    NewFile,
    Record,
)
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage import file_writing, locking, publishing, swapping
from tt_debugger.storage.file_writing import (
    WrittenToFile,
    must_be_unchanged,
    take_back_file,
    write_file,
)
from tt_debugger.storage.replacing import ABANDONED


@pytest.fixture(params=["unnamed", "named"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which a new file comes to its name."""
    if request.param == "named":
        monkeypatch.setattr(publishing, "_UNNAMED", 0)
    return request.param


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def session(folder: Path, content: bytes = OLD) -> Path:
    path = folder / "s.jsonl"
    path.write_bytes(content)
    return path


# New files.


@pytest.mark.usefixtures("way")
def test_a_new_file_holds_its_records_for_its_owner_alone_and_nothing_is_beside_it(tmp_path: Path):
    written = write_file(saves.new_file(str(tmp_path)))

    assert written == FileWritten(f"{tmp_path}/new.jsonl", len(WHOLE), sha256(WHOLE))
    assert (tmp_path / "new.jsonl").read_bytes() == WHOLE
    assert mode_of(tmp_path / "new.jsonl") == 0o600
    assert names(tmp_path) == ["new.jsonl"]


@pytest.mark.usefixtures("way")
def test_many_records_and_big_ones_are_written_whole(tmp_path: Path):
    lines = [b"%d\n" % number for number in range(50_000)] + [b"x" * (3 << 20), b"\n"]
    written = write_file(NewFile(f"{tmp_path}/big.jsonl", records(*lines)))

    assert isinstance(written, FileWritten)
    data = (tmp_path / "big.jsonl").read_bytes()
    assert (data, written.digest) == (b"".join(lines), sha256(data))


@pytest.mark.parametrize("kind", ["file", "empty file", "folder", "dangling link"])
@pytest.mark.usefixtures("way")
def test_a_name_that_is_taken_is_refused_and_stays_what_it_is(tmp_path: Path, kind: str):
    path = tmp_path / "new.jsonl"
    make: dict[str, Callable[[], object]] = {
        "file": lambda: path.write_bytes(b"other"),
        "empty file": path.touch,
        "folder": path.mkdir,
        "dangling link": lambda: path.symlink_to("nowhere"),
    }
    make[kind]()
    before = path.lstat()
    with pytest.raises(UsageError) as error:
        write_file(saves.new_file(str(tmp_path)))

    assert (error.value.message, error.value.hint) == (
        f"{path} is there already",
        "nothing is ever written over what is there: choose another name",
    )
    assert (path.lstat(), names(tmp_path)) == (before, ["new.jsonl"])


def rival_survives(folder: Path) -> bool:
    """Tell whether a file stays that takes the name once nothing was seen there."""
    path = folder / "new.jsonl"

    def look(asked: str) -> bool:
        assert asked == str(path)
        path.write_bytes(b"rival")
        return False

    with mock.patch.object(os.path, "lexists", look):
        try:
            write_file(saves.new_file(str(folder)))
        except UsageError:
            return path.read_bytes() == b"rival" and names(folder) == ["new.jsonl"]
    return False


@pytest.mark.usefixtures("way")
def test_a_name_that_is_taken_at_the_last_moment_is_not_written_over(tmp_path: Path):
    assert rival_survives(tmp_path)


@pytest.mark.parametrize("bug", ["rename over", "another file system"])
def test_a_writer_that_writes_over_a_name_is_found(tmp_path: Path, bug: str):
    (tmp_path / "at").mkdir()
    with planted(bug):
        assert not rival_survives(tmp_path / "at")


@pytest.mark.usefixtures("way")
def test_of_many_who_want_a_name_one_gets_it(tmp_path: Path):
    path = tmp_path / "new.jsonl"
    gate = threading.Barrier(8)

    def attempt(own: int) -> int | None:
        gate.wait()
        try:
            write_file(NewFile(str(path), records(b"%d\n" % own * 2_000)))
        except UsageError:
            return None
        return own

    with ThreadPoolExecutor(8) as threads:
        (winner,) = (each for each in threads.map(attempt, range(8)) if each is not None)
    assert path.read_bytes() == b"%d\n" % winner * 2_000
    assert names(tmp_path) == ["new.jsonl"]


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EACCES, "see who may write there, or choose another place"),
        (errno.ENOSPC, "make some room, or choose another place"),
        (errno.EIO, "the disk or its file system fails: look after it before you go on"),
        (errno.EMFILE, None),
    ],
)
@pytest.mark.usefixtures("way")
def test_what_the_system_refuses_is_told_with_the_path_and_what_to_do(
    tmp_path: Path, number: int, hint: str | None
):
    with (
        mock.patch.object(os, "fsync", side_effect=OSError(number, os.strerror(number))) as sync,
        pytest.raises(CannotWriteError) as error,
    ):
        write_file(saves.new_file(str(tmp_path)))

    assert (error.value.message, error.value.hint) == (
        f"cannot write {tmp_path}/new.jsonl: {os.strerror(number)}",
        hint,
    )
    # What could not be synced once is not synced again: it would be said to be well.
    assert (names(tmp_path), sync.call_count) == ([], 1)


@pytest.mark.usefixtures("way")
def test_a_folder_that_is_not_there_is_not_made(tmp_path: Path):
    with pytest.raises(CannotWriteError, match="No such file or directory") as error:
        write_file(saves.new_file(f"{tmp_path}/missing"))

    assert error.value.hint == "the folder must be there: make it first"
    assert names(tmp_path) == []


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EISDIR, errno.EINVAL])
def test_where_no_file_can_be_without_a_name_it_has_one_of_its_own_first(
    tmp_path: Path, number: int
):
    real = os.open

    def opened(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(number, os.strerror(number))
        return real(path, flags, mode)

    with mock.patch.object(os, "open", opened):
        write_file(saves.new_file(str(tmp_path)))
    assert saves.state_of(tmp_path) == {"new.jsonl": WHOLE}


def test_where_proc_is_not_there_a_file_gets_its_name_in_the_other_way(tmp_path: Path):
    real = os.link

    def link(source: str, path: str, **named: int | None) -> None:
        if source.startswith("/proc/"):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        real(source, path, **named)  # type: ignore[arg-type]

    with mock.patch.object(os, "link", link):
        write_file(saves.new_file(str(tmp_path)))
    assert saves.state_of(tmp_path) == {"new.jsonl": WHOLE}


@pytest.mark.parametrize("number", [errno.EPERM, errno.EOPNOTSUPP])
def test_where_there_are_no_hard_links_nothing_is_written(tmp_path: Path, number: int):
    with (
        mock.patch.object(os, "link", side_effect=OSError(number, "refused")),
        pytest.raises(CannotWriteError, match="its file system has no hard links") as error,
    ):
        write_file(saves.new_file(str(tmp_path)))

    assert error.value.hint == "see who may write there, or choose another place"
    assert names(tmp_path) == []


def test_a_file_system_that_does_not_sync_folders_is_no_error(tmp_path: Path):
    real = os.fsync

    def sync(file: int) -> None:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        real(file)

    with mock.patch.object(os, "fsync", sync):
        write_file(saves.new_file(str(tmp_path)))
    assert saves.state_of(tmp_path) == {"new.jsonl": WHOLE}


@pytest.mark.parametrize(("age", "stays"), [(ABANDONED + 60, False), (ABANDONED - 60, True)])
def test_what_a_killed_ttdbg_left_goes_an_hour_later_and_nothing_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, age: float, *, stays: bool
):
    monkeypatch.setattr(publishing, "_UNNAMED", 0)
    others = [".other-1.part", "ttdbg-1.part", ".ttdbg-1.jsonl"]
    then = time.time() - age
    for name in (".ttdbg-0123456789abcdef.part", *others):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (then, then))
    write_file(saves.new_file(str(tmp_path)))

    left = [".ttdbg-0123456789abcdef.part"] if stays else []
    assert names(tmp_path) == sorted([*left, *others, "new.jsonl"])


def test_a_path_is_kept_as_it_is_found_from_anywhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    written = write_file(NewFile("new.jsonl", records(*FORK)))
    monkeypatch.chdir("/")
    take_back_file(written)

    assert names(tmp_path) == []


# Lines at the end of a file.


@pytest.mark.parametrize("open_end", [b"", b"[1]"])
def test_lines_come_behind_what_is_there_and_behind_the_end_of_its_last_line(
    tmp_path: Path, open_end: bytes
):
    old = OLD + open_end
    path = session(tmp_path, old)
    before = path.stat()
    written = write_file(saves.more_lines(str(tmp_path), *MORE, old=old))
    added = b"\n" * bool(open_end) + b"".join(MORE)

    assert path.read_bytes() == old + added
    assert written == LinesWritten(
        str(path), len(old), len(added), sha256(added), f"{tmp_path}/{LOCK}"
    )
    assert (path.stat().st_ino, path.stat().st_mode) == (before.st_ino, before.st_mode)
    assert (names(tmp_path), mode_of(tmp_path / LOCK)) == ([LOCK, "s.jsonl"], 0o600)


def test_lines_go_to_an_empty_file_and_to_one_that_nobody_locks(tmp_path: Path):
    path = session(tmp_path, b"")
    write_file(MoreLines(str(path), records(*MORE), 0, sha256(b"")))

    assert (path.read_bytes(), names(tmp_path)) == (b"".join(MORE), ["s.jsonl"])


@pytest.mark.parametrize("now", [OLD + b"{}\n", OLD[:-1], OLD.replace(b"x", b"z"), b""])
def test_nothing_is_added_to_a_file_that_has_changed(tmp_path: Path, now: bytes):
    path = session(tmp_path, now)
    with pytest.raises(UsageError, match="has changed since it was read") as error:
        write_file(saves.more_lines(str(tmp_path), *MORE))

    assert error.value.hint == "open it again and see what is new before you fork"
    assert path.read_bytes() == now


def test_nothing_is_added_where_the_file_is_gone_or_is_none(tmp_path: Path):
    with pytest.raises(CannotWriteError, match="No such file"):
        write_file(saves.more_lines(str(tmp_path), *MORE))
    os.mkfifo(tmp_path / "s.jsonl")
    with pytest.raises(CannotWriteError, match="it is no regular file"):
        write_file(saves.more_lines(str(tmp_path), *MORE))


def test_who_holds_the_lock_is_waited_for(tmp_path: Path):
    import fcntl

    path = session(tmp_path)
    with (tmp_path / LOCK).open("w") as lock, ThreadPoolExecutor(1) as threads:
        fcntl.flock(lock, fcntl.LOCK_EX)
        writing = threads.submit(write_file, saves.more_lines(str(tmp_path), *MORE))
        with pytest.raises(TimeoutError):
            writing.result(timeout=0.1)
        assert path.read_bytes() == OLD
        fcntl.flock(lock, fcntl.LOCK_UN)
        writing.result(timeout=10)
    assert path.read_bytes() == OLD + b"".join(MORE)


def test_who_does_not_let_go_of_the_lock_is_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    import fcntl

    monkeypatch.setattr(locking, "PATIENCE", 0.05)
    path = session(tmp_path)
    with (tmp_path / LOCK).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(CannotWriteError) as error:
            write_file(saves.more_lines(str(tmp_path), *MORE))

    assert error.value.message == f"another program is writing: it holds {tmp_path}/{LOCK}"
    assert path.read_bytes() == OLD


@pytest.mark.parametrize("theirs_first", [True, False])
def test_what_another_program_writes_at_the_same_moment_is_never_cut_off(
    tmp_path: Path, *, theirs_first: bool
):
    path = session(tmp_path)
    real = os.write

    def write(file: int, data: bytes) -> int:
        if theirs_first:
            with path.open("ab") as other:
                other.write(b"theirs\n")
            return real(file, data)
        count = real(file, data)
        with path.open("ab") as other:
            other.write(b"theirs\n")
        return count

    with (
        mock.patch.object(os, "write", write),
        pytest.raises(CannotWriteError, match="at the same moment") as error,
    ):
        write_file(saves.more_lines(str(tmp_path), MORE[0]))

    assert path.read_bytes() == OLD + (
        b"theirs\n" + MORE[0] if theirs_first else MORE[0] + b"theirs\n"
    )
    assert error.value.hint == (
        f"look at what stands behind byte {len(OLD)}: there may be lines of both"
    )


# A line of an index.


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (INDEX, INDEX + ROW),
        (INDEX[:-1], INDEX + ROW),
        (b"", ROW),
        (b"\xff\xfe\r\n\x00", b"\xff\xfe\r\n\x00\n" + ROW),
    ],
)
def test_an_index_gets_one_more_line_behind_all_that_it_had_and_keeps_its_mode(
    tmp_path: Path, before: bytes, after: bytes
):
    path = tmp_path / "index.jsonl"
    path.write_bytes(before)
    path.chmod(0o640)
    written = write_file(saves.index_line(str(tmp_path)))

    assert written == IndexWritten(str(path), ROW[:-1].decode(), is_new=False)
    assert (path.read_bytes(), mode_of(path)) == (after, 0o640)
    assert names(tmp_path) == ["index.jsonl"]


def test_an_index_that_is_not_there_is_made(tmp_path: Path):
    written = write_file(saves.index_line(str(tmp_path)))

    path = tmp_path / "index.jsonl"
    assert written == IndexWritten(str(path), ROW[:-1].decode(), is_new=True)
    assert (path.read_bytes(), mode_of(path)) == (ROW, 0o600)


def test_an_index_that_is_a_link_stays_one(tmp_path: Path):
    (tmp_path / "real").write_bytes(INDEX)
    (tmp_path / "index.jsonl").symlink_to("real")
    write_file(saves.index_line(str(tmp_path)))

    assert (tmp_path / "index.jsonl").readlink() == Path("real")
    assert (tmp_path / "real").read_bytes() == INDEX + ROW


def test_a_record_that_another_program_adds_meanwhile_is_kept(tmp_path: Path):
    path = tmp_path / "index.jsonl"
    path.write_bytes(INDEX)
    real = swapping.fill
    added: list[bytes] = []

    def fill(file: int, parts: tuple[bytes, ...]) -> None:
        real(file, parts)
        if len(added) < 3:
            added.append(b"theirs %d\n" % len(added))
            # As Tau does: another file takes the name.
            (tmp_path / "theirs").write_bytes(INDEX + b"".join(added))
            (tmp_path / "theirs").replace(path)

    with mock.patch.object(swapping, "fill", fill):
        write_file(saves.index_line(str(tmp_path)))
    assert path.read_bytes() == INDEX + b"".join(added) + ROW
    assert names(tmp_path) == ["index.jsonl"]


def test_an_index_that_another_program_makes_meanwhile_is_kept(tmp_path: Path):
    path = tmp_path / "index.jsonl"
    real = publishing.fill

    def fill(file: int, parts: tuple[bytes, ...]) -> None:
        real(file, parts)
        if not path.exists():
            path.write_bytes(INDEX)

    with mock.patch.object(publishing, "fill", fill):
        written = write_file(saves.index_line(str(tmp_path)))
    assert isinstance(written, IndexWritten)
    assert (path.read_bytes(), written.is_new) == (INDEX + ROW, False)


def test_an_index_that_never_rests_is_left_alone(tmp_path: Path):
    path = tmp_path / "index.jsonl"
    path.write_bytes(INDEX)
    real = swapping.fill

    def fill(file: int, parts: tuple[bytes, ...]) -> None:
        real(file, parts)
        with path.open("ab") as other:
            other.write(b"{}\n")

    with (
        mock.patch.object(swapping, "fill", fill),
        pytest.raises(CannotWriteError, match="another program keeps changing it"),
    ):
        write_file(saves.index_line(str(tmp_path)))
    assert saves.state_of(tmp_path) == {"index.jsonl": INDEX + b"{}\n" * file_writing.TRIES}


def test_many_who_add_to_an_index_at_once_are_all_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(file_writing, "TRIES", 1_000)
    path = tmp_path / "index.jsonl"
    path.write_bytes(INDEX)
    lines = [b'{"session": "%d"}\n' % number for number in range(40)]

    with ThreadPoolExecutor(8) as threads:
        writes = [IndexLine(str(path), *records(line)) for line in lines]
        assert all(threads.map(write_file, writes))
    assert path.read_bytes().startswith(INDEX)
    assert sorted(path.read_bytes().removeprefix(INDEX).splitlines(keepends=True)) == sorted(lines)
    assert names(tmp_path) == ["index.jsonl"]


def test_where_there_are_no_hard_links_an_index_is_replaced_all_the_same(tmp_path: Path):
    (tmp_path / "index.jsonl").write_bytes(INDEX)
    with mock.patch.object(os, "link", side_effect=OSError(errno.EPERM, "refused")):
        write_file(saves.index_line(str(tmp_path)))
    assert saves.state_of(tmp_path) == {"index.jsonl": INDEX + ROW}


# Taking back.


def written_file(folder: Path) -> WrittenToFile:
    return write_file(saves.new_file(str(folder)))


def written_lines(folder: Path) -> WrittenToFile:
    session(folder, OLD + b"[1]")
    return write_file(saves.more_lines(str(folder), *MORE, old=OLD + b"[1]"))


def written_index(folder: Path) -> WrittenToFile:
    (folder / "index.jsonl").write_bytes(INDEX)
    return write_file(saves.index_line(str(folder)))


def written_new_index(folder: Path) -> WrittenToFile:
    return write_file(saves.index_line(str(folder)))


@pytest.mark.parametrize(
    ("make", "left"),
    [
        (written_file, {}),
        (written_lines, {"s.jsonl": OLD + b"[1]"}),
        (written_index, {"index.jsonl": INDEX}),
        (written_new_index, {}),
    ],
)
def test_what_is_taken_back_was_never_there_and_is_not_taken_back_twice(
    tmp_path: Path, make: Callable[[Path], WrittenToFile], left: dict[str, bytes]
):
    written = make(tmp_path)
    must_be_unchanged(written)
    take_back_file(written)

    assert saves.state_of(tmp_path) == left
    for refuse in (must_be_unchanged, take_back_file):
        with pytest.raises(UsageError, match=r"since ttdbg wrote to it|not there any more"):
            refuse(written)
    assert saves.state_of(tmp_path) == left


@pytest.mark.parametrize(
    ("make", "name", "now", "what"),
    [
        (written_file, "new.jsonl", WHOLE + b"{}\n", "3 bytes were added to it"),
        (written_file, "new.jsonl", WHOLE[:-1], "it had 138 bytes and has 137"),
        (written_file, "new.jsonl", WHOLE.replace(b"y", b"z"), "it has other content of the same"),
        (written_lines, "s.jsonl", OLD, "it had 131 bytes and has 76"),
        (
            written_lines,
            "s.jsonl",
            OLD + b"[1]\n" + b"".join(MORE) + b"{}\n",
            "3 bytes were added behind the lines of ttdbg",
        ),
        (
            written_lines,
            "s.jsonl",
            OLD + b"[1]\n" + b"".join(MORE).replace(b"5", b"8"),
            "the lines that ttdbg added are not what they were",
        ),
        (written_index, "index.jsonl", INDEX, "it has not the line any more that ttdbg added"),
        (
            written_index,
            "index.jsonl",
            INDEX + ROW.replace(b"c", b"d"),
            "it has not the line any more that ttdbg added",
        ),
    ],
)
def test_what_has_changed_is_not_taken_back_and_it_is_told_what_changed(
    tmp_path: Path,
    make: Callable[[Path], WrittenToFile],
    name: str,
    now: bytes,
    what: str,
):
    written = make(tmp_path)
    (tmp_path / name).write_bytes(now)
    for refuse in (must_be_unchanged, take_back_file):
        with pytest.raises(UsageError) as error:
            refuse(written)
        assert error.value.message == (
            f"{tmp_path}/{name} has changed since ttdbg wrote to it, so nothing is taken back"
        )
        assert (error.value.hint or "").startswith(what)
    assert (tmp_path / name).read_bytes() == now


def test_a_link_in_the_place_of_a_file_is_not_taken_back(tmp_path: Path):
    written = written_file(tmp_path)
    (tmp_path / "new.jsonl").rename(tmp_path / "moved.jsonl")
    (tmp_path / "new.jsonl").symlink_to("moved.jsonl")
    with pytest.raises(UsageError) as error:
        take_back_file(written)

    assert (error.value.hint or "").startswith("a link stands in its place")
    assert names(tmp_path) == ["moved.jsonl", "new.jsonl"]


def test_lines_of_others_stay_in_an_index_from_which_ours_is_taken(tmp_path: Path):
    written = written_new_index(tmp_path)
    with (tmp_path / "index.jsonl").open("ab") as other:
        other.write(b"theirs\r\nlast")
    take_back_file(written)

    assert saves.state_of(tmp_path) == {"index.jsonl": b"theirs\r\nlast"}


def test_of_two_lines_that_are_the_same_the_later_is_ours(tmp_path: Path):
    (tmp_path / "index.jsonl").write_bytes(ROW + INDEX)
    written = write_file(saves.index_line(str(tmp_path)))
    take_back_file(written)

    assert saves.state_of(tmp_path) == {"index.jsonl": ROW + INDEX}


# Laws.

LINES = st.lists(st.binary(max_size=40).map(lambda line: line.replace(b"\n", b"") + b"\n"))
CONTENT = st.binary(max_size=200)


@given(LINES.filter(bool), CONTENT)
def test_written_and_taken_back_all_is_as_it_was(lines: list[bytes], content: bytes):
    with saves.quick_folder() as folder:
        path = session(folder, content)
        before = path.stat()
        written = write_file(MoreLines(str(path), records(*lines), len(content), sha256(content)))
        grown = path.read_bytes()
        take_back_file(written)

        assert grown.startswith(content)
        assert grown.endswith(b"".join(lines))
        assert (path.read_bytes(), path.stat().st_ino) == (content, before.st_ino)


@given(st.text().map(lambda text: text.replace("\n", "")), CONTENT)
def test_an_index_keeps_every_byte_and_gets_the_line_it_is_given(line: str, content: bytes):
    with saves.quick_folder() as folder:
        path = folder / "index.jsonl"
        path.write_bytes(content)
        own = line.encode("utf-8", "replace")
        written = write_file(IndexLine(str(path), *records(own + b"\n")))
        assert path.read_bytes().startswith(content)
        assert path.read_bytes().endswith(own + b"\n")
        take_back_file(written)

        end = b"\n" if content and not content.endswith(b"\n") else b""
        assert path.read_bytes() == content + end


def test_folders_that_a_file_needs_are_made_where_that_is_asked_for(tmp_path: Path):
    path = tmp_path / "a" / "b" / "new.jsonl"

    write_file(NewFile(str(path), (Record(b"1\n", How.ADDED),), makes_folders=True))

    assert path.read_bytes() == b"1\n"
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_folders_that_were_made_for_nothing_go_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def fail(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(file_writing, "publish", fail)

    with pytest.raises(CannotWriteError):
        write_file(NewFile(str(tmp_path / "a" / "b" / "n"), (), makes_folders=True))

    assert list(tmp_path.iterdir()) == []
