"""Reading the answers of a session while its file grows, or another takes its place."""

from __future__ import annotations

from pathlib import Path

import pytest
from builders import PI_HEADER, assistant, jsonl, pi

from tt_debugger.debugger import Debugger
from tt_debugger.errors import CannotReadError

COUNT = 200


def talk(name: str, count: int) -> bytes:
    """Give a file of calls, whose ids begin with a name."""
    ids = [f"{name}{number}" for number in range(count)]
    parents = [None, *ids]
    return jsonl(
        PI_HEADER,
        *(
            pi(own, parent, assistant("", f"call-{own}"))
            for own, parent in zip(ids, parents, strict=False)
        ),
    )


def test_what_is_written_meanwhile_changes_nothing_of_what_is_read(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(talk("a", COUNT))
    told: list[tuple[int, int]] = []

    def grow(done: int, of: int) -> None:
        if not told:
            path.write_bytes(talk("a", 2 * COUNT))
            assert debugger.follow() is not None
        told.append((done, of))

    with Debugger.open(str(path)) as debugger:
        answers = debugger.answers(grow)

    assert [call.row for call in answers.calls] == list(range(COUNT))
    assert (answers.unread, told[-1]) == (0, (COUNT, COUNT))


def test_where_another_file_takes_the_place_reading_ends(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(talk("a", COUNT))

    def replace(_done: int, _of: int) -> None:
        path.unlink()
        path.write_bytes(talk("b", COUNT))
        while debugger.follow() is not None:
            pass

    with Debugger.open(str(path)) as debugger:
        with pytest.raises(CannotReadError, match="written anew"):
            debugger.answers(replace)
        assert len(debugger.answers().calls) == COUNT


def test_of_a_record_that_cannot_be_read_any_more_the_index_tells(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    content = talk("a", COUNT)
    path.write_bytes(content)

    with Debugger.open(str(path)) as debugger:
        debugger.describe()
        begin = debugger.session.heads.offset(150) or 0
        path.write_bytes(content[: begin + 9])
        answers = debugger.answers()

    assert [answers.tool(call) for call in answers.calls] == ["bash"] * COUNT
    assert 0 < answers.unread <= COUNT - 150
