"""Following: whatever happens to a file, nothing of it is lost and nothing is told twice.

A schedule is what writers do to a file between the looks of a reader: they append lines whole and
in pieces, two at a time, cut the file, write it anew where it stands and rename another over it.
After each look the session is what reading the file anew gives. What a consumer of the stream has
heard, with what no longer holds taken back, is the same.

TTDBG_SCHEDULES is how many are tried; a run by hand takes 10,000.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from builders import facts, jsonl, load, pi, user
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import fixture_lines

from tt_debugger.core.growth import rows_kept
from tt_debugger.core.model import Session, SessionId, checkpoint_json
from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import known_formats
from tt_debugger.formats.shared.jsonl import JsonlFile
from tt_debugger.store import Follows, Loaded, Store

SCHEDULES = int(os.environ.get("TTDBG_SCHEDULES", "250"))
LINE_FORMATS = sorted(
    each.format
    for each in known_formats()
    if issubclass(each, JsonlFile) and fixture_lines(each.format)
)


class Event(NamedTuple):
    """One thing that happens; what the numbers mean depends on what it is."""

    what: str
    which: int = 0
    many: int = 0


events = st.builds(
    Event,
    st.sampled_from(
        (
            *("append", "append", "append", "torn", "torn", "rest", "look", "look", "look"),
            *("cut", "cut lines", "anew", "rename", "rename", "open again", "unlink"),
        )
    ),
    st.integers(0, 10_000),
    st.integers(0, 10_000),
)


class File:
    """A file with two writers, each of which has it open, as it was when they opened it."""

    def __init__(self, path: Path, name: str) -> None:
        self.path = path
        self._contents = fixture_lines(name)
        self._torn = [b"", b""]
        path.write_bytes(b"")
        self._writers = [path.open("ab", 0) for _ in range(2)]

    def happens(self, event: Event) -> None:
        which, many = event.which, event.many
        lines = self._contents[which % len(self._contents)]
        writer = which % 2
        match event.what:
            case "append":
                begin = many % len(lines)
                self._append(writer, jsonl(*lines[begin : begin + 1 + which % 4]))
            case "torn":
                line = jsonl(lines[many % len(lines)])
                cut = which % len(line)
                self._append(writer, line[:cut])
                self._torn[writer] = line[cut:]
            case "rest":
                rest, self._torn[writer] = self._torn[writer], b""
                self._append(writer, rest)
            case "cut":
                size = os.fstat(self._writers[writer].fileno()).st_size
                self._writers[writer].truncate(many % (size + 1))
            case "cut lines":
                self._cut_torn_line(writer)
            case "anew":
                with suppress(FileNotFoundError), self.path.open("r+b") as file:
                    file.truncate(0)
                    file.write(jsonl(*lines[: 1 + many % len(lines)]))
            case "rename":
                other = self.path.with_suffix(".other")
                other.write_bytes(jsonl(*lines[: many % (len(lines) + 1)]))
                other.replace(self.path)
            case "open again":
                self._writers[writer].close()
                self._writers[writer] = self.path.open("ab", 0)
            case _:
                self.path.unlink(missing_ok=True)

    def _append(self, writer: int, content: bytes) -> None:
        self._writers[writer].write(content)

    def _cut_torn_line(self, writer: int) -> None:
        """Take away what is no whole line, as a writer does that begins after a crash."""
        with suppress(FileNotFoundError):
            content = self.path.read_bytes()
            os.truncate(self.path, content.rfind(b"\n") + 1)

    def close(self) -> None:
        for each in self._writers:
            each.close()


class Consumer:
    """Hears of checkpoints, and takes back what no longer holds."""

    def __init__(self, session: Session) -> None:
        self.told: list[dict[str, Any]] = []
        self.hear(session, 0)

    def hear(self, session: Session, kept: int) -> None:
        assert kept <= len(self.told)
        del self.told[kept:]
        rows = range(kept, len(session))
        self.told += [checkpoint_json(session.checkpoint(row)) for row in rows]

    def check(self, session: Session) -> None:
        """Check that it has heard what a reader of the file sees now, but for a line's end."""
        now = [checkpoint_json(each) for each in session]
        assert list(map(without_length, self.told)) == list(map(without_length, now))


def without_length(checkpoint: dict[str, Any]) -> dict[str, Any]:
    return checkpoint | {"length": None}


def anew(path: Path, name: str, session: SessionId) -> dict[str, Any]:
    """Give what a store that has never seen the file makes of a session, or of its newest."""
    store, loaded = load(path, name)
    if session in store.sessions():
        loaded = store.load(session)
    seen = facts(loaded.session) | {"own": loaded.session.own}
    store.close()
    return seen


class Reader:
    """Follows a file, and tells a consumer."""

    def __init__(self, path: Path, name: str) -> None:
        self.path, self.name = path, name
        self.store, self.loaded = load(path, name)
        self.consumer = Consumer(self.loaded.session)
        self.sessions: list[Session] = []
        """What was given since the look before."""

    def look(self) -> None:
        self.sessions = []
        for _ in range(4):
            before = self.loaded.session
            self.loaded = followed(self.store, self.loaded)
            session = self.loaded.session
            if session is before:
                break
            kept = rows_kept(before, session, self.loaded.kept)
            self.consumer.hear(session, kept)
            self.sessions.append(session)
        else:
            raise AssertionError("a file that nobody writes is always new")
        if self.path.exists():
            session = self.loaded.session
            expected = anew(self.path, self.name, session.id)
            assert facts(session) | {"own": session.own} == expected
        self.consumer.check(self.loaded.session)


def followed(store: Store, loaded: Loaded) -> Loaded:
    assert isinstance(store, Follows)
    return store.follow(loaded.cursor)


@pytest.mark.parametrize("name", LINE_FORMATS)
@settings(max_examples=max(SCHEDULES // len(LINE_FORMATS), 1))
@given(schedule=st.lists(events, min_size=4, max_size=24))
def test_after_each_look_a_session_is_what_reading_anew_gives_and_so_is_what_was_told(
    tmp_path_factory: pytest.TempPathFactory, name: str, schedule: list[Event]
):
    file = File(tmp_path_factory.mktemp("follow") / "s.jsonl", name)
    file.happens(Event("append"))
    reader = Reader(file.path, name)

    for event in (*schedule, Event("look")):
        if event.what == "look":
            reader.look()
        else:
            file.happens(event)

    reader.store.close()
    file.close()


@pytest.mark.parametrize("name", LINE_FORMATS)
def test_what_was_still_written_to_a_file_that_was_replaced_is_told_first(
    tmp_path: Path, name: str
):
    path, lines = tmp_path / "s.jsonl", max(fixture_lines(name), key=len)
    half = len(lines) // 2
    path.write_bytes(jsonl(*lines[:half]))
    reader = Reader(path, name)

    with path.open("ab") as file:
        file.write(jsonl(*lines[half:]))
    whole = anew(path, name, reader.loaded.session.id)
    other = tmp_path / "other"
    other.write_bytes(jsonl(*lines[:1]))
    other.replace(path)
    reader.look()

    first = reader.sessions[0]
    assert facts(first) | {"own": first.own} == whole
    assert len(reader.sessions) == 2


def test_a_writer_that_never_stops_keeps_nobody_from_what_took_the_place_of_its_file(
    tmp_path: Path,
):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl({"type": "session", "version": 3, "id": "x"}, pi("a", None, user("1"))))
    reader = Reader(path, "pi")
    with path.open("ab", 0) as old:
        other = tmp_path / "other"
        other.write_bytes(jsonl({"type": "session", "version": 3, "id": "x"}))
        other.replace(path)
        for row in range(3):
            old.write(jsonl(pi(f"b{row}", "a", user("2"))))
            reader.loaded = followed(reader.store, reader.loaded)

    assert len(reader.loaded.session) == 0


def test_a_line_of_any_length_is_not_there_until_it_is_whole(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    line = jsonl(pi("b", "a", user("x" * 300_000)))
    path.write_bytes(jsonl({"type": "session", "version": 3, "id": "x"}, pi("a", None, user("1"))))
    reader = Reader(path, "pi")

    for begin in range(0, len(line) - 1, 7_777):
        with path.open("ab") as file:
            file.write(line[begin : min(begin + 7_777, len(line) - 2)])
        reader.look()
        assert list(reader.loaded.session.ids) == ["a"]
    with path.open("ab") as file:
        file.write(line[-2:])
    reader.look()

    assert [each["id"] for each in reader.consumer.told] == ["a", "b"]


def test_a_torn_end_that_is_taken_away_is_no_new_beginning(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    whole = jsonl({"type": "session", "version": 3, "id": "x"}, pi("a", None, user("1")))
    path.write_bytes(whole + b'{"id": "torn')
    reader = Reader(path, "pi")

    path.write_bytes(whole + jsonl(pi("b", "a", user("2"))))
    reader.loaded = followed(reader.store, reader.loaded)

    assert (reader.loaded.kept, list(reader.loaded.session.ids)) == (1, ["a", "b"])


def test_a_file_that_is_cut_while_it_is_read_is_read_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "s.jsonl"
    header = {"type": "session", "version": 3, "id": "x"}
    path.write_bytes(jsonl(header, pi("a", None, user("1"))))
    reader = Reader(path, "pi")
    with path.open("ab") as file:
        file.write(jsonl(*(pi(f"b{n}", "a", user("2")) for n in range(9))))
    finished = JsonlFile._fingerprint
    looks: list[int] = []

    def cut_at_the_third_look(self: JsonlFile, offset: int) -> str:
        looks.append(offset)
        if len(looks) == 4:
            path.write_bytes(jsonl(header, *(pi(f"c{n}", None, user("3")) for n in range(20))))
        return finished(self, offset)

    monkeypatch.setattr(JsonlFile, "_fingerprint", cut_at_the_third_look)
    reader.look()

    assert reader.loaded.session.ids[0] == "c0"
    reader.store.close()


formats_of_a_kind = st.sampled_from(("pi", "tau", "messages", "jsonl", "jsonl_tree"))


@settings(max_examples=max(SCHEDULES // 5, 1))
@given(name=formats_of_a_kind, other=formats_of_a_kind, schedule=st.lists(events, max_size=12))
def test_a_debugger_tells_what_opening_anew_tells_whatever_format_takes_the_place(
    tmp_path_factory: pytest.TempPathFactory, name: str, other: str, schedule: list[Event]
):
    path = tmp_path_factory.mktemp("follow") / "s.jsonl"
    file = File(path, name)
    with Debugger.open(str(path)) as debugger:
        consumer = Consumer(debugger.session)
        for place, event in enumerate((Event("append"), *schedule, Event("look"))):
            if place == len(schedule) // 2:
                file.close()
                file = File(path, other)
            if event.what != "look":
                file.happens(event)
                continue
            while (grown := debugger.follow()) is not None:
                consumer.hear(debugger.session, grown.kept)
            consumer.check(debugger.session)
            last = len(debugger.session) - 1
            state = debugger.state(last) if last >= 0 else None
            try:
                with Debugger.open(str(path)) as fresh:
                    assert facts(debugger.session) == facts(fresh.session) or (
                        # No more than blank on both sides: how long it is is of no use.
                        not len(debugger.session) and not len(fresh.session)
                    )
                    assert state == (fresh.state(last) if last >= 0 else None)
            except CannotReadError:
                continue
    file.close()
