"""A message and a record as people read them."""

from typing import Any

import pytest
from hypothesis import given
from strategies import any_text, json_values

from tt_debugger.core.inspection import Exchange
from tt_debugger.core.messages import calls_in, results_in
from tt_debugger.core.text import safe_line
from tt_debugger.views.message import FOLDED, message_lines
from tt_debugger.views.palette import ANSI, UNICODE
from tt_debugger.views.raw import PIECE, raw_lines


def lines(message: dict[str, Any], *exchanges: Exchange, is_drawn: bool = False) -> list[str]:
    shown = message_lines(message, ANSI, UNICODE, exchanges, is_drawn=is_drawn)
    return [line.plain for line in shown]


def calling(name: str, **arguments: Any) -> dict[str, Any]:
    call = {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [call]}


def answering(text: str, *, failed: bool = False) -> dict[str, Any]:
    return {"role": "toolResult", "toolCallId": "c1", "content": text, "isError": failed}


def exchange(
    call: dict[str, Any], result: dict[str, Any], seconds: float | None = 1.3
) -> Exchange:
    return Exchange(calls_in(call)[0], 8, results_in(result)[0], 9, seconds)


def test_the_arguments_of_a_call_stand_below_their_names() -> None:
    edit = {"old": "a\nb", "new": "c"}
    call = {"type": "toolCall", "id": "c1", "name": "edit"}
    arguments = {"path": "x.py", "edits": [edit], "all": True, "none": None, "empty": {}}

    assert lines({"role": "assistant", "content": [call | {"arguments": arguments}]}) == [
        "assistant",
        "▸ edit  x.py  c1",
        "  edits:",
        "    0:",
        "      old:",
        "        a",
        "        b",
        "      new: c",
        "  all: true",
        "  none: null",
        "  empty: {}",
    ]


def test_thinking_is_told_apart_from_the_answer() -> None:
    content = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "Yes."}]

    assert lines({"role": "assistant", "content": content}) == [
        "assistant",
        "thinking",
        "hm",
        "",
        "Yes.",
    ]


def test_a_failure_comes_first() -> None:
    message = {"role": "toolResult", "toolName": "bash", "isError": True, "content": "no"}

    assert lines(message) == ["✗ failed  toolResult · bash", "no"]


def test_a_system_prompt_is_shown_by_its_sections_and_tools() -> None:
    message = {
        "role": "system",
        "content": "",
        "sections": {"rules": "Be brief.", "old": None},
        "toolsAdded": [{"name": "bash", "description": "Runs a command."}],
        "toolsRemoved": [{"name": "read"}],
    }

    assert lines(message) == [
        "system",
        "rules:",
        "Be brief.",
        "old: removed",
        "+ tool bash  Runs a command.",
        "- tool read",
    ]


def test_an_image_is_its_type_size_and_hash() -> None:
    image = {"type": "image", "mimeType": "image/png", "data": "AAAA"}

    assert lines({"role": "user", "content": [image]})[1] == (
        "[image image/png, 3 bytes, sha256 709e80c88487]"
    )


def test_nothing_of_a_message_acts_or_hides() -> None:
    evil = "a\x1b[2Jb\u202ec"
    call = {"type": "toolCall", "id": evil, "name": evil, "arguments": {evil: {evil: evil}}}
    image = {"type": "image", "mimeType": evil, "data": "AAAA"}
    message = {"role": evil, "model": evil, "content": [call, image, {"type": evil, evil: evil}]}

    assert all(line.isprintable() for line in lines(message))


def test_a_character_on_the_border_of_two_pieces_is_whole() -> None:
    raw = b"x" * (PIECE - 1) + "é".encode() + b"\xff\n"

    assert [line.plain for line in raw_lines(raw, ANSI)] == [
        f"{PIECE + 3:,} bytes",
        "x" * (PIECE - 1),
        "é\\xff\\n",
    ]


def test_an_edit_is_the_difference_it_makes() -> None:
    edits = [{"oldText": "a\nb\n", "newText": "a\nc\n"}, {"oldText": "", "newText": "d"}]

    assert lines(calling("edit", path="x.py", edits=edits)) == [
        "assistant",
        "▸ edit  x.py  c1",
        "  edit 1:",
        "    a",
        "  - b",
        "  + c",
        "  edit 2:",
        "  + d",
    ]


@pytest.mark.parametrize(
    ("old", "new"), [("old_string", "new_string"), ("old_str", "new_str"), ("oldText", "newText")]
)
def test_an_edit_is_known_by_any_of_its_names(old: str, new: str) -> None:
    call = calling("edit", file_path="x", replace_all=True, **{old: "a", new: "b"})

    assert lines(call)[2:] == ["  - a", "  + b", "  replace_all: true"]


def test_a_command_stands_behind_a_prompt() -> None:
    assert lines(calling("bash", command="cd x\nls", timeout=5)) == [
        "assistant",
        "▸ bash  c1",
        "  $ cd x",
        "    ls",
        "  timeout: 5",
    ]


def test_a_written_file_stands_behind_a_bar() -> None:
    assert lines(calling("write", path="x.py", content="a\n\nb\n"))[1:] == [
        "▸ write  x.py  c1",
        "  │ a",
        "  │ ",
        "  │ b",
    ]


def test_below_a_call_stands_what_came_of_it() -> None:
    call, result = calling("bash", command="ls"), answering("a\nb")

    assert lines(call, exchange(call, result))[2:] == ["  $ ls", "  ✓ 1.3s · row 10", "  a", "  b"]


def test_a_long_result_is_folded_below_its_call_and_whole_in_its_own_row() -> None:
    text = "\n".join(map(str, range(FOLDED + 312)))
    call, result = calling("bash", command="ls"), answering(text)

    below = lines(call, exchange(call, result))
    assert below[-2:] == [f"  {FOLDED - 1}", "  … 312 more lines; row 10 has them all"]
    assert lines(result, exchange(call, result)) == [
        "toolResult",
        "▸ bash · row 9",
        "  $ ls",
        "✓ 1.3s",
        *text.split("\n"),
    ]


def test_a_call_that_failed_says_so_before_all_else() -> None:
    call, result = calling("bash", command="ls"), answering("no", failed=True)
    call["content"].insert(0, {"type": "text", "text": "Let me see."})

    assert lines(call, exchange(call, result, None)) == [
        "assistant",
        "✗ bash failed · row 10",
        "Let me see.",
        "",
        "▸ bash  c1",
        "  $ ls",
        "  ✗ failed · row 10",
        "  no",
    ]
    assert lines(result, exchange(call, result)) == [
        "✗ failed  toolResult",
        "▸ bash · row 9",
        "  $ ls",
        "✗ failed 1.3s",
        "no",
    ]


def test_of_several_results_the_failed_ones_come_first() -> None:
    blocks = [
        {"type": "tool_result", "tool_use_id": "c1", "content": "fine"},
        {"type": "tool_result", "tool_use_id": "c2", "content": "bad", "is_error": True},
    ]

    assert lines({"role": "user", "content": blocks}) == ["user", "✗ failed", "bad", "", "fine"]


def test_a_call_without_a_result_and_a_result_without_a_call_say_so() -> None:
    call, result = calling("bash", command="ls"), answering("a")

    assert lines(call, Exchange(calls_in(call)[0], 8, None, None))[-1] == "  no result recorded"
    alone = Exchange(None, None, results_in(result)[0], 9)
    assert lines(result, alone) == ["toolResult", "no call recorded", "a"]


def test_a_file_that_was_read_is_drawn_as_its_language() -> None:
    call, result = calling("read_file", path="x.py"), answering("return 1\n")
    *_, line = message_lines(result, ANSI, UNICODE, [exchange(call, result)], is_drawn=True)

    assert (line.plain, line.spans[0].style) == ("return 1", ANSI.code_keyword)


def test_text_is_drawn_as_markdown_only_where_that_is_asked_for() -> None:
    message = {"role": "assistant", "content": "**a**"}

    assert lines(message) == ["assistant", "**a**"]
    assert lines(message, is_drawn=True) == ["assistant", "a"]


@given(any_text, json_values)
def test_nothing_acts_in_any_part_of_an_exchange(text: str, value: Any) -> None:
    call = calling(text, path=text, oldText=text, newText="", other=[text, value], content=text)
    result = answering(text, failed=True)
    both = exchange(call, result)
    block = {"type": "text", "text": text}
    call["content"] += [block, {"type": "thinking", "thinking": text}, {"type": text, "x": value}]

    for message in (call, result):
        for is_drawn in (False, True):
            for line in lines(message, both, is_drawn=is_drawn):
                assert line == safe_line(line)
