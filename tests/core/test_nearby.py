"""Places that may have been meant by one that is not there."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import keys, states

from tt_debugger.core.nearby import MOST, MOST_LOOKED_AT, nearby
from tt_debugger.core.paths import Path, parse_pointer, pointer, value_at

STATE: Any = {
    "messages": [{"role": "user", "content": "a"}, {"role": "tool"}],
    "usage": {"cost": 1, "input": 2},
    "values": {"plan": {"title": "x"}},
    "title": None,
}


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("/usage/costs", ["/usage/cost"]),
        ("/Usage/Costs", ["/usage/cost"]),
        ("/usag/cost", ["/usage/cost"]),
        ("/cost", ["/usage/cost"]),
        ("/usage/title", ["/title", "/values/plan/title"]),
        ("/messages/2/role", ["/messages/1/role"]),
        ("/messages/2/content", ["/messages/1"]),
        ("/message/0", ["/messages/0"]),
        ("/messages/first", []),
        ("/title/x", []),
        ("/nothing", []),
        ("/usage/cost", []),
    ],
)
def test_a_name_is_near_that_is_written_nearly_so_or_stands_elsewhere(
    asked: str, meant: list[str]
):
    assert [pointer(each) for each in nearby(STATE, parse_pointer(asked))] == meant


@given(states, st.lists(st.one_of(keys, st.integers(0, 3)), max_size=3).map(tuple))
def test_what_is_offered_is_there(state: Any, path: Path):
    found = nearby(state, path)

    assert len(found) <= MOST
    for each in found:
        value_at(state, each)


def test_of_very_many_names_the_first_ones_are_looked_at():
    state = {f"{number:08}": {"cost": 1} for number in range(MOST_LOOKED_AT * 2)}

    assert nearby({**state, "last": {"price": 1}}, ("price",)) == ()
    assert nearby(state, ("cost",)) == ()
    assert nearby({"a": state}, ("cost",)) == ()
