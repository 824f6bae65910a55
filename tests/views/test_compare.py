"""A comparison as lines: settings, messages by meaning, folds, words that differ, two layouts."""

from typing import Any

import pytest
from builders import assistant, user
from hypothesis import given
from hypothesis import strategies as st
from strategies import any_text, states

from tt_debugger.core.diff.comparing import Comparison, compare
from tt_debugger.core.text import acting
from tt_debugger.views.compare import (
    Block,
    ComparisonView,
    EqualMessage,
    counts_signs,
    counts_text,
)
from tt_debugger.views.compare_layout import Layout
from tt_debugger.views.palette import ANSI, ASCII, UNICODE


def comparison_lines(comparison, palette, glyphs, *, hint="", is_open=False):
    view = ComparisonView(comparison, palette, glyphs, hint)
    return (line for block in view.blocks() for line in view.lines(block, is_open=is_open))


def state(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"messages": list(messages), **more}


def beside(comparison: Comparison, width: int = 61, **more: Any) -> list[str]:
    """Give a comparison side by side as text."""
    layout = Layout(width, 2, ANSI, UNICODE)
    rows = layout.side_by_side(comparison_lines(comparison, ANSI, UNICODE, **more))
    return [row.text.plain.rstrip() for row in rows]


def below(comparison: Comparison, width: int | None = None, **more: Any) -> list[str]:
    """Give a comparison in one column as text."""
    layout = Layout(width, 2, ANSI, UNICODE)
    rows = layout.unified(comparison_lines(comparison, ANSI, UNICODE, **more))
    return [row.text.plain.rstrip() for row in rows]


def call(name: str, **arguments: Any) -> dict[str, Any]:
    block = {"type": "toolCall", "id": "c1", "name": name, "arguments": arguments}
    return {"role": "assistant", "content": [block]}


def result(text: str, *, failed: bool = False) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolName": "bash", "content": content, "isError": failed}


def test_settings_come_first_with_both_values_in_a_column():
    compared = compare(state(model="small", title="a"), state(model="large", title="a", cwd="/"))

    assert beside(compared) == [
        "   ~ model  small             │    ~ model  large",
        "                              │    + cwd    /",
    ]
    assert below(compared) == [
        "      ~ model  small → large",
        "      + cwd    /",
    ]


def test_equal_messages_are_one_line_and_a_single_one_is_shown():
    old = [user(f"question {number}") for number in range(4)]
    compared = compare(state(*old, user("left")), state(*old, user("right")))

    assert beside(compared)[0] == "     ··· 4 equal messages ··· │      ··· 4 equal messages ···"
    assert beside(compare(state(user("a"), user("b")), state(user("a")))) == [
        " 1 = user  a                  │  1 = user  a",
        " 2 - user  b                  │",
    ]


def test_a_call_is_told_by_its_title_and_compared_key_by_key():
    old = call("read", path="src/io.py", limit=10, offset=1)
    new = call("read", path="src/io.py", limit=20, offset=1)

    assert beside(compare(state(old), state(new))) == [
        " 1 ~ ▸ read  src/io.py        │  1 ~ ▸ read  src/io.py",
        "   -   limit: 10              │    +   limit: 20",
        "       offset: 1              │        offset: 1",
    ]


def test_the_lines_of_an_edit_are_compared_with_those_of_the_other():
    old = call("edit", path="io.py", oldText="a\nb\nc", newText="a\nlock\nc")
    new = call("edit", path="io.py", oldText="a\nb\nc", newText="a\nrename\nc")

    assert below(compare(state(old), state(new))) == [
        " 1  1 ~ ▸ edit  io.py",
        "            a",
        "          - b",
        "      -   + lock",
        "      +   + rename",
        "            c",
    ]


def test_words_of_a_command_that_differ_are_marked_on_both_sides():
    old, new = call("bash", command="pytest -q tests"), call("bash", command="pytest -v tests")
    [line, *_] = comparison_lines(compare(state(old), state(new)), ANSI, UNICODE)

    assert line.old is not None
    assert line.new is not None
    marks = [
        (side.plain[span.start : span.end], str(span.style))
        for side in (line.old, line.new)
        for span in side.spans
        if span.style in {ANSI.removed_word, ANSI.added_word}
    ]
    assert marks == [("q", ANSI.removed_word), ("v", ANSI.added_word)]


def test_a_result_that_failed_on_one_side_says_so():
    compared = compare(state(result("2 of 9", failed=True)), state(result("9 of 9")))

    assert beside(compared) == [" 1 ~ ◂ bash  ✗ failed  2 of 9 │  1 ~ ◂ bash  9 of 9"]


def test_what_is_equal_in_a_message_that_differs_is_one_line_each():
    said = "one line\nand many more\n" * 40
    old, new = assistant(said, "bash"), assistant(said, "grep")

    assert beside(compare(state(old), state(new)))[0] == (
        " 1 ~ asst  one line …         │  1 ~ asst  one line …"
    )


def test_a_long_text_of_one_side_is_folded_and_opens():
    text = "\n".join(f"line {number}" for number in range(1, 31))
    compared = compare(state(), state(user(text)))

    assert below(compared)[5:] == ["      +   line 6", "      +   ··· 24 more lines ···"]
    assert below(compared, is_open=True)[-1] == "      +   line 30"


def test_equal_lines_around_a_change_are_folded_and_open():
    old = [f"line {number}" for number in range(1, 41)]
    new = [*old[:19], "line twenty", *old[20:]]
    compared = compare(state(user("\n".join(old))), state(user("\n".join(new))))

    assert below(compared) == [
        " 1  1 ~ user  ··· 17 equal lines ···",
        "          line 18",
        "          line 19",
        "      -   line 20",
        "      +   line twenty",
        "          line 21",
        "          line 22",
        "          ··· 18 equal lines ···",
    ]
    assert len(below(compared, is_open=True)) == 41


def test_of_a_huge_text_only_what_lies_between_its_equal_ends_is_compared():
    same = "the same line\n" * 100_000
    compared = compare(state(user(f"{same}old\n{same}")), state(user(f"{same}new\n{same}")))

    shown = below(compared)

    assert [each for each in shown if each[6] in "-+"] == ["      -   old", "      +   new"]
    assert shown[0].startswith(" 1  1 ~ user  ··· 99,")
    assert len(shown) < 12


def test_what_differs_beside_what_is_said_is_told_by_name_until_it_is_opened():
    old = assistant("turn left here", model="small", usage={"input": 1})
    new = assistant("turn right here", model="large", usage={"input": 1})
    compared = compare(state(old), state(new))

    assert below(compared)[-1] == "          also: model"
    assert below(compared, is_open=True)[-1] == "      ~   model  small → large"


def test_a_moved_message_says_where_it_went_and_where_it_came_from():
    one, two, three = (user(f"the question number {word}") for word in ("one", "two", "three"))
    compared = compare(state(one, two, three), state(two, three, one))

    shown = below(compared)

    assert len([each for each in shown if "moved to" in each]) == 1
    assert len([each for each in shown if "moved from" in each]) == 1
    assert all(each[6] == ">" for each in shown if "moved" in each)


def test_what_is_masked_is_counted_by_rule():
    old, new = user("a") | {"timestamp": 1}, user("a") | {"timestamp": 2}
    compared = compare(state(old), state(new))

    assert below(compared, hint="i shows them") == [
        "masked: 1 timestamps; i shows them",
        " 1  1 = user  a",
    ]


def test_an_opened_stretch_has_a_block_for_each_of_its_messages():
    old = [user(f"question {number}") for number in range(5)]
    compared = compare(state(*old), state(*old))
    view = ComparisonView(compared, ANSI, UNICODE)

    closed, opened = view.blocks(), view.blocks(opened=[0])

    assert [each.size for each in closed] == [5]
    assert [each.what for each in opened[1:]] == [EqualMessage(row, row) for row in range(5)]
    assert [each.size for each in opened] == [1] * 6


def test_ten_thousand_messages_that_all_differ_are_made_into_lines_as_they_are_asked_for(
    monkeypatch,
):
    made: list[Block] = []
    lines = ComparisonView.lines
    monkeypatch.setattr(
        ComparisonView,
        "lines",
        lambda self, block, **more: made.append(block) or lines(self, block, **more),
    )
    compared = compare(state(), state(*(user(f"question {n}") for n in range(10_000))))

    next(comparison_lines(compared, ANSI, UNICODE))

    assert len(made) == 1


def test_counts_are_told_in_words_and_in_signs():
    compared = compare(state(user("go on"), a=1), state(user("go on now"), user("x"), a=2))

    assert counts_text(compared.counts, 3) == "2 changed · 1 added · 3 masked"
    assert counts_signs(compared.counts) == "~2 +1"
    assert counts_text(compare({}, {}).counts) == "nothing differs"


@pytest.mark.parametrize("width", [20, 40, 63, 100, 157])
@given(old=any_text, new=any_text)
def test_no_row_is_wider_than_its_room_and_all_rows_are_safe(width, old, new):
    compared = compare(
        state(user(old), call("bash", command=new), a=old),
        state(user(new), call("bash", command=old), a=new),
    )
    layout = Layout(width, 2, ANSI, UNICODE)

    for laid_out in (layout.side_by_side, layout.unified):
        for row in laid_out(comparison_lines(compared, ANSI, UNICODE, is_open=True)):
            assert row.text.cell_len <= width
            assert not acting(row.text.plain)
            assert "\n" not in row.text.plain


@given(st.text("ab 漢字́\t", max_size=200), st.text("ab 漢字́\t", max_size=200))
def test_wide_characters_never_reach_over_the_middle(old, new):
    compared = compare(state(user(old)), state(user(new)))
    rows = list(
        Layout(41, 2, ANSI, UNICODE).side_by_side(comparison_lines(compared, ANSI, UNICODE))
    )

    for row in rows:
        assert row.text[:].cell_len <= 41
        assert row.text.plain.count("│") == 1
        before = row.text.plain.partition("│")[0]
        assert row.text.copy()[: len(before)].cell_len == 20


@given(states, states)
def test_any_two_states_can_be_drawn(old, new):
    compared = compare(old, new)
    for glyphs in (UNICODE, ASCII):
        lines = list(comparison_lines(compared, ANSI, glyphs))
        layout = Layout(60, 3, ANSI, glyphs)
        drawn = [*layout.side_by_side(lines), *layout.unified(lines)]
        assert bool(drawn) >= bool(compared.counts.total)
