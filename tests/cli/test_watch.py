"""`ttdbg watch`: what it takes, what it answers, and how it exits."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl, tree_of_records
from hostile_files import ATTACK, SAMPLES, pi, said
from rich.cells import cell_len
from terminal import LINES, PIPE, plain, run, transgressions

from tt_debugger.cli.commands import bisect, watch

Ask = Callable[..., Any]
PI = str(SAMPLES / "pi.jsonl")
CLAUDE = str(SAMPLES / "claude-code.jsonl")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Records whose values change: a, b, c and d in a row, and e beside the last."""
    file = tmp_path / "s.jsonl"
    values = (
        ("aaaa", None, {"note": "one\ntwo\n", "list": [1], "n": 1}),
        ("bbbb", "aaaa", {"note": "one\n2\nthree\n", "list": [1, {"x": 1}], "n": 1}),
        ("cccc", "bbbb", {"note": "one\n", "list": [1, {"x": 2}], "n": 2}),
        ("eeee", "cccc", {"note": None}),
        ("dddd", "cccc", {"n": 2, "list": {"x": 2}}),
    )
    file.write_bytes(tree_of_records(*values))
    return file


def test_each_checkpoint_at_which_the_value_changed_is_a_line(ttdbg: Ask) -> None:
    answer = ttdbg("watch", PI, "/model")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        'dde0  1 09:12:04 ◇ model    + "coder-small"                  example/coder-small',
        'a6c8 30 09:31:48 ◇ model    ~ "coder-small" → "coder-large"  example/coder-large',
    ]


def test_the_branch_is_that_of_the_ref(ttdbg: Ask) -> None:
    at_row_20 = ttdbg("watch", f"{PI}#row=20", "/title")

    assert at_row_20.out.splitlines() == [
        "dde0  1 09:12:04 ◇ model    + null                          example/coder-small",
        '93e6 11 09:13:34 ◇ title    ~ null → "Flaky autosave test"  Flaky autosave test',
    ]


def test_of_a_range_only_what_changed_in_it_is_told(ttdbg: Ask) -> None:
    told = ttdbg("watch", f"{PI}#row=10..row=30", "/usage/cost").out.splitlines()

    assert [each[:51].rstrip() for each in told] == [
        "9ad9 10 09:12:33 ● asst     ~ 0.023704 → 0.032507",
        "5d82 29 09:31:17 ◈ branch   ~ 0.032507 → 0.039867",
    ]
    assert ttdbg("watch", f"{PI}#row=31..@", "/model") == (
        0,
        "",
        "/model does not change in this range\n",
    )


def test_what_was_written_as_it_was_is_marked_and_can_be_left_out(ttdbg: Ask) -> None:
    first, second = ttdbg("watch", f"{CLAUDE}#row=8", "/usage/cost").out.splitlines()

    assert (first[:33], second[:45]) == (
        "d335  3 08:41:14 ▸ Read     + 0.0",
        "4dc7  6 08:41:21 ▸ TodoWri… = 0.0 (rewritten)",
    )
    left = ttdbg("watch", f"{CLAUDE}#row=8", "/usage/cost", "--no-rewrites").out.splitlines()
    assert [each[:33] for each in left] == [first[:33]]


def test_the_last_ones_are_told_in_order_or_backwards(ttdbg: Ask) -> None:
    def ids(*options: str) -> list[str]:
        return [each[:4] for each in ttdbg("watch", PI, "/messages", *options).out.splitlines()]

    every = ids()

    assert ids("-n", "3") == every[-3:] == ["cf1d", "37db", "1cf0"]
    assert ids("--limit", "2", "--reverse") == ["1cf0", "37db"]
    assert ids("--reverse") == every[::-1]
    assert ttdbg("watch", PI, "/messages", "-n", "3").err == (
        f"{len(every) - 3} earlier changes left out\n"
    )
    assert ttdbg("watch", PI, "/messages", "-n", len(every)).err == ""


def test_what_changed_inside_a_value_is_told_in_few_words(ttdbg: Ask, records: Path) -> None:
    def told(path: str, end: str = "dddd") -> list[str]:
        lines = ttdbg("watch", f"{records}#{end}", f"/record{path}").out.splitlines()
        return [each[18:].partition('  {"')[0].rstrip() for each in lines]

    assert told("/list") == [
        "+ [1]",
        "~ 1 → 2 items",
        "~ 2 items, changed",
        "~ [2 items] → {x 2}",
    ]
    assert told("/note", "eeee") == [
        '+ "one two"',
        "~ 2 lines added, 1 removed",
        "  - two",
        "  + 2",
        "  + three",
        "~ 0 lines added, 2 removed",
        "  - 2",
        "  - three",
        '~ "one" → null',
    ]
    assert told("/note", "dddd")[-1] == '- "one" (gone)'
    assert told("/n") == ["+ 1", "= 1 (rewritten)", "~ 1 → 2", "= 2 (rewritten)"]


def test_the_answer_in_json_is_that_of_the_contract(ttdbg: Ask, records: Path) -> None:
    answer = ttdbg("watch", records, "/record/note", "--json")

    assert (answer.code, answer.err, answer.out.count("\n")) == (0, "", 1)
    assert answer.json == {
        "ttdbg": 1,
        "path": "/record/note",
        "history": [
            entry("aaaa", None, "one\ntwo\n", absent="old"),
            entry("bbbb", "one\ntwo\n", "one\n2\nthree\n"),
            entry("cccc", "one\n2\nthree\n", "one\n"),
            entry("dddd", "one\n", None, absent="new"),
        ],
    }
    assert ttdbg("watch", f"{records}#eeee", "/record/note", "--json").json["history"][-1] == (
        entry("eeee", "one\n", None)
    )


def test_json_has_whole_values_as_they_were_at_each_checkpoint(ttdbg: Ask, records: Path) -> None:
    history = ttdbg("watch", records, "/record/list", "--json").json["history"]
    values = [[1], [1, {"x": 1}], [1, {"x": 2}], {"x": 2}]

    assert [each["new"] for each in history] == values
    assert [each["old"] for each in history] == [None, *values[:-1]]


@pytest.mark.parametrize("limit", [1, 2, 9])
def test_the_last_ones_in_json_are_those_of_the_whole(
    ttdbg: Ask, records: Path, limit: int
) -> None:
    for options in (["/record/n"], ["/record/n", "--no-rewrites"], ["/record/list"]):
        whole = ttdbg("watch", records, *options, "--json").json
        last = ttdbg("watch", records, *options, "--json", "-n", limit)

        assert last.json == whole | {"history": whole["history"][-limit:]}
        assert bool(last.err) is (limit < len(whole["history"]))


def test_a_range_in_json_tells_what_was_before_it(ttdbg: Ask, records: Path) -> None:
    answer = ttdbg("watch", f"{records}#cccc..dddd", "/record/n", "--json")

    assert answer.json["history"] == [entry("cccc", 1, 2), entry("dddd", 2, 2, rewrite=True)]


def entry(
    checkpoint: str, old: Any, new: Any, *, rewrite: bool = False, absent: str | None = None
) -> dict[str, Any]:
    told = {"checkpoint": checkpoint, "old": old, "new": new}
    return told | {"rewrite": rewrite, "absent": absent}


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/usage/costs", "; did you mean /usage/cost?"),
        ("/mesages/0/role", "; did you mean /messages/0/role?"),
        ("/messages/99/role", "; did you mean /messages/16/role?"),
        ("/nothing", ""),
    ],
)
def test_of_a_path_that_is_never_there_near_names_are_told(
    ttdbg: Ask, path: str, said: str
) -> None:
    never = f"{path} is never there on this branch{said}\n"

    assert ttdbg("watch", PI, path) == (0, "", never)
    assert ttdbg("watch", PI, path, "--json") == (
        0,
        f'{{"ttdbg":1,"path":"{path}","history":[]}}\n',
        never,
    )


def test_a_near_name_is_told_as_the_expression_that_names_it(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    names = {"a-bcd": {"x": [1]}, "\ud83cefgh": 1}
    file.write_bytes(jsonl({"id": "aaaa", "parentId": None, **names}))

    assert ttdbg("watch", file, 'record."a-bce".x[0]').err.endswith(
        '; did you mean record."a-bcd".x[0]?\n'
    )
    assert ttdbg("watch", file, "record.efgh").err.endswith(
        '; did you mean record."\N{REPLACEMENT CHARACTER}efgh"?\n'
    )


def test_the_empty_path_is_the_whole_state(ttdbg: Ask, records: Path) -> None:
    answer = ttdbg("watch", records, "", "--json").json

    assert [each["checkpoint"] for each in answer["history"]] == ["aaaa", "bbbb", "cccc", "dddd"]
    assert answer["history"][0]["new"]["record"]["n"] == 1


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["{s}"], 2, "one thing is watched: a PATH, or with --when a CONDITION"),
        (
            ["{s}", "/a", "--when", "error"],
            2,
            "one thing is watched: a PATH, or with --when a CONDITION",
        ),
        (["{s}#zzzz", "/a"], 2, "there is no checkpoint 'zzzz' in this session"),
        (["{s}#eeee..dddd", "/a"], 2, "eeee is no ancestor of dddd"),
        (["{s}", "/a", "--json", "--reverse"], 2, "with --json the history is told in order"),
        (["{s}", "/a", "-n", "0"], 2, "Invalid value for '-n' / '--limit'"),
        (["{s}.none", "/a"], 3, "cannot read {s}.none: there is no such file"),
    ],
)
def test_wrong_requests_are_refused(
    ttdbg: Ask, records: Path, arguments: list[str], code: int, message: str
) -> None:
    answer = ttdbg("watch", *(each.format(s=records) for each in arguments))

    assert (answer.code, answer.out) == (code, "")
    assert answer.err.startswith(f"ttdbg: {message.format(s=records)}")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["usage.["], "'usage.[': the expression ends too soon (column 8)"),
        (["a.b=bash"], "'a.b=bash': '=' is no operator of JMESPath"),
        (["--when", "tool="], "'tool=': something is missing behind tool= (column 6)"),
        (["--when", ""], "'': "),
    ],
)
def test_what_cannot_be_asked_is_refused_with_the_place(
    ttdbg: Ask, arguments: list[str], said: str
) -> None:
    answer = ttdbg("watch", PI, *arguments)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"ttdbg: {said}")
    hint = "hint: --when takes conditions, such as error, tool=Bash or tokens>100k\n"
    assert answer.err.endswith(hint) is (arguments[0] != "--when")


def test_an_expression_is_told_where_its_value_changes(ttdbg: Ask) -> None:
    def told(text: str) -> list[str]:
        return [each[28:42] for each in ttdbg("watch", PI, text).out.splitlines()]

    assert told("messages[?isError].toolName") == [
        "+ []          ",
        "~ [] → [bash] ",
        "~ [bash] → [] ",
    ]
    assert ttdbg("watch", PI, "usage.cost").out == ttdbg("watch", PI, "/usage/cost").out
    assert ttdbg("watch", PI, "usage.cost > 0.1", "--json").json["history"] == [
        entry("09014d87", None, False, absent="old"),
        entry("58848181", False, True),
    ]
    assert ttdbg("watch", PI, "usage.costs").err == (
        "usage.costs is never there on this branch; did you mean usage.cost?\n"
    )
    assert ttdbg("watch", PI, "length(mesages[0].content)").err == (
        "length(mesages[0].content) is never there on this branch;"
        " did you mean messages[0].content?\n"
    )


def test_a_condition_is_told_where_it_begins_and_ceases_to_hold(ttdbg: Ask) -> None:
    lines = ttdbg("watch", PI, "--when", "tokens>4k").out.splitlines()

    assert [each[:45].rstrip() for each in lines] == [
        "f4ea 41 09:40:34 ▸ bash     + holds",
        "5884 54 09:54:29 ◆ compact  - holds no longer",
        "8d5e 57 10:06:14 ▸ read     + holds",
    ]
    answer = ttdbg("watch", PI, "--when", "tokens>4k", "--json", "-n", "2").json
    assert answer == {
        "ttdbg": 1,
        "path": None,
        "when": "tokens>4k",
        "history": [entry("58848181", True, False), entry("8d5ed3b5", False, True)],
    }


@pytest.mark.parametrize("condition", ["error", "error and tokens>1", "error and jmes:model"])
def test_what_happens_at_single_checkpoints_is_told_at_each(ttdbg: Ask, condition: str) -> None:
    failed = ttdbg("watch", f"{PI}#row=23", "--when", condition)

    assert [each[:5] for each in failed.out.splitlines()] == ["f90f ", "e0e0 ", "3bb1 "]
    assert ttdbg("watch", PI, "--when", "tool=none") == (
        0,
        "",
        (
            "tool=none never holds on this branch\n"
            "hint: no tool none here; there are bash, edit, read, write\n"
        ),
    )


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("$.usage.cost", "usage.cost"),
        ("$", "@"),
        (".usage.cost", "usage.cost"),
        ("usage/cost", "usage.cost"),
        ("#/usage/cost", "usage.cost"),
        ("messages.1.role", "'messages[1].role'"),
        ("messages/1/role", "'messages[1].role'"),
        ("$['messages'][1].role", "'messages[1].role'"),
        ("files/a-b.md", "'files.\"a-b.md\"'"),
    ],
)
@pytest.mark.parametrize("command", ["watch", "blame"])
def test_a_path_in_another_language_is_told_as_it_is_written_here(
    ttdbg: Ask, command: str, typed: str, meant: str
) -> None:
    answer = ttdbg(command, PI, typed)

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith(f"ttdbg: {typed!r}: ")
    assert answer.err.splitlines()[-1] == f"hint: did you mean {meant}?"


@pytest.mark.parametrize("command", ["watch", "blame"])
def test_a_file_behind_what_is_asked_about_it_is_told_to_come_first(
    ttdbg: Ask, command: str
) -> None:
    said = f"ttdbg: {PI} is a file, and model is none: the LOCATION comes first\nhint: ttdbg "

    assert ttdbg(command, "model", PI) == (2, "", f"{said}{command} {PI} model\n")
    assert ttdbg(command, "model", f"{PI}#@") == (2, "", f"{said}{command} '{PI}#@' model\n")


def test_a_file_that_is_called_as_a_path_is_not_taken_for_the_location(
    ttdbg: Ask, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("model").write_bytes(b"")

    assert ttdbg("watch", PI, "model").out.splitlines()[0].startswith("dde0  1 09:12:04")


def test_on_a_pipe_a_long_id_is_whole_and_can_be_shown(ttdbg: Ask) -> None:
    location = SAMPLES / "checkpoints.sqlite"
    names = [line.split()[0] for line in ttdbg("watch", location, "status").out.splitlines()]

    assert names[0] == "letter-2026-09%3Ahistory%3A2026-09-10T09%3A02%3A11"
    assert [ttdbg("show", f"{location}#{each}").code for each in names] == [0] * 6


def test_of_a_text_that_changed_five_lines_are_told_or_all(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "s.jsonl"
    texts = ("", "1\n2\n3\n4\n5\n6\n7\n8\n", "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n")
    lines = [
        {"id": f"aaa{n}", "parentId": f"aaa{n - 1}" if n else None, "note": each}
        for n, each in enumerate(texts)
    ]
    file.write_bytes(jsonl(*lines))

    def told(*options: str) -> list[str]:
        out = ttdbg("watch", file, "record.note", *options).out
        return [each[16:].partition("  {")[0].strip() for each in out.splitlines()]

    assert told() == [
        '+ ""',
        "~ 8 lines added, 0 removed",
        *(f"+ {n}" for n in range(1, 6)),
        "… 3 more lines",
        "~ 6 lines added, 0 removed",
        *(f"+ {n}" for n in range(9, 15)),
    ]
    assert told("--full")[2:10] == [f"+ {n}" for n in range(1, 9)]
    assert "…" not in "".join(told("--full"))


def test_a_file_that_holds_nothing_has_no_point_to_watch(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"")

    assert ttdbg("watch", file, "/a") == (
        2,
        "",
        "ttdbg: there is no active leaf: the session has no checkpoints\n",
    )


@pytest.fixture
def attacking(tmp_path: Path) -> Path:
    file = tmp_path / "a.jsonl"
    texts = [ATTACK, f"{ATTACK}\n{ATTACK}", ATTACK * 9]
    file.write_bytes(
        pi(
            said("aaaa", None),
            *(
                {"type": "session_info", "id": f"bbb{n}", "parentId": "aaaa", "name": each}
                for n, each in enumerate(texts)
            ),
            said("cccc", "bbb2", f"{ATTACK}\nx"),
        )
    )
    return file


@pytest.mark.parametrize("path", ["/title", "/messages", "", f"/{ATTACK}"])
def test_nothing_of_a_session_acts(ttdbg: Ask, attacking: Path, path: str) -> None:
    for more in ([], ["--json"]):
        answer = ttdbg("watch", attacking, path, *more)

        assert answer.code == 0
        assert transgressions(answer.out.encode(), PIPE) == []
        assert transgressions(answer.err.encode(), PIPE) == []


@pytest.mark.parametrize("columns", [40, 60, 100])
def test_on_a_terminal_each_line_fits_it_in_colours(attacking: Path, columns: int) -> None:
    for file, path in ((PI, "/usage"), (PI, "/messages/5"), (str(attacking), "/title")):
        code, shown = run(["watch", file, path], columns=columns)

        assert code == 0
        assert transgressions(shown, LINES) == []
        # What is said of the file comes on stderr, which is this terminal too.
        lines = [each for each in plain(shown).splitlines() if "ttdbg doctor" not in each]
        assert max(map(cell_len, lines)) <= columns


def test_on_a_narrow_terminal_the_value_is_told_before_the_summary() -> None:
    _, shown = run(["watch", PI, "/model"], columns=50)

    assert plain(shown).splitlines() == [
        'dde0  1 ◇ model    + "coder-small"  example/coder…',
        'a6c8 30 ◇ model    ~ "coder-small" → "coder-large"',
    ]


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system cannot end it")
def test_an_expression_that_takes_for_ever_is_given_up(
    ttdbg: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    file = tmp_path / "a.jsonl"
    file.write_bytes(jsonl({"role": "user", "content": f"{'a' * 40}!"}))
    for command in (watch, bisect):
        monkeypatch.setattr(command, "LONGEST", 0.2)

    for command in ("watch", "bisect"):
        answer = ttdbg(command, file, "--when", "text~(a+)+$")

        assert (answer.code, answer.out) == (2, "")
        assert "'text~(a+)+$' takes more than 0.2 s for one checkpoint" in answer.err
