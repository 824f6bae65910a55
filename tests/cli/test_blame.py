"""`ttdbg blame`: what it takes, what it answers, and how it exits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from builders import jsonl, tree_of_records
from hostile_files import ATTACK, SAMPLES, pi, said
from rich.cells import cell_len
from terminal import LINES, PIPE, plain, run, transgressions

Ask = Callable[..., Any]
PI = str(SAMPLES / "pi.jsonl")
CLAUDE = str(SAMPLES / "claude-code.jsonl")


@pytest.fixture
def records(tmp_path: Path) -> Path:
    """Records whose values change: a, b and c in a row, and d beside the last."""
    file = tmp_path / "s.jsonl"
    values = (
        ("aaaa", None, {"note": "one", "list": [1], "n": 1}),
        ("bbbb", "aaaa", {"note": "one", "list": [1, {"x": 1}], "5": {"6": []}}),
        ("dddd", "bbbb", {"note": "three"}),
        ("cccc", "bbbb", {"note": "two", "list": [1, {"x": 1}]}),
    )
    file.write_bytes(tree_of_records(*values))
    return file


def test_each_leaf_is_told_with_the_checkpoint_that_wrote_it(ttdbg: Ask) -> None:
    answer = ttdbg("blame", PI, "model")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out == 'a6c8 30 09:31:48 ◇ model    model  "coder-large"\n'


def test_neighbouring_leaves_of_one_checkpoint_stand_under_one_head(ttdbg: Ask) -> None:
    assert ttdbg("blame", PI, "/usage").out.splitlines() == [
        "1cf0 63 10:06:30 ● asst     usage",
        "                              input        14841",
        "                              output       1686",
        "                              cache_read   52942",
        "                              cache_write  0",
        "                              total        69469",
        "                              cost         0.142826",
    ]


def test_what_a_compaction_put_and_brought_back_is_told(ttdbg: Ask) -> None:
    heads = [each for each in ttdbg("blame", PI, "/messages").out.splitlines() if "(" in each]

    assert [each for each in heads if "messages[" in each][:4] == [
        "5884 54 09:54:29 ◆ compact  messages[0]  (put in place of 14 messages)",
        "5884 54 09:54:29 ◆ compact  messages[1]  (put in place of 14 messages)",
        "5884 54 09:54:29 ◆ compact  messages[2]  (brought back; first said by 2e10)",
        "5884 54 09:54:29 ◆ compact  messages[3]  (brought back; first said by 2534)",
    ]


def test_the_summary_of_claude_stands_for_what_the_boundary_above_it_took_away(
    ttdbg: Ask,
) -> None:
    told = ttdbg("blame", CLAUDE, "/messages/0").out.splitlines()[0]

    assert told.endswith("messages[0]  (put in place of 22 messages)")


def test_the_answer_in_json_is_that_of_the_contract(ttdbg: Ask, records: Path) -> None:
    answer = ttdbg("blame", records, "--json")

    assert (answer.code, answer.err) == (0, "")
    told = json.loads(answer.out)
    assert list(told) == ["ttdbg", "leaves"]
    assert {each["path"]: each["checkpoint"] for each in told["leaves"]} == {
        "/record/id": "cccc",
        "/record/parentId": "cccc",
        "/record/type": "cccc",
        "/record/note": "cccc",
        "/record/list/0": "cccc",
        "/record/list/1/x": "cccc",
    }
    assert told["leaves"][0] == {
        "path": "/record/id",
        "checkpoint": "cccc",
        "row": 4,
        "why": None,
        "said_first": None,
    }


def test_json_names_who_said_first_what_was_brought_back(ttdbg: Ask) -> None:
    answer = json.loads(ttdbg("blame", PI, "/messages/2/role", "--json").out)

    assert answer["leaves"] == [
        {
            "path": "/messages/2/role",
            "checkpoint": "58848181",
            "row": 54,
            "why": "brought_back",
            "said_first": "2e10c18b",
        }
    ]


def test_numbers_in_a_path_are_keys_where_there_is_an_object(ttdbg: Ask, records: Path) -> None:
    answer = ttdbg("blame", f"{records}#bbbb", "/record/5/6")

    assert answer.out.endswith('record."5"."6"  []\n')


def test_an_index_below_0_counts_from_the_end_of_the_list_in_that_state(
    ttdbg: Ask, records: Path
) -> None:
    answer = ttdbg("blame", PI, "messages[-1].role")

    assert answer == (0, '1cf0 63 10:06:30 ● asst     messages[16].role  "assistant"\n', "")
    assert ttdbg("blame", records, "record.list[-1].x", "--json").json["leaves"][0]["path"] == (
        "/record/list/1/x"
    )
    assert ttdbg("blame", PI, "messages[-99].role") == (
        2,
        "",
        (
            "ttdbg: there is no messages[-99].role in the state here\n"
            "hint: did you mean /messages/16/role?\n"
        ),
    )


def test_the_origin_of_a_text_is_the_first_message_that_has_it(ttdbg: Ask) -> None:
    answer = ttdbg("blame", PI, "/messages/3/toolCallId", "--origin")

    assert (answer.code, answer.err) == (0, "")
    assert answer.out.splitlines() == [
        'messages[3].toolCallId  "call_5748a6367185b4ad"',
        "  2e10 45 09:40:48 ▸ edit     messages[14].content[1].id  the same text",
        "what matches is no proof that it comes from there",
    ]


def test_of_several_texts_the_short_ones_are_counted(ttdbg: Ask) -> None:
    told = ttdbg("blame", PI, "/messages/3", "--origin").out.splitlines()

    assert told[-2:] == [
        "1 text too short to tell: less than 12 characters, of an odd word less than 6",
        "what matches is no proof that it comes from there",
    ]
    assert told[0].startswith('messages[3].content[0].text  "Successfully replaced 2 block(s) in')
    assert told[1] == "  not said before on this branch"
    assert "a line of it, 10 %: " in told[-3]


def test_the_origins_of_very_many_texts_are_not_looked_for(ttdbg: Ask, tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    texts = [f"the text {number}" for number in range(201)]
    file.write_bytes(jsonl({"id": "aaaa", "parentId": None, "texts": texts}))

    refused = (
        "ttdbg: more than 200 texts stand there, too many to follow each back\n"
        "hint: name less, such as a single message"
    )
    assert ttdbg("blame", file, "record.texts", "--origin") == (
        2,
        "",
        f"{refused}\n",
    )
    assert ttdbg("blame", file, "record.texts[200]", "--origin").code == 0


def test_an_origin_in_json_tells_what_matched(ttdbg: Ask) -> None:
    answer = json.loads(ttdbg("blame", PI, "/messages/3/toolCallId", "--origin", "--json").out)

    assert answer["origins"] == [
        {
            "path": "/messages/3/toolCallId",
            "text": "call_5748a6367185b4ad",
            "too_short": False,
            "checkpoint": "2e10c18b",
            "row": 45,
            "said_at": "/messages/14/content/1/id",
            "matched": "call_5748a6367185b4ad",
            "whole": True,
        }
    ]


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (
            ["/mesages/3"],
            "there is no /mesages/3 in the state here\nhint: did you mean /messages/3?",
        ),
        (
            ["length(messages)"],
            (
                "'length(messages)' is no place in a state: only a place was written by somebody\n"
                "hint: name one by its keys, such as usage.cost or /messages/3; "
                "`ttdbg watch` takes any"
            ),
        ),
        (["--origin"], "--origin needs a PATH\nhint: such as /messages/3/content"),
    ],
)
def test_wrong_requests_are_refused(ttdbg: Ask, arguments: list[str], error: str) -> None:
    assert ttdbg("blame", PI, *arguments) == (2, "", f"ttdbg: {error}\n")


def test_an_expression_that_cannot_be_read_is_refused_with_the_place(ttdbg: Ask) -> None:
    answer = ttdbg("blame", PI, "messages[?")

    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("ttdbg: 'messages[?': ")


def test_a_range_has_no_one_state(ttdbg: Ask) -> None:
    answer = ttdbg("blame", f"{PI}#root..@")

    assert (answer.code, answer.out) == (2, "")


@pytest.fixture
def attacking(tmp_path: Path) -> Path:
    """Messages that try to act on whoever looks at them."""
    file = tmp_path / "attack.jsonl"
    file.write_bytes(pi(said("a", None, ATTACK), said(ATTACK, "a", ATTACK), said("c", ATTACK)))
    return file


@pytest.mark.parametrize("more", [[], ["/messages/1"], ["/messages/1/content", "--origin"]])
def test_nothing_of_a_session_acts(ttdbg: Ask, attacking: Path, more: list[str]) -> None:
    for arguments in (more, [*more, "--json"]):
        answer = ttdbg("blame", attacking, *arguments)
        assert answer.code == 0
        assert transgressions(answer.out.encode(), PIPE) == []
        assert transgressions(answer.err.encode(), PIPE) == []


@pytest.mark.parametrize("columns", [40, 80])
def test_on_a_terminal_each_line_fits_it_in_colours(attacking: Path, columns: int) -> None:
    for more in ([], ["/messages/1/content", "--origin"]):
        code, shown = run(["blame", str(attacking), *more], columns=columns)

        assert code == 0
        assert transgressions(shown, LINES) == []
        assert b"\x1b[" in shown
        answers = plain(shown).split("see `ttdbg doctor`\n")[-1].splitlines()
        assert max(map(cell_len, answers)) <= columns
