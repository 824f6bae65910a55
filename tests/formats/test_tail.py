"""The tail of a large file: its newest records, before all others are read."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, load, pi, tau, user

from tt_debugger.core.model import Session
from tt_debugger.formats.shared import jsonl as jsonl_module
from tt_debugger.store import Store, Tails

COUNT = 400


def entries(make, length: int = 40) -> bytes:
    """Give a run of entries, with a fork at every 50th."""
    names = [f"{n:04d}" for n in range(COUNT)]
    parents = [None if n == 0 else names[n - 3 if n % 50 == 0 else n - 1] for n in range(COUNT)]
    texts = [(assistant if n % 2 else user)(f"said {n} {'x' * length}") for n in range(COUNT)]
    return jsonl(*map(make, names, parents, texts))


FILES = {
    "pi": jsonl({**PI_HEADER, "cwd": "/work/tail"}) + entries(pi),
    "tau": entries(tau),
}


@pytest.fixture(autouse=True)
def small_files_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonl_module, "LARGE", 20_000)
    monkeypatch.setattr(jsonl_module, "TAIL", 4_000)


def opened(path: Path, name: str) -> tuple[Store, Session, Session | None]:
    store, loaded = load(path, name)
    assert isinstance(store, Tails)
    return store, loaded.session, store.tail()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("end", [b"", b'{"id": "torn', b"{broken\n"])
def test_the_tail_is_the_end_of_the_session(tmp_path: Path, name: str, end: bytes):
    path = tmp_path / "s.jsonl"
    path.write_bytes(FILES[name] + end)
    store, whole, tail = opened(path, name)

    assert tail is not None
    assert 10 < len(tail) < 40
    first = len(whole) - len(tail)
    assert list(tail.ids)[:-1] == list(whole.ids)[first:-1]
    assert tail.ids[-1] == whole.ids[-1] or whole.ids[-1].startswith("gap@")
    for row in range(len(tail)):
        one, same = tail.heads[row], whole.heads[first + row]
        assert (one.kind, one.role, one.summary, one.time) == (
            same.kind,
            same.role,
            same.summary,
            same.time,
        )
        assert (one.offset, one.length) == (same.offset, same.length)
        if row and tail.parents[row] >= 0:
            assert tail.parents[row] + first == whole.parents[first + row]
    assert (tail.cwd, tail.format) == (whole.cwd, whole.format)
    store.close()


def test_a_last_line_longer_than_the_tail_is_in_it_whole(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(FILES["pi"] + jsonl(pi("last", "0399", user("y" * 9_000))))
    store, _, tail = opened(path, "pi")

    assert tail is not None
    assert tail.ids[-1] == "last"
    assert tail.heads[len(tail) - 1].summary.startswith("yyy")
    store.close()


def test_a_file_that_is_one_line_for_long_has_no_tail(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("y" * 90_000))))
    store, _, tail = opened(path, "pi")

    assert tail is None
    store.close()


def test_a_small_file_is_read_as_soon_as_its_tail(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("hi"))))
    store, _, tail = opened(path, "pi")

    assert tail is None
    store.close()
