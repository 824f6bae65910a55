"""`ttdbg log --stat`: what people read on a pipe, and what scripts get."""

from __future__ import annotations

import sys

import pytest

from tt_debugger.cli.main import main

KEYS = ["seconds", "total", "shared", "unread", "branches", "tools", "models", "loops"]
CODEX = """\
50 checkpoints, 2 branches, 43 messages, 14 tool calls, 4 errors
162k tokens: 5.5k in, 1.6k out, 155k from the cache
3m25s from first to last, 43s for answers, 11s for tools

branch, its own part      rows  calls  errors    in   out  cached  models  tools
row 50 @ L95 Store the …    22      6          2.7k   622   81.4k     20s   5.7s
row 28 L53 Then take th…    12      4       3  1.5k   552   42.2k     10s   3.3s
shared by several           16      4       1  1.3k   430   31.6k     13s   2.3s
total                       50     14       4  5.5k  1.6k    155k     43s    11s

tool          calls  errors  took  median  longest    where
exec_command      9       3   10s    1.4s     3.1s  #row=42  ███████████████████
apply_patch       3          0.7s    0.2s     0.2s  #row=20  █
update_plan       2          0.4s    0.2s     0.2s   #row=8  █

model          answers    in   out  cached
gpt-5.2-codex       20  5.1k  1.5k    144k  ████████████████████
gpt-5.2              2   395    88   11.7k  ██

loop: exec_command `pytest -q` 3 times, rows 14..26, the results differ

context in tokens, over all rows; ◆ 1 compaction
   15.3k                                     ▁▁▁▁         ▅▅▅▇▇▇▇▇███▇▇▇
                        ▁▁▁▁▂▂▂▆▆▆▆▆▆▆▇▇▇▇███████▆▆▆▆▆▆▆▆▆██████████████
                     ▇▇▇████████████████████████████████████████████████    ▅▅▅▅
       0             ███████████████████████████████████████████████████    ████
                                                                        ◆
         1                                                                    50

tokens over time, altogether
    162k                                                        ▃▃▃▆▆▆▆▆▆▆▆▆▆▆▆█
                                                              ▂▅████████████████
                                     ▃▅█████████████████████████████████████████
       0 ▃▅▅▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇███████████████████████████████████████████
         2026-03-30 07:41                                       2026-03-30 07:44
"""

STATES = """\
14 checkpoints, 1 branch
messages, tool calls and errors are not recorded one by one
58m09s from first to last

branch                                                                      rows
row 14 @ L14 step 5 · completed · 21 messages · Nobody gets a letter twice    14
"""
COMMITS = """\
6 checkpoints, 2 branches
messages, tool calls and errors are not recorded one by one
50d from first to last

branch, its own part                          rows
row 6 @ 2aec Merge branch 'newsletter-pause'     3
row 4 4026 feat: Let a test skip the pause       1
shared by several                                2
total                                            6
"""


def test_tables_pictures_and_loops_are_drawn_in_eighty_columns(ttdbg, in_samples):
    answer = ttdbg("log", in_samples / "codex.jsonl", "--stat")

    assert (answer.code, answer.out, answer.err) == (0, CODEX, "")


def test_json_has_the_same_under_a_key_of_its_own_beside_those_of_log(ttdbg, in_samples):
    plain = ttdbg("log", in_samples / "pi.jsonl", "--json").json
    answer = ttdbg("log", in_samples / "pi.jsonl", "--json", "--stat").json
    stats = answer.pop("stats")

    assert answer == plain
    assert list(stats) == KEYS
    assert stats["unread"] == 0
    assert stats["total"] == {
        "checkpoints": 63,
        "messages": 48,
        "calls": 18,
        "errors": 4,
        "tokens": {"input": 18717, "output": 2677, "cache_read": 93179, "cache_write": 0},
        "cost": 0.207102,
        "model_seconds": 91.859,
        "tool_seconds": 36.62,
    }
    assert {each["leaf"] for each in stats["branches"]} == set(plain["leaves"])
    assert [each["leaf"] for each in stats["branches"] if each["active"]] == [plain["active_leaf"]]
    checkpoints = [stats["shared"], *(each["own"] for each in stats["branches"])]
    assert sum(each["checkpoints"] for each in checkpoints) == len(plain["checkpoints"])
    assert stats["tools"][0] == {
        "tool": "bash",
        "calls": 8,
        "errors": 4,
        "seconds": 32.973,
        "median_seconds": 3.5585,
        "longest_seconds": 10.376,
        "longest": "f90f382d",
    }
    assert [(each["model"], each["of_summaries"]) for each in stats["models"]] == [
        ("coder-large", False),
        ("coder-small", False),
        (None, True),
        (None, False),
    ]
    assert stats["loops"] == []


def test_json_tells_a_loop_by_its_calls_and_where_it_is(ttdbg, in_samples):
    assert ttdbg("log", in_samples / "codex.jsonl", "--json", "--stat").json["stats"]["loops"] == [
        {
            "calls": [{"tool": "exec_command", "arguments": "pytest -q"}],
            "count": 3,
            "first": "L22",
            "last": "L49",
            "same_result": False,
        }
    ]


def test_no_cost_is_told_where_the_file_has_none(ttdbg, in_samples):
    stats = ttdbg("log", in_samples / "claude-code.jsonl", "--json", "--stat").json["stats"]

    assert stats["total"]["cost"] is None
    assert {each["cost"] for each in stats["models"]} == {None}
    assert "$" not in ttdbg("log", in_samples / "claude-code.jsonl", "--stat").out


def test_of_saved_states_and_commits_nothing_is_told_that_is_not_recorded(ttdbg, in_samples):
    states = ttdbg("log", in_samples / "agent-state.jsonl", "--stat")
    commits = ttdbg("log", in_samples / "shop.git", "--stat")
    total = ttdbg("log", in_samples / "shop.git", "--stat", "--json").json["stats"]["total"]

    assert states.out == STATES
    assert commits.out == COMMITS
    assert total == {
        "checkpoints": 6,
        "messages": None,
        "calls": None,
        "errors": None,
        "tokens": None,
        "cost": None,
        "model_seconds": None,
        "tool_seconds": None,
    }


def test_an_empty_file_has_statistics_of_nothing(ttdbg, tmp_path):
    path = tmp_path / "empty.jsonl"
    path.touch()

    answer = ttdbg("log", path, "--stat")
    stats = ttdbg("log", path, "--stat", "--json").json["stats"]

    assert (answer.code, answer.out) == (0, "")
    assert (stats["branches"], stats["total"]["checkpoints"], stats["seconds"]) == ([], 0, None)


def test_what_is_followed_has_no_statistics_yet(ttdbg, in_samples):
    answer = ttdbg("log", in_samples / "pi.jsonl", "--stat", "--follow")

    assert (answer.code, answer.out) == (2, "")
    assert "--stat" in answer.err


def test_plain_log_imports_nothing_of_statistics(in_samples, capsys):
    ours = ("tt_debugger.core.stats", "tt_debugger.core.loops", "tt_debugger.core.answers")
    before = {name: sys.modules.pop(name, None) for name in ours}
    try:
        assert main(["log", str(in_samples / "pi.jsonl")]) == 0
        assert not any(name in sys.modules for name in ours)
    finally:
        sys.modules.update({name: module for name, module in before.items() if module})
        capsys.readouterr()


@pytest.mark.parametrize("name", ["tau.jsonl", "langgraph.sqlite", "openhands", "swe-agent.traj"])
def test_every_kind_of_session_has_statistics(ttdbg, in_samples, name):
    answer = ttdbg("log", in_samples / name, "--stat")

    assert answer.code == 0
    assert answer.out.splitlines()[0].endswith(("error", "errors"))
    assert "\x1b" not in answer.out
