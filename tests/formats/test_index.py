"""The index that is kept of a file: good only for what the file still is."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, facts, jsonl, load, pi, tau, user
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.ids import Ids, encoded_ids
from tt_debugger.core.model import Session
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared import jsonl as jsonl_module
from tt_debugger.formats.shared.reading import Reading
from tt_debugger.storage import index_cache
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.lines import Block
from tt_debugger.store import Follows, Remembers

PI = jsonl(
    PI_HEADER,
    pi("a", None, user("first")),
    pi("b", "a", assistant("second", "call")),
    b"{broken",
    pi("c", "b", type="label", targetId="a", label="start"),
    pi("d", "a", user("aside")),
    pi("d", "b", type="compaction", summary="short", firstKeptEntryId="b"),
    pi("e", "gone", type="session_info", name="a title"),
    pi(None, "e", user("nameless")),
)
TAU = jsonl(
    tau("a", None, user("first")),
    tau("b", "a", type="leaf", entry_id="a"),
    tau("c", "b", type="label", label="old"),
    tau("d", "a", type="compaction", summary="s", first_kept_entry_id="a"),
)
TREE = jsonl(
    {"uuid": "a", "parentUuid": None, "message": {"role": "user", "content": "first"}, "seq": 1},
    {"uuid": "b", "parentUuid": "a", "message": user("second"), "seq": 3},
    {"type": "note", "text": "no id"},
    {"uuid": "c", "parentUuid": "a", "role": "tool", "tool_call_id": "none", "content": "x"},
)
MORE = {
    "jsonl_tree": jsonl({"uuid": "d", "parentUuid": "c"}),
    "pi": jsonl(pi("f", "e", user("more"))),
    "tau": jsonl(tau("e", "d", user("more"))),
}
FILES = {"jsonl_tree": TREE, "pi": PI, "tau": TAU}
names = pytest.mark.parametrize("name", FILES)


@pytest.fixture(autouse=True)
def small_files_are_kept_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_cache, "LEAST", 1)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "session.jsonl"


@pytest.fixture
def read_lines(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the lines that were read since the list was last cleared."""
    numbers: list[int] = []
    read_block = Reading.read_block

    def heard(self: Reading, block: Block) -> None:
        numbers.extend(line.number for line in block.each())
        read_block(self, block)

    monkeypatch.setattr(Reading, "read_block", heard)
    return numbers


def seen(session: Session) -> dict[str, object]:
    return {**facts(session), "own": session.own}


def opened(path: Path, name: str, *, keeps: bool = True) -> dict[str, object]:
    """Open a file, keep its index, and give what is in it."""
    store, loaded = load(path, name)
    session = seen(loaded.session)
    assert isinstance(store, Remembers)
    if keeps:
        store.remember(loaded)
    store.close()
    return session


def let_all_be_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let files have been changed long ago, so that their stamps alone are trusted."""
    monkeypatch.setattr(index_cache, "SETTLED", -(10**18))


def entries(tmp_path: Path) -> list[Path]:
    return sorted((tmp_path / "cache").rglob("*.index"))


@names
@pytest.mark.parametrize("is_settled", [True, False], ids=["settled", "just written"])
def test_a_file_that_was_read_before_is_not_read_again(
    path: Path,
    name: str,
    read_lines: list[int],
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_settled: bool,
):
    path.write_bytes(FILES[name])
    if is_settled:
        let_all_be_settled(monkeypatch)
    first = opened(path, name)
    read_lines.clear()

    assert opened(path, name) == first
    assert read_lines == []


@names
def test_of_a_file_that_has_grown_only_the_rest_is_read(
    path: Path, name: str, read_lines: list[int]
):
    path.write_bytes(FILES[name])
    opened(path, name)
    with path.open("ab") as file:
        file.write(MORE[name])
    read_lines.clear()

    again = opened(path, name)
    assert read_lines == [FILES[name].count(b"\n") + 1]
    for entry in path.parent.rglob("*.index"):
        entry.unlink()
    assert again == opened(path, name)


@names
def test_a_session_from_the_cache_is_followed_like_any_other(path: Path, name: str):
    path.write_bytes(FILES[name])
    opened(path, name)
    store, loaded = load(path, name)
    with path.open("ab") as file:
        file.write(MORE[name])

    assert isinstance(store, Follows)
    grown = seen(store.follow(loaded.cursor).session)
    store.close()
    anew = path.with_name("other.jsonl")
    anew.write_bytes(path.read_bytes())
    assert grown == opened(anew, name, keeps=False) | {"id": grown["id"]}


@names
def test_a_change_that_keeps_size_and_time_is_noticed(path: Path, name: str):
    path.write_bytes(FILES[name])
    before = path.stat()
    first = opened(path, name)
    path.write_bytes(FILES[name].replace(b"first", b"FIRST"))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    second = opened(path, name)
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)
    assert second != first
    assert second["checkpoints"][0].head.summary == "FIRST"


def test_a_change_long_after_is_told_by_the_time_that_nobody_can_set(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    path.write_bytes(PI)
    let_all_be_settled(monkeypatch)
    before = path.stat()
    opened(path, "pi")
    while path.stat().st_ctime_ns == before.st_ctime_ns:
        path.write_bytes(PI.replace(b"first", b"FIRST"))
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert opened(path, "pi")["checkpoints"][0].head.summary == "FIRST"


@pytest.mark.parametrize(
    "change",
    [
        lambda data: data[:-20],
        lambda _: b"",
        lambda data: data.replace(b"first", b"FIRST") + MORE["pi"],
        lambda _: MORE["pi"] * 40,
    ],
    ids=["cut", "emptied", "changed and grown", "another"],
)
def test_a_file_that_is_another_now_is_read_anew(path: Path, change: Callable[[bytes], bytes]):
    path.write_bytes(PI)
    opened(path, "pi")
    path.write_bytes(change(PI))
    fresh = path.with_name("fresh.jsonl")
    fresh.write_bytes(path.read_bytes())

    again = opened(path, "pi")
    assert again == opened(fresh, "pi", keeps=False) | {"id": again["id"]}


def test_what_rows_say_is_kept_once_it_is_known(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.write_bytes(PI)
    let_all_be_settled(monkeypatch)
    waiting: list[int] = []
    was_of_use: list[bool] = []
    for describes in (False, True, True):
        store, loaded = load(path, "pi")
        assert isinstance(store, Remembers)
        waiting.append(loaded.session.heads.waiting())
        if describes:
            loaded.session.heads.describe_all()
        was_of_use.append(store.remember(loaded))
        summaries = [each.head.summary for each in loaded.session]
        store.close()
        assert summaries[0] == "first"

    assert waiting == [3, 3, 0]
    assert was_of_use == [True, True, False]


def test_a_file_that_is_still_being_written_is_not_kept(path: Path):
    path.write_bytes(PI + b'{"id": "torn')
    opened(path, "pi")

    assert entries(path.parent) == []


@pytest.mark.parametrize(
    "damage",
    [
        lambda _: b"",
        lambda data: data[:5],
        lambda data: data[:40],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-9],
        lambda data: data.replace(b"ttdbg", b"other", 1),
        lambda data: data[:60] + b"\xc1" * 60 + data[120:],
        lambda data: b"\xff" * len(data),
    ],
)
def test_a_damaged_entry_is_passed_over_or_of_no_harm(
    path: Path, damage: Callable[[bytes], bytes], monkeypatch: pytest.MonkeyPatch
):
    path.write_bytes(PI)
    let_all_be_settled(monkeypatch)
    expected = opened(path, "pi")
    (entry,) = entries(path.parent)
    entry.write_bytes(damage(entry.read_bytes()))

    assert opened(path, "pi") == expected


@given(st.data())
def test_of_an_entry_with_any_wrong_byte_nothing_wrong_is_shown(data: st.DataObject):
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as patch:
        folder = Path(name)
        patch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        patch.setattr(index_cache, "LEAST", 1)
        patch.setattr(index_cache, "SETTLED", -(10**18))
        path = folder / "session.jsonl"
        path.write_bytes(PI)
        expected = opened(path, "pi")
        opened(path, "pi")
        (entry,) = entries(folder)
        content = bytearray(entry.read_bytes())
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] ^= data.draw(st.integers(1, 255))
        entry.write_bytes(content)

        try:
            seen_now = opened(path, "pi")
        except CannotReadError:
            # What is needed late is checked late; it is gone now.
            seen_now = opened(path, "pi")
        assert seen_now == expected


def test_what_is_appended_while_the_index_is_kept_is_not_lost(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    path.write_bytes(PI)
    look_at = index_cache.look_at

    def append_and_look(file: RegularFile) -> index_cache.FileSeen:
        with path.open("ab") as writer:
            writer.write(jsonl(pi(f"late-{path.stat().st_size}", "e", user("late"))))
        return look_at(file)

    for _ in range(2):
        monkeypatch.setattr(jsonl_module, "look_at", append_and_look)
        opened(path, "pi")
        monkeypatch.setattr(jsonl_module, "look_at", look_at)
        again = opened(path, "pi")
        assert again["extent"].size == path.stat().st_size
        for entry in entries(path.parent):
            entry.unlink()
        assert again == opened(path, "pi")


def test_that_an_index_cannot_be_kept_is_no_error(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.write_bytes(PI)

    def fail(*_: object) -> bytes:
        raise CannotReadError("the disk is gone")

    monkeypatch.setattr(index_cache, "_digest", fail)
    store, loaded = load(path, "pi")
    assert isinstance(store, Remembers)
    assert not store.remember(loaded)
    store.close()


def test_an_entry_of_another_file_is_passed_over(path: Path):
    path.write_bytes(PI)
    other = path.with_name("other.jsonl")
    other.write_bytes(PI)
    opened(path, "pi")
    (of_path,) = entries(path.parent)
    opened(other, "pi")
    (of_other,) = set(entries(path.parent)) - {of_path}
    of_path.write_bytes(of_other.read_bytes())

    assert opened(path, "pi")["id"] == "pi-session"


def test_an_entry_is_for_the_eyes_of_its_owner_alone(path: Path):
    path.write_bytes(PI)
    opened(path, "pi")

    (entry,) = entries(path.parent)
    assert stat.S_IMODE(entry.stat().st_mode) == 0o600
    assert stat.S_IMODE(entry.parent.stat().st_mode) == 0o700
    assert sorted(entry.parent.iterdir()) == [entry]


def test_nothing_is_kept_where_the_cache_is_off_or_cannot_be_written(
    path: Path, monkeypatch: pytest.MonkeyPatch
):
    path.write_bytes(PI)
    monkeypatch.setenv(index_cache.OFF, "1")
    opened(path, "pi")
    assert entries(path.parent) == []

    monkeypatch.delenv(index_cache.OFF)
    monkeypatch.setenv("XDG_CACHE_HOME", str(path))
    assert opened(path, "pi") == opened(path, "pi")


def test_small_files_are_not_worth_an_entry(path: Path, monkeypatch: pytest.MonkeyPatch):
    path.write_bytes(PI)
    monkeypatch.setattr(index_cache, "LEAST", len(PI) + 1)
    opened(path, "pi")

    assert entries(path.parent) == []


def test_the_entries_used_longest_ago_make_room(path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(index_cache, "LARGEST", 9000)
    files = [path.with_name(f"{n}.jsonl") for n in range(8)]
    for n, file in enumerate(files):
        file.write_bytes(PI)
        opened(file, "pi")
        newest = max(entries(path.parent), key=lambda each: each.stat().st_mtime_ns)
        os.utime(newest, ns=(n, n))

    sizes = [each.stat().st_size for each in entries(path.parent)]
    assert 0 < len(sizes) < len(files)
    assert sum(sizes) <= 9000
    assert {each.stat().st_mtime_ns for each in entries(path.parent)} >= {7}


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)))))
def test_ids_come_back_as_they_were(ids: list[str]):
    column = Ids(len(ids), lambda: encoded_ids(ids))

    assert list(column) == ids
    assert column == ids
    assert [column[place] for place in range(len(ids))] == ids
    assert len(column) == len(ids)
