"""Aider: chats in Markdown, and the commits that they name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, ids_of, load, replay_of, said

from tt_debugger.core.model import Kind, SessionId, Usage
from tt_debugger.errors import CannotReadError
from tt_debugger.formats import recognise
from tt_debugger.formats.aider import Aider
from tt_debugger.storage import index_cache
from tt_debugger.storage.files import RegularFile
from tt_debugger.storage.probe import probe

HISTORY = FIXTURES / "aider" / "history.md"


@pytest.fixture
def first():
    store, _ = load(HISTORY, "aider")
    yield store, store.load(store.sessions()[0]).session
    store.close()


def written(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def test_each_line_that_starts_a_chat_begins_a_session(first: Any):
    store, session = first

    assert store.sessions() == ["2026-03-02T091542", "2026-03-03T180210"]
    newest = store.load(store.sessions()[-1]).session
    assert (newest.title, len(newest)) == ("What does kettle.py do?", 3)
    assert session.title == "The kettle never switches off. It should stop at 96 degrees."
    with pytest.raises(CannotReadError, match="there is no chat yesterday"):
        store.load(SessionId("yesterday"))


def test_lines_are_checkpoints_by_who_wrote_them(first: Any):
    _, session = first

    heads = [(each.id, each.head.kind, each.head.name) for each in session]

    assert heads == [
        ("L4", Kind.CUSTOM, "aider"),
        ("L9", Kind.MESSAGE, "user"),
        ("L12", Kind.MESSAGE, "asst"),
        ("L23", Kind.CUSTOM, "aider"),
        ("L25", Kind.COMMIT, "commit"),
        ("L26", Kind.CUSTOM, "aider"),
        ("L28", Kind.MESSAGE, "user"),
        ("L30", Kind.CUSTOM, "aider"),
        ("L33", Kind.MESSAGE, "user"),
        ("L35", Kind.MESSAGE, "asst"),
        ("L37", Kind.COMMIT, "commit"),
        ("L38", Kind.COMMIT, "commit"),
    ]
    assert session.heads[4].summary == "3f9c2ab fix: Compare the reading as a number"
    assert session.heads[3].usage == Usage(2400, 180, 1100, 0, 3680, 0.01)
    assert session.active == 11
    assert session.findings == ()


def test_the_state_has_what_was_said_and_the_commits_so_far(first: Any):
    store, session = first
    replay = replay_of(store, session)

    state = replay.state(4)

    assert state["messages"][0] == {
        "role": "user",
        "content": "The kettle never switches off.\nIt should stop at 96 degrees.",
    }
    assert state["messages"][1]["content"].startswith("The loop compares a text with a number.")
    assert state["messages"][1]["content"].endswith(">>>>>>> REPLACE\n```")
    assert len(state["messages"]) == 2
    assert state["model"] == "claude-sonnet-4-5"
    assert state["commits"] == [
        {"hash": "3f9c2ab", "message": "fix: Compare the reading as a number"}
    ]
    assert replay.state(3)["commits"] == []
    hashes = [each["hash"] for each in replay.state(session.active)["commits"]]
    assert hashes == ["3f9c2ab", "77d01e4", "81aa0c0"]


def test_a_commit_that_was_undone_is_none_any_more(tmp_path: Path):
    lines = (
        "# aider chat started at 2026-01-01 10:00:00",
        "> Commit aaaa1111 one",
        "> Commit bbbb2222 two",
        "#### /undo",
        "> Removed: bbbb2222 two",
        "> Now at:  aaaa1111 one",
        "#### /undo",
        "> Removed: cccc3333 of another chat",
        "> Commit dddd4444 three",
    )
    store, loaded = load(written(tmp_path / "h.md", "\n".join(lines)), "aider")
    replay = replay_of(store, loaded.session)

    hashes = [[each["hash"][0] for each in replay.state(row)["commits"]] for row in range(7)]

    assert ["".join(each) for each in hashes] == ["a", "ab", "ab", "a", "a", "a", "ad"]
    store.close()


def test_every_byte_of_the_file_belongs_to_something(first: Any):
    store, session = first
    data = HISTORY.read_bytes()

    spans = [(each.offset, each.length) for each in session.asides]
    spans += [(each.head.offset, each.head.length) for each in session]

    end = 0
    for offset, length in sorted(spans):
        assert offset == end
        end += length
    assert end == len(data) == session.extent.shown
    assert b"".join(store.raw(session, row) for row in (8, 9)).startswith(b"#### Fix that too.\n")


def test_a_heading_of_the_model_is_its_text_and_chats_of_one_second_are_told_apart():
    store, loaded = load(FIXTURES / "aider" / "damaged.md", "aider")

    assert store.sessions() == ["2026-03-02T091542", "2026-03-02T091542.2"]
    assert ids_of(loaded.session, range(len(loaded.session))) == "L8 L9"
    assert said(loaded.session) == "TT105 None"
    first = store.load(store.sessions()[0]).session
    assert replay_of(store, first).state(first.active)["messages"] == [
        {"role": "user", "content": "Only a question"},
        {"role": "assistant", "content": "# A heading of the model"},
    ]
    assert first.heads.kind(1) is Kind.CUSTOM
    store.close()


def test_what_stands_before_the_first_chat_is_one_of_its_own(tmp_path: Path):
    path = written(
        tmp_path / "h.md", "#### left over\n\n# aider chat started at 2026-01-01 10:00:00\n"
    )
    store, _ = load(path, "aider")

    assert store.sessions() == ["before", "2026-01-01T100000"]
    assert store.load(SessionId("before")).session.title == "left over"
    assert len(store.load(SessionId("2026-01-01T100000")).session) == 0
    store.close()


def test_chats_of_names_that_look_alike_are_all_there(tmp_path: Path):
    starts = ("one", "one", "one.2", "before", "")
    text = "".join(f"# aider chat started at {each}\n#### {n}\n" for n, each in enumerate(starts))
    store, _ = load(written(tmp_path / "h.md", f"#### left over\n{text}"), "aider")

    titles = {name: store.load(name).session.title for name in store.sessions()}

    assert titles == {
        "before": "left over",
        "one": "0",
        "one.2": "1",
        "one.2.2": "2",
        "before.2": "3",
        "": "4",
    }
    store.close()


@pytest.mark.skipif(os.name != "posix", reason="stamps tell every change on POSIX alone")
def test_to_read_each_chat_is_to_read_the_file_twice_at_most(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    chat = "# aider chat started at 2026-01-01 10:00:00\n#### go on\nYes.\n"
    path = written(tmp_path / "h.md", chat * 200)
    monkeypatch.setattr(index_cache, "SETTLED", -1)
    lengths: list[int] = []
    read = RegularFile.read

    def counted(file: RegularFile, offset: int, length: int) -> bytes:
        data = read(file, offset, length)
        lengths.append(len(data))
        return data

    monkeypatch.setattr(RegularFile, "read", counted)
    store = Aider.open(str(path))

    loaded = [store.load(name).session for name in store.sessions()]

    assert (len(loaded), {len(each) for each in loaded}) == (200, {2})
    assert {len(each.asides) for each in loaded[1:-1]} == {3}
    assert sum(lengths) <= 2 * len(chat) * 200
    store.close()


def test_a_chat_that_was_added_is_there_though_the_others_are_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = written(tmp_path / "h.md", HISTORY.read_text())
    monkeypatch.setattr(index_cache, "SETTLED", -1)
    store, _ = load(path, "aider")
    before = store.sessions()
    with path.open("a") as file:
        file.write("\n# aider chat started at 2026-03-04 08:00:00\n#### Good morning\n")

    assert store.sessions() == [*before, "2026-03-04T080000"]
    assert store.load(store.sessions()[-1]).session.title == "Good morning"
    store.close()


def test_a_history_that_grows_is_followed(tmp_path: Path):
    path = written(tmp_path / "h.md", HISTORY.read_text())
    store, loaded = load(path, "aider")
    with path.open("a") as file:
        file.write("\n#### Thanks\n")

    followed = store.follow(loaded.cursor)

    assert ids_of(followed.session, range(len(followed.session))) == "L42 L45 L47 L49"
    store.close()


def test_only_a_file_that_begins_with_a_chat_is_a_history(tmp_path: Path):
    line = "# aider chat started at 2026-01-01 10:00:00\n"

    assert recognise(probe(str(written(tmp_path / "a.md", f"\n\n{line}"))))[0] is Aider
    quoted = written(tmp_path / "b.md", f"# How Aider writes\n\n```\n{line}```\n")
    assert Aider.sniff(probe(str(quoted))) is None
