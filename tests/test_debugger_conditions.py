"""Asking a session of a condition: at one checkpoint, and along a path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hostile_files import SAMPLES

from tt_debugger.core.bisect import Bisection, Verdict, bisected, first_bad
from tt_debugger.core.changes import Change, Put
from tt_debugger.core.conditions import parse_condition
from tt_debugger.core.holding import Occasions, Rows, occasions
from tt_debugger.core.replay import Body
from tt_debugger.core.search import Query
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
    "text~pytest",
    "tool=bash",
    "tool=*edit*",
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


@pytest.mark.parametrize("text", ["text~zzqq", "tool=zzqq*"])
def test_a_record_that_does_not_have_the_word_is_not_decoded(text: str):
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        assert _asked_for(debugger, text) == []


def test_a_message_that_a_record_of_another_writes_anew_is_no_call_of_its_tool():
    with Debugger.open(str(SAMPLES / "pi.jsonl")) as debugger:
        row = debugger.session.rows["53e495e7"]
        (change,) = debugger.changes(row)

        assert isinstance(change, Put)
        assert change.value["toolName"] == "bash"
        assert not debugger.holds(parse_condition("tool=bash"), row)


def _asked_for(debugger: Debugger, text: str) -> list[int]:
    """Give the rows whose changes or bodies a condition asks for that holds nowhere."""
    asked: list[int] = []

    def changes_along(rows: Sequence[int]) -> Iterator[tuple[Change, ...]]:
        asked.extend(rows)
        return debugger.changes_along(rows)

    def body(row: int) -> Body:
        asked.append(row)
        return debugger.body(row)

    def may_say(row: int, query: Query) -> bool:
        return query.may_be_in(debugger.raw(row))

    sought = Occasions(parse_condition(text))
    found = [*occasions(Rows(debugger.session, changes_along, body, may_say), sought)]
    assert not any(each.hits for each in found)
    return asked


def _verdict(holds: bool) -> Verdict:  # noqa: FBT001 - what is mapped
    return Verdict.BAD if holds else Verdict.GOOD
