"""A Claude Code session that grows: its messages arrive line by line, and nothing shows of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import FIXTURES, facts, load, replay_of
from claude_lines import Claude, calls, says, thinks

from tt_debugger.core.model import Session
from tt_debugger.formats.shared import jsonl
from tt_debugger.storage import index_cache
from tt_debugger.store import Follows, Loaded, Remembers, Store, Tails

FILES = sorted((FIXTURES / "claude_code").glob("*.jsonl"))
files = pytest.mark.parametrize("file", FILES, ids=lambda path: path.stem)


@pytest.fixture(autouse=True)
def small_files_are_kept_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(index_cache, "LEAST", 1)


def seen(store: Store, session: Session) -> dict[str, object]:
    """Give all that can be asked of a session, its states in both readings among it."""
    replay = replay_of(store, session)
    rows = range(len(session))
    return {
        **facts(session),
        "own": session.own,
        "asides": list(session.asides),
        "parts": dict(session.heads.parts),
        "aliases": dict(session.aliases),
        "subsessions": dict(session.subsessions),
        "states": [replay.state(row) for row in rows],
        "sent": [replay.resumed(row) for row in rows],
        "raw": [store.raw(session, row) for row in rows],
    }


def anew(path: Path, content: bytes) -> dict[str, object]:
    """Give all that can be asked of a file that is read whole, without what is kept of it."""
    path.write_bytes(content)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(index_cache.OFF, "1")
        store, loaded = load(path, "claude_code")
        whole = seen(store, loaded.session)
        store.close()
    return whole


def followed(store: Store, loaded: Loaded) -> Loaded:
    assert isinstance(store, Follows)
    return store.follow(loaded.cursor)


@files
def test_a_file_that_is_followed_line_by_line_is_as_one_that_is_read_whole(
    tmp_path: Path, file: Path
):
    lines = file.read_bytes().splitlines(keepends=True)
    path, whole = tmp_path / "s.jsonl", tmp_path / "whole" / "s.jsonl"
    whole.parent.mkdir()
    path.write_bytes(b"")
    store, loaded = load(path, "claude_code")

    for count, line in enumerate(lines, 1):
        with path.open("ab") as writer:
            writer.write(line)
        loaded = followed(store, loaded)
        assert seen(store, loaded.session) == anew(whole, b"".join(lines[:count]))
    store.close()


@files
def test_what_is_kept_of_a_file_at_any_line_is_good_for_the_rest_of_it(tmp_path: Path, file: Path):
    lines = file.read_bytes().splitlines(keepends=True)
    path, whole = tmp_path / "s.jsonl", tmp_path / "whole" / "s.jsonl"
    whole.parent.mkdir()
    expected = anew(whole, b"".join(lines))

    for count in range(1, len(lines)):
        path.write_bytes(b"".join(lines[:count]))
        store, loaded = load(path, "claude_code")
        if count % 2:
            loaded.session.heads.describe_all()
        assert isinstance(store, Remembers)
        store.remember(loaded)
        store.close()
        with path.open("ab") as writer:
            writer.write(b"".join(lines[count:]))
        store, loaded = load(path, "claude_code")
        assert seen(store, loaded.session) == expected
        store.close()


@files
def test_a_file_from_the_index_answers_as_one_that_is_read(tmp_path: Path, file: Path):
    path, whole = tmp_path / "s.jsonl", tmp_path / "whole" / "s.jsonl"
    whole.parent.mkdir()
    expected = anew(whole, file.read_bytes())
    path.write_bytes(file.read_bytes())

    for _ in range(2):
        store, loaded = load(path, "claude_code")
        assert seen(store, loaded.session) == expected
        assert isinstance(store, Remembers)
        store.remember(loaded)
        store.close()


def test_a_message_that_goes_on_changes_its_row_and_leaves_the_session_given_before(
    tmp_path: Path,
):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1 a2", "msg_1", thinks("Hm."), says("I look."))
    path = tmp_path / "s.jsonl"
    path.write_bytes(claude.content)
    store, first = load(path, "claude_code")
    before = seen(store, first.session)
    claude.answer("a3", "msg_1", calls("t1", command="ls"))
    claude.result("r1", "t1", "README.md")
    path.write_bytes(claude.content)

    second = followed(store, first)

    assert list(first.session.ids) == ["u1", "a2"]
    assert list(second.session.ids) == ["u1", "a3", "r1"]
    assert (first.session.heads[1].summary, second.session.heads[1].summary) == ("I look.", "ls")
    assert first.session.aliases == {"a1": 1}
    assert seen(store, first.session) == before
    store.close()


def test_a_message_may_go_on_long_after_its_first_line_was_kept(tmp_path: Path):
    claude = Claude()
    claude.user("u1", "Go.")
    claude.answer("a1", "msg_1", calls("t1"))
    claude.result("r1", "t1")
    path = tmp_path / "s.jsonl"
    path.write_bytes(claude.content)
    store, loaded = load(path, "claude_code")
    assert isinstance(store, Remembers)
    assert store.remember(loaded)
    store.close()
    claude.answer("a2", "msg_1", calls("t2"), parent="a1")
    claude.result("r2", "t2")
    path.write_bytes(claude.content)

    store, loaded = load(path, "claude_code")

    assert list(loaded.session.ids) == ["u1", "a2", "r1", "r2"]
    assert loaded.session.parents.tolist() == [-1, 0, 1, 2]
    assert len(replay_of(store, loaded.session).state(1)["messages"][1]["content"]) == 2
    store.close()


def test_the_tail_of_a_large_file_is_the_end_of_its_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(jsonl, "LARGE", 20_000)
    monkeypatch.setattr(jsonl, "TAIL", 8_000)
    claude = Claude()
    for n in range(60):
        claude.user(f"u{n}", f"Go {n}.")
        names = f"a{n}-1 a{n}-2 a{n}-3"
        claude.answer(names, f"msg_{n}", thinks("Hm."), calls(f"t{n}-1"), calls(f"t{n}-2"))
        claude.result(f"r{n}-1", f"t{n}-1", parent=f"a{n}-2")
        claude.result(f"r{n}-2", f"t{n}-2", parent=f"a{n}-3")
    claude.last_prompt("u59")
    path = tmp_path / "s.jsonl"
    path.write_bytes(claude.content)
    store, loaded = load(path, "claude_code")
    assert isinstance(store, Tails)
    tail, whole = store.tail(), loaded.session

    assert tail is not None
    shift = len(whole) - len(tail)
    assert 8 < len(tail) < 40
    assert list(tail.ids) == list(whole.ids)[shift:]
    # The first row may be the rest of a message.
    for row in range(4, len(tail)):
        assert tail.parents[row] + shift == whole.parents[row + shift]
        assert tail.heads[row].summary == whole.heads[row + shift].summary
    assert tail.active == len(tail) - 1
    assert whole.active == len(whole) - 1
    store.close()
