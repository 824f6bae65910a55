"""Marks: kept in the user's state folder, read generously, written whole or not at all."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from builders import session
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text

from tt_debugger.core.refs import Point, Resolver
from tt_debugger.errors import CannotWriteError, UsageError
from tt_debugger.storage.marks import Marks


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's state folder, which is not there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


def files(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.rglob("*") if each.is_file())


def the_file(state: Path) -> Path:
    (file,) = state.rglob("*.json")
    return file


def test_where_nothing_was_kept_there_are_no_marks_and_nothing_is_made(state: Path):
    assert dict(Marks("a.jsonl", "s")) == {}
    assert not state.exists()


def test_marks_are_there_again_for_who_opens_the_session_anew(state: Path):
    marks = Marks("a.jsonl", "s")
    marks.put("a", "id1")
    marks.put("b", "id2")
    marks.put("a", "id3")

    assert dict(marks) == dict(Marks("a.jsonl", "s")) == {"a": "id3", "b": "id2"}
    assert json.loads(the_file(state).read_bytes()) == {
        "location": "a.jsonl",
        "session": "s",
        "marks": {"a": "id3", "b": "id2"},
    }


def test_a_dropped_mark_is_gone_and_dropping_it_again_changes_nothing(state: Path):
    marks = Marks("a.jsonl", "s")
    marks.put("a", "id1")
    marks.put("b", "id2")
    marks.drop("a")
    before = the_file(state).stat().st_mtime_ns
    marks.drop("a")

    assert dict(marks) == dict(Marks("a.jsonl", "s")) == {"b": "id2"}
    assert the_file(state).stat().st_mtime_ns == before


def test_each_session_and_each_location_has_its_own():
    Marks("a.jsonl", "s").put("a", "id1")

    assert dict(Marks("a.jsonl", "other")) == dict(Marks("b.jsonl", "s")) == {}


def test_a_file_is_known_by_its_real_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "real.jsonl").touch()
    (tmp_path / "link.jsonl").symlink_to("real.jsonl")
    monkeypatch.chdir(tmp_path)
    Marks("real.jsonl", "s").put("a", "id1")

    for location in (f"{tmp_path}/real.jsonl", "link.jsonl", "./real.jsonl"):
        assert dict(Marks(location, "s")) == {"a": "id1"}
    assert len(files(tmp_path)) == 3


def test_nobody_else_may_read_them(state: Path):
    Marks("a.jsonl", "s").put("a", "id1")

    assert stat.S_IMODE(the_file(state).stat().st_mode) == 0o600


def test_what_another_set_meanwhile_is_kept():
    mine, theirs = Marks("a.jsonl", "s"), Marks("a.jsonl", "s")
    assert (dict(mine), dict(theirs)) == ({}, {})
    theirs.put("t", "id1")
    mine.put("m", "id2")

    assert dict(mine) == {"m": "id2", "t": "id1"}


def test_they_are_not_read_before_they_are_looked_at(monkeypatch: pytest.MonkeyPatch):
    marks = Marks("a.jsonl", "s")
    monkeypatch.setattr(Marks, "_stored", lambda _: pytest.fail("read too early"))

    made = session("a b")
    assert Resolver(made, marks).row(Point(None, "b")) == 1


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"marks": 1}', b"\xff\xfe", b"[" * 99999])
def test_a_damaged_file_holds_no_marks_and_is_kept_aside(state: Path, content: bytes):
    marks = Marks("a.jsonl", "s")
    marks.put("a", "id1")
    the_file(state).write_bytes(content)
    again = Marks("a.jsonl", "s")

    assert dict(again) == {}
    again.put("b", "id2")
    assert dict(Marks("a.jsonl", "s")) == {"b": "id2"}
    assert [each.read_bytes() for each in state.rglob("*.damaged")] == [content]


def test_what_is_no_mark_in_a_file_is_passed_over(state: Path):
    Marks("a.jsonl", "s").put("a", "id1")
    the_file(state).write_text('{"marks": {"a": 1, "": "id2", "b": "id3"}}')

    assert dict(Marks("a.jsonl", "s")) == {"b": "id3"}


def test_a_pipe_in_their_place_is_not_waited_for(state: Path):
    Marks("a.jsonl", "s").put("a", "id1")
    file = the_file(state)
    file.unlink()
    os.mkfifo(file)

    assert dict(Marks("a.jsonl", "s")) == {}


def test_where_they_cannot_be_kept_there_is_an_error_with_a_hint(state: Path):
    state.write_text("a file where the folder should be")
    marks = Marks("a.jsonl", "s")

    assert dict(marks) == {}
    with pytest.raises(CannotWriteError, match="cannot keep the mark") as error:
        marks.put("a", "id1")
    assert error.value.exit_code == 3
    assert error.value.hint == (
        f"marks are kept in {state}/ttdbg/marks; XDG_STATE_HOME names another place"
    )
    assert dict(marks) == {}


def test_a_write_that_fails_leaves_the_old_marks_and_nothing_else(
    state: Path, monkeypatch: pytest.MonkeyPatch
):
    marks = Marks("a.jsonl", "s")
    marks.put("a", "id1")
    before = files(state)

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(CannotWriteError, match="No space left on device"):
        marks.put("b", "id2")

    assert files(state) == before
    assert dict(marks) == dict(Marks("a.jsonl", "s")) == {"a": "id1"}


def test_a_mark_without_a_name_is_refused(state: Path):
    with pytest.raises(UsageError, match="a mark needs a name"):
        Marks("a.jsonl", "s").put("", "id1")
    assert not state.exists()


@given(st.lists(st.tuples(any_text.filter(bool), any_text), max_size=4), any_text, any_text)
def test_any_names_ids_locations_and_sessions_are_kept(
    pairs: list[tuple[str, str]], location: str, session: str
):
    marks = Marks(location, session)
    for name in list(marks):
        marks.drop(name)
    for name, own in pairs:
        marks.put(name, own)

    assert dict(Marks(location, session)) == dict(pairs)
