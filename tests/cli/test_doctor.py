"""`ttdbg doctor --deep`: what only bodies show, beside what the index knows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hostile_files import pi, said
from terminal import LINES, PIPE, plain, run, transgressions

TWICE = '{"type":"message","id":"b","parentId":"a","message":{"role":"user","role":"user"}}'


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(said("a", None), TWICE))
    return path


def test_deep_finds_more_and_exits_with_1_for_it(ttdbg: Callable[..., Any], file: Path):
    assert ttdbg("doctor", file).code == 0
    assert ttdbg("doctor", "--deep", file) == (
        1,
        (
            "warning TT109  line 3, byte 212  a key is given twice in one object; the last one"
            " counts: 'role'\n"
            "1 warning: 2 checkpoints, 295 of 295 bytes shown\n"
        ),
        "",
    )


def test_deep_answers_in_json(ttdbg: Callable[..., Any], file: Path):
    answer = ttdbg("doctor", "--deep", "--json", file).json

    assert answer["bytes"] == {"shown": 295, "skipped": 0, "size": 295}
    assert answer["findings"] == [
        {
            "code": "TT109",
            "severity": "warning",
            "line": 3,
            "offset": 212,
            "checkpoint": "b",
            "message": "a key is given twice in one object; the last one counts: 'role'",
            "hint": None,
        }
    ]


def test_a_name_that_attacks_is_told_escaped(ttdbg: Callable[..., Any], tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi(said("a", None), TWICE.replace('"role"', '"\\u001b]0;x\\u0007\\u202e"')))

    answer = ttdbg("doctor", "--deep", path)

    assert "TT109" in answer.out
    assert transgressions(answer.out.encode(), PIPE) == []


def test_a_terminal_is_told_how_much_is_done_and_nothing_of_it_stays(file: Path):
    code, received = run(["doctor", "--deep", str(file)])

    assert code == 1
    assert b"\rexamined 100 %\r" in received
    assert transgressions(received, LINES) == []
    assert plain(received).endswith("bytes shown\n")
