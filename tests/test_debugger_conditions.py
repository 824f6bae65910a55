"""Asking a session of a condition: at one checkpoint, and along a path."""

from __future__ import annotations

from pathlib import Path

import pytest
from hostile_files import SAMPLES

from tt_debugger.core.bisect import Bisection, Verdict, bisected, first_bad
from tt_debugger.core.conditions import parse_condition
from tt_debugger.debugger import Debugger

FILES = sorted(SAMPLES.glob("*.jsonl"))
HOLDING_ON = ("messages>3", "cost>0.01", "row>7", "length(messages) > 2")
"""What holds on along a path, at least where nothing is compacted."""
CONDITIONS = (
    *HOLDING_ON,
    "error",
    "tokens>2k",
    "took>2s and not error",
    "messages[?role=='user'] | length(@) > `1`",
    "text~the",
    "entry: record && kind == 'message'",
)


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.stem)
def test_a_condition_holds_along_a_path_where_it_holds_at_each_checkpoint(file: Path):
    with Debugger.open(str(file)) as debugger:
        for leaf in debugger.session.tree.leaves():
            path = debugger.session.tree.path_to(leaf)
            for condition in map(parse_condition, CONDITIONS):
                along = list(debugger.following(condition, path))
                assert along == [debugger.holds(condition, row) for row in path], condition.text


@pytest.mark.parametrize("file", FILES, ids=lambda each: each.stem)
def test_a_bisect_finds_what_a_scan_finds_where_a_condition_holds_on(file: Path):
    found = 0
    with Debugger.open(str(file)) as debugger:
        path = debugger.session.tree.path_to(debugger.session.active or 0)
        for condition in map(parse_condition, HOLDING_ON):
            along = list(debugger.following(condition, path))
            if along != sorted(along):
                continue
            verdicts = dict(zip(path, map(_verdict, along), strict=True))

            def judge(row: int, verdicts: dict[int, Verdict] = verdicts) -> Verdict:
                return verdicts[row]

            *_, known = bisected(Bisection.of(path), judge)
            assert known.result == first_bad(verdicts.items())
            found += True
    assert found


def _verdict(holds: bool) -> Verdict:  # noqa: FBT001 - what is mapped
    return Verdict.BAD if holds else Verdict.GOOD
