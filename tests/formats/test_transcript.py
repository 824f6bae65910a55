"""Transcripts: what the seam makes of the pieces that a format gives it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest
from builders import codes, replay_of, said

from tt_debugger.core.findings import Code, finding
from tt_debugger.core.model import Head, Kind, Session, SessionId, Usage
from tt_debugger.core.tree import NO_ROW
from tt_debugger.errors import CannotReadError
from tt_debugger.formats.shared.document import Element, Lost
from tt_debugger.formats.shared.reading import Place
from tt_debugger.formats.shared.transcript import (
    Beside,
    Entry,
    Piece,
    Told,
    Transcript,
    message_entry,
)
from tt_debugger.formats.shared.transcript_files import TranscriptFile
from tt_debugger.formats.shared.transcript_json import (
    ObjectRead,
    one_record,
    read_list,
    read_object,
)
from tt_debugger.store import Match, Probe


class Listed(TranscriptFile):
    """A file that is a list of entries, which a test gives outright."""

    format: ClassVar[str] = "listed"
    about: ClassVar[str] = "a list of entries"
    given: ClassVar[list[Piece]] = []

    @classmethod
    def sniff(cls, probe: Probe) -> Match | None:
        """Claim nothing."""
        return None

    def transcript(self, data: bytes, wanted: SessionId | None) -> Transcript:
        """Give the entries of the test, or the messages of the file."""
        pieces = self.given or [
            piece if isinstance(piece, Lost) else message_entry(piece.value, piece.place)
            for piece in read_list(data).pieces
        ]
        return Transcript(id="one", pieces=pieces, size=len(data))


def entry(name: str, **more: Any) -> Entry:
    """Give an entry that says its own name."""
    message = {"role": "user", "content": name}
    return msgspec.structs.replace(message_entry(message), own_id=name, **more)


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    def give(*pieces: Piece, size: int = 0) -> tuple[Listed, Session]:
        monkeypatch.setattr(Listed, "given", list(pieces))
        path = tmp_path / "s.json"
        path.write_bytes(b" " * size)
        store = Listed(str(path))
        return store, store.load(SessionId("one")).session

    return give


def parents(session: Session) -> dict[str, str | None]:
    return {each.id: each.parent for each in session}


def contents(store: Listed, session: Session, row: int, *, uncompacted: bool = False) -> list[str]:
    state = replay_of(store, session, uncompacted=uncompacted).state(row)
    return [each["content"] for each in state["messages"]]


def test_an_entry_hangs_on_the_one_before_or_on_what_it_names(given):
    _, session = given(
        entry("a"),
        entry("b"),
        entry("c", parent="a"),
        entry("d", above=1),
        entry("e", parent=None),
        entry("f"),
    )

    assert parents(session) == {"a": None, "b": "a", "c": "a", "d": "b", "e": None, "f": "e"}
    assert session.active == 5


def test_entries_that_name_each_other_in_a_circle_are_a_tree_all_the_same(given):
    _, session = given(entry("a", parent="c"), entry("b"), entry("c"))

    assert parents(session) == {"a": "c", "b": "a", "c": None}
    assert session.tree.has_parents_first is False


def test_an_entry_without_an_id_is_called_by_its_name_or_its_place(given):
    bare = Head(Kind.CUSTOM)
    _, session = given(
        Entry(head=bare, body={}, place=Place(3, 1, 0, 2)),
        Entry(head=bare, body={}, name="seven"),
        Entry(head=bare, body={}),
        size=2,
    )

    assert list(session.ids) == ["L3", "seven", "3"]


def test_what_is_lost_is_a_gap_and_the_next_entry_hangs_on_the_one_before_it(given):
    store, session = given(
        entry("a"),
        Lost(Place(1, 2, 3, 4), "damaged"),
        entry("b"),
        Lost(Place(2, 1, 8, 2, is_whole=False), "its last 2 bytes are not complete"),
        size=10,
    )

    assert [each.head.kind for each in session] == [Kind.MESSAGE, Kind.GAP, Kind.MESSAGE]
    assert list(session.parents) == [0 - 1, NO_ROW, 0]
    assert (session.extent.shown, session.extent.skipped) == (4, 6)
    assert said(session) == "TT101 1, TT102 2"
    assert store.bodies(session, [1]) == [None]


def test_what_is_beside_the_entries_is_kept_behind_the_row_before_it(given):
    _, session = given(
        Beside("header", Place(1, 1, 0, 3)), entry("a"), Beside("end", Place(2, 1, 5, 2)), size=7
    )

    asides = [(each.row, each.name, each.line, each.offset) for each in session.asides]
    assert asides == [(NO_ROW, "header", 1, 0), (0, "end", 2, 5)]


def test_the_active_leaf_and_labels_are_those_that_the_format_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    path = tmp_path / "s.json"
    path.write_bytes(b"")
    store = Listed(str(path))
    pieces = [entry("a", label="first"), entry("b", above=0), entry("c", above=0)]
    made = Transcript(id="one", pieces=pieces, active=1, title="T", cwd="/w", forked_from="z")
    monkeypatch.setattr(Listed, "transcript", lambda *_: made)

    session = store.load(SessionId("one")).session

    assert (session.active, dict(session.labels)) == (1, {0: "first"})
    assert (session.title, session.cwd, session.forked_from) == ("T", "/w", "z")
    assert session.extent is None


def test_a_finding_of_an_entry_names_its_checkpoint_and_place(given):
    wrong = finding(Code.WRONG_TYPE, "odd")
    _, session = given(entry("a", findings=(wrong,), place=Place(4, 1, 7, 2)), size=9)

    (found,) = session.findings
    assert (found.checkpoint, found.line, found.offset) == ("a", 4, 7)


def test_messages_are_added_replaced_and_cleared(given):
    summary = {"role": "user", "content": "summary"}
    better = {"role": "user", "content": "better"}
    kept = {"role": "user", "content": "b"}
    store, session = given(
        entry("a"),
        entry("b"),
        entry("again", told=Told((better,), at=0)),
        entry("short", told=Told((summary, kept), clears=True, added=(summary,))),
        entry("c"),
    )

    assert contents(store, session, 2) == ["better", "b"]
    assert contents(store, session, 3) == ["summary", "b"]
    assert contents(store, session, 4) == ["summary", "b", "c"]
    assert contents(store, session, 4, uncompacted=True) == ["a", "b", "better", "summary", "c"]


def test_a_place_beyond_the_messages_adds(given):
    other = {"role": "user", "content": "other"}
    store, session = given(entry("a"), entry("b", told=Told((other,), at=7)))

    assert contents(store, session, 1) == ["a", "other"]


def test_a_setting_is_put_where_it_is_another_and_usage_is_summed(given):
    usage = Head(Kind.MESSAGE, usage=Usage(1, 2, total=3))
    store, session = given(
        entry("a", head=usage, told=Told(puts={"model": "m"})),
        entry("b", head=usage, told=Told(puts={"model": "m"})),
        entry("c", told=Told(puts={"model": "n"})),
    )
    replay = replay_of(store, session)

    assert [[each.path for each in replay.changes(row)] for row in (1, 2)] == [
        [("usage",)],
        [("model",)],
    ]
    assert replay.state(2)["usage"] == {
        "input": 2,
        "output": 4,
        "cache_read": 0,
        "cache_write": 0,
        "total": 6,
        "cost": 0.0,
    }


def test_following_reads_anew_what_was_written_anew_and_says_what_stayed(tmp_path: Path):
    path = tmp_path / "s.json"
    first = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"}]
    path.write_text(json.dumps(first))
    store = Listed(str(path))
    loaded = store.load(SessionId("one"))

    path.write_text(json.dumps([*first, {"role": "user", "content": "more"}]))
    grown = store.follow(loaded.cursor)
    path.write_text(json.dumps(first[:1]))
    cut = store.follow(grown.cursor)

    assert (len(grown.session), grown.kept) == (3, 2)
    assert (len(cut.session), cut.kept) == (1, 1)


def test_the_same_bytes_in_a_new_file_are_the_same_session(tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_text('[{"role": "user", "content": "hi"}]')
    store = Listed(str(path))
    loaded = store.load(SessionId("one"))

    other = tmp_path / "t.json"
    other.write_bytes(path.read_bytes())
    other.replace(path)

    assert store.follow(loaded.cursor).session is loaded.session


def test_a_file_that_is_gone_is_as_it_was(tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_text('[{"role": "user", "content": "hi"}]')
    store = Listed(str(path))
    loaded = store.load(SessionId("one"))

    path.unlink()

    assert store.follow(loaded.cursor).session is loaded.session


def test_a_file_of_a_time_to_come_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "s.json"
    path.write_text('[{"role": "user", "content": "hi"}]')
    future, later = time.time() + 3600, time.time_ns() + 10**10
    os.utime(path, (future, future))
    # Long after it was written, which the system says.
    monkeypatch.setattr(time, "time_ns", lambda: later)
    store = Listed(str(path))
    loaded = store.load(SessionId("one"))
    monkeypatch.setattr(store, "read", None)

    assert store.follow(loaded.cursor).session is loaded.session


def test_the_bytes_of_an_entry_are_asked_of_the_file_and_may_be_gone(tmp_path: Path):
    path = tmp_path / "s.json"
    path.write_text('[{"role": "user", "content": "hi"}]')
    store = Listed(str(path))
    session = store.load(SessionId("one")).session

    assert store.raw(session, 0) == b'{"role": "user", "content": "hi"}'
    path.write_text("[]")
    with pytest.raises(CannotReadError, match="changed since it was read"):
        store.raw(session, 0)


def test_a_file_that_is_too_long_is_refused(tmp_path: Path):
    path = tmp_path / "s.json"
    with path.open("wb") as file:
        file.truncate(65 << 20)

    with pytest.raises(CannotReadError, match="64 MiB"):
        Listed(str(path)).sessions()


def shape(read: ObjectRead) -> dict[str, Any]:
    """Give what was read of an object as one value."""
    return {
        "members": read.members,
        "lists": {key: each.records for key, each in read.lists.items()},
        "lost": [(each.place.offset, each.place.length) for each in read.lost],
    }


def test_an_object_is_read_by_its_members_and_its_lists_by_their_records():
    data = b'{"a": 1,\n "items": [{"n": 1},\n {"n": 2}], "b": {"c": []}}\n'

    read = read_object(data, ("items",))

    assert shape(read) == {
        "members": {"a": 1, "b": {"c": []}},
        "lists": {"items": [{"n": 1}, {"n": 2}]},
        "lost": [],
    }
    places = [
        (each.place.line, data[each.place.offset :][: each.place.length])
        for each in read.pieces("items")
    ]
    assert places == [(2, b'{"n": 1}'), (3, b'{"n": 2}')]
    assert read.places["a"] == Place(1, 1, 1, 6)


@pytest.mark.parametrize("length", range(8, 60))
def test_of_an_object_that_is_cut_all_that_is_whole_is_read(length: int):
    data = b'{"a": 1, "items": [{"n": 1}, {"n": 2}, {"n": 3}], "b": 12}'[:length]

    read = read_object(data, ("items",))

    whole = [{"n": n} for n in (1, 2, 3) if data.count(b'{"n": %d}' % n)]
    assert read.lists["items"].records == whole if "items" in read.lists else not whole
    assert read.members["a"] == 1


def test_behind_a_damaged_list_the_other_members_are_read():
    data = b'{"items": [{"n": 1, "m": 1}, {"n": \0\0, "m": 1}, {"n": 3, "m": 1}], "b": {"c": 2}}'

    read = read_object(data, ("items",))

    assert shape(read) == {
        "members": {"b": {"c": 2}},
        "lists": {"items": [{"n": 1, "m": 1}, {"n": 3, "m": 1}]},
        "lost": [],
    }
    assert sum(isinstance(each, Lost) for each in read.pieces("items")) == 1


def test_behind_a_damaged_member_the_lists_are_found_by_their_names():
    data = b'{"a": {"x": \xff\xff, "y": 2, "items": [{"n": 1}], "b": 3}'

    read = read_object(data, ("items",))

    assert shape(read) == {
        "members": {"b": 3},
        "lists": {"items": [{"n": 1}]},
        "lost": [(1, 23)],
    }


@pytest.mark.parametrize(
    "data", [b"", b"  \n", b"\0\0\0\0", b"[1]", b"text", b'{"a"', b"\xef\xbb\xbf"]
)
def test_what_is_no_object_has_no_members(data: bytes):
    read = read_object(data, ("items",))

    assert (read.members, read.lists) == ({}, {})
    assert sum(each.place.length for each in read.lost) == len(
        data.removeprefix(b"\xef\xbb\xbf").strip()
    )


def test_a_byte_order_mark_is_told_and_passed_over():
    read = read_object(b'\xef\xbb\xbf{"a": 1}')

    assert (read.members, codes(read.findings)) == ({"a": 1}, ["TT104"])
    assert one_record(b'\xef\xbb\xbf{"a": 1}')[0] == {"a": 1}


def test_a_list_is_read_element_by_element():
    pieces = read_list(b'[{"n": 1}, 7, {"n": 2}').pieces

    assert [each.value for each in pieces if isinstance(each, Element)] == [{"n": 1}, {"n": 2}]
    assert [each.why for each in pieces if isinstance(each, Lost)] == [
        "not an object",
        "it stops after an element",
    ]
