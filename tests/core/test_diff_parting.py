"""Where two sides of a comparison part, in sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hostile_files import SAMPLES

from tt_debugger.core.diff.divergence import divergence
from tt_debugger.core.diff.parting import first_sentences, parting_sentences
from tt_debugger.core.diff.side import Side
from tt_debugger.debugger import Debugger


def said(old: Side, new: Side) -> list[str]:
    return list(parting_sentences(old, new, divergence(old, new)))


@pytest.fixture(scope="module")
def pi() -> Any:
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        yield debugger


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        (20, 20, ["A and B are one checkpoint"]),
        (14, 16, ["B stands 2 checkpoints after A"]),
        (16, 14, ["A stands 2 checkpoints after B"]),
        (
            23,
            39,
            [
                "fork point: row 10, 9ad9150d",
                "after it: A 13 checkpoints, B 11 checkpoints; they do not meet again",
            ],
        ),
        (
            39,
            63,
            [
                "fork point: row 31, 498d5481",
                "after it: A 8 checkpoints, B 24 checkpoints; they do not meet again",
            ],
        ),
    ],
)
def test_where_two_points_part_is_said_in_a_sentence(
    pi: Debugger, a: int, b: int, words: list[str]
) -> None:
    assert said(pi.side(a - 1), pi.side(b - 1)) == words


def test_two_sessions_without_a_beginning_in_common_say_so(pi: Debugger) -> None:
    with Debugger.open(str(SAMPLES / "tau.jsonl")) as tau:
        first, second = said(pi.side(62), tau.side(36))
    assert first == "they have no beginning in common"
    assert second.startswith("in all: A 37 checkpoints, B 29 checkpoints")


def test_a_copy_that_goes_on_has_the_same_checkpoints(pi: Debugger, tmp_path: Path) -> None:
    lines = (SAMPLES / "pi.jsonl").read_bytes().splitlines(keepends=True)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(b"".join(lines[:15]))
    with Debugger.open(str(copy)) as shorter:
        row = len(shorter.session) - 1

        assert said(shorter.side(row), pi.side(row + 2)) == [
            f"the same checkpoints up to row {row + 1}, {shorter.session.ids[row]}",
            "after it: A nothing, B 2 checkpoints",
        ]


def test_what_each_side_did_first_is_told(pi: Debugger) -> None:
    old, new = pi.side(22), pi.side(38)

    assert list(first_sentences(old, new, divergence(old, new))) == [
        "first in A: row 13, user: Try 1 first, we are close to a release.",
        "first in B: row 29, branch: Goal Weigh a lock file (option 3) after polling had failed.…",
    ]
