"""The rows of a state: found by arithmetic, and the same as if every one had been listed."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tt_debugger.views.state import StateRow, StateRows

STATE = {"messages": [{"role": "user"}, None, []], "model": "m", "usage": {"input": 1}}


def shown(rows: StateRows) -> list[str]:
    """Give the rows as text: depth by indent, then key and a sign for what it is."""
    texts: list[str] = []
    for row in (rows[n] for n in range(len(rows))):
        sign = ("v" if row.is_open else ">") if row.is_container else "-"
        texts.append(f"{'  ' * row.depth}{sign} {row.path[-1]}{' +' if row.is_changed else ''}")
    return texts


def test_a_state_is_folded_to_its_top() -> None:
    assert shown(StateRows(STATE, set(), ())) == ["> messages", "- model", "> usage"]


def test_open_containers_show_their_members_and_empty_ones_cannot_be_opened() -> None:
    opened = {("messages",), ("messages", 0), ("messages", 2), ("usage",), ("gone",)}

    assert shown(StateRows(STATE, opened, ())) == [
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
    rows = StateRows(STATE, {("messages",)}, [("messages", 1), ("usage",)])

    assert shown(rows) == ["v messages +", "  > 0", "  - 1 +", "  - 2", "- model", "> usage +"]


def test_keys_of_one_container_have_the_same_room() -> None:
    rows = StateRows({"a": list(range(100)), "longer": 1}, {("a",)}, ())

    assert {row.key_width for row in (rows[0], rows[101])} == {6}
    assert {rows[n].key_width for n in range(1, 101)} == {2}


def test_the_last_of_a_million_items_is_a_row_like_any_other() -> None:
    rows = StateRows({"items": [0] * 1_000_000}, {("items",)}, [("items", 999_999)])

    assert len(rows) == 1_000_001
    assert rows[1_000_000] == StateRow(
        ("items", 999_999),
        0,
        depth=1,
        key_width=6,
        is_container=False,
        is_open=False,
        is_changed=True,
    )


@pytest.mark.parametrize("state", [None, "text", 7, [], {}])
def test_what_has_no_members_has_no_rows(state: Any) -> None:
    assert len(StateRows(state, {("a",), (0,)}, ())) == 0


def test_a_row_beyond_the_last_is_an_error() -> None:
    with pytest.raises(IndexError):
        StateRows(STATE, set(), ())[3]


JSON = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner),
    max_leaves=20,
)


def listed(value: Any, opened: set[Any], path: tuple[Any, ...] = ()) -> list[Any]:
    """Give the paths of all rows, the naive way."""
    members = value.items() if isinstance(value, dict) else enumerate(value or ())
    paths: list[Any] = []
    for key, member in members:
        below = (*path, key)
        paths.append(below)
        if below in opened and isinstance(member, (dict, list)):
            paths += listed(member, opened, below)
    return paths


def every_path(value: Any, path: tuple[Any, ...] = ()) -> list[Any]:
    """Give the paths of all containers in a value."""
    if not isinstance(value, (dict, list)):
        return []
    members = value.items() if isinstance(value, dict) else enumerate(value)
    return [path, *(p for key, member in members for p in every_path(member, (*path, key)))]


@given(JSON.filter(lambda value: isinstance(value, (dict, list))), st.data())
def test_rows_are_those_of_a_list_of_all(state: Any, data: st.DataObject) -> None:
    paths = [path for path in every_path(state) if path]
    opened = set(data.draw(st.lists(st.sampled_from(paths)))) if paths else set()
    rows = StateRows(state, opened, ())
    expected = listed(state, opened)

    assert [rows[n].path for n in range(len(rows))] == expected
    assert [rows.place_of(path) for path in expected] == list(range(len(rows)))
