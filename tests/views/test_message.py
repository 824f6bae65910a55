"""A message and a record as people read them."""

from typing import Any

from tt_debugger.views.message import message_lines
from tt_debugger.views.palette import ANSI, UNICODE
from tt_debugger.views.raw import PIECE, raw_lines


def lines(message: dict[str, Any]) -> list[str]:
    return [line.plain for line in message_lines(message, ANSI, UNICODE)]


def test_the_arguments_of_a_call_stand_below_their_names() -> None:
    edit = {"old": "a\nb", "new": "c"}
    call = {"type": "toolCall", "id": "c1", "name": "edit"}
    arguments = {"path": "x.py", "edits": [edit], "all": True, "none": None, "empty": {}}

    assert lines({"role": "assistant", "content": [call | {"arguments": arguments}]}) == [
        "assistant",
        "▸ edit  c1",
        "  path: x.py",
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
