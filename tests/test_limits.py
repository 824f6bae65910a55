"""Limits: what is too large, too deep or no file costs little, and the rest is shown."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
from limits import (
    HOLE,
    MIB,
    STRANGE,
    costs,
    long_line,
    longest_record,
    sparse_end,
    sparse_middle,
    sparse_only,
)

import tt_debugger
from tt_debugger.debugger import Debugger
from tt_debugger.storage.lines import LONGEST

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="measured as Linux tells it")

AT_ONCE = 0.1
"""Seconds of work in which what is no session is refused."""
LEAST_MEMORY = 200 * MIB


@pytest.mark.parametrize("name", STRANGE)
def test_what_is_no_file_of_records_is_refused_or_opened_at_once(name: str, tmp_path: Path):
    location = STRANGE[name](tmp_path)

    took = costs(tmp_path, location)

    assert max(each.seconds for each in took) < AT_ONCE
    assert max(each.peak for each in took) < LEAST_MEMORY
    is_refused = "link out" not in name and " a session" not in name
    assert {each.code == 3 for each in took} == {is_refused}


def test_a_terabyte_that_was_never_written_is_passed_over_and_counted(tmp_path: Path):
    for make, ids, code in (
        (sparse_middle, ["a", "gap@3", "b"], "TT101"),
        (sparse_end, ["a", "b"], "TT102"),
    ):
        location = make(tmp_path)

        answer = json.loads(costs(tmp_path, location)[0].out)

        assert [each["id"] for each in answer["checkpoints"]] == ids
        assert [(each["code"], each["line"]) for each in answer["findings"]] == [
            (code, 3 if code == "TT101" else 4)
        ]
        assert answer["bytes"]["size"] == location.stat().st_size >= HOLE
        assert answer["bytes"]["skipped"] > HOLE - 4096
        assert location.stat().st_blocks * 512 < MIB


def test_of_the_bytes_of_a_gap_no_more_is_held_than_of_a_record(tmp_path: Path):
    with Debugger.open(str(sparse_middle(tmp_path))) as debugger:
        seen = debugger.inspect(1)

    assert seen.session.ids[1] == "gap@3"
    assert len(seen.raw) == LONGEST


def test_of_a_sparse_file_without_a_session_only_the_beginning_is_read(tmp_path: Path):
    took = costs(tmp_path, sparse_only(tmp_path))

    assert max(each.peak for each in took) < 64 * MIB


def test_a_record_over_the_limit_is_a_gap_and_the_memory_stays_constant(tmp_path: Path):
    took = costs(tmp_path, long_line(tmp_path, 200 * MIB))

    answer = json.loads(took[0].out)
    assert [each["id"] for each in answer["checkpoints"]] == ["a", "gap@3", "c"]
    (found,) = (each for each in answer["findings"] if each["code"] == "TT101")
    assert (found["line"], found["message"]) == (3, "not readable: the line is longer than 64 MiB")
    assert answer["bytes"]["skipped"] == answer["checkpoints"][1]["length"] > 200 * MIB
    assert [each.code for each in took] == [0, 0, 0, 1]
    assert max(each.peak for each in took) < LEAST_MEMORY


def test_a_record_just_below_the_limit_takes_no_more_than_twice_its_size(tmp_path: Path):
    location = longest_record(tmp_path)
    size = location.stat().st_size

    took = costs(tmp_path, location)

    assert LONGEST - 2 * MIB < size < LONGEST
    assert [each.code for each in took] == [0, 0, 0, 0]
    assert max(each.peak for each in took) < LEAST_MEMORY + 2 * size


def test_a_line_of_many_values_costs_no_more_than_its_size(tmp_path: Path):
    location = tmp_path / "values.jsonl"
    location.write_bytes(b'{"id":"a","parent":null}\n' + b"1 " * (8 * MIB) + b"\n")

    (took,) = costs(tmp_path, location, [["log", "--json"]])

    assert (took.code, took.peak < LEAST_MEMORY) == (0, True)
    assert took.seconds < 2


def test_no_code_of_ours_touches_the_recursion_limit():
    sources = Path(tt_debugger.__file__).parent.rglob("*.py")

    found = [
        each.name
        for each in sources
        if re.search("recursion_?limit", each.read_text(), re.IGNORECASE)
    ]

    assert found == []
