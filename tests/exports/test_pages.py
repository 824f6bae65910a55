"""What pages say of values that are not there, of results that failed, and of where it stands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from builders import FIXTURES, PI_HEADER, jsonl, pi, user

from tt_debugger.core.changes import Put, Snapshot, change_json
from tt_debugger.debugger import Debugger
from tt_debugger.exports.exporting import page_of
from tt_debugger.exports.forms import FORMS
from tt_debugger.exports.gate import Gate
from tt_debugger.exports.subjects import (
    At,
    Origin,
    Transcript,
    Turn,
    TwoStates,
    transcript_of,
    two_states,
)

ROOT = Path(__file__).parents[2]
PAGES = ("markdown", "html", "unified", "svg")


def page(subject: Any, form: str) -> str:
    text = page_of(subject, FORMS[form], Gate(None)).text
    return text.replace("&#160;", " ").replace("&quot;", '"')


def result(text: str, *, failed: bool) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolName": "sh", "content": content, "isError": failed}


def test_a_value_that_is_not_there_is_an_empty_cell(origin: Origin):
    old, new = {"a": 1, "b": None, "n": "null"}, {"a": 2, "b": 3, "c": None}
    text = page(TwoStates(origin, origin, old, new), "markdown")

    cells = text.partition("## Settings")[2]
    assert [line for line in cells.splitlines() if "`/" in line] == [
        "| removed | `/n` | `null` |  |",
        "| changed | `/a` | `1` | `2` |",
        "| changed | `/b` | `null` | `3` |",
        "| added | `/c` |  | `null` |",
    ]


def test_of_a_long_value_that_came_no_line_is_gone(origin: Origin):
    long = "one\ntwo\nthree"
    text = page(TwoStates(origin, origin, {}, {"c": long}), "markdown")

    assert "added `/c`\n\n```diff\n+one\n+two\n+three\n```" in text


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_the_whole_state_and_the_empty_key_are_told_apart(origin: Origin, form: str):
    whole = page(TwoStates(origin, origin, 1, 2), form)
    empty = page(TwoStates(origin, origin, {"": 1}, {"": 2}), form)

    assert "(the state)" in whole
    assert "(the state)" not in empty


def test_a_state_that_is_replaced_as_a_whole_is_no_empty_place(origin: Origin):
    checkpoint = origin.checkpoint | {"parent": "z"}
    changes = (change_json(Snapshot({"a": 1})), change_json(Put(("", "b"), 1)))
    turn = Turn(checkpoint, "", failed=False, label=None, messages=(), changes=changes)

    text = page(Transcript(origin, (turn,)), "markdown")

    assert "`(the state)` = `(replaced as a whole)`" in text


@pytest.mark.parametrize("form", PAGES)
def test_a_result_that_failed_is_told_to_have(origin: Origin, form: str):
    came = TwoStates(origin, origin, {"messages": []}, {"messages": [result("x\ny", failed=True)]})

    assert "result sh · failed" in page(came, form)


@pytest.mark.parametrize("form", PAGES)
def test_a_result_that_only_says_that_it_failed_is_told_not_to_have(origin: Origin, form: str):
    said = {"messages": [result("(failed)\nnot really", failed=False)]}
    came = TwoStates(origin, origin, {"messages": []}, said)

    assert "· failed" not in page(came, form)


@pytest.mark.parametrize("form", ["markdown", "html", "unified"])
def test_a_result_of_which_only_the_failure_differs_says_so(origin: Origin, form: str):
    old, new = ({"messages": [result("same", failed=each)]} for each in (False, True))
    text = page(TwoStates(origin, origin, old, new), form)

    assert "the same" not in text
    if form == "unified":
        assert "-  result sh: same\n" in text
        assert "+  result sh · failed: same\n" in text
    else:
        assert "result sh → result sh · failed" in text
        assert "```diff\n\n```" not in text


def test_a_ref_names_the_session_where_the_file_holds_several(tmp_path: Path):
    path = tmp_path / "states.jsonl"
    told = {"schema_version": 1, "status": "running"}
    path.write_bytes(jsonl(*(told | {"thread_id": name} for name in ("one", "two: x"))))
    with Debugger.open(str(path)) as debugger:
        two = two_states(At(debugger, 0), At(debugger, 0))
    with Debugger.open(str(path), "one") as debugger:
        one = two_states(At(debugger, 0), At(debugger, 0))

    assert [each.a.ref.rpartition(":")[0] for each in (one, two)] == [
        "states.jsonl#one",
        "states.jsonl#two%3A%20x",
    ]


def test_a_ref_of_a_file_with_one_session_does_not_name_it(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    path.write_bytes(jsonl(PI_HEADER, pi("a", None, user("q"))))
    with Debugger.open(str(path)) as debugger:
        assert two_states(At(debugger, 0), At(debugger, 0)).a.ref == "s.jsonl#a"


def test_two_rows_of_a_session_that_grows_meanwhile_part_by_its_tree(tmp_path: Path):
    path = tmp_path / "s.jsonl"
    rows = [pi("a", None, user("q")), pi("b", "a", user("r")), pi("c", "a", user("s"))]
    path.write_bytes(jsonl(PI_HEADER, *rows[:2]))

    class Growing(Debugger):
        def side(self, row: int, *, uncompacted: bool = False) -> Any:
            side = super().side(row, uncompacted=uncompacted)
            if row == 0:
                path.write_bytes(jsonl(PI_HEADER, *rows))
                assert self.follow()
            return side

    with Growing.open(str(path)) as debugger:
        two = two_states(At(debugger, 0), At(debugger, 1))

    assert two.notes == ("B stands 1 checkpoint after A",)


def test_states_of_two_formats_are_told_to_be_compared_in_common():
    one, other = FIXTURES / "pi" / "linear.jsonl", FIXTURES / "tau" / "linear.jsonl"
    with Debugger.open(str(one)) as mine, Debugger.open(str(other)) as theirs:
        two = two_states(At(mine, 3), At(theirs, 3))

    assert two.notes[-1].startswith("pi and tau are compared by what both can say")


def test_a_thread_of_langgraph_is_told_as_the_conversation_that_it_is():
    location = str(ROOT / "sample_sessions/langgraph.sqlite")
    with Debugger.open(location, "refund-7731") as debugger:
        told = page(transcript_of(At(debugger, len(debugger.session) - 1)), "markdown")

    headings = [line[3:] for line in told.splitlines() if line.startswith("## ")]
    assert headings == ["2 · user", "3 · assistant", "5 · tool result", "16 · assistant"]
    assert "Order 7731 came with a cracked kettle." in told
    assert "**calls** `find_order`" in told
