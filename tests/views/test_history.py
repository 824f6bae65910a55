"""The history of a watched value, as lines."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from builders import session
from hostile_files import ATTACK
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from strategies import json_values

from tt_debugger.core.history import Moment
from tt_debugger.core.model import Head, Kind, Role
from tt_debugger.core.paths import Key
from tt_debugger.core.text import acting
from tt_debugger.views.history import FEW_LINES, Brief, HistoryView, Told, told
from tt_debugger.views.palette import ANSI, ASCII, UNICODE, Glyphs

UNSET = msgspec.UNSET
HEADS = {
    "a": Head(Kind.MESSAGE, Role.USER, "user", "Find out why.", time=3600.0),
    "b": Head(Kind.TOOL_CALL, Role.ASSISTANT, "bash", "pytest -q", time=3605.0),
    "c": Head(Kind.TOOL_RESULT, Role.TOOL, "bash", "1 failed", time=3610.0, failed=True),
    "d": Head(Kind.CUSTOM),
}
TREE = session("a b c d", heads=HEADS)


def drawn(
    *values: Any,
    keys: tuple[Key, ...] = (),
    rewrites: tuple[int, ...] = (),
    width: int | None = None,
    glyphs: Glyphs = UNICODE,
) -> list[str]:
    """Give the lines of values at the rows from the first on."""
    moments = (
        Moment(row, value, row in rewrites, keys if row else ())
        for row, value in enumerate(values)
    )
    view = HistoryView(TREE, TREE.ids.__getitem__, ANSI, glyphs, width)
    return [line.plain for line in view.lines(told(moments))]


def test_each_moment_is_a_line_and_what_checkpoints_say_stands_in_a_column():
    assert drawn("small", "small", "large", UNSET, rewrites=(1,)) == [
        'a 1 01:00:00 ● user     + "small"              Find out why.',
        'b 2 01:00:05 ▸ bash     = "small" (rewritten)  pytest -q',
        'c 3 01:00:10 ◂ bash     ~ "small" → "large"    1 failed',
        'd 4          ○          - "large" (gone)',
    ]


def test_on_a_terminal_of_a_long_id_both_ends_are_told_beside_the_number():
    long = session("letter:history:0911 letter:09")
    moments = [Moment(0, 1, False), Moment(1, 2, False)]

    def lines(width: int | None) -> list[str]:
        view = HistoryView(long, long.ids.__getitem__, ANSI, UNICODE, width)
        return [line.plain.split()[0] for line in view.lines(told(moments))]

    assert lines(100) == ["lette…y:0911", "letter:09"]
    assert lines(None) == ["letter:history:0911", "letter:09"]


def test_without_colours_and_in_ascii_every_line_says_the_same():
    assert drawn(1, 2, 2, rewrites=(2,), glyphs=ASCII) == [
        "a 1 01:00:00 * user     + 1              Find out why.",
        "b 2 01:00:05 > bash     ~ 1 -> 2         pytest -q",
        "c 3 01:00:10 < bash     = 2 (rewritten)  1 failed",
    ]


def test_where_it_is_narrow_the_summary_goes_first_and_then_the_time():
    values = ("a text of some length", "another text")

    assert drawn(*values, width=80) == [
        'a 1 01:00:00 ● user     + "a text of some length"  Find out why.',
        'b 2 01:00:05 ▸ bash     ~ "a text of some length" → "another text"  pytest -q',
    ]
    assert drawn(*values, width=60) == [
        'a 1 ● user     + "a text of some length"  Find out why.',
        'b 2 ▸ bash     ~ "a text of some length" → "another text"',
    ]
    assert drawn(*values, width=40) == [
        'a 1 ● user     + "a text of some length"',
        'b 2 ▸ bash     ~ "a text of some length"',
        '                 → "another text"',
    ]


@pytest.mark.parametrize(
    ("old", "new", "keys", "words"),
    [
        ([], [1], (), ["~ [] → [1]"]),
        ([], [{"x": 0}], (), ["~ 0 → 1 item"]),
        ([1, 2], [1], (), ["~ [1, 2] → [1]"]),
        ([[0], 2], [[0]], (), ["~ 2 → 1 item"]),
        ([1, 2], [2, 1], (), ["~ [1, 2] → [2, 1]"]),
        ([[0], 2], [2, [0]], (), ["~ 2 items, changed"]),
        ([[0], 2], [[0], 3], (1,), ["~ 2 items, changed: [1]"]),
        (["done", "to do"], ["done"] * 2, (1,), ["~ [done, to do] → [done, done]"]),
        (
            [1, "1", "a, b", "", None, "null", True, "…"],
            [1],
            (),
            ['~ [1, "1", "a, b", "", null, "null", true, "…"] → [1]'],
        ),
        (["word"] * 14, [*["word"] * 12, "b", "c"], (), ["~ [12] word → b, [13] word → c"]),
        (["word"] * 14, ["word"] * 15, (), ["~ 14 → 15 items"]),
        ([1] * 21, [2] * 21, (20,), ["~ 21 items, changed: [20]"]),
        ([1] * 99, [2] * 99, tuple(range(5)), ["~ 99 items, changed: [0], [1], [2], …"]),
        ([1], None, (), ["~ [1] → null"]),
        ({"a": 1}, [1], (), ["~ {a 1} → [1]"]),
        ({"n": 1, "f": 0.5}, {"n": 3, "f": 0.75}, ("n", "f"), ["~ n +2, f +0.25"]),
        ({"n": 9000}, {"n": 1}, ("n",), ["~ n -8,999"]),
        ({"a": 1}, {"b": [1, 2]}, ("a", "b"), ["~ -a, +b [1, 2]"]),
        ({"a": [1], "b": {}}, {"a": [], "b": {"c": 1}}, ("a", "b"), ["~ a 1 → 0 items, b"]),
        ({"a": [1]}, {"a": [2]}, ("a",), ["~ a"]),
        ({"a": True}, {"a": "x"}, ("a",), ['~ a true → "x"']),
        (1, True, (), ["~ 1 → true"]),
        ("one\ntwo", "one\n2", (), ["~ 1 line added, 1 removed", "  - two", "  + 2"]),
        (
            {"role": "user", "content": "a"},
            {"role": "tool", "content": "b"},
            ("role", "content"),
            ["~ user: a → tool: b"],
        ),
    ],
)
def test_what_became_of_a_value(old: Any, new: Any, keys: tuple[Key, ...], words: list[str]):
    lines = drawn(old, new, keys=keys)

    assert [line[24:].removesuffix("pytest -q").rstrip() for line in lines[1:]] == words


def test_of_many_lines_the_first_are_told():
    lines = drawn("", "".join(f"{number}\n" for number in range(50)))

    assert lines[1].startswith("b 2 01:00:05 ▸ bash     ~ 50 lines added, 0 removed")
    assert [each.strip() for each in lines[2:]] == [
        *(f"+ {number}" for number in range(FEW_LINES)),
        f"… {50 - FEW_LINES} more lines",
    ]


def test_a_condition_holds_or_holds_no_longer():
    moments = [Moment(0, True, is_rewrite=False), Moment(2, False, is_rewrite=False)]
    view = HistoryView(TREE, TREE.ids.__getitem__, ANSI, UNICODE, is_condition=True)

    assert [line.plain for line in view.lines(told(moments))] == [
        "a 1 01:00:00 ● user     + holds            Find out why.",
        "c 3 01:00:10 ◂ bash     - holds no longer  1 failed",
    ]


def test_what_is_kept_of_a_moment_is_not_what_the_next_one_writes_to():
    value: dict[str, Any] = {"a": [1], "n": 1}

    def moments():
        yield Moment(0, value, is_rewrite=False)
        value["n"] = 2
        value["a"].append(2)
        yield Moment(1, value, is_rewrite=False, keys=("a", "n"))

    first, second = told(moments())

    assert (first.old, first.new) == (
        UNSET,
        Brief("{a […], n 1}", 2, False, members={"a": Brief("[1]", 1, True, items=(1,)), "n": 1}),
    )
    assert second == Told(1, first.new, second.new, False, ("a", "n"))
    assert second.new.members == {"a": Brief("[1, 2]", 2, True, items=(1, 2)), "n": 2}


@given(st.lists(json_values, min_size=1, max_size=4), st.sampled_from((None, 30, 45, 80, 120)))
def test_every_line_fits_its_width_whatever_the_values(values: list[Any], width: int | None):
    lines = drawn(*values, width=width)

    assert len(lines) >= len(values)
    assert width is None or max(map(cell_len, lines)) <= width


def test_nothing_of_a_value_acts():
    lines = drawn(ATTACK, f"{ATTACK}\n{ATTACK}", {ATTACK: ATTACK}, {ATTACK: 1}, keys=(ATTACK,))

    assert [acting(line) for line in lines] == [set()] * len(lines)
