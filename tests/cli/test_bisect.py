"""`ttdbg bisect`: what is tested, what is found, and how that is told."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import PI_HEADER, assistant, jsonl, pi, user
from hostile_files import SAMPLES

from tt_debugger.cli.main import main
from tt_debugger.core.text import acting

Ask = Callable[..., Any]

FAILS_FROM = "test $TTDBG_ROW -lt {}"
"""A command that fails from a row on."""
POSIX = pytest.mark.skipif(os.name != "posix", reason="the commands are those of a POSIX shell")
pytestmark = POSIX


@pytest.fixture
def talk(tmp_path: Path) -> Path:
    """A session of eight checkpoints m1 to m8, and a branch of one at m3."""
    file = tmp_path / "talk.jsonl"
    rows = [
        pi(
            f"m{n}",
            f"m{n - 1}" if n > 1 else None,
            (assistant if n % 2 == 0 else user)(f"text {n}"),
        )
        for n in range(1, 9)
    ]
    file.write_bytes(jsonl(PI_HEADER, *rows[:3], pi("aside", "m3", user("aside")), *rows[3:]))
    return file


def script(tmp_path: Path, *lines: str) -> str:
    """Give the command that runs a Python script of these lines, with the state as `state`."""
    file = tmp_path / "check.py"
    begin = ("import json, os, sys", "state = json.load(sys.stdin)")
    file.write_text("\n".join((*begin, *lines)) + "\n")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(file))}"


# A command


def test_a_script_finds_the_first_checkpoint_whose_state_it_refuses(
    ttdbg: Ask, talk: Path, tmp_path: Path
):
    check = script(tmp_path, "sys.exit(len(state['messages']) > 5)")
    answer = ttdbg("bisect", talk, "--run", check)

    assert answer.code == 0
    assert answer.err.splitlines() == [
        "what fails once is taken to fail from there on; --scan looks at each checkpoint",
        "row 9  bad (exit code 1)",
        "row 5  good (exit code 0)",
        "row 7  bad (exit code 1)",
        "row 6  good (exit code 0)",
        "4 of 8 checkpoints tested",
    ]
    assert answer.out.splitlines()[:3] == [
        f"{talk}#m6 is the first checkpoint where the command fails",
        "7 assistant",
        "text 6",
    ]
    assert "  + messages[5]  assistant: text of 6 characters" in answer.out.splitlines()


def test_json_names_the_checkpoint_and_what_was_asked(ttdbg: Ask, talk: Path):
    command = FAILS_FROM.format(7)

    assert ttdbg("bisect", talk, "--run", command, "--json").json == {
        "ttdbg": 1,
        "result": "found",
        "checkpoint": "m6",
        "tested": 4,
        "row": 7,
        "ref": f"{talk}#m6",
        "candidates": [],
        "command": command,
    }


def test_a_command_is_told_the_checkpoint_and_prints_to_stderr(
    talk: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    names = ("TTDBG_LOCATION", "TTDBG_REF", "TTDBG_CHECKPOINT", "TTDBG_ROW")
    check = script(
        tmp_path, f"print([os.environ[each] for each in {names}], state['messages'][0])"
    )
    code = main(["bisect", f"{talk}#root", "--run", check])
    out, err = capfd.readouterr()

    assert (code, out) == (1, "")
    assert f"{[str(talk), f'{talk}#m1', 'm1', '1']} {user('text 1')}" in err.splitlines()


@pytest.mark.parametrize(
    ("location", "options", "found"),
    [
        ("", "", "m5"),
        ("#m7", "", "m5"),
        ("#m4", "", None),
        ("#aside", "", "aside"),
        ("#m2..m7", "", "m5"),
        ("#m6..m7", "", "m6"),
        ("", "--good m3 --bad m6", "m5"),
        ("", "--good m6", "m7"),
        ("", "--good @~1", "m8"),
        ("", "--bad '#m3'", None),
        ("", "--scan", "m5"),
        ("", "--scan --good m6", "m7"),
        ("", "--skip m5 --skip m6", "m7"),
    ],
)
def test_the_path_is_narrowed(
    ttdbg: Ask, talk: Path, location: str, options: str, found: str | None
):
    # Row 4 is another branch, so m4 is row 5.
    at_4 = "test $TTDBG_CHECKPOINT = aside && exit 1; test $TTDBG_ROW -lt 6"
    answer = ttdbg("bisect", f"{talk}{location}", "--run", at_4, "--json", *shlex.split(options))

    if found is None and "--bad" in options:
        # What was said to be bad is the first one then.
        assert (answer.json["checkpoint"], answer.json["tested"]) == ("m3", 2)
    else:
        assert answer.json["checkpoint"] == found
        assert answer.code == (0 if found else 1)


def test_what_cannot_be_tested_is_skipped_and_named_where_it_may_be_it(ttdbg: Ask, talk: Path):
    command = "case $TTDBG_ROW in 5|6) exit 125;; 7|8|9) exit 3;; esac"
    answer = ttdbg("bisect", talk, "--run", command)
    found = ttdbg("bisect", talk, "--run", command, "--json").json
    scanned = ttdbg("bisect", talk, "--run", command, "--json", "--scan").json

    assert answer.code == 0
    assert answer.out.splitlines()[:4] == [
        "one of 3 checkpoints is the first where the command fails; all but the last were skipped",
        f"  {talk}#m4  5 assistant",
        f"  {talk}#m5  6 user",
        f"  {talk}#m6  7 assistant",
    ]
    assert found["result"] == scanned["result"] == "found-despite-skips"
    assert found["checkpoint"] == scanned["checkpoint"] == "m6"
    assert found["candidates"] == scanned["candidates"] == ["m4", "m5", "m6"]
    assert (found["tested"], scanned["tested"]) == (5, 6)


def test_where_a_command_fails_at_the_last_one_no_more_that_is_all_that_is_told(
    ttdbg: Ask, talk: Path
):
    assert ttdbg("bisect", talk, "--run", "test $TTDBG_ROW -ne 3") == (
        1,
        "",
        (
            "what fails once is taken to fail from there on; --scan looks at each checkpoint\n"
            "row 9  good (exit code 0)\n"
            "it does not fail at the last one, row 9; whether it did before is not known: "
            "--scan tests each\n"
            "1 of 8 checkpoints tested\n"
        ),
    )
    assert ttdbg("bisect", talk, "--run", "true", "--json").json["result"] == "not-found"


def test_where_every_checkpoint_was_tested_none_is_said(ttdbg: Ask, talk: Path):
    tested = "8 of 8 checkpoints tested, none where the command fails"

    assert ttdbg("bisect", talk, "--run", "true", "--scan").err.splitlines()[-1] == tested
    assert ttdbg("bisect", f"{talk}#root", "--run", "true").err.splitlines()[1:] == [
        "row 1  good (exit code 0)",
        "1 of 1 checkpoint tested, none where the command fails",
    ]


def test_where_the_last_one_cannot_be_tested_the_row_that_could_is_named(ttdbg: Ask, talk: Path):
    answer = ttdbg("bisect", talk, "--run", "test $TTDBG_ROW -lt 9 || exit 125")

    assert answer.err.splitlines()[1:] == [
        "row 9  skip (exit code 125)",
        "row 8  good (exit code 0)",
        "it does not fail at row 8; whether it did before is not known: --scan tests each",
        "2 of 8 checkpoints tested",
    ]
    assert answer.out.splitlines() == [
        "1 checkpoint could not be tested; one of them may be it",
        f"  {talk}#m8  9 assistant · active leaf",
    ]


def test_a_scan_tests_each_in_order_until_one_is_bad(ttdbg: Ask, talk: Path):
    command = "test $TTDBG_ROW -ne 3"
    answer = ttdbg("bisect", talk, "--run", command, "--scan")

    assert answer.out.startswith(f"{talk}#m3 is the first checkpoint where the command fails\n")
    assert answer.err.splitlines() == [
        "row 1  good (exit code 0)",
        "row 2  good (exit code 0)",
        "row 3  bad (exit code 1)",
        "3 of 8 checkpoints tested",
    ]
    assert ttdbg("bisect", talk, "--run", command).code == 1


@pytest.mark.parametrize("command", ["exit 128", "exit 255", "kill -9 $$"])
def test_a_code_above_127_ends_the_search_with_an_error(ttdbg: Ask, talk: Path, command: str):
    answer = ttdbg("bisect", talk, "--run", command)

    assert (answer.code, answer.out) == (2, "")
    code = 137 if "kill" in command else int(command.split()[1])
    assert answer.err.splitlines()[1:] == [
        f"ttdbg: the command exits with {code} at row 9, which ends the search",
        "hint: 0 is good, 125 cannot be told, and any other up to 127 is bad",
    ]


@pytest.mark.parametrize("options", [[], ["--scan"]])
def test_a_command_that_is_not_there_ends_the_search_at_the_first_test(
    ttdbg: Ask, talk: Path, options: list[str]
):
    answer = ttdbg("bisect", talk, "--run", "no-such-command", *options)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines()[-2:] == [
        "ttdbg: the shell cannot run no-such-command",
        (
            f"hint: it exits with 127 at row {1 if options else 9}, the first that is tested; "
            "a test that fails there exits with any other up to 125"
        ),
    ]


def test_a_command_that_ran_once_may_exit_so_later(ttdbg: Ask, talk: Path):
    answer = ttdbg("bisect", talk, "--run", "test $TTDBG_ROW -lt 7 || exit 126", "--scan")

    assert "row 7  bad (exit code 126, as where a shell cannot run it)" in answer.err.splitlines()
    assert answer.out.startswith(f"{talk}#m6 is the first checkpoint where the command fails\n")


def test_a_command_need_not_read_the_state(ttdbg: Ask, tmp_path: Path):
    file = tmp_path / "large.jsonl"
    file.write_bytes(jsonl(PI_HEADER, pi("m1", None, user("x" * (1 << 20)))))

    assert ttdbg("bisect", file, "--run", "exec <&-; exit 1", "--json").json["row"] == 1


def test_a_state_that_is_no_unicode_reaches_a_command(ttdbg: Ask, tmp_path: Path):
    file = tmp_path / "half.jsonl"
    file.write_bytes(jsonl(PI_HEADER, pi("m1", None, user("half \ud800 of one"))))
    check = script(tmp_path, "sys.exit('of one' in state['messages'][0]['content'][0]['text'])")

    assert ttdbg("bisect", file, "--run", check, "--json").json["result"] == "found"


def test_ids_that_attack_do_nothing(ttdbg: Ask, tmp_path: Path):
    evil = "x\x1b]0;t\x07; touch hacked; $(touch hacked)\u202e\n"
    file = tmp_path / "evil.jsonl"
    file.write_bytes(jsonl(PI_HEADER, pi(evil, None, user(evil))))

    for form in ((), ("--json",)):
        command = f"cd {shlex.quote(str(tmp_path))} && echo $TTDBG_CHECKPOINT $TTDBG_REF && exit 1"
        answer = ttdbg("bisect", file, "--run", command, *form)
        assert (answer.code, acting(answer.out + answer.err)) == (0, set())
    assert not (tmp_path / "hacked").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("", "give --when CONDITION or --run COMMAND"),
        ("--run ' '", "there is no command to run"),
        ("--run true --when error", "give --when CONDITION or --run COMMAND"),
        ("--run true --good nope", "there is no checkpoint 'nope' in this session"),
        ("--run true --good aside", "row 4 is not on the path to row 9"),
        ("--run true --good m6 --bad m3", "row 3 is bad, but row 7 behind it good"),
        ("--run true --good other:m1", "other:m1 is in another session"),
    ],
)
def test_what_makes_no_sense_is_refused(ttdbg: Ask, talk: Path, options: str, said: str):
    answer = ttdbg("bisect", talk, *shlex.split(options))

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"ttdbg: {said}")


@pytest.mark.parametrize(
    ("asked", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, -signal.SIGTERM)], ids=str
)
def test_who_ends_the_search_ends_the_command_and_what_it_started(
    talk: Path, tmp_path: Path, asked: signal.Signals, code: int
):
    told = tmp_path / "pids"
    command = f"sleep 300 & echo $! $$ > {shlex.quote(str(told))}; wait"
    search = subprocess.Popen(  # noqa: S603 - our own command
        [sys.executable, "-m", "tt_debugger", "bisect", str(talk), "--run", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while not (told.exists() and len(told.read_text().split()) == 2):
        assert search.poll() is None
        time.sleep(0.01)
    search.send_signal(asked)

    assert search.wait(60) == code
    for pid in map(int, told.read_text().split()):
        wait_until_gone(pid)


def wait_until_gone(pid: int) -> None:
    for _ in range(6000):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return
        state = Path(f"/proc/{pid}/stat")
        if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
            return
        time.sleep(0.01)
    raise AssertionError(f"{pid} is still there")


# A condition


def test_a_condition_finds_the_first_checkpoint_where_it_holds(ttdbg: Ask, talk: Path):
    answer = ttdbg("bisect", talk, "--when", "messages > 5")

    assert answer.code == 0
    assert answer.err.splitlines() == [
        "what holds once is taken to hold from there on; --scan looks at each checkpoint",
        "row 9  holds",
        "row 5  does not hold",
        "row 7  holds",
        "row 6  does not hold",
        "4 of 8 checkpoints tested",
    ]
    assert answer.out.splitlines() == [
        f"{talk}#m6 is the first checkpoint where messages > 5 holds",
        "7 assistant",
        "text 6",
        "  messages 5 → 6",
        "  + messages[5]  assistant: text of 6 characters",
    ]


@pytest.mark.parametrize(
    ("condition", "told"),
    [
        ("cost > 0.1", ["cost 0.08338 → 0.1121"]),
        ("tokens > 4k and row > 6 and tokens > 1", ["tokens 3893 → 4151", "row 40 → 41"]),
        ("row >= 1", ["row not there → 1"]),
        ("messages[0].role == 'system' and not error", []),
    ],
)
def test_the_figures_that_are_compared_are_told_before_and_after(
    ttdbg: Ask, condition: str, told: list[str]
):
    lines = ttdbg("bisect", SAMPLES / "pi.jsonl", "--when", condition).out.splitlines()

    assert [each.strip() for each in lines if " → " in each and "  ~ " not in each] == told


def test_a_scan_finds_what_a_bisect_finds_where_the_condition_holds_on(ttdbg: Ask, talk: Path):
    asked = ("bisect", talk, "--when", "length(messages) > `5`", "--json")
    found, scanned = ttdbg(*asked).json, ttdbg(*asked, "--scan").json

    assert (found.pop("tested"), scanned.pop("tested")) == (4, 6)
    assert found == scanned
    assert found["condition"] == "length(messages) > `5`"


def test_a_scan_finds_the_first_of_all_and_says_until_where_it_holds(ttdbg: Ask, talk: Path):
    asked = ("bisect", talk, "--when", "length(messages) == 3 or length(messages) > 6")
    answer = ttdbg(*asked, "--scan")

    assert answer.out.splitlines()[0] == (
        f"{talk}#m3 is the first checkpoint where length(messages) == 3 or length(messages) > 6"
        " holds; it held at that one alone, and again from row 8"
    )
    assert answer.err == "3 of 8 checkpoints tested\n"
    assert ttdbg(*asked, "--json").json["checkpoint"] == "m7"


def test_a_condition_that_ceased_to_hold_is_looked_for_in_order(ttdbg: Ask, talk: Path):
    asked = ("bisect", talk, "--when", "messages > 2 and messages < 6")

    assert ttdbg(*asked) == (
        0,
        (
            f"{talk}#m3 is the first checkpoint where messages > 2 and messages < 6 holds; "
            "it held until row 6\n"
            "3 user\n"
            "text 3\n"
            "  messages 2 → 3\n"
            "  + messages[2]  user: text of 6 characters\n"
        ),
        (
            "what holds once is taken to hold from there on; --scan looks at each checkpoint\n"
            "row 9  does not hold\n"
            "it does not hold at the last one, row 9: each is looked at\n"
            "4 of 8 checkpoints tested\n"
        ),
    )
    assert ttdbg(*asked, "--good", "m4", "--json").json["checkpoint"] == "m5"
    assert ttdbg(*asked, "--good", "@", "--json").json["result"] == "not-found"
    assert ttdbg(*asked, "--skip", "m3").out.splitlines()[0] == (
        "one of 2 checkpoints is the first where messages > 2 and messages < 6 holds; "
        "it held until row 6; all but the last were skipped"
    )


@pytest.mark.parametrize(
    ("location", "options", "found", "tested"),
    [
        ("", "", "m2", 2),
        ("#m3..@", "", "m4", 2),
        ("", "--good m2", "m4", 2),
        ("", "--good m2 --skip m4", "m6", 3),
    ],
)
def test_what_happens_at_a_checkpoint_is_looked_for_in_order(
    ttdbg: Ask, talk: Path, location: str, options: str, found: str, tested: int
):
    asked = ("bisect", f"{talk}{location}", "--when", "role=assistant")
    answer = ttdbg(*asked, "--json", *shlex.split(options))

    assert (answer.json["checkpoint"], answer.json["tested"]) == (found, tested)
    assert answer.err.startswith("role=assistant happens at a checkpoint: each is looked at\n")
    assert "any more" not in answer.err


def test_the_value_of_an_expression_is_told_before_and_after(ttdbg: Ask, talk: Path):
    for condition in ("messages[5].role", "jmes:messages[5].role"):
        answer = ttdbg("bisect", talk, "--when", condition)
        assert '  value null → "assistant"' in answer.out.splitlines()
    rooted = ttdbg("bisect", talk, "--when", "messages[0].role").out.splitlines()
    assert '  value not there → "user"' in rooted
    assert "  value " not in ttdbg("bisect", talk, "--when", "length(messages) > 5").out


def test_where_a_condition_holds_nowhere_that_is_said(ttdbg: Ask, talk: Path):
    assert ttdbg("bisect", talk, "--when", "messages>8", "--json") == (
        1,
        (
            '{"ttdbg":1,"result":"not-found","checkpoint":null,"tested":8,"row":null,"ref":null,'
            '"candidates":[],"condition":"messages>8"}\n'
        ),
        (
            "what holds once is taken to hold from there on; --scan looks at each checkpoint\n"
            "row 9  does not hold\n"
            "it does not hold at the last one, row 9: each is looked at\n"
            "8 of 8 checkpoints tested, none where messages>8 holds\n"
            "hint: messages is 1 to 8 here\n"
        ),
    )


def test_what_is_no_condition_is_refused_with_the_reason(ttdbg: Ask, talk: Path):
    answer = ttdbg("bisect", talk, "--when", "messages>")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err == (
        "ttdbg: 'messages>': something is missing behind messages> (column 10)\n"
    )


# The examples in README


def test_where_the_path_had_cost_five_cents_in_a_sample(ttdbg: Ask, in_samples: Path):
    assert ttdbg("bisect", in_samples / "pi.jsonl", "--when", "cost>0.05") == (
        0,
        """\
sample_sessions/pi.jsonl#8b74 is the first checkpoint where cost>0.05 holds
43 assistant · edit · 09:40:41 · +5.6s · 182 out
notekeeper/store.py
  cost 0.04574 → 0.05283
  + messages[12]  assistant: tool call edit(notekeeper/store.py)
  ~ usage         input +101, output +182, cache_read +4,065, total +4,348, cost +0.007088
""",
        """\
what holds once is taken to hold from there on; --scan looks at each checkpoint
row 63  holds
row 44  holds
row 9  does not hold
row 31  does not hold
row 41  does not hold
row 42  does not hold
row 43  holds
7 of 37 checkpoints tested
""",
    )


def test_where_a_word_came_into_the_state_of_a_sample(ttdbg: Ask, in_samples: Path):
    answer = ttdbg(
        "bisect", in_samples / "agent-state.jsonl", "--run", "! grep -q one_copy", "--json"
    )

    assert (answer.json["row"], answer.json["tested"]) == (9, 5)
