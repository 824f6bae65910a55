"""The rows of a state: found by arithmetic, and the same as if every one had been listed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.core.changes import Append, Drop, Put, Snapshot, Splice, fold
from tt_debugger.views.palette import ANSI, ASCII, UNICODE
from tt_debugger.views.state import Marks, StateRow, StateRows, StateView, marks_of

STATE = {"messages": [{"role": "user"}, None, []], "model": "m", "usage": {"input": 1}}


def shown(rows: StateRows) -> list[str]:
    """Give the rows as text: depth by indent, then key and a sign for what it is."""
    texts: list[str] = []
    for row in (rows[n] for n in range(len(rows))):
        sign = ("v" if row.is_open else ">") if row.is_container else "-"
        texts.append(f"{'  ' * row.depth}{sign} {row.path[-1]}{' +' if row.is_changed else ''}")
    return texts


def test_a_state_is_folded_to_its_top() -> None:
    assert shown(StateRows(STATE, set(), Marks())) == ["> messages", "- model", "> usage"]


def test_open_containers_show_their_members_and_empty_ones_cannot_be_opened() -> None:
    opened = {("messages",), ("messages", 0), ("messages", 2), ("usage",), ("gone",)}

    assert shown(StateRows(STATE, opened, Marks())) == [
        "v messages",
        "  v 0",
        "    - role",
        "  - 1",
        "  - 2",
        "- model",
        "v usage",
        "  - input",
    ]


def test_what_was_written_and_what_holds_it_are_marked() -> None:
    rows = StateRows(STATE, {("messages",)}, Marks([("messages", 1), ("usage",)]))

    assert shown(rows) == ["v messages +", "  > 0", "  - 1 +", "  - 2", "- model", "> usage +"]


def test_keys_of_one_container_have_the_same_room() -> None:
    rows = StateRows({"a": list(range(100)), "longer": 1}, {("a",)}, Marks())

    assert {row.key_width for row in (rows[0], rows[101])} == {6}
    assert {rows[n].key_width for n in range(1, 101)} == {2}


def test_the_last_of_a_million_items_is_a_row_like_any_other() -> None:
    rows = StateRows({"items": [0] * 1_000_000}, {("items",)}, Marks([("items", 999_999)]))

    assert len(rows) == 1_000_001
    assert rows[1_000_000] == StateRow(
        ("items", 999_999),
        0,
        depth=1,
        key_width=6,
        is_container=False,
        is_open=False,
        sign="+",
    )


@pytest.mark.parametrize("state", [None, "text", 7, [], {}])
def test_what_has_no_members_has_no_rows(state: Any) -> None:
    assert len(StateRows(state, {("a",), (0,)}, Marks())) == 0


def test_a_row_beyond_the_last_is_an_error() -> None:
    with pytest.raises(IndexError):
        StateRows(STATE, set(), Marks())[3]


JSON = st.recursive(
    st.none() | st.integers() | st.sampled_from(("short", "one\ntwo\nthree")),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=20,
)


def listed(value: Any, opened: set[Any], path: tuple[Any, ...] = ()) -> list[Any]:
    """Give the paths of all rows, the naive way."""
    members = value.items() if isinstance(value, dict) else enumerate(value)
    paths: list[Any] = []
    for key, member in members:
        below = (*path, key)
        paths.append(below)
        if below in opened and isinstance(member, str) and "\n" in member:
            paths += [below] * len(member.split("\n"))
        elif below in opened and isinstance(member, (dict, list)):
            paths += listed(member, opened, below)
    return paths


def every_path(value: Any, path: tuple[Any, ...] = ()) -> list[Any]:
    """Give the paths of all containers and texts in a value."""
    if isinstance(value, str):
        return [path]
    if not isinstance(value, (dict, list)):
        return []
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, member in members for p in every_path(member, (*path, key)))]


@given(JSON.filter(lambda value: isinstance(value, (dict, list))), st.data())
def test_rows_are_those_of_a_list_of_all(state: Any, data: st.DataObject) -> None:
    paths = [path for path in every_path(state) if path]
    opened = set(data.draw(st.lists(st.sampled_from(paths)))) if paths else set()
    rows = StateRows(state, opened, Marks())
    expected = listed(state, opened)

    assert [rows[n].path for n in range(len(rows))] == expected
    assert [rows.place_of(path) for path in expected] == list(map(expected.index, expected))


BEFORE = {
    "messages": [{"role": "user"}, {"role": "assistant"}],
    "model": "small",
    "usage": {"input": 1, "output": 2},
    "title": "t",
}


def marked(*changes: Any) -> dict[str, str]:
    """Give the sign of each row of the state after some changes, all of it open."""
    state = fold(BEFORE, changes)
    opened = {path for path in every_path(state) if path}
    rows = StateRows(state, opened, marks_of(changes, BEFORE))
    return {
        ".".join(map(str, row.path)): row.sign
        for row in (rows[n] for n in range(len(rows)))
        if row.sign
    }


def test_what_is_added_is_marked_with_all_that_is_in_it_and_what_holds_it():
    assert marked(Append(("messages",), {"role": "user", "n": 1})) == {
        "messages": "~",
        "messages.2": "+",
        "messages.2.role": "+",
        "messages.2.n": "+",
    }


def test_of_an_object_that_is_written_anew_only_what_differs_is_marked():
    assert marked(Put(("usage",), {"input": 1, "output": 3, "cost": 4})) == {
        "usage": "~",
        "usage.output": "~",
        "usage.cost": "+",
    }


def test_a_value_that_is_written_again_is_marked_as_the_same():
    assert marked(Put(("model",), "small")) == {"model": "="}


def test_items_that_only_moved_are_not_marked():
    changes = [Splice(("messages",), 0, 1, ())]

    assert marked(*changes) == {"messages": "~"}


def test_what_held_a_dropped_value_is_marked():
    assert marked(Drop(("usage", "input"))) == {"usage": "~"}


def test_the_leaves_are_found_from_top_to_bottom():
    changes = [
        Drop(("title",)),
        Put(("usage",), {"input": 1, "output": 3, "cost": 4}),
        Append(("messages",), {"role": "user"}),
        Put(("model",), "large"),
        Put(("messages", 0, "role"), "system"),
    ]
    marks = marks_of(changes, BEFORE)

    assert marks.leaves(fold(BEFORE, changes)) == [
        ("messages", 0, "role"),
        ("messages", 2),
        ("model",),
        ("usage", "output"),
        ("usage", "cost"),
    ]


def test_a_root_marks_what_it_writes_and_not_what_the_state_begins_with():
    changes = [Snapshot({"a": None, "b": None}), Put(("b",), 1)]

    rows = StateRows({"a": None, "b": 1}, set(), marks_of(changes, None))

    assert [row.sign for row in (rows[0], rows[1])] == ["", "+"]


def drawn(state: Any, opened: set[Any], marks: Marks, width: int = 40) -> list[str]:
    rows = StateRows(state, opened, marks, width)
    view = StateView(ANSI, UNICODE)
    return [view.text(rows[n], width).plain for n in range(len(rows))]


def test_rows_are_drawn_with_sign_key_and_value():
    state = {"messages": [1, {"role": "user", "content": "Hi"}], "model": "large"}
    marks = Marks([("messages", 1), ("model",)], {"messages": [1], "model": "small"})

    assert drawn(state, {("messages",)}, marks) == [
        "~ ▾ messages  [2 items]",
        "      0  1",
        "+   ▸ 1  user: Hi",
        '~   model     "small" → "large"',
    ]


def test_a_text_longer_than_its_row_opens_to_its_lines():
    text = "The quick brown fox jumps over the lazy dog.\nAnd again."

    assert drawn({"text": text}, set(), Marks()) == ['  ▸ text  "The quick brown fox jumps o…"']
    assert drawn({"text": text}, {("text",)}, Marks()) == [
        '  ▾ text  "The quick brown fox jumps o…"',
        "      The quick brown fox jumps over the",
        "      lazy dog.",
        "      And again.",
    ]


def test_a_text_that_fits_its_row_cannot_be_opened():
    assert not StateRows({"text": "short"}, {("text",)}, Marks(), 40)[0].is_container


def test_a_text_of_wide_characters_is_broken_before_it_is_cut():
    lines = drawn({"t": "漢字" * 20}, {("t",)}, Marks(), 30)[1:]

    assert "".join(line.strip() for line in lines) == "漢字" * 20


def test_the_path_is_cut_at_its_left_so_that_its_end_and_the_size_stay():
    view = StateView(ANSI, ASCII)
    path = ("messages", 9, "content", 0, "text")

    assert view.path_line(path, "x" * 2341, 80).plain == (
        "messages[9].content[0].text   text, 2,341 characters"
    )
    assert view.path_line(path, "x" * 2341, 40).plain == "...tent[0].text   text, 2,341 characters"
