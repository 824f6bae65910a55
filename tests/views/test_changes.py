"""What a checkpoint changed, as lines: signs, columns, folds, and where long texts differ."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tt_debugger.core.changes import Append, Change, Drop, Put, Snapshot, Splice
from tt_debugger.views.changes import BRIEFLY, MOST_LINES, change_lines
from tt_debugger.views.palette import ANSI, ASCII, UNICODE
from tt_debugger.views.values import wrapped


def told(*changes: Change, before: Any = None, width: int | None = 60, **more: Any) -> list[str]:
    lines = change_lines(changes, before, ANSI, UNICODE, width=width, **more)
    return [line.plain for line in lines]


def test_paths_stand_in_one_column_and_what_they_hold_in_another():
    before = {"model": "old", "title": None, "items": [1], "same": 1, "gone": True}

    assert told(
        Append(("items",), 2),
        Put(("model",), "new"),
        Put(("title",), "A title"),
        Put(("same",), 1),
        Drop(("gone",)),
        before=before,
    ) == [
        "+ items[1]  2",
        '~ model     "old" → "new"',
        '+ title     "A title"',
        "= same      1 (rewritten)",
        "- gone      true",
    ]


def test_a_path_too_wide_for_the_column_moves_no_other_value():
    assert told(Put(("a",), 1), Put(("x" * 40,), "y" * 30), before={}) == [
        "+ a  1",
        "+ " + "x" * 40,
        '     "' + "y" * 30 + '"',
    ]


def test_an_old_and_a_new_value_that_do_not_fit_stand_below_each_other():
    old, new = "old " * 10, "new " * 10

    assert told(Put(("text",), new.strip()), before={"text": old.strip()}) == [
        f'~ text  "{old.strip()}"',
        f'        → "{new.strip()}"',
    ]


def test_in_brief_two_texts_of_several_lines_are_told_by_the_lines_that_differ():
    before = {"file": "one\ntwo\nthree\n"}
    put = Put(("file",), "one\n\x1b[2J2\nthree\n" + "long " * 20 + "\n")

    assert told(put, before=before, width=40, is_brief=True) == [
        "~ file  2 lines added, 1 removed",
        "    - two",
        "    + ␛[2J2",
        "    + long long long long long long lon…",
    ]
    assert told(put, before=before)[0].startswith('~ file  "one')


def test_of_many_lines_that_differ_the_first_are_told():
    old, new = ("".join(f"{name} {n}\n" for n in range(9)) for name in ("old", "new"))
    lines = told(Put(("file",), new), before={"file": old}, is_brief=True)

    assert lines[0] == "~ file  9 lines added, 9 removed"
    assert lines[-1] == "    … 6 more lines"
    assert len(lines) == 2 + MOST_LINES


def test_of_two_long_texts_that_begin_alike_the_first_difference_is_told():
    same = "word " * 500
    before = {"text": same + "left" + " tail" * 100}

    assert told(Put(("text",), same + "right" + " tail" * 100), before=before) == [
        "~ text  from character 2,501 of 3,004:",
        '        …"d word word left tail tail tail tail tail tai…"',
        '        → …"d word word right tail tail tail tail tail ta…"',
    ]


def test_a_long_value_says_how_much_of_it_is_left_out():
    (line,) = told(Put(("text",), "abcdefghi " * 300), before={})

    assert line == '+ text  "abcdefghi abcdefghi abcdefg…" 2,973 more characters'
    assert cell_len(line) <= 60


def test_a_long_list_of_changes_is_counted_rather_than_told():
    lines = told(*(Append(("items",), n) for n in range(250)), before={}, is_brief=True)

    assert len(lines) == BRIEFLY + 1
    assert lines[-1] == f"… {250 - BRIEFLY} more changes; 3 shows the state"


def test_without_the_wish_to_be_brief_every_change_is_told():
    assert len(told(*(Append(("items",), n) for n in range(250)), before={}, width=None)) == 250


def test_in_brief_a_message_is_told_by_its_parts():
    call = {"type": "toolCall", "id": "c", "name": "edit", "arguments": {"path": "src/io.py"}}
    message = {"role": "assistant", "content": [{"type": "text", "text": "Now."}, call]}
    change = Append(("messages",), message)

    assert told(change, before={"messages": []}, width=90, is_brief=True) == [
        "+ messages[0]  assistant: text of 4 characters, tool call edit(src/io.py)"
    ]
    assert told(change, before={"messages": []}, width=90) == [
        "+ messages[0]  assistant: Now., calls edit(src/io.py)"
    ]


def test_counts_tell_how_far_they_went_and_break_between_two_of_them():
    before = {"usage": {"input": 1000, "output": 5, "cost": 0.5}}
    after = {"input": 3500, "output": 17, "cost": 0.75}

    assert told(Put(("usage",), after), before=before, width=36) == [
        "~ usage  input +2,500, output +12,",
        "         cost +0.25",
    ]


def test_items_that_a_splice_drops_are_counted():
    assert told(Splice(("list",), 1, 3, ("x",)), before={"list": [0, 1, 2, 3, 4]}) == [
        "~ list        5 → 3 items",
        "- list[1..3]  3 items dropped",
        '+ list[1]     "x"',
    ]


def test_a_state_that_begins_and_one_that_is_replaced_differ_in_sign():
    assert told(Snapshot({"a": 1})) == ["+ (the state begins)  {a 1}"]
    assert told(Snapshot({"a": 1}), before={}) == ["~ (the whole state)  {a 1}"]


def test_content_that_would_act_on_a_terminal_is_made_visible():
    (line,) = told(Put(("a\x1b[2J",), "b\x1b]0;x\x07\u202e"), before={})

    assert line == '+ a␛[2J  "b␛]0;x␇⟨U+202E⟩"'


def test_a_terminal_without_unicode_gets_an_arrow_of_its_own():
    lines = change_lines([Put(("a",), 2)], {"a": 1}, ANSI, ASCII, width=40)

    assert [line.plain for line in lines] == ["~ a  1 -> 2"]


@given(st.text("ab \n", max_size=200), st.integers(1, 20))
def test_wrapped_lines_fit_and_lose_nothing_but_white_space(text: str, width: int) -> None:
    lines = wrapped(text, width)

    assert all(len(line) <= width for line in lines)
    assert "".join("".join(lines).split()) == "".join(text.split())
